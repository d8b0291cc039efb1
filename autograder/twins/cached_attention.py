"""Attention with a cache, with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.attention import SCORES, WEIGHTS, attend
from autograder.twins.heads import CUTS, JOINS, cut, join
from autograder.twins.multihead import HIDDEN_MASKS, without


def bottom_right(T_new: int, T: int, device: torch.device) -> Tensor:
    """Causal for the last T_new of T positions."""
    return torch.ones(T_new, T, dtype=torch.bool, device=device).tril(T - T_new)


def attend_with_cache(
    attention: Any,
    x: Tensor,
    cache: Any,
    *,
    made_with: str = "qkv",
    cut: Callable[[Tensor, int], Tensor] = cut,
    store: Callable[..., Any] = lambda cache, K, V: cache.append(K, V),
    use: Callable[..., Any] = lambda K, V, all_K, all_V: (all_K, all_V),
    mask: Callable[[int, int, torch.device], Tensor | None] = bottom_right,
    join: Callable[[Tensor], Tensor] = join,
    last: Callable[[Any, Tensor], Any] = lambda attention, x: attention.W_o(x),
    **switches: Any,
) -> Any:
    """The twin of cached_attention; `switches` are those of attention."""
    Q, K, V = (
        cut(getattr(attention, f"W_{name}")(x), attention.num_heads)
        for name in made_with
    )
    K, V = use(K, V, *store(cache, K, V))
    seen = mask(Q.shape[-2], K.shape[-2], x.device)
    heads, _ = attend(Q, K, V, seen, **switches)
    return last(attention, join(heads).reshape(x.shape))


def _top_left(T_new: int, T: int, device: torch.device) -> Tensor:
    return torch.ones(T_new, T, dtype=torch.bool, device=device).tril()


def _off(by: int) -> Callable[[int, int, torch.device], Tensor]:
    return lambda T_new, T, device: torch.ones(
        T_new, T, dtype=torch.bool, device=device
    ).tril(T - T_new + by)


def _square(T_new: int, T: int, device: torch.device) -> Tensor:
    return torch.ones(T_new, T_new, dtype=torch.bool, device=device).tril()


def _upside_down(T_new: int, T: int, device: torch.device) -> Tensor:
    whole = torch.ones(T_new, T, dtype=torch.bool, device=device)
    return whole.triu(T - T_new)


def _too_wide(T_new: int, T: int, device: torch.device) -> Tensor:
    return bottom_right(T_new, T + T_new, device)


def _prefill_alone(T_new: int, T: int, device: torch.device) -> Tensor | None:
    return bottom_right(T_new, T, device) if T_new == T else None


def _twice(cache: Any, K: Tensor, V: Tensor) -> Any:
    cache.append(K, V)
    return cache.append(K, V)


def _once_more(cache: Any, K: Tensor, V: Tensor) -> Any:
    found = cache.append(K, V)
    cache.append(K, V)
    return found


def _never(cache: Any, K: Tensor, V: Tensor) -> Any:
    return K, V


def _once(cache: Any, K: Tensor, V: Tensor) -> Any:
    if len(cache) == 0:
        return cache.append(K, V)
    old = type(cache)()
    old.append(cache.K, cache.V)
    return old.append(K, V)


#: How attention with a cache goes wrong.
ATTENTION = [
    Mistake(
        "causal-from-top-left",
        "The causal mask is aligned at the top left, as is_causal=True or tril() does "
        "with fewer queries than keys: with one new token only key 0 is seen. The new "
        "tokens are the last ones: tril(diagonal=T - T_new).",
        mask=_top_left,
    ),
    Mistake(
        "no-mask",
        "Nothing hides the future: the causal mask is missing, or its offset is T, the "
        "cache's length after append, not T - T_new. So the new tokens of a chunk see "
        "those after them. Key j may be seen from position i if j <= i.",
        mask=lambda T_new, T, device: None,
    ),
    Mistake(
        "no-mask-after-the-first-chunk",
        "The first chunk is masked, the later ones aren't: with several new tokens "
        "each sees those after it in its chunk. Key j may be seen from position i if "
        "j <= i.",
        mask=_prefill_alone,
    ),
    Mistake(
        "mask-for-new-tokens-only",
        "The causal mask is made for the new tokens alone, (T_new, T_new), but there "
        "are T keys: it should be (T_new, T), with all old keys allowed.",
        mask=_square,
    ),
    Mistake(
        "mask-one-too-far",
        "The causal mask is off by one: each new token sees the one after it. Key j "
        "may be seen from position i if j <= i.",
        mask=_off(1),
    ),
    Mistake(
        "mask-one-too-short",
        "The causal mask is off by one: a token doesn't see itself. Key j may be seen "
        "from position i if j <= i, itself included.",
        mask=_off(-1),
    ),
    Mistake(
        "mask-upside-down",
        "The mask is the wrong triangle (triu): a new token sees itself and what comes "
        "later, but nothing before. It should see what comes before: "
        "tril(diagonal=T - T_new).",
        mask=_upside_down,
    ),
    Mistake(
        "length-read-after-appending",
        "The cache's length is read after appending and taken for the length before, "
        "so the mask has T_new columns too many: read len(cache) first, or subtract "
        "T_new.",
        mask=_too_wide,
    ),
    Mistake(
        "divided-by-root-d_model",
        "The scores are divided by √d_model; each head's vectors have length d_k, so "
        "it should be √d_k.",
        scale=lambda Q, K: (Q.shape[1] * Q.shape[-1]) ** -0.5,
    ),
    Mistake(
        "mask-inverted",
        "The mask is inverted: what is later is seen, what is earlier is blocked. "
        "True means: may attend.",
        mask=lambda T_new, T, device: ~bottom_right(T_new, T, device),
    ),
    Mistake(
        "cache-ignored",
        "The cache is never used: the new tokens attend to each other only. Append "
        "their keys and values, and attend to all that append returns.",
        store=_never,
        use=lambda K, V, all_K, all_V: (K, V),
    ),
    Mistake(
        "appended-but-not-used",
        "Keys and values are appended, but the new tokens attend to the new ones only, "
        "as if the cache were empty: use all that append returns, and let the mask "
        "allow all old keys.",
        use=lambda K, V, all_K, all_V: (K, V),
    ),
    Mistake(
        "not-appended-later",
        "Only the first chunk stays in the cache; later keys and values are used once "
        "and forgotten. Append those of every chunk.",
        store=_once,
    ),
    Mistake(
        "appended-twice",
        "The new keys and values are appended twice, so the cache is too long: append "
        "once in a call.",
        store=_twice,
    ),
    Mistake(
        "appended-once-more",
        "The new keys and values are appended once more after their use, so later "
        "tokens find them twice in the cache: append once in a call.",
        store=_once_more,
    ),
    Mistake(
        "values-not-from-cache",
        "The keys come from the cache, the values don't: take both from append.",
        use=lambda K, V, all_K, all_V: (all_K, V),
    ),
    Mistake(
        "k-and-v-exchanged",
        "Keys and values are swapped: K is made with W_v and V with W_k, or append "
        "gets them in the wrong order.",
        made_with="qvk",
    ),
    Mistake(
        "k-from-w-q",
        "K is made with W_q; W_k is never used: look for copy and paste.",
        made_with="qqv",
    ),
    Mistake(
        "v-from-w-k",
        "V is made with W_k; W_v is never used: look for copy and paste.",
        made_with="qkk",
    ),
    Mistake(
        "no-output-projection",
        "W_o is never applied: the joined heads are returned as they are.",
        last=lambda attention, x: x,
    ),
    Mistake(
        "input-added",
        "x is added to the result, a residual connection; it belongs to the block "
        "around the attention. Return W_o of the joined heads alone.",
        wrong=lambda attention, x, cache: x + attend_with_cache(attention, x, cache),
    ),
    Mistake(
        "heads-not-cut",
        "The heads are never split: one head as wide as C attends. Cut Q, K and V "
        "with split_heads first.",
        cut=lambda x, num_heads: x[:, None],
    ),
]

#: Rows of heads and of attention that show here, each in its own way.
INHERITED = [
    *CUTS,
    *JOINS,
    *SCORES,
    *WEIGHTS,
    *without(HIDDEN_MASKS, "mask-inverted", "mask-ignored", "mask-must-be-boolean"),
]
