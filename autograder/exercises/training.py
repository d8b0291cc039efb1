"""Chapter 10: tokens and training."""

from collections.abc import Callable
from typing import Any

import torch

import solutions.training as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import Sizes
from autograder.twins.bpe import LEARNING, learned
from autograder.twins.coding import DECODING, ENCODING, decoded, encoded

CHAPTER = Chapter(10, "Tokens and training", "10_training")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]


def prose(words: int) -> Callable[[Sizes, torch.Generator], str]:
    """A text of a few syllables again and again, so that pairs and ties are many."""
    syllables = ("ba", "na", "nan", "ab", "b", " ", " a", ". ")

    def make(sizes: Sizes, generator: torch.Generator) -> str:
        drawn = torch.randint(len(syllables), (words,), generator=generator)
        return "".join(syllables[one] for one in drawn.tolist())

    return make


train_bpe = Exercise(
    solutions.train_bpe,
    points=3,
    minutes=20,
    difficulty=3,
    probe="listed",
    inputs={
        "one merge": {"text": "xbabab", "num_merges": 1},
        "a run of the same": {"text": "aaaabcbcbc", "num_merges": 1},
        "a tie": {"text": "mnmnzyzyabab", "num_merges": 1},
        "another tie": {"text": "mnmnababzyzy", "num_merges": 3},
        "merges of merges": {"text": "lower lowest low", "num_merges": 4},
        "no pair occurs twice": {"text": "abcd", "num_merges": 3},
        "fewer pairs than merges": {"text": "ababab", "num_merges": 10},
        "runs of odd length": {"text": "aaaaabaaaaab", "num_merges": 4},
        "a pair at the end": {"text": "xyzxy zxyzx", "num_merges": 6},
        "words and spaces": {"text": " a b a b a b Ab Ab", "num_merges": 4},
        "spaces at the ends": {"text": "x  x  ", "num_merges": 2},
        "characters of several bytes": {"text": "été né, pâté né", "num_merges": 5},
        "a longer text": {"text": prose(150), "num_merges": 20},
        "no text": {"text": "", "num_merges": 3},
        "one byte": {"text": "a", "num_merges": 3},
        "no merges": {"text": "ababab", "num_merges": 0},
    },
    twin=learned,
    mistakes=LEARNING,
    hints=[
        "Do the first merge of `aaaabcbcbc` by hand: which pairs of neighbours are "
        "there, and how often does each occur?",
        "Each round: count all neighbours (`zip(ids, ids[1:])`), take the most "
        "frequent, put a new id, 256 plus the number of merges so far, in its place, "
        "and go on with the new ids. Counter keeps the order of first occurrence.",
        "`counts = Counter(zip(ids, ids[1:]))`; `pair = max(counts, key=counts.get)`; "
        "stop if there are none or `counts[pair] < 2`. Replace from left to right: "
        "where the pair stands append the new id and skip two ids, else append the id.",
    ],
)


def taught(text: str, num_merges: int) -> list[tuple[int, int]]:
    """Merges as train_bpe finds them."""
    return list(solutions.train_bpe(text, num_merges))


CHAIN = [(97, 98), (256, 99), (257, 257)]

bpe_encode = Exercise(
    solutions.bpe_encode,
    points=2,
    minutes=10,
    difficulty=2,
    probe="listed",
    inputs={
        "a merge of a merge": {"text": "abcab", "merges": CHAIN},
        "a pair that another merge took": {
            "text": "abcxabc",
            "merges": [(98, 99), (97, 98)],
        },
        "two merges for one byte": {"text": "abc", "merges": [(97, 98), (98, 99)]},
        "a longer token that no merge order gives": {
            "text": "abcd",
            "merges": [(97, 98), (98, 99), (97, 257)],
        },
        "the right half first": {
            "text": "abcdabd",
            "merges": [(99, 100), (97, 98), (257, 256), (98, 256)],
        },
        "merges of merges": {"text": "xabcabcabcabab", "merges": CHAIN},
        "a run of odd length": {"text": "aaaaa", "merges": [(97, 97), (256, 97)]},
        "another text's merges": {
            "text": "a slow snow owl",
            "merges": taught("lower lowest low slower snow", 8),
        },
        "characters of several bytes": {
            "text": "né été",
            "merges": [(195, 169), (256, 116), (233, 116)],
        },
        "spaces and capitals": {
            "text": " Ab ab ",
            "merges": [(97, 98), (256, 32), (32, 257)],
        },
        "a longer text": {
            "text": prose(150),
            "merges": taught("banana nan ab banan. a ban. anab bananab a nab", 16),
        },
        "no text": {"text": "", "merges": CHAIN},
        "one byte": {"text": "a", "merges": CHAIN},
        "no merges at all": {"text": "abé", "merges": []},
    },
    twin=encoded,
    mistakes=ENCODING,
    hints=[
        "Which merge was learned first? What does it make of the whole text?",
        "Start with the text's bytes. Go through the merges in order; merge number i "
        "puts the id 256 + i in place of its pair, from left to right, in all ids.",
        "`ids = list(text.encode())`; `for new_id, pair in enumerate(merges, 256)`: "
        "walk along ids with an index; where `(ids[i], ids[i + 1]) == pair` append "
        "new_id and step by two, else append ids[i] and step by one.",
    ],
)


bpe_decode = Exercise(
    solutions.bpe_decode,
    points=2,
    minutes=8,
    difficulty=2,
    probe="listed",
    inputs={
        "a merged pair": {"ids": [256, 99, 256], "merges": [(97, 98)]},
        "bytes only": {"ids": [84, 111, 32], "merges": CHAIN},
        "merges of merges": {"ids": [258, 32, 257, 120, 256], "merges": CHAIN},
        "a character in two ids": {"ids": [110, 195, 169], "merges": []},
        "a character in two merges": {
            "ids": [256, 257, 116],
            "merges": [(110, 195), (169, 116)],
        },
        "a longer text": {
            "ids": solutions.bpe_encode(
                "été, pâté € née € été", taught("née € été, pâté € pâté", 8)
            ),
            "merges": taught("née € été, pâté € pâté", 8),
        },
        "half a character": {"ids": [97, 195], "merges": [(97, 98)]},
        "bytes that are no UTF-8": {"ids": [255, 98, 128, 97], "merges": []},
        "spaces at the ends": {"ids": [32, 256, 32], "merges": [(97, 32)]},
        "the empty text": {"ids": [], "merges": CHAIN},
    },
    twin=decoded,
    mistakes=DECODING,
    hints=[
        "Which bytes does the id 256 stand for? And an id whose pair holds 256?",
        "Make a table of the bytes of every id: the first 256 are single bytes, and "
        "each merge appends its two halves' bytes, joined. Then look up all ids before "
        "you decode anything: one character may be spread over two ids.",
        "`pieces = [bytes([i]) for i in range(256)]`; `pieces.append(pieces[a] + "
        "pieces[b])` for each merge; `b''.join(...).decode(errors='replace')`.",
    ],
)

get_batch = Exercise(solutions.get_batch, inputs={}, hints=["1", "2", "3"])
next_token_loss = Exercise(solutions.next_token_loss, inputs={}, hints=["1", "2", "3"])
learning_rate = Exercise(solutions.learning_rate, inputs={}, hints=["1", "2", "3"])
parameter_groups = Exercise(
    solutions.parameter_groups, inputs={}, hints=["1", "2", "3"]
)
train_step = Exercise(solutions.train_step, inputs={}, hints=["1", "2", "3"])
