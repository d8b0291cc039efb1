"""A learner's copy of a chapter says everything in Markdown that any reader shows."""

import json
import re
from pathlib import Path

import pytest

from autograder import chapters
from autograder.plain_markdown import bibliography, plain

ROOT = Path(__file__).resolve().parents[1]
WORKS = bibliography(r"""
@article{alone,
  author = {de Jong, Michiel},
  title  = {A Title with {Braces} and = Signs},
  year   = {1990},
  url    = {https://one.example/a_(b)},
}

@book{pair,
  author  = {H{\"o}lder, Otto and N{\'e}ron, Andr{\'e}},
  year    = {1997},
  doi     = {10.1/2}
}

@misc{many,
  author = {Cho, Kyunghyun and others},
  year   = {2000},
}

@misc{team,
  author = {{Gemma and Co Team}},
  year   = {2024},
  url    = {https://team.example},
  doi    = {10.3/4},
}

@misc{three,
  author = {Le, Quoc V. and Dai, A. and
            Ng, A.},
  year   = {2011},
}
""")
ALONE = "[de Jong, 1990](https://one.example/a_%28b%29)"
PAIR = "[Hölder and Néron, 1997](https://doi.org/10.1/2)"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("An RNN {cite}`alone`.", f"An RNN ({ALONE})."),
        ("{cite:p}`pair`", f"({PAIR})"),
        ("{cite}`alone,many`", f"({ALONE}; Cho et al., 2000)"),
        ("{cite}`alone,\npair`", f"({ALONE}; {PAIR})"),
        ("{cite:t}`pair`: x", "[Hölder and Néron (1997)](https://doi.org/10.1/2): x"),
        ("{cite:t}`many`", "Cho et al. (2000)"),
        ("{cite}`three`", "(Le et al., 2011)"),
        ("{cite:t}`team`", "[Gemma and Co Team (2024)](https://team.example)"),
        ("{cite}`nobody`", "(nobody)"),
        ("{cite:t}`nobody`", "nobody"),
        ("| 1 | {cite}`many`, p. 2 |", "| 1 | (Cho et al., 2000), p. 2 |"),
    ],
)
def test_a_citation_becomes_a_link(said, shown):
    assert plain(said, WORKS) == shown


def answer(text="No.", title="Answer"):
    return f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (":::{dropdown} Answer\nNo.\n:::", answer()),
        ("Why?\n:::{dropdown} Answer\nNo.\n:::\nB", f"Why?\n\n{answer()}\n\nB"),
        ("Why?\n\n:::{dropdown} Answer\nNo.\n:::\n\nB", f"Why?\n\n{answer()}\n\nB"),
        ("::: {dropdown} Answer\n:name: a\n:open:\n\nNo.\n:::", answer()),
        ("```{dropdown} Answer\nNo.\n```\n", answer() + "\n"),
        (
            ":::{dropdown} `a` < b\nNo.",
            answer(title="`a` &lt; b"),
        ),
        (
            ":::{dropdown} Answer\nSee {cite}`many`:\n\n$$\nx\n$$\n:::",
            answer("See (Cho et al., 2000):\n\n$$\nx\n$$"),
        ),
        (
            "- one\n\n  :::{dropdown} Answer\n  No.\n\n      code\n  :::\n- two",
            "- one\n\n  <details>\n  <summary>Answer</summary>\n\n  No.\n\n      code\n"
            "\n  </details>\n\n- two",
        ),
        (
            ":::{admonition} Answer\n:class: note dropdown\nNo.\n:::",
            answer(),
        ),
        (
            "```{admonition} The small print\n:class: note\nOne.\n\nTwo.\n```",
            "> **The small print**\n>\n> One.\n>\n> Two.",
        ),
        (":::{note}\nOne.\n:::", "> **Note**\n>\n> One."),
        (":::{seealso} One\ntwo.\n:::", "> **See also**\n>\n> One\n> two."),
        (
            ":::{tip}\nSo\n$$\na\n= b\n$$\nand $c\nd$\nhold.\n:::",
            "> **Tip**\n>\n> So\n> $$ a = b $$\n> and $c d$\n> hold.",
        ),
        (
            "::::{note}\nA\n\n:::{dropdown} Answer\nNo.\n:::\n::::",
            "> **Note**\n>\n> A\n>\n> <details>\n> <summary>Answer</summary>\n"
            ">\n> No.\n>\n> </details>",
        ),
    ],
)
def test_a_box_becomes_html_or_a_quote(said, shown):
    assert plain(said, WORKS) == shown


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Text with `code`, $x_{cite}$ and\n\n\n\na gap.\n",
        "```python\n# {cite}`alone`\nx[:, ::2]\n```",
        "````\n:::{note}\n```\n:::\n````\n",
        "$$\n\\begin{aligned}\na &= b\n\\end{aligned}\n$$",
        ":::{figure} picture.png\nUnknown here.\n:::",
    ],
)
def test_the_rest_stays_as_it_is(said):
    assert plain(said, WORKS) == said


def laid_cells(folder):
    chapters.lay(folder)
    for path in chapters.published():
        notebook = json.loads((folder / path.name).read_text("utf-8"))
        original = json.loads(path.read_text("utf-8"))
        yield from zip(original["cells"], notebook["cells"], strict=True)


def test_no_chapter_is_laid_with_what_only_the_book_shows(tmp_path):
    raw = re.compile(r"^[ >]*:::|```\s*\{|\{[a-z:-]+\}`|\{cite|^\(.+\)=$", re.M)
    cited = set()
    for original, laid in laid_cells(tmp_path):
        source = "".join(laid["source"])
        if laid["cell_type"] == "markdown":
            assert not raw.search(source), source
            cited |= set(
                re.findall(r"\{cite[:tp]*\}`(.+?)`", "".join(original["source"]))
            )
        else:
            assert laid["source"] == original["source"]
    known = bibliography((ROOT / "references.bib").read_text("utf-8"))
    assert {key for keys in cited for key in keys.split(",")} <= known.keys()


def test_every_work_of_the_book_has_authors_a_year_and_a_link():
    text = (ROOT / "references.bib").read_text("utf-8")
    works = bibliography(text)
    assert len(works) == len(re.findall("^@", text, re.M)) > 30
    for key, work in works.items():
        assert re.fullmatch(r"[\w .'-]+", work.authors), work
        assert re.fullmatch(r"\d{4}", work.year), work
        assert work.url.startswith("https://"), work
        assert work.authors != key


def test_an_untouched_copy_in_the_books_markdown_is_brought_up_to_date(
    tmp_path, monkeypatch
):
    with monkeypatch.context() as before:
        before.setattr(chapters, "plain", lambda text, works: text)
        chapters.lay(tmp_path)
    path = tmp_path / "02_attention.ipynb"
    assert "{cite}" in path.read_text("utf-8")
    assert {one.outcome for one in chapters.lay(tmp_path)} == {"updated"}
    assert "{cite}" not in path.read_text("utf-8")
    assert {one.outcome for one in chapters.lay(tmp_path)} == {"same"}
