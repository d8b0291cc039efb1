"""A ring of ranks that add up what they hold, step by step, and a picture of it."""

import torch
from torch import Tensor

from bookkit.widgets.pictures import Picture, grid


def ring(tensors: list[Tensor]) -> tuple[list[list[Tensor]], list[int]]:
    """Let p ranks add up their tensors in a ring: p - 1 steps to add, p - 1 to share.

    tensors, p of (n,) -> what each rank holds at the end, in p chunks, and how many
    numbers each rank sent.
    """
    p = len(tensors)
    held = [list(one.tensor_split(p)) for one in tensors]
    sent = [0] * p
    for step in range(2 * (p - 1)):
        turn(held, sent, step)
    return held, sent


def turn(held: list[list[Tensor]], sent: list[int], step: int) -> None:
    """One step: every rank sends one chunk to the next rank, all at once."""
    p = len(held)
    moving = [held[rank][(rank - step) % p] for rank in range(p)]
    for rank, chunk in enumerate(moving):
        sent[rank] += chunk.numel()
        place, to = (rank - step) % p, (rank + 1) % p
        held[to][place] = held[to][place] + chunk if step < p - 1 else chunk


def ring_picture(p: int, step: int) -> Picture:
    """How many ranks' numbers each rank's chunks hold after some steps."""
    # rank r starts with 2^r in every chunk, so that a sum tells whose numbers are in it
    held = [list(torch.full((p,), 2**rank).split(1)) for rank in range(p)]
    sent = [0] * p
    for done in range(step):
        turn(held, sent, done)
    counts = torch.tensor([[bin(int(c)).count("1") for c in row] for row in held])
    whole = int((counts == p).sum())
    phase = "adding" if step < p - 1 else "sharing"
    if step == 2 * (p - 1):
        phase = "done"
    words = (
        f"Step {step} of {2 * (p - 1)} ({phase}): each rank has sent {sent[0]} chunks "
        f"of 1/{p}; {whole} of {p * p} chunks hold the whole sum."
    )
    rows = [f"rank {rank}" for rank in range(p)]
    return grid(counts / p, rows, list(range(p)), "chunk", words)
