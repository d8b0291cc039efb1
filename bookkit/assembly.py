"""Look inside a model while it runs: what each part puts out, and what it holds."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode


@dataclass(frozen=True)
class Step:
    """One part's turn: its name in the model, what it puts out, what it holds."""

    name: str
    output: Tensor
    parameters: int

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.output.shape)


def follow(model: nn.Module, tokens: Tensor) -> list[Step]:
    """Send tokens (B, T) through a model and note every part's output, in order.

    Parts are the model's modules, in the order in which they finish, and the softmax
    inside a module, as `<module>.softmax`. The model itself comes last, named "".
    """
    steps: list[Step] = []
    inside: list[str] = []

    def enter(name: str) -> Any:
        return lambda module, inputs: inside.append(name)

    def leave(module: nn.Module, inputs: Any, output: Tensor) -> None:
        held = sum(p.numel() for p in module.parameters())
        steps.append(Step(inside.pop(), output.detach(), held))

    class Softmaxes(TorchFunctionMode):
        def __torch_function__(
            self, call: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            output = call(*args, **(kwargs or {}))
            if getattr(call, "__name__", "") == "softmax":
                steps.append(Step(f"{inside[-1]}.softmax", output.detach(), 0))
            return output

    with torch.no_grad(), ExitStack() as hooks:
        for name, module in model.named_modules():
            for handle in (
                module.register_forward_pre_hook(enter(name)),
                module.register_forward_hook(leave),
            ):
                hooks.callback(handle.remove)
        with Softmaxes():
            model(tokens)
    return steps


def streams(model: Any, tokens: Tensor) -> list[Tensor]:
    """The residual stream before the first block and after each: L + 1 of (B, T, C)."""
    seen: list[Tensor] = []

    def first(block: nn.Module, inputs: Any, named: Any) -> None:
        seen.append([*inputs, *named.values()][0])

    handles = [model.blocks[0].register_forward_pre_hook(first, with_kwargs=True)]
    for block in model.blocks:
        handles.append(block.register_forward_hook(lambda block, x, y: seen.append(y)))
    with torch.no_grad():
        model(tokens)
    for handle in handles:
        handle.remove()
    return seen


def size(x: Tensor) -> float:
    """The root mean square of a tensor's numbers."""
    return x.square().mean().sqrt().item()


@contextmanager
def silenced(*parts: nn.Module) -> Iterator[None]:
    """Within the block, let parts put out zeros: a sublayer then writes nothing."""
    handles = [
        part.register_forward_hook(lambda part, x, y: torch.zeros_like(y))
        for part in parts
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
