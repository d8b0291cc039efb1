"""The toy language keeps its rules, and the best guesses in it are counted rightly."""

import pytest
import torch

from bookkit.toy_language import (
    OBJECTS,
    WORDS,
    all_stories,
    best_possible,
    is_among,
    read,
    say,
)

STORIES = all_stories()


def test_every_story_comes_once():
    assert STORIES.shape == (3072, 12)
    assert len(STORIES.unique(dim=0)) == 3072
    assert is_among(
        read("these old queens wear this new hat . they like it .")[None], STORIES
    )


@pytest.mark.parametrize(
    "broken",
    [
        "this old queens wear this new hat . they like it .",
        "these old queens wears this new hat . they like it .",
        "these old queens read this new hat . they like it .",
        "these old queens wear this new hat . they like them .",
        "these old queens wear this new hat . she likes it .",
    ],
)
def test_a_story_with_a_mistake_is_not_of_the_language(broken):
    assert not is_among(read(broken)[None], STORIES)


def test_saying_undoes_reading():
    text = "these old queens [MASK] this new hat ."
    assert say(read(text)) == text
    assert read("[MASK]").item() == len(WORDS)


def test_the_verb_needs_both_sides_and_the_object_has_three_choices():
    left, both = best_possible(STORIES, True), best_possible(STORIES, False)
    assert left[3] == pytest.approx(1 / len(OBJECTS))
    assert both[3] == 1
    assert left[6] == both[6] == pytest.approx(1 / 3)
    assert (both >= left).all()


def test_what_all_texts_share_is_always_guessed():
    texts = torch.tensor([[0, 5, 1], [0, 5, 2]])
    assert best_possible(texts, True).tolist() == [1.0, 1.0, 0.5]
    assert best_possible(texts, False).tolist() == [1.0, 1.0, 0.5]
