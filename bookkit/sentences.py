"""A language of eleven words whose best possible loss is known, word for word.

A sentence says who does what to whom: "the small cat follows the hen ." Every word is
drawn from `next_words`, and nobody is their own object.
"""

import math
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

ADJECTIVES = ["small", "old"]
NOUNS = ["cat", "dog", "cow", "hen"]
VERBS = ["sees", "hears", "follows"]
WORDS = ["the", *ADJECTIVES, *NOUNS, *VERBS, "."]


def next_words(before: Sequence[str]) -> dict[str, float]:
    """The words that may follow in a sentence, and how likely each of them is."""
    last = before[-1] if before else "."
    if last == "." or last in VERBS:
        return {"the": 1.0}
    has_verb = any(word in VERBS for word in before)
    if last in NOUNS:
        return {".": 1.0} if has_verb else _evenly(VERBS)
    free = [noun for noun in NOUNS if noun not in before]
    if last in ADJECTIVES:
        return _evenly(free)
    return _evenly(ADJECTIVES, 0.5) | _evenly(free, 0.5)  # after "the"


def _evenly(words: Sequence[str], total: float = 1.0) -> dict[str, float]:
    return {word: total / len(words) for word in words}


class Text(NamedTuple):
    """Many sentences in a row, for a model to read."""

    tokens: Tensor  # (N,), ids into WORDS
    surprise: Tensor  # (N,), -log of each word's true probability, in nats
    starts: Tensor  # (S,), where sentences begin


def compose(sentences: int, seed: int = 0) -> Text:
    """Draw sentences at random."""
    random = Random(seed)
    ids: list[int] = []
    surprise: list[float] = []
    starts: list[int] = []
    for _ in range(sentences):
        starts.append(len(ids))
        said: list[str] = []
        while not said or said[-1] != ".":
            chances = next_words(said)
            (word,) = random.choices(list(chances), list(chances.values()))
            said.append(word)
            ids.append(WORDS.index(word))
            surprise.append(-math.log(chances[word]))
    return Text(torch.tensor(ids), torch.tensor(surprise), torch.tensor(starts))


def possible(words: Sequence[str]) -> list[bool]:
    """For each word of a text, whether the language allows it where it stands."""
    allowed, said = [], list[str]()
    for word in words:
        allowed.append(word in next_words(said))
        said = [] if word == "." else [*said, word]
    return allowed
