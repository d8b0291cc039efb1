"""How well and how fast the trainer trains, against GPT-2 of the same shape.

    python -m benchmarks.training [--data PATH] [--steps 2000]

Trains the small character-level recipe and prints its loss on unseen text. Then, if
`transformers` is installed, trains both models on the same batches in turns, so that a
busy machine slows both alike, and prints the ratio of their speeds. Last, the step is
set against the matrix products in it, at the pace at which this machine does them.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch
from rich.progress import track
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.gpt2 import as_gpt2
from minigpt import corpus, parts
from minigpt.recipes import PRESETS
from minigpt.trainer import Run


class Logits(nn.Module):
    """A model of transformers that gives its logits, as ours does."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor) -> Tensor:
        logits: Tensor = self.model(tokens, use_cache=False).logits
        return logits


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training")
    parser.add_argument("--data", default="shakespeare", help="a text, or its path")
    parser.add_argument("--steps", type=int, default=2000)
    options = parser.parse_args()
    recipe = PRESETS["shakespeare-char"][0].but(steps=options.steps)
    text = corpus.load(options.data)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")

    run = Run(recipe, text, parts.references())
    start = time.perf_counter()
    for _ in track(run.steps(), "training", total=recipe.steps):
        pass
    spent = time.perf_counter() - start
    unseen = run.loss_on_unseen(batches=200)
    print(f"loss on unseen text after {run.step} steps: {unseen:.3f} ({spent:.0f} s)")

    recipe = recipe.but(steps=10_000)  # more than are timed
    ours = Run(recipe, text, parts.references())
    print(f"a step over its matrix products: {_step_over_floor(ours):.1f} times")
    try:
        rivals = {
            "GPT-2 with our GELU": _gpt2(ours, "gelu"),
            "GPT-2 as published": _gpt2(ours, "gelu_new"),
        }
    except ImportError:
        print("against GPT-2: not measured, `pip install transformers` first")
        return
    fast, *others = _in_turns(ours, *rivals.values())
    tokens = recipe.batch_size * recipe.seq_len
    print(f"MiniGPT: {tokens / fast:,.0f} tokens a second")
    for name, slow in zip(rivals, others, strict=True):
        print(
            f"{name}: {tokens / slow:,.0f}; MiniGPT is {slow / fast:.2f} times as fast"
        )


def _gpt2(ours: Run, activation: str) -> Run:
    """A run like ours of transformers' GPT-2. Raises ImportError without it."""
    model = Logits(as_gpt2(ours.model, activation))
    run = Run(ours.recipe, ours.text, ours.parts)
    run.trained = model
    run.optimizer = torch.optim.AdamW(
        run.parts.parameter_groups(model, run.recipe.weight_decay), betas=(0.9, 0.99)
    )
    return run


def _in_turns(*runs: Run, rounds: int = 8, steps: int = 15) -> list[float]:
    """The seconds that a step takes in each run: the best of rounds taken in turns."""
    best = [float("inf")] * len(runs)
    going: list[Any] = [run.steps() for run in runs]
    for _ in range(rounds):
        for i, reports in enumerate(going):
            best[i] = min(
                best[i], _seconds(lambda reports=reports: next(reports), steps)
            )
    return best


def _step_over_floor(run: Run) -> float:
    """A step's time over that of its multiplications, done as fast as here possible."""
    reports = run.steps()
    with FlopCounterMode(display=False) as counter:
        next(reports)
    step = min(_seconds(lambda: next(reports), 15) for _ in range(5))
    a, b = torch.randn(2, 768, 768)
    product = min(_seconds(lambda: a @ b, 20) for _ in range(5))
    pace = 2 * 768**3 / product
    return step / (counter.get_total_flops() / pace)


def _seconds(run: Callable[[], Any], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - start) / times


if __name__ == "__main__":
    main()
