"""The language with long tails follows its rules, and texts are marked by them."""

import math

import pytest
import torch

from bookkit.tales import (
    ADJECTIVES,
    NOUNS,
    WORDS,
    compose,
    next_words,
    possible,
    quality,
    sentences,
    words,
)


def ids(text):
    return torch.tensor([WORDS.index(word) for word in text.split()])


@pytest.mark.parametrize(
    "before",
    ["", "the", "the old", "the cat", "the cat sees", "the cat sees the shy"],
)
def test_what_may_follow_is_certain_to_follow(before):
    chances = next_words(before.split())
    assert math.isclose(sum(chances.values()), 1.0)
    assert set(chances) <= set(WORDS)


def test_chances_fall_with_the_rank():
    nouns = [next_words(["the", "old"])[noun] for noun in NOUNS]
    assert nouns[0] / nouns[11] == pytest.approx(12)
    assert nouns == sorted(nouns, reverse=True)


@pytest.mark.parametrize(
    ("before", "first"),
    [
        ("the old", "cat"),
        ("the cat", "sees"),
        ("the dog", "hears"),
        ("the cat sees the", "dog"),
        ("the cat sees the dog", "."),
    ],
)
def test_the_most_likely_word_depends_on_what_was_said(before, first):
    chances = next_words(before.split())
    assert max(chances, key=chances.get) == first


def test_after_the_an_adjective_comes_in_three_of_ten():
    chances = next_words(["the"])
    assert sum(chances[word] for word in ADJECTIVES) == pytest.approx(0.3)


def test_a_composed_text_is_possible_and_the_same_for_a_seed():
    text = compose(50)
    assert all(possible(words(text)))
    assert len(sentences([text])) == 50
    assert torch.equal(text, compose(50))
    assert not torch.equal(text[:40], compose(50, seed=1)[:40])


def test_only_what_ends_in_a_full_stop_is_a_sentence():
    whole = ("the", "cat", "sees", "the", "dog", ".")
    assert sentences([ids("the cat sees the dog . the old"), ids("the .")]) == [
        whole,
        ("the", "."),
    ]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("the cat sees the dog .", [True] * 6),
        ("the the cat", [True, False, True]),
        ("the cat .", [True, True, False]),
        ("the cat sees . the", [True, True, True, False, True]),
    ],
)
def test_impossible_words_are_found(text, right):
    assert possible(text.split()) == right


def test_quality_counts_right_and_different_sentences():
    good, bad = "the cat sees the dog .", "the cat ."
    judged = quality([ids(f"{good} {good} {bad}"), ids(f"{good} the hen")])
    assert judged == (3 / 4, 2 / 4)
