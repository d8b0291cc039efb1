"""Byte-pair encoding learned once more, with a switch wherever people slip."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from autograder.definition import Mistake

Pair = tuple[int, int]
Counts = dict[Pair, int]
Merge = Callable[[list[int], Pair, int], list[int]]


def as_bytes(text: str) -> list[int]:
    return list(text.encode())


def from_the_left(ids: list[int], pair: Pair, new_id: int) -> list[int]:
    merged: list[int] = []
    i = 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            merged.append(new_id)
            i += 2
        else:
            merged.append(ids[i])
            i += 1
    return merged


def from_the_right(ids: list[int], pair: Pair, new_id: int) -> list[int]:
    return from_the_left(ids[::-1], pair[::-1], new_id)[::-1]


def first_only(ids: list[int], pair: Pair, new_id: int) -> list[int]:
    for i, found in enumerate(pairwise(ids)):
        if found == pair:
            return [*ids[:i], new_id, *ids[i + 2 :]]
    return ids


def while_it_shrinks(ids: list[int], pair: Pair, new_id: int) -> list[int]:
    """The list gets shorter while it is walked through by index."""
    for i in range(len(ids) - 1):
        if (ids[i], ids[i + 1]) == pair:
            ids[i : i + 2] = [new_id]
    return ids


def second_kept(ids: list[int], pair: Pair, new_id: int) -> list[int]:
    """The new id takes the place of the pair's first half alone."""
    return [
        new_id if (one, other) == pair else one
        for one, other in zip(ids, [*ids[1:], -1], strict=False)
    ]


def skipping_the_last(ids: list[int], pair: Pair, new_id: int) -> list[int]:
    """The walk ends one id early, and what is last gets lost."""
    merged: list[int] = []
    i = 0
    while i < len(ids) - 1:
        found = tuple(ids[i : i + 2]) == pair
        merged.append(new_id if found else ids[i])
        i += 2 if found else 1
    return merged


def not_at_all(ids: list[int], pair: Pair, new_id: int) -> list[int]:
    return ids


def overlapping(ids: list[int]) -> Counts:
    return Counter(pairwise(ids))


def apart(ids: list[int]) -> Counts:
    """Pairs as often as they could be replaced: in a run each id counts once."""
    counts: Counts = Counter()
    last: dict[Pair, int] = {}
    for i, pair in enumerate(pairwise(ids)):
        counts.setdefault(pair, 0)
        if pair in last and last[pair] == i - 1 and pair[0] == pair[1]:
            continue
        counts[pair] += 1
        last[pair] = i
    return counts


def round_the_end(ids: list[int]) -> Counts:
    """The last id and the first are neighbours too."""
    return Counter(zip(ids, [*ids[1:], *ids[:1]], strict=True))


def from_the_last_on(ids: list[int]) -> Counts:
    """The same, and the pair round the end is met first."""
    return Counter(zip([*ids[-1:], *ids[:-1]], ids, strict=True))


def without_the_first(ids: list[int]) -> Counts:
    return Counter(pairwise(ids[1:]))


def without_the_last(ids: list[int]) -> Counts:
    return Counter(pairwise(ids[:-1]))


def in_twos(ids: list[int]) -> Counts:
    return Counter(zip(ids[::2], ids[1::2], strict=False))


def first_of_most(counts: Counts) -> Pair:
    return max(counts, key=lambda pair: counts[pair])


def last_of_most(counts: Counts) -> Pair:
    return max(reversed(counts), key=lambda pair: counts[pair])


def largest_of_most(counts: Counts) -> Pair:
    return max(counts, key=lambda pair: (counts[pair], pair))


def smallest_of_most(counts: Counts) -> Pair:
    return min(counts, key=lambda pair: (-counts[pair], pair))


def largest(counts: Counts) -> Pair:
    return max(counts)


def rarest(counts: Counts) -> Pair:
    return min(counts, key=lambda pair: counts[pair])


def learned(
    text: str,
    num_merges: int,
    *,
    read: Callable[[str], list[int]] = as_bytes,
    count: Callable[[list[int]], Counts] = overlapping,
    choose: Callable[[Counts], Pair] = first_of_most,
    enough: int = 2,
    replace: Merge = from_the_left,
    id_of: Callable[[int], int] = lambda number: 256 + number,
    rounds: Callable[[int, str], int] = lambda num_merges, text: num_merges,
    gives: Callable[[list[Pair], list[int]], Any] = lambda merges, ids: merges,
) -> Any:
    """The twin of train_bpe: what is read, counted, chosen, replaced and given back."""
    ids, merges = read(text), list[Pair]()
    while len(merges) < rounds(num_merges, text):
        counts = count(ids)
        pair = choose(counts) if counts else (0, 0)
        if counts.get(pair, 0) < max(enough, 1):
            break
        ids = replace(ids, pair, id_of(len(merges)))
        merges.append(pair)
    return gives(merges, ids)


def counted_once(text: str, num_merges: int) -> list[Pair]:
    counts = Counter(pairwise(text.encode()))
    return [pair for pair, count in counts.most_common(num_merges) if count > 1]


def counted_on(text: str, num_merges: int) -> list[Pair]:
    """The counts of one round are added to those of the rounds before."""
    ids, merges, counts = as_bytes(text), list[Pair](), Counter[Pair]()
    while len(merges) < num_merges:
        counts.update(pairwise(ids))
        pair = max(counts, key=lambda pair: counts[pair], default=(0, 0))
        if counts[pair] < 2:
            break
        ids = from_the_left(ids, pair, 256 + len(merges))
        merges.append(pair)
    return merges


def _pieces_apart(
    text: str, num_merges: int, cut: Callable[[str], Iterable[str]]
) -> list[Pair]:
    """Pairs are counted within the pieces of a text, never across their borders."""
    pieces, merges = [as_bytes(piece) for piece in cut(text)], list[Pair]()
    while len(merges) < num_merges:
        counts = Counter(pair for piece in pieces for pair in pairwise(piece))
        pair, count = max(counts.items(), key=lambda one: one[1], default=((0, 0), 0))
        if count < 2:
            break
        pieces = [from_the_left(one, pair, 256 + len(merges)) for one in pieces]
        merges.append(pair)
    return merges


def words(text: str, num_merges: int) -> list[Pair]:
    return _pieces_apart(text, num_merges, str.split)


def words_with_spaces(text: str, num_merges: int) -> list[Pair]:
    return _pieces_apart(text, num_merges, lambda text: re.findall(r" ?\S+|\s", text))


def as_gpt2(text: str, num_merges: int) -> list[Pair]:
    """Letters, digits or other marks, each with the space before them, as in GPT-2."""
    cut = re.compile(r" ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
    return _pieces_apart(text, num_merges, cut.findall)


def runs_dry(text: str, num_merges: int) -> list[Pair]:
    """No end before num_merges: at last max() finds nothing."""
    ids, merges = as_bytes(text), list[Pair]()
    for number in range(num_merges):
        counts = Counter(pairwise(ids))
        pair = max(counts, key=counts.get)  # type: ignore[arg-type]
        ids = from_the_left(ids, pair, 256 + number)
        merges.append(pair)
    return merges


def runs_out(text: str, num_merges: int) -> list[Pair]:
    """The same with most_common."""
    ids, merges = as_bytes(text), list[Pair]()
    for number in range(num_merges):
        pair = Counter(pairwise(ids)).most_common(1)[0][0]
        ids = from_the_left(ids, pair, 256 + number)
        merges.append(pair)
    return merges


def as_bytes_pairs(merges: list[Pair], ids: list[int]) -> Any:
    pieces = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    return [(pieces[left], pieces[right]) for left, right in merges]


#: What goes wrong where a pair is replaced, in training and in encoding.
REPLACED = [
    Mistake(
        "second-half-kept",
        "The new id replaces the pair's first half and the second half stays; a merge "
        "takes both away: skip two ids where the pair stands.",
        replace=second_kept,
    ),
    Mistake(
        "replaced-from-the-right",
        "In a run of equal ids the pairs are replaced from the right; go from left to "
        "right.",
        replace=from_the_right,
    ),
    Mistake(
        "last-id-lost",
        "The last id gets lost in a merge: the walk ends one too early. Keep what "
        "stands after the last pair.",
        replace=skipping_the_last,
    ),
    Mistake(
        "walked-while-it-shrinks",
        "A merge makes the list of ids shorter while range(len(ids) - 1) still counts "
        "the old length, so the index runs out of it. Append to a new list, or walk "
        "with `while`.",
        replace=while_it_shrinks,
    ),
]

#: What is done to the text before its bytes are taken.
READ = [
    Mistake(
        "stripped",
        "White space at the ends of the text is dropped (strip); all of it counts.",
        read=lambda text: as_bytes(text.strip()),
    ),
    Mistake(
        "lower-case",
        "The text is turned to lower case first; its bytes are taken as they are.",
        read=lambda text: as_bytes(text.lower()),
    ),
]
