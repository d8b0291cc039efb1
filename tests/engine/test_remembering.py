"""What is kept from one answer to the next changes no verdict."""

import math

import pytest
import torch

from autograder import compare, expected
from autograder.exercises.multihead import merge_heads, split_heads
from autograder.judge import Judge, judge_of
from autograder.trials import Local

RIGHT = merge_heads.reference
ANSWERS = {
    "right": RIGHT,
    "not turned back": lambda x: x.reshape(x.shape[0], x.shape[2], -1),
    "half of it": lambda x: RIGHT(x)[..., : x.shape[-1]],
    "raises": lambda x: x.no_such_thing,
    "in place": lambda x: RIGHT(x.mul_(2)) / 2,
}


def verdict_of(judge, answer):
    return judge.verdict(Local(answer, merge_heads.parts))


@pytest.mark.parametrize("name", ANSWERS)
def test_a_verdict_is_the_same_whoever_was_judged_before(name):
    expected._resized.cache_clear()
    expected._expected_resized.cache_clear()
    alone = verdict_of(Judge(merge_heads), ANSWERS[name])
    shared = judge_of(merge_heads)
    for other in ANSWERS.values():
        verdict_of(shared, other)
    assert verdict_of(shared, ANSWERS[name]) == alone


def test_a_smaller_case_is_drawn_once_and_for_its_own_exercise():
    one = Judge(merge_heads).trials[0]
    sizes = one.sizes.but({"B": 1})
    small = expected.resized(merge_heads, one, sizes)
    assert small is expected.resized(merge_heads, one, one.sizes.but({"B": 1}))
    assert small.x["args"]["x"].shape[0] == 1
    other = expected.resized(split_heads, one, sizes)
    assert other.x["args"].keys() == {"x", "num_heads"}
    assert small.sizes.but({"kv": 1})["h"] == 2  # what follows from a size still does


def test_inputs_of_one_seed_are_not_those_of_another():
    first, second = judge_of(merge_heads, 1), judge_of(merge_heads, 2)
    a, b = (one.trials[0].x["args"]["x"] for one in (first, second))
    assert not torch.equal(a, b)
    assert judge_of(merge_heads) is judge_of(merge_heads, 0)


class Counted(Local):
    """Notes how many replies were asked for."""

    asked = 0

    def run(self, probe, x):
        type(self).asked += 1
        return super().run(probe, x)


@pytest.mark.parametrize("name", ANSWERS)
def test_passes_says_what_the_verdict_says(name):
    runner = Local(ANSWERS[name], merge_heads.parts)
    judge = judge_of(merge_heads)
    assert judge.passes(runner) == judge.verdict(runner).passed


def test_passes_ends_with_the_first_fault():
    Counted.asked = 0
    runner = Counted(ANSWERS["half of it"], merge_heads.parts)
    assert not judge_of(merge_heads).passes(runner)
    assert Counted.asked == 1


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("expected", "actual", "apart"),
    [
        ([1.0, 2.0], [1.0, 2.5], 2.5),
        ([INF, 2.0], [INF, 2.5], 2.5),
        ([NAN, 2.0], [NAN, 2.0], 0.0),
        ([1.0, 2.0], [NAN, 2.0], INF),
        ([1.0, 2.0], [INF, 2.0], INF),
        ([INF, 2.0], [-INF, 2.0], INF),
        ([NAN, INF], [NAN, INF], 0.0),
        ([0.0, 0.0], [0.0, 0.05], 5.0),
    ],
)
def test_distance_in_tolerances(expected, actual, apart):
    one, other = torch.tensor(expected), torch.tensor(actual)
    assert compare.off(one, other, 0.1, 0.1) == pytest.approx(apart, rel=1e-6)
