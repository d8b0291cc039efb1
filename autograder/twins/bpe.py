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


def _counted_once(text: str, num_merges: int) -> list[Pair]:
    counts = Counter(pairwise(text.encode()))
    return [pair for pair, count in counts.most_common(num_merges) if count > 1]


def _counted_on(text: str, num_merges: int) -> list[Pair]:
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


def _words(text: str, num_merges: int) -> list[Pair]:
    return _pieces_apart(text, num_merges, str.split)


def _words_with_spaces(text: str, num_merges: int) -> list[Pair]:
    return _pieces_apart(text, num_merges, lambda text: re.findall(r" ?\S+|\s", text))


def _as_gpt2(text: str, num_merges: int) -> list[Pair]:
    """Letters, digits or other marks, each with the space before them, as in GPT-2."""
    cut = re.compile(r" ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
    return _pieces_apart(text, num_merges, cut.findall)


def _runs_dry(text: str, num_merges: int) -> list[Pair]:
    """No end before num_merges: at last max() finds nothing."""
    ids, merges = as_bytes(text), list[Pair]()
    for number in range(num_merges):
        counts = Counter(pairwise(ids))
        pair = max(counts, key=counts.get)  # type: ignore[arg-type]
        ids = from_the_left(ids, pair, 256 + number)
        merges.append(pair)
    return merges


def _runs_out(text: str, num_merges: int) -> list[Pair]:
    """The same with most_common."""
    ids, merges = as_bytes(text), list[Pair]()
    for number in range(num_merges):
        pair = Counter(pairwise(ids)).most_common(1)[0][0]
        ids = from_the_left(ids, pair, 256 + number)
        merges.append(pair)
    return merges


def _as_bytes_pairs(merges: list[Pair], ids: list[int]) -> Any:
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

LEARNING = [
    Mistake(
        "counted-without-overlap",
        "In a run of equal ids every second pair is left out of the count; every pair "
        "of neighbours counts, overlaps included: `aaaa` has the pair aa three times.",
        count=apart,
    ),
    Mistake(
        "counted-in-twos",
        "The ids are cut into twos and those are counted, so every other pair of "
        "neighbours is missed: zip(ids, ids[1:]) gives them all, overlaps included.",
        count=in_twos,
    ),
    Mistake(
        "counted-round-the-end",
        "The text is counted as a ring: its last id and its first make a pair as well "
        "(ids[i - 1] at i = 0, a modulo, a roll). They are no neighbours: "
        "zip(ids, ids[1:]).",
        count=round_the_end,
    ),
    Mistake(
        "tie-to-the-last",
        "Among equally frequent pairs, the tie goes to the pair that comes last; it is "
        "the one that comes first in the current ids.",
        choose=last_of_most,
    ),
    Mistake(
        "tie-to-the-largest",
        "Among equally frequent pairs, the tie goes to the pair with the largest ids; "
        "it is the one that comes first in the current ids.",
        choose=largest_of_most,
    ),
    Mistake(
        "tie-to-the-smallest",
        "Among equally frequent pairs, the tie goes to the pair with the smallest ids; "
        "it is the one that comes first in the current ids.",
        choose=smallest_of_most,
    ),
    Mistake(
        "rarest-pair",
        "The rarest pair is merged; it is the most frequent.",
        choose=rarest,
    ),
    Mistake(
        "merges-what-occurs-once",
        "Pairs that occur only once are merged too; stop early, when no pair occurs "
        "twice: merging it saves nothing that would come up again.",
        enough=1,
    ),
    Mistake(
        "stops-at-two",
        "Pairs that occur exactly twice are not merged any more, it stops too early; "
        "two occurrences are enough.",
        enough=3,
    ),
    Mistake(
        "no-pairs-left-max",
        "Where no pair is left, max() of nothing raises: stop early, when there is no "
        "pair or none occurs twice.",
        wrong=_runs_dry,
    ),
    Mistake(
        "no-pairs-left-most-common",
        "Where no pair is left, the list of most_common is empty and has no first "
        "entry: stop early, when there is no pair or none occurs twice.",
        wrong=_runs_out,
    ),
    Mistake(
        "characters-for-bytes",
        "The text is read character by character (code points, ord); ids 0 to 255 are "
        "bytes: list(text.encode('utf-8')).",
        read=lambda text: [ord(one) for one in text],
    ),
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
    Mistake(
        "cut-into-words",
        "The text is cut into words first, so that no pair reaches across a space; "
        "here it is one sequence of bytes, without pre-tokenisation.",
        wrong=_words,
    ),
    Mistake(
        "cut-before-spaces",
        "The text is cut before each space first, so that no pair reaches across "
        "words; here it is one sequence of bytes, without pre-tokenisation.",
        wrong=_words_with_spaces,
    ),
    Mistake(
        "cut-as-in-gpt-2",
        "The text is cut into words and marks first, as GPT-2's pattern does, so that "
        "no pair reaches across; here it is one sequence of bytes, without "
        "pre-tokenisation.",
        wrong=_as_gpt2,
    ),
    Mistake(
        "pair-not-replaced",
        "The ids stay as they are after a merge, so the same pair is found again; "
        "replace it by its new id before you count again.",
        replace=not_at_all,
    ),
    Mistake(
        "only-the-first-replaced",
        "Only the first occurrence of a pair is replaced; replace them all.",
        replace=first_only,
    ),
    *REPLACED,
    Mistake(
        "ids-from-257",
        "The first merge makes id 257; new ids start at 256.",
        id_of=lambda number: 257 + number,
    ),
    Mistake(
        "ids-from-255",
        "The first merge makes id 255, which is a byte; new ids start at 256.",
        id_of=lambda number: 255 + number,
    ),
    Mistake(
        "ids-from-0",
        "New ids start at 0, where the bytes are; they start at 256.",
        id_of=lambda number: number,
    ),
    Mistake(
        "always-256",
        "Every merge makes the same id, 256; each needs its own: 256 + its number.",
        id_of=lambda number: 256,
    ),
    Mistake(
        "one-merge-too-few",
        "There is one merge too few: num_merges of them are asked for.",
        rounds=lambda num_merges, text: num_merges - 1,
    ),
    Mistake(
        "one-merge-too-many",
        "There is one merge too many: num_merges of them are asked for.",
        rounds=lambda num_merges, text: num_merges + 1,
    ),
    Mistake(
        "nothing-merged",
        "No pair is ever merged. num_merges is the number of merges, not the size of "
        "the vocabulary with its 256 bytes; and a pair counts each time it occurs.",
        rounds=lambda num_merges, text: num_merges - 256,
    ),
    Mistake(
        "number-ignored",
        "The number of merges, num_merges, is ignored: stop when there are that many.",
        rounds=lambda num_merges, text: 1000,
    ),
    Mistake(
        "counted-once",
        "The pairs are counted once, before the first merge; each merge changes the "
        "ids, so count again.",
        wrong=_counted_once,
    ),
    Mistake(
        "counts-carried-on",
        "The counts of earlier rounds stay in the counter; count anew, from the ids as "
        "they are after the last merge.",
        wrong=_counted_on,
    ),
    Mistake(
        "dictionary-by-pair",
        "A dictionary of the pairs and their new ids comes back; a list of the pairs "
        "is asked for, in the order of the merges.",
        gives=lambda merges, ids: {pair: 256 + i for i, pair in enumerate(merges)},
    ),
    Mistake(
        "pairs-with-ids",
        "Each pair comes with its new id; the list holds the pairs alone, whose place "
        "says the id.",
        gives=lambda merges, ids: [(pair, 256 + i) for i, pair in enumerate(merges)],
    ),
    Mistake(
        "ids-returned",
        "The encoded text comes back; the list of merges is asked for.",
        gives=lambda merges, ids: ids,
    ),
    Mistake(
        "ids-returned-too",
        "The encoded text comes back along with the merges; the merges alone are asked "
        "for.",
        gives=lambda merges, ids: (merges, ids),
    ),
    Mistake(
        "byte-strings",
        "The pairs hold byte strings; pairs of ids are asked for, whole numbers.",
        gives=_as_bytes_pairs,
    ),
    Mistake(
        "merges-in-reverse",
        "The merges come back in reverse order, the last first.",
        gives=lambda merges, ids: merges[::-1],
    ),
    Mistake(
        "pairs-reversed",
        "The two ids of each pair are exchanged; the left one comes first.",
        gives=lambda merges, ids: [(right, left) for left, right in merges],
    ),
    Mistake(
        "triples",
        "Each pair comes with its new id, as a triple; the list holds the pairs alone, "
        "whose place says the id.",
        gives=lambda merges, ids: [(*pair, 256 + i) for i, pair in enumerate(merges)],
    ),
    Mistake(
        "new-ids-returned",
        "The new ids come back; the pairs that they stand for are asked for.",
        gives=lambda merges, ids: [256 + i for i in range(len(merges))],
    ),
]
