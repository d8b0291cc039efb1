"""Linear attention, with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.definition import Mistake

Map = Callable[[Tensor], Tensor]
Sum = Callable[[Tensor, int], Tensor]


def phi(x: Tensor) -> Tensor:
    return F.elu(x) + 1


def so_far(x: Tensor, dim: int) -> Tensor:
    return x.cumsum(dim)


def all_of(x: Tensor, dim: int) -> Tensor:
    return x.sum(dim, keepdim=True).expand_as(x)


def before(x: Tensor, dim: int) -> Tensor:
    return x.cumsum(dim) - x


def linear(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    *,
    maps: tuple[Map, Map] = (phi, phi),
    sums: tuple[Sum, Sum] = (so_far, so_far),
    scaled: bool = False,
    end: Callable[[Tensor, Tensor], Tensor] = lambda mix, total: mix / total,
) -> Tensor:
    """The twin of linear_attention; `sums` of the state and of the denominator."""
    if scaled:
        Q = Q * Q.shape[-1] ** -0.5
    q, k = maps[0](Q), maps[1](K)
    state = sums[0](k.unsqueeze(-1) * V.unsqueeze(-2), -3)
    total = (q * sums[1](k, -2)).sum(-1, keepdim=True)
    return end((q.unsqueeze(-2) @ state).squeeze(-2), total)


def _sum_of_keys(Q: Tensor, K: Tensor, V: Tensor) -> Any:
    """The denominator is a sum of the keys alone, over positions and features."""
    q, k = phi(Q), phi(K)
    state = (k.unsqueeze(-1) * V.unsqueeze(-2)).cumsum(-3)
    mix = (q.unsqueeze(-2) @ state).squeeze(-2)
    return mix / k.cumsum(-2).sum(-1, keepdim=True)


def quadratic(Q: Tensor, K: Tensor, V: Tensor) -> Any:
    weights = (phi(Q) @ phi(K).mT).tril()
    return weights @ V / weights.sum(-1, keepdim=True)


def prefixes(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    """Each position sums its own past anew."""
    rows = []
    for t in range(Q.shape[-2]):
        k, v = phi(K[..., : t + 1, :]), V[..., : t + 1, :]
        weights = phi(Q[..., t : t + 1, :]) @ k.mT
        rows.append(weights @ v / weights.sum(-1, keepdim=True))
    return torch.cat(rows, dim=-2)


def softmax(Q: Tensor, K: Tensor, V: Tensor) -> Any:
    n = Q.shape[-2]
    future = torch.ones(n, n, dtype=torch.bool, device=Q.device).triu(1)
    scores = (Q @ K.mT * Q.shape[-1] ** -0.5).masked_fill(future, -torch.inf)
    return scores.softmax(dim=-1) @ V


def _mapped(name: str, message: str, function: Map) -> Mistake:
    return Mistake(name, message, maps=(function, function))


LINEAR = [
    _mapped(
        "elu-without-one",
        "The feature map is elu; elu(x) + 1 is asked for, which is never negative: "
        "weights must be positive.",
        F.elu,
    ),
    _mapped(
        "no-feature-map",
        "Q and K are taken as they are; the feature map elu(x) + 1 is missing.",
        lambda x: x,
    ),
    _mapped("relu", "The feature map is relu; it is elu(x) + 1.", F.relu),
    _mapped("exponential", "The feature map is e^x; it is elu(x) + 1.", torch.exp),
    _mapped(
        "softmax-of-features",
        "The feature map is a softmax over the features; it is elu(x) + 1.",
        lambda x: x.softmax(dim=-1),
    ),
    _mapped(
        "elu-of-x-plus-one",
        "The feature map is elu(x + 1); the 1 is added afterwards: elu(x) + 1.",
        lambda x: F.elu(x + 1),
    ),
    Mistake(
        "queries-not-mapped",
        "The feature map is missing for Q; both Q and K go through it.",
        maps=(lambda x: x, phi),
    ),
    Mistake(
        "keys-not-mapped",
        "The feature map is missing for K; both Q and K go through it.",
        maps=(phi, lambda x: x),
    ),
    Mistake(
        "never-divided",
        "The denominator is missing: divide by the sum of the weights φ(q)·φ(k).",
        end=lambda mix, total: mix,
    ),
    Mistake(
        "future-seen",
        "State and denominator are sums over all positions, so queries see later keys; "
        "causal means running sums.",
        sums=(all_of, all_of),
    ),
    Mistake(
        "denominator-over-all",
        "The denominator is a sum over all keys; like the state it runs along with the "
        "position.",
        sums=(so_far, all_of),
    ),
    Mistake(
        "denominator-without-queries",
        "The denominator adds up the keys' features; it is the sum of the weights, "
        "φ(q)·φ(k), so the query belongs to it: (q * k.cumsum(-2)).sum(-1).",
        wrong=_sum_of_keys,
    ),
    Mistake(
        "state-over-all",
        "The state is a sum over all positions; like the denominator it runs along.",
        sums=(all_of, so_far),
    ),
    Mistake(
        "own-position-left-out",
        "A position's own key and value are left out; each position sees itself too.",
        sums=(before, before),
    ),
    Mistake(
        "summed-over-heads",
        "The running sums go along axis 1, the heads; the sequence is the axis before "
        "the features: -2, and -3 in the state.",
        sums=(lambda x, dim: x.cumsum(1), lambda x, dim: x.cumsum(1)),
    ),
    Mistake(
        "scaled",
        "Q is divided by √d; linear attention has no such division.",
        scaled=True,
    ),
    Mistake(
        "divided-by-count",
        "The sum is divided by the number of positions; it should be the sum of the "
        "weights φ(q)·φ(k).",
        end=lambda mix, total: (
            mix / torch.arange(1, mix.shape[-2] + 1, device=mix.device).to(mix)[:, None]
        ),
    ),
    Mistake(
        "n-by-n-weights",
        "All n x n weights are made at once; keep running sums instead, of φ(k) vᵀ and "
        "of φ(k), so that memory grows with n, not n².",
        wrong=quadratic,
    ),
    Mistake(
        "past-summed-anew",
        "Each position goes through its whole past again, so the work grows with n²: "
        "keep running sums of φ(k) vᵀ and of φ(k), and add one position at a time.",
        wrong=prefixes,
    ),
    Mistake(
        "softmax-attention",
        "This is attention with a softmax; here the weights are φ(q)·φ(k) with "
        "φ(x) = elu(x) + 1, divided by their sum.",
        wrong=softmax,
    ),
]
