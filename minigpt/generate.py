"""Let a trained MiniGPT write: `python -m minigpt.generate runs/cpu`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import torch
from torch import nn

from minigpt import checkpoint, memory, parts
from minigpt.checkpoint import understood
from minigpt.model import build, choose_device
from minigpt.oneline import SETTINGS, one_line
from minigpt.ranges import COUNT, FINITE, SEED, Number
from minigpt.recipes import Recipe
from minigpt.tokens import Tokeniser, rebuilt


def loaded(path: Path, used: Any, device: torch.device) -> tuple[nn.Module, Tokeniser]:
    """The model of a checkpoint and its tokeniser.

    Raises CheckpointError.
    """
    state = checkpoint.load(path)
    with understood(path, "tokeniser"):
        tokeniser = rebuilt(state["tokeniser"], used)
    with understood(path, "recipe"):
        recipe = Recipe().but(**state["recipe"])
    needed = memory.weights(recipe, tokeniser.vocab_size)
    memory.see_that_it_fits(needed, device, "name a smaller model, or another --device")
    model = build(recipe, tokeniser.vocab_size, used)
    checkpoint.fill(model, state, path)
    return model.to(device), tokeniser


def start(tokeniser: Tokeniser) -> str:
    """What a text begins with, if nobody says it: a new line, where there are any."""
    try:
        tokeniser.encode("\n")
    except ValueError:
        return tokeniser.decode([0])
    return "\n"


@torch.no_grad()
def written(
    model: Any,
    tokeniser: Tokeniser,
    prompt: str,
    new_tokens: int,
    used: Any,
    seed: int = 0,
    **sampling: Any,
) -> Iterator[str]:
    """Write on from a prompt, piece by piece as it comes.

    Each new token costs one token's work, until the context is full; then the model
    reads the last half of it again and goes on.
    """
    device = next(model.parameters()).device
    generator = torch.Generator(device).manual_seed(seed)
    ids = tokeniser.encode(prompt) or tokeniser.encode(start(tokeniser))
    was_training, said = model.training, tokeniser.decode(ids)
    model.eval()
    try:
        fed, caches = 0, [used.KVCache() for _ in model.blocks]
        for _ in range(new_tokens):
            if fed == 0 or len(caches[0]) == model.max_seq:
                caches = [used.KVCache() for _ in model.blocks]
                half = model.max_seq // 2 or 1
                window = ids if len(ids) <= model.max_seq else ids[-half:]
            else:
                window = ids[fed:]
            fed = len(ids)
            tokens = torch.tensor([window], device=device)
            logits = used.forward_with_cache(model, tokens, caches)[:, -1]
            ids.append(int(used.sample_next(logits, generator=generator, **sampling)))
            text = tokeniser.decode(ids)
            # Half a character is written once its other bytes have come.
            if not text.endswith("\ufffd"):
                yield text[len(said) :]
                said = text
    finally:
        model.train(was_training)


@click.command(context_settings=SETTINGS)
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN")
@click.option(
    "--prompt",
    help="what the text begins with [default: a new line]",
)
@click.option(
    "--tokens",
    "new_tokens",
    type=COUNT,
    default=300,
    help="how many to write",
)
@click.option(
    "--temperature",
    type=FINITE,
    default=0.8,
    help="0 always takes the most likely token",
)
@click.option("--top-k", type=COUNT, help="draw among the k most likely")
@click.option(
    "--top-p",
    type=Number(0, 1),
    help="draw among the fewest that together reach p",
)
@click.option("--seed", type=SEED, default=0, help="another seed, another text")
@click.option(
    "--parts",
    "whose",
    type=click.Choice(parts.WHOSE),
    default="reference",
    help="mine: your own functions, those that have passed",
)
@click.option("--device", default="auto", help="cuda, mps, cpu, or auto: the fastest")
def generate(
    run: Path,
    prompt: str | None,
    new_tokens: int,
    seed: int,
    whose: str,
    device: str,
    **sampling: Any,
) -> None:
    """Let the model of a RUN (a folder or a checkpoint) write on from a prompt."""
    path = run / "checkpoint.pt" if run.is_dir() or not run.suffix else run
    used = parts.of(whose)
    model, tokeniser = loaded(path, used, choose_device(device))
    prompt = start(tokeniser) if prompt is None else prompt
    tokeniser.encode(prompt)  # what it can't read is said before anything is written
    click.echo(prompt, nl=False)
    for piece in written(model, tokeniser, prompt, new_tokens, used, seed, **sampling):
        click.echo(piece, nl=False)
    click.echo()


if __name__ == "__main__":
    one_line(generate, "minigpt.generate")
