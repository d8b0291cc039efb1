"""Training runs that are healthy but for one thing, for curves to diagnose from."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from minigpt.model import build, fuse
from minigpt.recipes import Recipe

#: A model that learns to write something like a text within seconds.
SMALL = Recipe(tokens="bytes", d_model=32, n_layers=1, seq_len=32, batch_size=16)


@dataclass(frozen=True)
class Patient:
    """How a run is trained; as it stands here, it is healthy."""

    max_lr: float = 1e-2
    warmup: int = 15
    shift: int = 1  # the target is so many tokens further on
    clears: bool = True  # whether gradients are cleared before each step
    softmax_first: bool = False  # whether the loss gets probabilities for logits
    tokens: int | None = None  # how many tokens of the text it learns from


@dataclass(frozen=True)
class Chart:
    """What is seen of a run."""

    losses: list[float]  # of each step's batch, in nats a token
    checked: list[int]  # the steps at which unseen text was read
    unseen: list[float]  # the losses there


def examine(
    patient: Patient,
    ids: Tensor,
    parts: Any,
    steps: int = 150,
    every: int = 25,
    seed: int = 0,
) -> Chart:
    """Train a small model on the text's first nine tenths; check it on the last.

    ids (N,), below 256; parts as in `minigpt.parts`: the functions of chapters 9, 10.
    """
    cut = len(ids) * 9 // 10
    seen, unseen = ids[: patient.tokens or cut], ids[cut:]
    torch.manual_seed(seed)
    model = build(SMALL, 256, parts)
    fuse(model, 256)
    optimizer = torch.optim.AdamW(parts.parameter_groups(model, 0.1), betas=(0.9, 0.99))
    drawn = torch.Generator().manual_seed(seed)
    held_back = _lessons(unseen, 64, patient, parts, torch.Generator().manual_seed(1))
    chart = Chart([], [], [])
    for step in range(steps):
        rate = parts.learning_rate(
            step, patient.max_lr, patient.max_lr / 10, patient.warmup, steps
        )
        for group in optimizer.param_groups:
            group["lr"] = rate
        batch = _lessons(seen, SMALL.batch_size, patient, parts, drawn)
        if patient.clears:
            optimizer.zero_grad()
        loss = _loss(model, batch, patient, parts)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        chart.losses.append(loss.item())
        if (step + 1) % every == 0 or step == 0:
            chart.checked.append(step + 1)
            with torch.no_grad():
                chart.unseen.append(float(_loss(model, held_back, patient, parts)))
    return chart


def _lessons(
    ids: Tensor, size: int, patient: Patient, parts: Any, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    inputs, targets = parts.get_batch(ids, size, SMALL.seq_len, generator)
    return (inputs, targets) if patient.shift else (inputs, inputs)


def _loss(
    model: nn.Module, batch: tuple[Tensor, Tensor], patient: Patient, parts: Any
) -> Tensor:
    inputs, targets = batch
    logits = model(inputs)
    if patient.softmax_first:
        logits = logits.softmax(dim=-1)
    loss: Tensor = parts.next_token_loss(logits, targets)
    return loss
