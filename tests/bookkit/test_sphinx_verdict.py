"""The directive that shows an answer with the verdict on it."""

import pytest

from bookkit.sphinx_verdict import verdict_on

ANSWER = "def attention_scores(Q, K):\n    return Q @ K.mT{scale}"


@pytest.mark.parametrize(
    ("scale", "said"),
    [(" / K.shape[-1] ** 0.5", "· right"), ("", "not divided by √d_k")],
)
def test_verdict_is_the_graders_own(scale, said):
    html = verdict_on(ANSWER.format(scale=scale))
    assert "attention_scores" in html
    assert said in html


def test_answer_to_no_exercise_is_refused():
    with pytest.raises(KeyError, match="attention_score"):
        verdict_on("def attention_score(Q, K):\n    return Q")
