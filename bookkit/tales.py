"""A language with long tails: a few words are said all the time, many now and then.

"the old cat sees the dog ." Every word is drawn with Zipf's chances, 1 over its rank.
Cats come first as subjects and dogs as objects, and each subject has its own first
verb. So the true chances are known, those of rare words included.
"""

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

ADJECTIVES = ["small", "old", "quick", "shy"]
NOUNS = ["cat", "dog", "fox", "owl", "hen", "cow"]
NOUNS += ["bear", "crow", "goat", "hare", "mole", "newt"]
VERBS = ["sees", "hears", "meets", "feeds", "calls", "helps"]
WORDS = ["the", *ADJECTIVES, *NOUNS, *VERBS, "."]


def next_words(before: Sequence[str]) -> dict[str, float]:
    """The words that may follow in a sentence, and how likely each of them is."""
    last = before[-1] if before else "."
    has_verb = any(word in VERBS for word in before)
    if last == "." or last in VERBS:
        return {"the": 1.0}
    if last in NOUNS:
        return {".": 1.0} if has_verb else _zipf(VERBS, NOUNS.index(last))
    if last in ADJECTIVES:
        return _zipf(NOUNS, int(has_verb))
    return _zipf(NOUNS, int(has_verb), 0.7) | _zipf(ADJECTIVES, 0, 0.3)  # after "the"


def _zipf(words: Sequence[str], first: int, total: float = 1.0) -> dict[str, float]:
    """Chances of 1 / rank, the word number `first` being the most frequent."""
    ranks = [1 + (i - first) % len(words) for i in range(len(words))]
    whole = sum(1 / rank for rank in ranks)
    return {word: total / rank / whole for word, rank in zip(words, ranks, strict=True)}


def compose(sentences: int, seed: int = 0) -> Tensor:
    """Draw sentences at random, one after the other: (N,), ids into WORDS."""
    random = Random(seed)
    ids: list[int] = []
    for _ in range(sentences):
        said: list[str] = []
        while not said or said[-1] != ".":
            chances = next_words(said)
            said += random.choices(list(chances), list(chances.values()))
        ids += [WORDS.index(word) for word in said]
    return torch.tensor(ids)


def words(tokens: Tensor) -> list[str]:
    """The words of a text (T,)."""
    return [WORDS[token] for token in tokens.tolist()]


def sentences(texts: Iterable[Tensor]) -> list[tuple[str, ...]]:
    """The whole sentences of texts (T,) each: what ends in a full stop."""
    found = []
    for text in texts:
        said: list[str] = []
        for word in words(text):
            said.append(word)
            if word == ".":
                found.append(tuple(said))
                said = []
    return found


def possible(text: Sequence[str]) -> list[bool]:
    """For each word of a text, whether the language allows it where it stands."""
    allowed, said = [], list[str]()
    for word in text:
        allowed.append(word in next_words(said))
        said = [] if word == "." else [*said, word]
    return allowed


class Quality(NamedTuple):
    """How good texts are: shares of their sentences, from 0 to 1."""

    right: float  # which the language allows, word for word
    different: float  # how many different ones there are


def quality(texts: Iterable[Tensor]) -> Quality:
    """Judge texts, each of which begins with a sentence."""
    found = sentences(texts)
    right = sum(all(possible(sentence)) for sentence in found)
    return Quality(right / len(found), len(set(found)) / len(found))
