"""The small language follows its own rules, and knows how surprising each word is."""

import math

import pytest
import torch

from bookkit.sentences import NOUNS, WORDS, compose, next_words, possible


@pytest.mark.parametrize(
    "before",
    ["", "the", "the old", "the cat", "the cat sees", "the cat sees the small"],
)
def test_what_may_follow_is_certain_to_follow(before):
    chances = next_words(before.split())
    assert math.isclose(sum(chances.values()), 1.0)
    assert set(chances) <= set(WORDS)


def test_nobody_is_their_own_object():
    assert set(next_words("the cat sees the".split())) & set(NOUNS) == {
        "dog",
        "cow",
        "hen",
    }


def test_a_composed_text_is_possible_and_its_sentences_begin_where_it_says():
    text = compose(50)
    words = [WORDS[token] for token in text.tokens]
    assert all(possible(words))
    assert {words[start] for start in text.starts} == {"the"}
    assert {words[start - 1] for start in text.starts[1:]} == {"."}
    assert len(text.starts) == words.count(".") == 50


def test_a_word_s_surprise_is_that_of_its_true_probability():
    text = compose(50)
    the, cat = WORDS.index("the"), WORDS.index("cat")
    starts = text.starts
    assert torch.equal(text.surprise[starts], torch.zeros(50))
    second = text.tokens[starts + 1] == cat  # "the cat": 1/2 for a noun, one of four
    assert second.any()
    assert text.surprise[starts + 1][second].tolist() == pytest.approx(
        [math.log(8)] * int(second.sum())
    )
    assert (text.tokens[starts] == the).all()


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ("the cat sees the dog .", [True] * 6),
        ("the the cat", [True, False, True]),
        ("the cat sees the cat", [True, True, True, True, False]),
        ("the cat .", [True, True, False]),
    ],
)
def test_impossible_words_are_found(words, right):
    assert possible(words.split()) == right
