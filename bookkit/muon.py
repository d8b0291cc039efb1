"""Muon: steps for matrices that push in all directions alike.

`torch.optim.Muon` (from torch 2.9) is the same, but multiplies in bfloat16, which a CPU
without instructions for it does more than ten times as slowly as float32.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

#: What a step of the iteration makes of a singular value s: a s + b s^3 + c s^5.
A, B, C = 3.4445, -4.7750, 2.0315


def orthogonalised(matrix: Tensor, steps: int = 5) -> Tensor:
    """The matrix with all its singular values moved close to 1.

    (n, m) -> (n, m), in float32 at least. Five steps bring every value that isn't tiny
    to between 0.7 and 1.2, without a decomposition: with matrix products alone.

    Jordan et al. 2024.
    """
    X = matrix.to(torch.promote_types(matrix.dtype, torch.float32))
    tall = X.shape[0] > X.shape[1]
    if tall:
        X = X.mT  # the product of X and its transpose is then the smaller one
    X = X / (X.norm() + 1e-7)  # no singular value is above 1
    for _ in range(steps):
        S = X @ X.mT
        X = torch.addmm(X, torch.addmm(S, S, S, beta=B, alpha=C), X, beta=A)
    return X.mT if tall else X


class Muon(Optimizer):
    """Momentum, made orthogonal: for the matrices inside a model's blocks.

    A step's numbers have root mean square 0.2 lr, about what AdamW's have, whatever the
    matrix's shape. Weight decay is decoupled. Raises ValueError for a parameter that is
    no matrix.

    Jordan et al. 2024; the size of the step as in Liu et al. 2025.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 0.01,
        momentum: float = 0.95,
        weight_decay: float = 0.1,
    ) -> None:
        super().__init__(
            params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        )
        shapes = [tuple(p.shape) for g in self.param_groups for p in g["params"]]
        for shape in shapes:
            if len(shape) != 2:
                raise ValueError(f"Muon is for matrices; a parameter has shape {shape}")

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Take a step with the gradients as they are."""
        for group in self.param_groups:
            lr, momentum = group["lr"], group["momentum"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["mean"] = torch.zeros_like(p)
                state["mean"].lerp_(p.grad, 1 - momentum)
                ahead = p.grad.lerp(state["mean"], momentum)  # Nesterov's momentum
                size = 0.2 * max(p.shape) ** 0.5
                p.mul_(1 - lr * group["weight_decay"])
                p.add_(orthogonalised(ahead), alpha=-lr * size)


class Together:
    """Several optimisers that step as one."""

    def __init__(self, *optimizers: Optimizer) -> None:
        self.optimizers = optimizers

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        return [group for one in self.optimizers for group in one.param_groups]

    def zero_grad(self) -> None:
        for one in self.optimizers:
            one.zero_grad()

    def step(self) -> None:
        for one in self.optimizers:
            one.step()
