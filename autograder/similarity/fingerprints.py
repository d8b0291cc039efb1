"""Fingerprints of an answer: a few of its runs of tokens, chosen alike in every answer.

Winnowing, after Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for
document fingerprinting", SIGMOD 2003: of each window of WINDOW neighbouring runs the
one with the smallest hash. Two answers that share RUN + WINDOW - 1 tokens in a row
share a fingerprint for certain, wherever these tokens stand.
"""

from collections.abc import Sequence
from hashlib import blake2b

from autograder.similarity.tokens import Token

RUN = 8
WINDOW = 4

#: hash of a run: the lines at which it begins and ends
Prints = dict[int, tuple[int, int]]


def runs(tokens: Sequence[Token]) -> list[int]:
    """The hash of each run of tokens, names by their order within the run."""
    return [
        _hash(tokens[start : start + RUN])
        for start in range(max(0, len(tokens) - RUN + 1))
    ]


def _hash(run: Sequence[Token]) -> int:
    names: dict[str, str] = {}
    words = [
        names.setdefault(one.text, f"#{len(names)}") if one.chosen else one.text
        for one in run
    ]
    digest = blake2b("\0".join(words).encode("utf-8", "replace"), digest_size=8)
    return int.from_bytes(digest.digest(), "big")


def fingerprints(tokens: Sequence[Token]) -> Prints:
    """The runs that are kept of an answer, each with the lines it was seen on."""
    hashes = runs(tokens)
    kept: Prints = {}
    for start in range(max(1, len(hashes) - WINDOW + 1) if hashes else 0):
        window = hashes[start : start + WINDOW]
        smallest = min(window)
        at = start + max(i for i, one in enumerate(window) if one == smallest)
        lines = tokens[at].line, max(one.line for one in tokens[at : at + RUN])
        kept.setdefault(smallest, lines)
    return kept
