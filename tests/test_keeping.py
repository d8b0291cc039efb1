"""What a workbook keeps of an answer, and that it runs when it is imported."""

import sys

import pytest
import torch

from autograder import keeping, parts, workbook
from autograder.verdict import Verdict

SCORES = "def attention_scores(Q, K):\n    return Q @ K.mT / K.shape[-1] ** 0.5\n"
STUB = (
    "@exercise\ndef attention_scores(Q, K):\n"
    '    """Score."""\n    raise NotImplementedError\n'
)
ATTENTION = """\
@exercise
def scaled_dot_product_attention(Q, K, V, mask=None):
    weights = attention_scores(Q, K).softmax(-1)
    return weights @ V, weights
"""
FIRST = "from __future__ import annotations\nfrom autograder import exercise\n"
NAME = "scaled_dot_product_attention"


@pytest.fixture
def book(tmp_path, monkeypatch):
    (tmp_path / workbook.MARK).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parts, "_loaded", {})
    return tmp_path


def verdict(status="passed", name=NAME):
    return Verdict(name, 2, status, 3.0, 3.0)


@pytest.mark.parametrize("tried", [True, False])
@pytest.mark.parametrize("scores", [SCORES, STUB], ids=["theirs", "stub"])
def test_a_right_answer_is_kept_with_what_it_needs(book, scores, tried):
    cells = [FIRST, scores, "print('scratch')", ATTENTION]
    assert "Kept as your part" in keeping.keep(book, verdict(), cells, tried)
    assert "scratch" not in workbook.read_part(book, NAME)
    Q, K, V = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))
    output, weights = getattr(parts, NAME)(Q, K, V)
    assert torch.allclose(weights.sum(-1), torch.ones(5))
    assert torch.allclose(output, (Q @ K.mT / 2).softmax(-1) @ V)


def test_an_answer_that_does_not_run_alone_is_not_kept(book):
    cells = [
        "import nowhere\n",
        ATTENTION.replace("weights =", "nowhere.x\n    weights ="),
    ]
    assert "alone it doesn't run (No module named" in keeping.keep(
        book, verdict(), cells
    )
    assert workbook.read_part(book, NAME) is None


def test_a_part_runs_nothing_here_when_a_worker_has_tried_it(book):
    cells = [FIRST, "import sys\nsys.was_run_here = sys\n", SCORES, ATTENTION]
    cells[-1] = cells[-1].replace("weights =", "sys.was_run_here\n    weights =")
    keeping.keep(book, verdict(), cells, tried=True)
    assert not hasattr(sys, "was_run_here")


def test_a_wrong_answer_is_a_try_and_keeps_the_part_that_was_right(book):
    keeping.keep(book, verdict(), [FIRST, SCORES, ATTENTION])
    kept = workbook.read_part(book, NAME)
    said = keeping.keep(book, verdict("failed"), [FIRST, "x = 1"])
    assert said == "Your part is still the answer that passed before."
    assert workbook.read_part(book, NAME) == kept
    assert workbook.progress(book)[NAME] == {"status": "passed", "tries": 2}


def test_how_far_a_chapter_is(book):
    said = []
    for name in ("project_qkv", "attention_scores", NAME):
        workbook.note(book, name, "passed")
        said.append(keeping.far(book, 2))
    assert said[0] == "Chapter 2: 1 of 3 done; next: attention_scores."
    assert said[2] == "Chapter 2: 3 of 3 done. The chapter is complete."


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(book):
    (book / "taken").mkdir()
    with pytest.raises(IsADirectoryError):
        workbook.write(book / "taken", "text")
    assert sorted(one.name for one in book.iterdir()) == [workbook.MARK, "taken"]
