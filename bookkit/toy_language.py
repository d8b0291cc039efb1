"""A small language for chapter 8: stories of two sentences, 3,072 in all.

    these old queens wear this new hat . they like it .

The first sentence's verb needs both its sides: the subject gives its number, the
object its kind (one reads a poem and wears a hat). "this" or "these" needs the noun
that follows. And the second sentence's words follow from the first.
"""

from itertools import product

import torch
from torch import Tensor

PEOPLE = ("girl", "nurse", "queen", "sister")
OBJECTS = {
    "eat": ("apple", "pear", "plum"),
    "read": ("book", "letter", "poem"),
    "wear": ("coat", "hat", "scarf"),
    "drive": ("car", "truck", "van"),
}
ADJECTIVES = ("big", "new", "old", "red")

LENGTH = 12  # tokens a story


def _story(
    many: bool, look: str, who: str, verb: str, objects: bool, kind: str, what: str
) -> list[str]:
    subject = ["these" if many else "this", look, who + "s" * many]
    object_ = ["these" if objects else "this", kind, what + "s" * objects]
    again = ["they" if many else "she", "like" + "s" * (not many)]
    again += ["them" if objects else "it"]
    return [*subject, verb + "s" * (not many), *object_, ".", *again, "."]


_STORIES = [
    _story(many, look, who, verb, objects, kind, what)
    for verb, things in OBJECTS.items()
    for many, look, who, objects, kind, what in product(
        (False, True), ADJECTIVES, PEOPLE, (False, True), ADJECTIVES, things
    )
]
WORDS = sorted({word for story in _STORIES for word in story})
DOT = WORDS.index(".")


def read(text: str) -> Tensor:
    """A text's words as tokens: (T,). [MASK] is the token after the last word."""
    known = [*WORDS, "[MASK]"]
    return torch.tensor([known.index(word) for word in text.split()])


def say(tokens: Tensor) -> str:
    """Tokens (T,) as text: what `read` undoes."""
    known = [*WORDS, "[MASK]"]
    return " ".join(known[token] for token in tokens.tolist())


def all_stories() -> Tensor:
    """Every story of the language, once: (3072, 12)."""
    return torch.stack([read(" ".join(story)) for story in _STORIES])


def is_among(stories: Tensor, others: Tensor) -> Tensor:
    """Whether each of stories (N, 12) is one of others (M, 12): (N,) bool."""
    known = {tuple(story) for story in others.tolist()}
    return torch.tensor([tuple(story) in known for story in stories.tolist()])


def best_possible(stories: Tensor, to_the_left: bool) -> Tensor:
    """The share of words at each place that the best guess gets right: (T,).

    The guesser sees the words to the left of the place, or all words but that one, and
    knows how often each of stories (N, T), equally likely, goes on in which way.
    """
    T = stories.shape[1]
    shares = []
    for place in range(T):
        seen = torch.arange(T) < place if to_the_left else torch.arange(T) != place
        hidden = stories.masked_fill(~seen, -1)
        _, context = torch.unique(hidden, dim=0, return_inverse=True)
        counts = torch.zeros(int(context.max()) + 1, len(WORDS))
        counts.index_put_(
            (context, stories[:, place]), torch.ones(len(stories)), accumulate=True
        )
        shares.append(counts.amax(dim=1).sum() / len(stories))
    return torch.stack(shares)
