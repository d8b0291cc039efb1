"""Rings add up, and pipelines' pictures show the time that is lost."""

from itertools import pairwise

import pytest
import torch

from bookkit.pipelines import idle_share, most_held, pipeline_picture, timeline
from bookkit.rings import ring, ring_picture


@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_every_rank_of_a_ring_ends_with_the_sum(p):
    tensors = list(torch.randn(p, 30))
    held, sent = ring(tensors)
    for chunks in held:
        assert torch.allclose(torch.cat(chunks), torch.stack(tensors).sum(0), atol=1e-5)
    assert sent == [2 * (p - 1) * 30 // p] * p


def test_a_ring_says_how_far_it_is():
    assert "(adding): each rank has sent 1 chunks of 1/4; 0 of 16" in (
        ring_picture(4, 1).words
    )
    assert "(done): each rank has sent 6 chunks of 1/4; 16 of 16" in (
        ring_picture(4, 6).words
    )


@pytest.mark.parametrize("kind", ["GPipe", "1F1B"])
@pytest.mark.parametrize(("p", "m"), [(1, 3), (2, 1), (4, 8), (5, 3)])
def test_both_schedules_have_the_same_bubble(p, m, kind):
    slots = timeline(p, m, kind)
    assert len(slots) == 2 * p * m
    assert idle_share(slots) == pytest.approx((p - 1) / (m + p - 1))


def test_no_stage_does_two_things_at_once():
    for stage in range(4):
        own = [one for one in timeline(4, 6, "1F1B") if one.stage == stage]
        own.sort(key=lambda one: one.start)
        assert all(a.end <= b.start for a, b in pairwise(own))


def test_taking_turns_remembers_less():
    assert most_held(timeline(4, 8, "GPipe")) == 8
    assert most_held(timeline(4, 8, "1F1B")) == 4


def test_a_pipeline_is_drawn_with_its_idle_share():
    picture = pipeline_picture(4, 8, "GPipe", 4)
    assert picture.words.startswith("4 stages, 8 micro-batches: the stages stand idle")
    assert "for 27% of the time. Stage 0 remembers 8 at once." in picture.words
    assert picture.body.count("<rect") == 4 + 2 * 4 * 8
