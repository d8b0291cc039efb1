"""Train a MiniGPT: `python -m minigpt.train --preset cpu`.

With several GPUs: `torchrun --nproc-per-node 4 -m minigpt.train --preset gpu`.
"""

import os
from pathlib import Path
from typing import Any

import click
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from minigpt import corpus, parts
from minigpt.checkpoint import make_room
from minigpt.generate import written
from minigpt.model import choose_device
from minigpt.oneline import SETTINGS, one_line
from minigpt.ranks import joined
from minigpt.recipes import PRESETS
from minigpt.tokens import TOKENISERS
from minigpt.trainer import Run


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
@click.option("--tokens", type=click.Choice(TOKENISERS), help="what a token is")
@click.option("--merges", type=int, help="how many, with --tokens bpe")
@click.option("--d-model", type=int, help="width of the stream")
@click.option("--n-layers", type=int, help="blocks")
@click.option("--n-heads", type=int, help="heads in each block; they divide d_model")
@click.option("--seq-len", type=int, help="tokens that the model sees at once")
@click.option("--dropout", type=float, help="share that is dropped in training")
@click.option("--batch-size", type=int, help="sequences a step")
@click.option("--accumulate", type=int, help="micro-batches that make up a batch")
@click.option("--steps", type=int, help="of the optimiser, in all")
@click.option("--max-lr", type=float, help="largest learning rate, after the warm-up")
@click.option("--min-lr", type=float, help="smallest learning rate, at the end")
@click.option("--warmup", type=int, help="steps until the rate is the largest")
@click.option("--seed", type=int, help="of everything that is drawn")
@click.option("--device", default="auto", help="cuda, mps, cpu, or auto: the fastest")
@click.option("--compile/--no-compile", "compiled", default=None, help="torch.compile")
@click.option(
    "--explicit", is_flag=True, help="each part as it is written, none in one kernel"
)
@click.option(
    "--check-every",
    type=click.IntRange(1),
    default=250,
    help="steps between two looks at unseen text, with a sample",
)
@click.option(
    "--save-every",
    type=click.IntRange(1),
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
    make_room(checkpoint)
    with joined(place) as ranks:
        used = parts.of(whose)
        run = Run(recipe, text, used, place, ranks, compiled, explicit)
        if checkpoint.is_file():
            run.resume(checkpoint)
        follow(run, checkpoint, check_every, save_every)


def follow(run: Run, checkpoint: Path, check_every: int, save_every: int) -> None:
    """Train to the end: a bar, a line at every check with a sample, checkpoints."""
    screen = Console(quiet=not run.ranks.first, highlight=False)
    numbers = f"{run.parts.count_parameters(run.model):,} parameters"
    kernels = f"in one kernel each: {', '.join(run.fused) or 'nothing'}"
    screen.print(f"{numbers}, on {run.device}; {kernels}")
    if run.step:
        screen.print(f"going on at step {run.step}, from {checkpoint}")
    columns = BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=screen, disable=not screen.is_terminal) as bar:
        task = bar.add_task("", total=run.recipe.steps, completed=run.step)
        for report in run.steps(check_every):
            speed = f"{report.tokens_per_second:,.0f} tokens/s"
            bar.update(task, advance=1, description=f"loss {report.loss:.3f}, {speed}")
            if report.unseen_loss is not None:
                unseen = f"on unseen text {report.unseen_loss:.3f}"
                line = f"step {report.step}: loss {report.loss:.3f}, {unseen}, {speed}"
                screen.print(line)
                screen.print(sample(run), markup=False, style="dim")
            if report.step % save_every == 0 or report.step == run.recipe.steps:
                run.save(checkpoint)
    screen.print(f"kept in {checkpoint}; read: python -m minigpt.generate {checkpoint}")


def sample(run: Run, tokens: int = 100) -> str:
    """What the model writes by now; it leaves the run's own random numbers alone."""
    first = run.text[0]
    pieces = written(
        run.model, run.tokeniser, first, tokens, run.parts, temperature=0.8
    )
    return (first + "".join(pieces)).strip("\n")


if __name__ == "__main__":
    one_line(train, "minigpt.train")
