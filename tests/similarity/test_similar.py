"""Copies are found behind any disguise; what anybody might write is not flagged."""

import pytest

from autograder.similarity import compare
from autograder.similarity.answers import read_answers
from autograder.similarity.pairs import FEW, LEAST, alike, common_from
from tests.cli.conftest import here, run  # noqa: F401
from tests.overview.markup import markup_of
from tests.similarity.answers import (
    DISGUISED,
    HEAD,
    OWN_WAYS,
    RESHAPE,
    SHORT,
    hand_in,
)


def found_in(folder):
    """The pairs of a folder of submissions: names, and how much is the same."""
    read = read_answers([folder], lambda done, total: None)
    found = alike(read.answers)
    return {
        (one.one.submission, one.other.submission): one.score for one in found.pairs
    }


def test_answers_written_independently_are_not_flagged(tmp_path):
    assert found_in(hand_in(tmp_path / "in", **OWN_WAYS)) == {}


def test_a_disguised_copy_is_found_among_the_class(tmp_path):
    folder = hand_in(tmp_path / "in", **OWN_WAYS, disguised=DISGUISED)
    assert set(found_in(folder)) == {("disguised", "reshape")}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("energy", "e"),
        ("tensor", "some_longer_name"),
        ("head_dim", "dk"),
        ("split", "carve"),
        ("        query =", "        # the queries\n        query ="),
        ("query, key.permute", "query,  key.permute"),
        ("0, 2, 1, 3", "0, 0b10, 0x1, 3"),
        ("(self, x, mask=None)", "(self, x: torch.Tensor, mask=None) -> tuple"),
        ("import torch.nn.functional as F", "import torch.nn.functional as fun"),
        ("torch.matmul", "th.matmul"),
        ("d_model not divisible", "no"),
    ],
)
def test_what_leaves_the_program_the_same_leaves_the_likeness_whole(
    tmp_path, before, after
):
    whole = HEAD + RESHAPE
    assert before in whole
    other = whole.replace(before, after).replace("import math", "import torch as th")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "ada.py").write_text(whole, "utf-8")
    (folder / "ben.py").write_text(other, "utf-8")
    assert found_in(folder) == {("ada", "ben"): 1.0}


def test_a_short_answer_that_everybody_writes_alike_is_not_flagged(tmp_path):
    assert found_in(hand_in(tmp_path / "in", ada=SHORT, ben=SHORT)) == {}


def test_what_many_of_the_class_have_is_not_flagged(tmp_path):
    same = {f"s{number}": RESHAPE for number in range(FEW + 1)}
    assert found_in(hand_in(tmp_path / "many", **same)) == {}
    few = dict(list(same.items())[:FEW])
    assert len(found_in(hand_in(tmp_path / "few", **few))) == FEW * (FEW - 1) / 2


def test_the_books_own_solution_is_not_flagged(tmp_path):
    from autograder.grading import reference_source

    book = reference_source("MultiHeadAttention")
    assert found_in(hand_in(tmp_path / "in", ada=book, ben=book)) == {}


def test_many_means_a_fifth_of_a_class_within_bounds():
    assert [common_from(n) for n in (2, 30, 100, 5000)] == [FEW, 6, 20, 40]
    assert LEAST > 0


@pytest.mark.parametrize(
    ("hostile", "said"),
    [
        ("MultiHeadAttention = " + "(" * 5000 + ")" * 5000, "MultiHeadAttention"),
        ("MultiHeadAttention = " + "-" * 50_000 + "1", "MultiHeadAttention"),
        ("MultiHeadAttention = " + "+".join("x" * 50_000), "MultiHeadAttention"),
        ("MultiHeadAttention = x" + ".y" * 50_000, "MultiHeadAttention"),
        ("MultiHeadAttention = [" + "1," * 40_000 + "]", "more than 20,000 tokens"),
        ("x = 1\n" * 100_000, "longer than 200,000 characters"),
        ("class MultiHeadAttention(:", "MultiHeadAttention"),
        ("\0", "binary"),
    ],
)
def test_a_hostile_source_ends_in_a_line(tmp_path, hostile, said):
    folder = hand_in(tmp_path / "in", ada=RESHAPE, ben=DISGUISED)
    (folder / "eve.py").write_text(hostile, "utf-8")
    read = read_answers([folder], lambda done, total: None)
    lines = [line for name, line in read.unread if name == "eve"]
    assert len(alike(read.answers).pairs) == 1
    assert lines
    assert said in lines[0]


def test_submissions_are_never_executed(tmp_path):
    mark = tmp_path / "ran"
    folder = hand_in(tmp_path / "in", eve=f"open({str(mark)!r}, 'w')\n{RESHAPE}")
    found_in(folder)
    assert not mark.exists()


def test_the_page_shows_both_and_says_what_a_score_means(tmp_path):
    folder = hand_in(tmp_path / "in", ada=RESHAPE, ben=DISGUISED, dora="def (")
    assert compare([folder], tmp_path / "page.html") == 1
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "ada and ben" in page
    assert "<mark>        energy = torch.matmul(query, key.permute" in page
    assert "What it doesn't say" in page
    again = tmp_path / "again.html"
    compare([folder], again)
    assert again.read_text("utf-8") == page


def test_nothing_of_a_submission_is_markup(tmp_path):
    bad = RESHAPE + "\n# </pre><script>alert(1)</script>\n"
    bad = bad.replace('"d_model not divisible"', '"<img src=x onerror=alert(1)>"')
    pages = []
    for number, source in enumerate((bad, RESHAPE)):
        folder = hand_in(tmp_path / str(number), ada=source, ben=DISGUISED)
        (folder / ("<b>.py" if number == 0 else "b.py")).write_text("(", "utf-8")
        compare([folder], tmp_path / "page.html")
        pages.append(markup_of((tmp_path / "page.html").read_text("utf-8")))
    assert pages[0] == pages[1]


def test_the_command_says_how_many_pairs_there_are(run, here):  # noqa: F811
    hand_in(here / "in", ada=RESHAPE, ben=DISGUISED)
    said = run("similar in --to out/alike.html").output
    assert said == "1 pair to look at: out/alike.html\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("similar in", "needs --to FILE.html"),
        ("similar in --to alike.txt", "name a file that ends in .html"),
        ("similar nowhere --to a.html", "no file or folder 'nowhere'"),
        ("similar --to a.html", "needs PATH"),
        ("similar empty --to a.html", "nothing to grade there"),
    ],
)
def test_wrong_usage_is_one_line(run, here, line, said):  # noqa: F811
    hand_in(here / "in", ada=RESHAPE)
    (here / "empty").mkdir()
    complaint = run(line, 2).stderr
    assert said in complaint
    assert complaint.count("\n") == 1
