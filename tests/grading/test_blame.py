"""An earlier answer is blamed only where it can have a part in the mistake."""

import pytest

from autograder.grading import Options, grade_submission
from autograder.sandbox import Server
from autograder.source import Submission, read_file
from tests.grading.handed_in import ATTENTION, SCORES, script

WRONG_SCORES = SCORES.replace("** 0.5", "** 1")
BY_HAND = ATTENTION.replace("attention_scores(Q, K)", "Q @ K.mT")


@pytest.fixture(scope="module")
def server():
    with Server() as running:
        yield running


def graded(server, folder, *answers):
    """The last exercise's verdict, and how many workers that took."""
    path = script(folder, "ada", *answers)
    submission = Submission("ada", path, (read_file(path),))
    begun = []
    worker = server.worker
    server.worker = lambda job, limits: begun.append(job) or worker(job, limits)
    try:
        (verdict,) = grade_submission(
            server, submission, Options(), "scaled_dot_product_attention"
        )
    finally:
        del server.worker
    return verdict, len(begun)


def mistakes(verdict):
    return [one.mistake for one in verdict.diagnosis]


def test_an_earlier_answer_that_it_uses_is_named(server, tmp_path):
    verdict, workers = graded(server, tmp_path, WRONG_SCORES, ATTENTION)
    assert mistakes(verdict)[-1] == "from-an-earlier-part"
    assert workers == 2


def test_a_mistake_that_has_no_name_here_is_named_there(server, tmp_path):
    scores = SCORES.replace("Q @", "Q / Q.norm(dim=-1, keepdim=True) @").replace(
        "K.mT / Q.shape[-1] ** 0.5", "(K / K.norm(dim=-1, keepdim=True)).mT"
    )
    verdict, _ = graded(server, tmp_path, scores, ATTENTION)
    assert mistakes(verdict)[-2:] == ["cosine", "from-an-earlier-part"]
    assert "In your `attention_scores`: " in verdict.diagnosis[-2].message


def test_one_that_it_does_not_use_is_not_tried(server, tmp_path):
    verdict, workers = graded(server, tmp_path, WRONG_SCORES, BY_HAND)
    assert mistakes(verdict) == ["unscaled-scores"]
    assert workers == 1


def test_one_that_it_takes_from_the_parts_is(server, tmp_path):
    taken = BY_HAND.replace(
        "    scores = Q @ K.mT\n",
        "    import autograder\n    scores = autograder.parts.attention_scores(Q, K)\n",
    )
    verdict, _ = graded(server, tmp_path, WRONG_SCORES, taken)
    assert mistakes(verdict)[-1] == "from-an-earlier-part"


def test_the_same_names_in_another_submission_are_read_anew(server, tmp_path):
    first, _ = graded(server, tmp_path, SCORES, ATTENTION)
    second, _ = graded(server, tmp_path, WRONG_SCORES, ATTENTION)
    again, _ = graded(server, tmp_path, SCORES, ATTENTION)
    assert (first.status, second.status) == ("passed", "failed")
    assert again == first
