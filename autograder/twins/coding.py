"""Text to ids and back, with a switch wherever people slip."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from autograder.definition import Mistake
from autograder.twins.bpe import (
    READ,
    REPLACED,
    Merge,
    Pair,
    as_bytes,
    first_only,
    from_the_left,
    learned,
)

Merges = Sequence[Pair]


def encoded(
    text: str,
    merges: Merges,
    *,
    read: Callable[[str], list[int]] = as_bytes,
    order: Callable[[list[tuple[int, Pair]]], Any] = list,
    first: int = 256,
    replace: Merge = from_the_left,
    gives: Callable[[list[int], Merges], Any] = lambda ids, merges: ids,
) -> Any:
    """The twin of bpe_encode: one merge after the other, each over all ids."""
    ids = read(text)
    for new_id, pair in order(list(enumerate(merges, start=first))):
        ids = replace(ids, pair, new_id)
    return gives(ids, merges)


def _pieces(merges: Merges) -> list[bytes]:
    pieces = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    return pieces


def _longest_first(text: str, merges: Merges) -> list[int]:
    """At each place the longest piece that fits, whatever was merged first."""
    pieces = _pieces(merges)
    rest, ids = text.encode(), list[int]()
    while rest:
        fitting = [i for i, piece in enumerate(pieces) if rest.startswith(piece)]
        ids.append(max(fitting, key=lambda i: len(pieces[i])))
        rest = rest[len(pieces[ids[-1]]) :]
    return ids


def _leftmost_first(text: str, merges: Merges) -> list[int]:
    """Again and again the leftmost pair that has a merge, whichever it is."""
    new = {pair: 256 + i for i, pair in enumerate(merges)}
    ids, i = as_bytes(text), 0
    while i < len(ids) - 1:
        pair = (ids[i], ids[i + 1])
        if pair in new:
            ids[i : i + 2], i = [new[pair]], 0
        else:
            i += 1
    return ids


def _one_walk(text: str, merges: Merges) -> list[int]:
    """One walk over the bytes, in which a pair is replaced where it has a merge."""
    new = {pair: 256 + i for i, pair in enumerate(merges)}
    ids, out, i = as_bytes(text), list[int](), 0
    while i < len(ids):
        pair = (ids[i], ids[i + 1]) if i + 1 < len(ids) else (-1, -1)
        out.append(new.get(pair, ids[i]))
        i += 2 if pair in new else 1
    return out


def _learned_anew(text: str, merges: Merges) -> Any:
    return encoded(text, learned(text, len(merges)))


def _used_up(text: str, merges: list[Pair]) -> Any:
    ids = encoded(text, merges)
    merges.clear()
    return ids


def _in_pieces(text: str, merges: Merges, *, cut: str) -> list[int]:
    """Each piece by itself, so that no merge reaches across."""
    return [one for piece in re.findall(cut, text) for one in encoded(piece, merges)]


ENCODING = [
    Mistake(
        "input-changed",
        "The result is right, but your code writes into the list merges (pop, remove, "
        "clear), and whoever calls it will miss them: walk through it instead.",
        wrong=_used_up,
    ),
    Mistake(
        "merges-in-reverse",
        "The merges are applied in reverse, the last first; apply them in the order in "
        "which they were learned, since later ones build on earlier ones.",
        order=lambda merges: merges[::-1],
    ),
    Mistake(
        "longest-first",
        "At each place the longest token that fits is taken, greedily; apply the "
        "merges in the order in which they were learned, each over the whole text.",
        wrong=_longest_first,
    ),
    Mistake(
        "leftmost-first",
        "The leftmost pair that has any merge is replaced first; apply the merges in "
        "the order in which they were learned, each over the whole text.",
        wrong=_leftmost_first,
    ),
    Mistake(
        "one-walk",
        "The text is walked through once, so what a merge makes is never merged "
        "again; go over all ids once for each merge, in their order.",
        wrong=_one_walk,
    ),
    Mistake(
        "cut-into-words",
        "The text is cut into words first, and the spaces are lost: merges work on all "
        "its bytes as one sequence, without pre-tokenisation.",
        wrong=partial(_in_pieces, cut=r"\S+"),
    ),
    Mistake(
        "cut-before-spaces",
        "The text is cut before each space first, so that no merge reaches across "
        "words; here it is one sequence of bytes, without pre-tokenisation.",
        wrong=partial(_in_pieces, cut=r" ?[^ ]+| +"),
    ),
    Mistake(
        "learned-anew",
        "The merges are learned anew from this text; those that are given count.",
        wrong=_learned_anew,
    ),
    Mistake(
        "only-the-first-replaced",
        "Only the first occurrence of each pair is replaced; replace them all.",
        replace=first_only,
    ),
    *REPLACED,
    Mistake(
        "no-merges",
        "No merge is applied; these are the bytes of the text.",
        order=lambda merges: [],
    ),
    Mistake(
        "last-merge-left-out",
        "The last merge is left out.",
        order=lambda merges: merges[:-1],
    ),
    Mistake(
        "characters-for-bytes",
        "The text is read character by character (code points, ord); merges are of "
        "bytes: list(text.encode('utf-8')).",
        read=lambda text: [ord(one) for one in text],
    ),
    *READ,
    Mistake(
        "ids-from-257",
        "The first merge makes id 257; new ids start at 256.",
        first=257,
    ),
    Mistake(
        "ids-from-255",
        "The first merge makes id 255, which is a byte; new ids start at 256.",
        first=255,
    ),
    Mistake(
        "ids-from-0",
        "New ids start at 0, where the bytes are; they start at 256.",
        first=0,
    ),
    Mistake(
        "byte-strings",
        "The tokens come back as byte strings; their ids are asked for.",
        gives=lambda ids, merges: [_pieces(merges)[one] for one in ids],
    ),
    Mistake(
        "texts-for-ids",
        "The tokens come back as texts; their ids are asked for.",
        gives=lambda ids, merges: [
            _pieces(merges)[one].decode(errors="replace") for one in ids
        ],
    ),
    Mistake(
        "number-of-tokens",
        "The number of tokens comes back; the list of their ids is asked for.",
        gives=lambda ids, merges: len(ids),
    ),
]


def decoded(
    ids: Sequence[int],
    merges: Merges,
    *,
    first: int = 256,
    halves: Callable[[Any, Any], Any] = lambda left, right: left + right,
    order: Callable[[Merges], Merges] = lambda merges: merges,
    take: Callable[[Sequence[int]], Sequence[int]] = lambda ids: ids,
    tell: Callable[[list[bytes]], Any] = lambda pieces: b"".join(pieces).decode(
        errors="replace"
    ),
) -> Any:
    """The twin of bpe_decode: the bytes of each id, joined and told."""
    pieces = {byte: bytes([byte]) for byte in range(256)}
    for new_id, (left, right) in enumerate(order(merges), start=first):
        pieces[new_id] = halves(pieces[left], pieces[right])
    return tell([pieces[one] for one in take(ids)])


def _latin(ids: Sequence[int], merges: Merges) -> str:
    return b"".join(_pieces(merges)[one] for one in ids).decode("latin-1")


def _one_level(ids: Sequence[int], merges: Merges) -> str:
    """A merged id is taken apart once; halves that are merged themselves are lost."""
    apart = [
        half for one in ids for half in (merges[one - 256] if one > 255 else (one,))
    ]
    return bytes(one for one in apart if one < 256).decode(errors="replace")


def _bytes_only(ids: Sequence[int], merges: Merges) -> str:
    return bytes(one for one in ids if one < 256).decode(errors="replace")


def _unmerged(ids: Sequence[int], merges: Merges) -> str:
    return bytes(ids).decode(errors="replace")


def _characters(ids: Sequence[int], merges: Merges) -> str:
    return "".join(chr(one) for one in ids)


def _in_training_order(ids: Sequence[int], merges: Merges) -> str:
    """Merges undone in the order in which they were made, each once."""
    out = list(ids)
    for new_id, pair in enumerate(merges, start=256):
        out = [half for one in out for half in (pair if one == new_id else (one,))]
    return bytes(out).decode(errors="replace")


def _emptied(ids: list[int], merges: Merges) -> Any:
    text = decoded(ids, merges)
    ids.clear()
    return text


DECODING = [
    Mistake(
        "input-changed",
        "The result is right, but your code writes into the list ids (pop, remove, "
        "an assignment), and whoever calls it will miss them: work on a copy.",
        wrong=_emptied,
    ),
    Mistake(
        "decoded-one-by-one",
        "Each token is decoded by itself, so that a character whose bytes are spread "
        "over several ids is lost; join the bytes of all ids first, then decode once.",
        tell=lambda pieces: "".join(one.decode(errors="replace") for one in pieces),
    ),
    Mistake(
        "decoded-one-by-one-strictly",
        "Each token is decoded by itself, and a part of a character is no UTF-8: join "
        "the bytes of all ids first, then decode once with errors='replace'.",
        tell=lambda pieces: "".join(one.decode() for one in pieces),
    ),
    Mistake(
        "strict",
        "Bytes that are no UTF-8 raise UnicodeDecodeError; they become U+FFFD: "
        "decode(errors='replace').",
        tell=lambda pieces: b"".join(pieces).decode(),
    ),
    Mistake(
        "invalid-bytes-dropped",
        "Bytes that are no UTF-8 are dropped (errors='ignore'); they become U+FFFD: "
        "decode(errors='replace').",
        tell=lambda pieces: b"".join(pieces).decode(errors="ignore"),
    ),
    Mistake(
        "invalid-bytes-spelled-out",
        "Bytes that are no UTF-8 are spelled out (errors='backslashreplace'); they "
        "become U+FFFD: errors='replace'.",
        tell=lambda pieces: b"".join(pieces).decode(errors="backslashreplace"),
    ),
    Mistake(
        "question-marks",
        "Bytes that are no UTF-8 become question marks; they become U+FFFD: "
        "decode(errors='replace').",
        tell=lambda pieces: (
            b"".join(pieces).decode(errors="replace").replace("\ufffd", "?")
        ),
    ),
    Mistake(
        "latin-1",
        "Each byte is taken for a character (latin-1); the bytes are UTF-8, in which a "
        "character may take several.",
        wrong=_latin,
    ),
    Mistake(
        "ascii",
        "The bytes are decoded as ASCII, so every other one becomes U+FFFD; they are "
        "UTF-8.",
        tell=lambda pieces: b"".join(pieces).decode("ascii", errors="replace"),
    ),
    Mistake(
        "characters-for-bytes",
        "Each id is taken for a character (chr); ids from 256 stand for merged pairs, "
        "and those below for bytes.",
        wrong=_characters,
    ),
    Mistake(
        "merged-ids-as-bytes",
        "The ids are taken for bytes as they are; those from 256 stand for merged "
        "pairs and must be taken apart first.",
        wrong=_unmerged,
    ),
    Mistake(
        "merged-ids-dropped",
        "Merged ids, from 256, are left out; look up the bytes of their two halves.",
        wrong=_bytes_only,
    ),
    Mistake(
        "taken-apart-once",
        "A merged id is taken apart only once, and halves that are merged themselves "
        "are lost; go on until bytes are left, or build the table of all ids in order.",
        wrong=_one_level,
    ),
    Mistake(
        "undone-in-training-order",
        "The merges are undone in the order in which they were made, or one level "
        "deep: halves that are merged ids themselves, from 256, stay whole and are no "
        "bytes. Undo the last merge first.",
        wrong=_in_training_order,
    ),
    Mistake(
        "halves-exchanged",
        "The two halves of a merged id are joined in the wrong order; the left one "
        "comes first.",
        halves=lambda left, right: right + left,
    ),
    Mistake(
        "left-half-only",
        "Only the left half of a merged id is kept.",
        halves=lambda left, right: left,
    ),
    Mistake(
        "ids-from-257",
        "The first merge is taken to make id 257; new ids start at 256.",
        first=257,
    ),
    Mistake(
        "ids-from-255",
        "The first merge is taken to make id 255, which is a byte; new ids start at "
        "256.",
        first=255,
    ),
    Mistake(
        "in-reverse",
        "The text comes back in reverse, its last token first.",
        take=lambda ids: ids[::-1],
    ),
    Mistake(
        "last-id-lost",
        "The last id is left out.",
        take=lambda ids: ids[:-1],
    ),
    Mistake(
        "bytes-returned",
        "A byte string comes back; a text is asked for: decode it.",
        tell=b"".join,
    ),
    Mistake(
        "byte-string-spelled-out",
        "str() of a byte string spells it out, b'…' and all; decode it: "
        "decode(errors='replace').",
        tell=lambda pieces: str(b"".join(pieces)),
    ),
    Mistake(
        "list-returned",
        "A list of the tokens comes back; one text is asked for: join their bytes.",
        tell=lambda pieces: [one.decode(errors="replace") for one in pieces],
    ),
    Mistake(
        "stripped",
        "White space at the ends of the text is dropped (strip); all of it counts.",
        tell=lambda pieces: b"".join(pieces).decode(errors="replace").strip(),
    ),
    Mistake(
        "joined-with-spaces",
        "The tokens are joined with spaces; the spaces of a text are among its bytes.",
        tell=lambda pieces: b" ".join(pieces).decode(errors="replace"),
    ),
]
