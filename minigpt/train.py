"""Train a MiniGPT: `python -m minigpt.train --preset cpu`.

With several GPUs: `torchrun --nproc-per-node 4 -m minigpt.train --preset gpu`.
"""

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import click
import torch
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
)

from minigpt import corpus, parts
from minigpt.checkpoint import room
from minigpt.generate import written
from minigpt.interrupts import Stopped, noted
from minigpt.model import choose_device
from minigpt.oneline import SETTINGS, one_line
from minigpt.ranges import COUNT
from minigpt.ranks import joined
from minigpt.recipes import KINDS, PRESETS
from minigpt.trainer import Report, Run

Options = TypeVar("Options", bound=Callable[..., Any])


def setting(name: str, words: str) -> Callable[[Options], Options]:
    """An option for a field of the recipe."""
    return click.option(f"--{name.replace('_', '-')}", type=KINDS[name], help=words)


@click.command(context_settings=SETTINGS)
@click.option(
    "--preset", type=click.Choice(list(PRESETS)), default="cpu", help="recipe and text"
)
@click.option("--data", help="stdlib, shakespeare, or a text file [default: preset's]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="folder of the checkpoint [default: runs/PRESET]",
)
@click.option(
    "--parts",
    "whose",
    type=click.Choice(parts.WHOSE),
    default="reference",
    help="mine: your own functions, those that have passed",
)
@setting("tokens", "what a token is")
@setting("merges", "how many, with --tokens bpe")
@setting("d_model", "width of the stream")
@setting("n_layers", "blocks")
@setting("n_heads", "heads in each block; they divide d_model")
@setting("seq_len", "tokens that the model sees at once")
@setting("dropout", "share that is dropped in training")
@setting("batch_size", "sequences a step")
@setting("accumulate", "micro-batches that make up a batch")
@setting("steps", "of the optimiser, in all")
@setting("max_lr", "largest learning rate, after the warm-up")
@setting("min_lr", "smallest learning rate, at the end")
@setting("warmup", "steps until the rate is the largest")
@setting("seed", "of everything that is drawn")
@click.option("--device", default="auto", help="cuda, mps, cpu, or auto: the fastest")
@click.option("--compile/--no-compile", "compiled", default=None, help="torch.compile")
@click.option(
    "--explicit", is_flag=True, help="each part as it is written, none in one kernel"
)
@click.option(
    "--check-every",
    type=COUNT,
    default=250,
    help="steps between two looks at unseen text, with a sample",
)
@click.option(
    "--save-every",
    type=COUNT,
    default=250,
    help="steps between two checkpoints",
)
def train(
    preset: str,
    data: str | None,
    out: Path | None,
    whose: str,
    device: str,
    compiled: bool | None,
    explicit: bool,
    check_every: int,
    save_every: int,
    **changes: Any,
) -> None:
    """Train a MiniGPT. Run the same command again to go on where it was stopped.

    What is not given comes from the preset.
    """
    recipe, usual = PRESETS[preset]
    recipe = recipe.but(**changes)
    folder = out or Path("runs") / preset
    place = choose_device(device)
    if place.type == "cuda":
        if place.index is None:
            place = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(place)
    if compiled is None:
        compiled = place.type == "cuda"  # on a CPU compiling takes longer than it saves
    text = corpus.load(data or usual)
    checkpoint = folder / "checkpoint.pt"
    with joined(place) as ranks:
        run = Run(recipe, text, parts.of(whose), place, ranks, compiled, explicit)
        with room(checkpoint) if ranks.first else nullcontext():
            if checkpoint.exists():
                run.resume(checkpoint)
            follow(run, checkpoint, check_every, save_every)


def follow(run: Run, checkpoint: Path, check_every: int, save_every: int) -> None:
    """Train to the end: a bar, a line at every check with a sample, checkpoints.

    Raises Stopped at Ctrl-C, once the step is done and kept. Ranks wait for each other
    and would not stop at the same step: there the last checkpoint remains.
    """
    screen = Console(
        quiet=not run.ranks.first,
        highlight=False,
        markup=False,  # paths and samples are shown as they are, and not cut to lines
        emoji=False,
        soft_wrap=True,
    )
    numbers = f"{run.parts.count_parameters(run.model):,} parameters"
    kernels = f"in one kernel each: {', '.join(run.fused) or 'nothing'}"
    screen.print(f"{numbers}, on {run.device}; {kernels}")
    if run.step:
        screen.print(f"going on at step {run.step}, from {checkpoint}")
    columns = BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
    bar = Progress(*columns, console=screen, disable=not screen.is_terminal)
    task = bar.add_task("", total=run.recipe.steps, completed=run.step)
    kept = run.step
    try:
        with bar, noted() if run.ranks.world == 1 else nullcontext(Event()) as asked:
            for report in run.steps(check_every):
                tell(report, run, bar, task)
                last = report.step == run.recipe.steps
                if report.step % save_every == 0 or last or asked.is_set():
                    run.save(checkpoint)
                    kept = report.step
                if asked.is_set():
                    raise KeyboardInterrupt
    except KeyboardInterrupt:
        where = f"goes on at step {kept}" if kept else "begins anew"
        raise Stopped(f"stopped at step {run.step}; the same command {where}") from None
    screen.print(f"kept in {checkpoint}; read: python -m minigpt.generate {checkpoint}")


def tell(report: Report, run: Run, bar: Progress, task: TaskID) -> None:
    """Move the bar; at a check, a line with the losses and a sample."""
    speed = f"{report.tokens_per_second:,.0f} tokens/s"
    bar.update(task, advance=1, description=f"loss {report.loss:.3f}, {speed}")
    if report.unseen_loss is not None:
        losses = f"loss {report.loss:.3f}, on unseen text {report.unseen_loss:.3f}"
        bar.console.print(f"step {report.step}: {losses}, {speed}")
        bar.console.print(sample(run), style="dim")


def sample(run: Run, tokens: int = 100) -> str:
    """What the model writes by now; it leaves the run's own random numbers alone."""
    first = run.text[0]
    pieces = written(
        run.model, run.tokeniser, first, tokens, run.parts, temperature=0.8
    )
    return (first + "".join(pieces)).strip("\n")


if __name__ == "__main__":
    one_line(train, "minigpt.train")
