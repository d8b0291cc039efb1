"""The learning rate's course, with a switch wherever people slip."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from autograder.definition import Mistake


def scheduled(
    step: int,
    max_lr: float,
    min_lr: float,
    warmup: int,
    total: int,
    *,
    up: Callable[[int, int], float] = lambda step, warmup: (step + 1) / warmup,
    floor: Callable[[float, float], float] = lambda value, min_lr: value,
    warms: Callable[[int, int], bool] = lambda step, warmup: step < warmup,
    ends: Callable[[int, int], bool] = lambda step, total: step >= total,
    end: Callable[[float, float], float] = lambda max_lr, min_lr: min_lr,
    part: Callable[[int, int, int], float] = lambda step, warmup, total: (
        (step - warmup) / (total - warmup)
    ),
    curve: Callable[[float], Any] = lambda part: (1 + math.cos(math.pi * part)) / 2,
    between: Callable[[Any, float, float], Any] = lambda share, max_lr, min_lr: (
        min_lr + (max_lr - min_lr) * share
    ),
    gives: Callable[[float], Any] = lambda rate: rate,
) -> Any:
    """The twin of learning_rate: up, down, and the end."""
    if warms(step, warmup):
        return gives(floor(max_lr * up(step, warmup), min_lr))
    if ends(step, total):
        return gives(end(max_lr, min_lr))
    return gives(between(curve(part(step, warmup, total)), max_lr, min_lr))


def _from_min(
    step: int, max_lr: float, min_lr: float, warmup: int, total: int
) -> float:
    if step < warmup:
        return min_lr + (max_lr - min_lr) * (step + 1) / warmup
    return scheduled(step, max_lr, min_lr, warmup, total)  # type: ignore[no-any-return]


def _longer(step: int, max_lr: float, min_lr: float, warmup: int, total: int) -> Any:
    """Step warmup still warms up; whether the end is there is asked first."""
    if step >= total:
        return min_lr
    still = step <= warmup
    return scheduled(
        step, max_lr, min_lr, warmup, total, warms=lambda step, warmup: still
    )


def _floored(step: int, max_lr: float, min_lr: float, warmup: int, total: int) -> float:
    if step < warmup:
        return max_lr * (step + 1) // warmup
    return scheduled(step, max_lr, min_lr, warmup, total)  # type: ignore[no-any-return]


def _end_unasked(
    step: int,
    max_lr: float,
    min_lr: float,
    warmup: int,
    total: int,
    *,
    least: int = 0,
) -> float:
    """The share that is done is cut off at 1; nobody asks whether total is reached."""
    if step < warmup:
        return max_lr * (step + 1) / warmup
    part = min(1.0, (step - warmup) / max(least, total - warmup))
    return min_lr + (max_lr - min_lr) * (1 + math.cos(math.pi * part)) / 2


def _as_share(
    step: int, max_lr: float, min_lr: float, warmup: int, total: int
) -> float:
    return scheduled(step, max_lr, min_lr, warmup, total) / max_lr  # type: ignore[no-any-return]


def _decays_from_the_start(
    step: int, max_lr: float, min_lr: float, warmup: int, total: int
) -> float:
    if step >= total:
        return min_lr
    rate = min_lr + (max_lr - min_lr) * (1 + math.cos(math.pi * step / total)) / 2
    return rate * min(1.0, (step + 1) / warmup) if warmup else rate


RATES = [
    Mistake(
        "starts-at-zero",
        "The warm-up is max_lr * step / warmup, one step late: step 0 gets a rate of "
        "0 and learns nothing. Use step + 1.",
        up=lambda step, warmup: step / warmup,
    ),
    Mistake(
        "warm-up-too-long",
        "The warm-up is divided by warmup + 1, so that step warmup - 1 does not reach "
        "max_lr; divide by warmup.",
        up=lambda step, warmup: (step + 1) / (warmup + 1),
    ),
    Mistake(
        "warm-up-too-early",
        "The warm-up runs one step ahead: step + 2 where step + 1 is asked for.",
        up=lambda step, warmup: (step + 2) / warmup,
    ),
    Mistake(
        "warm-up-whole-division",
        "The warm-up divides whole numbers (//), which gives 0 until its end; use /.",
        up=lambda step, warmup: (step + 1) // warmup,
    ),
    Mistake(
        "warm-up-floored-by-division",
        "The warm-up divides with //, which cuts off what is behind the point; use /.",
        wrong=_floored,
    ),
    Mistake(
        "no-warm-up",
        "There is no warm-up: the first steps already get max_lr. Below warmup the "
        "rate is max_lr * (step + 1) / warmup.",
        up=lambda step, warmup: 1.0,
    ),
    Mistake(
        "decays-without-warm-up",
        "There is no warm-up: the cosine is used below warmup, too. There the rate is "
        "max_lr * (step + 1) / warmup.",
        warms=lambda step, warmup: False,
    ),
    Mistake(
        "warm-up-squared",
        "The warm-up is quadratic; it is linear.",
        up=lambda step, warmup: ((step + 1) / warmup) ** 2,
    ),
    Mistake(
        "warm-up-in-steps-only",
        "The warm-up is not multiplied by the share of warmup done: it is max_lr * "
        "(step + 1), undivided.",
        up=lambda step, warmup: step + 1,
    ),
    Mistake(
        "warm-up-from-min",
        "The warm-up starts at min_lr; it goes up from max_lr / warmup, max_lr * "
        "(step + 1) / warmup.",
        wrong=_from_min,
    ),
    Mistake(
        "warm-up-floored",
        "The rate is kept from falling below min_lr during the warm-up, too; there it "
        "is max_lr * (step + 1) / warmup, however small.",
        floor=max,
    ),
    Mistake(
        "warm-up-one-step-longer",
        "The warm-up still holds at step warmup (<=), where it goes beyond max_lr or "
        "divides by 0; it holds below warmup (<).",
        warms=lambda step, warmup: step <= warmup,
    ),
    Mistake(
        "warm-up-one-step-longer-after-the-end",
        "The warm-up still holds at step warmup (<=), where it goes beyond max_lr or "
        "divides by 0; it holds below warmup (<).",
        wrong=_longer,
    ),
    Mistake(
        "divides-by-zero",
        "Where warmup = total the share that is done, (step - warmup) / (total - "
        "warmup), divides by 0: ask for step >= total first, and return min_lr there.",
        wrong=_end_unasked,
    ),
    Mistake(
        "decay-of-one-step",
        "max(1, total - warmup) gives the decay a step that it doesn't have where "
        "warmup = total, so the rate is still max_lr at step total: ask for step >= "
        "total first, and return min_lr there.",
        wrong=partial(_end_unasked, least=1),
    ),
    Mistake(
        "halved-twice",
        "The cosine is halved twice, (1 + cos(π part)) / 4, so the decay starts in "
        "the middle: once, (1 + cos(π part)) / 2.",
        curve=lambda part: (1 + math.cos(math.pi * part)) / 4,
    ),
    Mistake(
        "exponential-decay",
        "The decay is exponential, max_lr * (min_lr / max_lr) ** part; it is half a "
        "cosine, (1 + cos(π part)) / 2.",
        curve=lambda part: part,
        between=lambda part, max_lr, min_lr: max_lr * (min_lr / max_lr) ** part,
    ),
    Mistake(
        "decay-over-total",
        "The decay is spread over total steps; it has total - warmup of them: "
        "(step - warmup) / (total - warmup).",
        part=lambda step, warmup, total: (step - warmup) / total,
    ),
    Mistake(
        "cosine-from-zero",
        "The cosine counts from step 0 to total, so it drops at the end of the "
        "warm-up; it starts at step warmup: (step - warmup) / (total - warmup).",
        part=lambda step, warmup, total: step / total,
    ),
    Mistake(
        "step-not-shifted",
        "The warm-up isn't taken off the step: (step - warmup) / (total - warmup), not "
        "step / (total - warmup).",
        part=lambda step, warmup, total: step / (total - warmup),
    ),
    Mistake(
        "cosine-times-warm-up",
        "Cosine and warm-up are multiplied, the cosine counted from step 0; first only "
        "the warm-up holds, then only the cosine, from step warmup on.",
        wrong=_decays_from_the_start,
    ),
    Mistake(
        "decay-one-step-early",
        "The decay is one step ahead: step warmup should still give max_lr, "
        "(step - warmup) / (total - warmup).",
        part=lambda step, warmup, total: (step - warmup + 1) / (total - warmup),
    ),
    Mistake(
        "decay-one-step-short",
        "The decay is over at total - 1; min_lr is reached at total: divide by "
        "total - warmup.",
        part=lambda step, warmup, total: (step - warmup) / max(total - warmup - 1, 1),
    ),
    Mistake(
        "linear-decay",
        "The decay is a straight line; it is half a cosine, (1 + cos(π part)) / 2.",
        curve=lambda part: 1 - part,
    ),
    Mistake(
        "whole-cosine",
        "A whole cosine is run through, down and up again (2π); half of it, to π, "
        "leads down.",
        curve=lambda part: (1 + math.cos(2 * math.pi * part)) / 2,
    ),
    Mistake(
        "quarter-cosine",
        "A quarter of a cosine is taken, cos(π part / 2); half a cosine is "
        "(1 + cos(π part)) / 2.",
        curve=lambda part: math.cos(math.pi * part / 2),
    ),
    Mistake(
        "cosine-not-raised",
        "The cosine itself is used, which goes from 1 to -1; raise and halve it: "
        "(1 + cos(π part)) / 2.",
        curve=lambda part: math.cos(math.pi * part),
    ),
    Mistake(
        "cosine-not-halved",
        "1 + cos(π part) isn't halved, so the decay starts at twice the height.",
        curve=lambda part: 1 + math.cos(math.pi * part),
    ),
    Mistake(
        "cosine-upside-down",
        "The cosine is upside down, (1 - cos) / 2, so the rate goes up; it is "
        "(1 + cos(π part)) / 2.",
        curve=lambda part: (1 - math.cos(math.pi * part)) / 2,
    ),
    Mistake(
        "no-pi",
        "π is missing in the cosine: cos(π part).",
        curve=lambda part: (1 + math.cos(part)) / 2,
    ),
    Mistake(
        "degrees",
        "The cosine is given degrees; it takes radians, π part.",
        curve=lambda part: (1 + math.cos(180 * part)) / 2,
    ),
    Mistake(
        "no-decay",
        "There is no decay: after the warm-up the rate stays at max_lr.",
        curve=lambda part: 1.0,
    ),
    Mistake(
        "decays-to-zero",
        "The decay goes to 0 instead of min_lr: min_lr + (max_lr - min_lr) * share.",
        between=lambda share, max_lr, min_lr: max_lr * share,
    ),
    Mistake(
        "decays-to-zero-with-floor",
        "The decay heads for 0 and is cut off at min_lr; it should approach min_lr: "
        "min_lr + (max_lr - min_lr) * share.",
        between=lambda share, max_lr, min_lr: max(max_lr * share, min_lr),
    ),
    Mistake(
        "min-added",
        "min_lr is added to a full max_lr * share, so the decay starts too high: "
        "min_lr + (max_lr - min_lr) * share.",
        between=lambda share, max_lr, min_lr: min_lr + max_lr * share,
    ),
    Mistake(
        "rises-again",
        "After total the cosine goes on and rises again; from total on the rate is "
        "min_lr.",
        ends=lambda step, total: False,
    ),
    Mistake(
        "rises-again-after-one-step",
        "After total the cosine goes on and rises again, and where warmup = total, "
        "max(1, total - warmup) leaves max_lr at step total; ask for step >= total "
        "first, and return min_lr there.",
        ends=lambda step, total: False,
        part=lambda step, warmup, total: (step - warmup) / max(1, total - warmup),
    ),
    Mistake(
        "end-not-included",
        "At step total itself the cosine still holds (> for >=), which divides by 0 "
        "where warmup = total; from total on, the rate is min_lr.",
        ends=lambda step, total: step > total,
    ),
    Mistake(
        "zero-at-the-end",
        "From total on the rate is 0; it is min_lr.",
        end=lambda max_lr, min_lr: 0.0,
    ),
    Mistake(
        "max-at-the-end",
        "From total on the rate is max_lr; it is min_lr.",
        end=lambda max_lr, min_lr: max_lr,
    ),
    Mistake(
        "share-of-max",
        "A share of max_lr comes back, a factor, as LambdaLR takes it; the rate itself "
        "is asked for.",
        wrong=_as_share,
    ),
    Mistake(
        "tensor-for-float",
        "A tensor comes back; a float is asked for: use math.cos, or .item().",
        gives=torch.tensor,
    ),
    Mistake(
        "tensor-in-the-decay",
        "In the decay a tensor comes back; a float is asked for: use math.cos, or "
        ".item().",
        curve=lambda part: torch.cos(torch.tensor(math.pi * part)).add(1) / 2,
    ),
    Mistake(
        "list-for-float",
        "A list comes back; one float is asked for.",
        gives=lambda rate: [rate],
    ),
]
