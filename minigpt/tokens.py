"""Tokenisers: text to ids and back, each to be rebuilt from what a checkpoint keeps."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Protocol

Pairs = Sequence[tuple[int, int]]

TOKENISERS = ("chars", "bytes", "bpe")

#: Text that BPE's merges are learned from: more changes little and takes long.
LEARNED_FROM = 60_000


class Tokeniser(Protocol):
    """What the trainer and the generator need of a tokeniser."""

    vocab_size: int

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: Iterable[int]) -> str: ...

    def kept(self) -> dict[str, Any]:
        """What rebuilds it: see `rebuilt`."""
        ...


class Chars:
    """A token for each character of the text it was made from."""

    def __init__(self, alphabet: str) -> None:
        self.alphabet = alphabet
        self.vocab_size = len(alphabet)
        self._id_of = {character: i for i, character in enumerate(alphabet)}

    def encode(self, text: str) -> list[int]:
        unknown = sorted(set(text) - self._id_of.keys())
        if unknown:
            raise ValueError(
                f"the model has never seen {unknown[0]!r}: prompt it without"
            )
        return [self._id_of[character] for character in text]

    def decode(self, ids: Iterable[int]) -> str:
        return "".join(self.alphabet[one] for one in ids)

    def kept(self) -> dict[str, Any]:
        return {"tokens": "chars", "alphabet": self.alphabet}


class Bytes:
    """A token for each byte of the text's UTF-8."""

    vocab_size = 256

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: Iterable[int]) -> str:
        return bytes(ids).decode(errors="replace")

    def kept(self) -> dict[str, Any]:
        return {"tokens": "bytes"}


class BPE:
    """Bytes merged by what `train_bpe` learned, word by word.

    `encode` and `decode` are chapter 10's functions. A text is cut before each word, so
    that a word is encoded once however often it comes.
    """

    def __init__(
        self,
        merges: Pairs,
        encode: Callable[[str, Pairs], list[int]],
        decode: Callable[[list[int], Pairs], str],
    ) -> None:
        self.merges: Pairs = [(left, right) for left, right in merges]
        self.vocab_size = 256 + len(self.merges)
        self._decode = decode
        self._encoded = lru_cache(maxsize=100_000)(
            lambda piece: tuple(encode(piece, self.merges))
        )

    def encode(self, text: str) -> list[int]:
        pieces = re.findall(r"\s*\S+|\s+", text)
        return [one for piece in pieces for one in self._encoded(piece)]

    def decode(self, ids: Iterable[int]) -> str:
        return self._decode(list(ids), self.merges)

    def kept(self) -> dict[str, Any]:
        return {"tokens": "bpe", "merges": [list(pair) for pair in self.merges]}


def learned(tokens: str, merges: int, text: str, parts: Any) -> Tokeniser:
    """The tokeniser for a text; `parts` has the reader's BPE functions."""
    if tokens == "chars":
        return Chars("".join(sorted(set(text))))
    if tokens == "bytes":
        return Bytes()
    pairs = parts.train_bpe(text[:LEARNED_FROM], merges)
    return BPE(pairs, parts.bpe_encode, parts.bpe_decode)


def rebuilt(kept: dict[str, Any], parts: Any) -> Tokeniser:
    """The tokeniser that a checkpoint keeps."""
    if kept["tokens"] == "chars":
        return Chars(kept["alphabet"])
    if kept["tokens"] == "bytes":
        return Bytes()
    pairs = [(left, right) for left, right in kept["merges"]]
    return BPE(pairs, parts.bpe_encode, parts.bpe_decode)
