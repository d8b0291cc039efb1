"""A cache of keys and values, with a switch wherever people slip, and the slips."""

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake


def _joined(old: list[Tensor], dim: int = 2) -> Tensor:
    return reduce(lambda old, new: torch.cat([old, new], dim=dim), old)


class Cache:
    """The twin of KVCache."""

    def __init__(
        self,
        *,
        shared: Any = None,
        join: Callable[[list[Tensor]], Any] = _joined,
        keep: Callable[[list[Any], Any], list[Any]] = lambda old, new: [*old, new],
        reverse: str = "",
        store: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = lambda K, V: (K, V),
        length: Callable[[Any], int] = lambda one: one.total(2),
        give: Callable[[Any, Any, Any], Any] = lambda one, K, V: one.all(),
    ) -> None:
        self.kept: list[tuple[Tensor, Tensor]] = [] if shared is None else shared
        self.join, self.keep, self.store = join, keep, store
        self.length, self.give, self.reverse = length, give, reverse

    def append(self, K: Tensor, V: Tensor) -> Any:
        self.kept[:] = self.keep(self.kept, self.store(K, V))
        return self.give(self, K, V)

    def all(self, order: str = "KV") -> Any:
        found = {}
        for i, name in enumerate("KV"):
            chunks = [one[i] for one in self.kept]
            found[name] = self.join(chunks[::-1] if name in self.reverse else chunks)
        return found[order[0]], found[order[1]]

    def total(self, dim: int) -> int:
        return sum(K.shape[dim] for K, _ in self.kept)

    def __len__(self) -> int:
        return self.length(self)


class _Sharing:
    """Makes caches that share one list; the first of two finds it empty."""

    def __init__(self) -> None:
        self.made = 0
        self.kept: list[Any] = []

    def __call__(self) -> Cache:
        if self.made % 2 == 0:
            self.kept = []
        self.made += 1
        return Cache(shared=self.kept)


def _stored_first(one: Cache, K: Tensor, V: Tensor) -> Any:
    before = one.kept[:-1]
    if not before:
        return K[:, :, :0], V[:, :, :0]
    return _joined([K for K, _ in before]), _joined([V for _, V in before])


def _with_the_new(one: Cache, K: Tensor, V: Tensor) -> Any:
    if one.kept[0][0] is K:
        return one.all()
    old_K, old_V = one.all()
    return _joined([old_K, K]), _joined([old_V, V])


def _first_dim(one: Cache, dim: int) -> int:
    return one.kept[0][0].shape[dim] if one.kept else 0


#: How a cache goes wrong.
CACHES = [
    Mistake(
        "appended-along-the-heads",
        "New keys and values are joined along axis 1, the heads; the sequence is "
        "axis 2: torch.cat([old, new], dim=2).",
        join=partial(_joined, dim=1),
    ),
    Mistake(
        "appended-along-the-batch",
        "New keys and values are joined along axis 0, the batch; the sequence is "
        "axis 2: torch.cat([old, new], dim=2).",
        join=partial(_joined, dim=0),
    ),
    Mistake(
        "appended-along-the-features",
        "New keys and values are joined along the last axis, the features; the "
        "sequence is axis 2: torch.cat([old, new], dim=2).",
        join=partial(_joined, dim=-1),
    ),
    Mistake(
        "new-ones-first",
        "The new keys and values stand before the old ones; they belong "
        "behind them: torch.cat([old, new], dim=2).",
        reverse="KV",
    ),
    Mistake(
        "new-keys-first",
        "The new keys stand before the old ones, unlike the values; they belong "
        "behind them: torch.cat([old, new], dim=2).",
        reverse="K",
    ),
    Mistake(
        "new-values-first",
        "The new values stand before the old ones, unlike the keys; they belong "
        "behind them: torch.cat([old, new], dim=2).",
        reverse="V",
    ),
    Mistake(
        "only-the-new-kept",
        "append keeps and returns only the new keys and values; the old ones are "
        "overwritten. Join them: torch.cat([old, new], dim=2).",
        keep=lambda old, new: [new],
    ),
    Mistake(
        "only-the-new-returned",
        "append keeps everything but returns only the new keys and values; return "
        "those of all tokens so far.",
        give=lambda one, K, V: (K, V),
    ),
    Mistake(
        "returned-before-appending",
        "append returns what was there before: the new keys and values are missing. "
        "Join first, then return.",
        give=_stored_first,
    ),
    Mistake(
        "only-the-first-kept",
        "append keeps the first keys and values only; later ones are never added.",
        keep=lambda old, new: old or [new],
    ),
    Mistake(
        "joined-but-not-kept",
        "append returns old and new joined, but keeps what it had: the new keys and "
        "values are gone at the next call. Keep what torch.cat returns, self.… = ….",
        keep=lambda old, new: old or [new],
        give=_with_the_new,
    ),
    Mistake(
        "keys-joined-to-values",
        "The new keys are joined to the old values: look for copy and paste.",
        keep=lambda old, new: [*old, (new[0], new[0]) if old else new],
    ),
    Mistake(
        "values-joined-to-keys",
        "The new values are joined to the old keys: look for copy and paste.",
        keep=lambda old, new: [*((K, K) for K, _ in old), new],
    ),
    Mistake(
        "appended-twice",
        "Every chunk is stored twice, so keys and values are there twice.",
        keep=lambda old, new: [*old, new, new],
    ),
    Mistake(
        "keys-for-values",
        "The keys are stored as the values as well: look for copy and paste.",
        store=lambda K, V: (K, K),
    ),
    Mistake(
        "values-for-keys",
        "The values are stored as the keys as well: look for copy and paste.",
        store=lambda K, V: (V, V),
    ),
    Mistake(
        "keys-and-values-exchanged",
        "Keys and values are swapped in the result: return K first, then V.",
        give=lambda one, K, V: one.all("VK"),
    ),
    Mistake(
        "stacked",
        "The chunks are stacked along a new axis (torch.stack); join them along the "
        "sequence with torch.cat(…, dim=2).",
        join=lambda old: torch.stack(old),
    ),
    Mistake(
        "returned-as-lists",
        "What comes back are lists of chunks; join them to one tensor each with "
        "torch.cat(…, dim=2).",
        join=list,
    ),
    Mistake(
        "shared-by-all-caches",
        "Two caches hold the same keys and values: the list belongs to the class (or "
        "is a default argument), so all caches share it. Make it in __init__, as "
        "self.….",
        wrong=_Sharing(),
    ),
    Mistake(
        "length-in-appends",
        "len counts the calls of append, not the tokens: a chunk may hold several. "
        "Take the size of axis 2 of the keys.",
        length=lambda one: len(one.kept),
    ),
    Mistake(
        "length-of-the-batch",
        "len returns the size of axis 0, the batch (len of a tensor is its first "
        "axis); the tokens are along axis 2.",
        length=lambda one: _first_dim(one, 0),
    ),
    Mistake(
        "length-in-heads",
        "len returns the size of axis 1, the heads; the tokens are along axis 2.",
        length=lambda one: _first_dim(one, 1),
    ),
    Mistake(
        "length-in-features",
        "len returns the size of the last axis, the features; the tokens are along "
        "axis 2.",
        length=lambda one: _first_dim(one, 3),
    ),
    Mistake(
        "length-of-the-last-chunk",
        "len counts the tokens of the last append only; it should be all tokens so "
        "far.",
        length=lambda one: one.kept[-1][0].shape[2] if one.kept else 0,
    ),
    Mistake(
        "length-counts-keys-and-values",
        "len counts keys and values together, twice as many as there are tokens.",
        length=lambda one: 2 * one.total(2),
    ),
    Mistake(
        "length-one-too-many",
        "len is one too many; a new cache has length 0.",
        length=lambda one: one.total(2) + 1,
    ),
]
