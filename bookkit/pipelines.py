"""Who works when in a pipeline, found by letting it run, and a picture of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bookkit.figures import MUTED, PALETTE, PAPER
from bookkit.widgets.pictures import Picture, text
from bookkit.widgets.theme import EMPTY

FORWARD, BACKWARD = 1, 2  # units of time: a backward pass has twice the products
ROW, LEFT, TOP, LENGTH = 26, 66, 30, 340  # units of the drawing


@dataclass(frozen=True)
class Slot:
    """One micro-batch's forward or backward pass through one stage."""

    stage: int
    kind: str  # "forward" or "backward"
    micro: int
    start: int
    end: int


def order(kind: str, stage: int, p: int, m: int) -> list[tuple[str, int]]:
    """What a stage does, in which order: all forward first, or in turns ("1F1B")."""
    if kind == "GPipe":
        passes = [("forward", i) for i in range(m)]
        return passes + [("backward", i) for i in range(m)]
    ahead = min(p - stage, m)  # forward passes until the first backward pass is due
    passes = [("forward", i) for i in range(ahead)]
    for i in range(m):
        passes.append(("backward", i))
        if ahead + i < m:
            passes.append(("forward", ahead + i))
    return passes


def timeline(p: int, m: int, kind: str = "GPipe") -> list[Slot]:
    """Let p stages work on m micro-batches, each as soon as it has what it needs.

    A forward pass needs the stage before it, a backward pass the stage after it.
    """
    queues = [order(kind, stage, p, m) for stage in range(p)]
    ready, done = [0] * p, dict[tuple[str, int, int], int]()
    slots = []
    while any(queues):
        for stage, queue in enumerate(queues):
            if not queue:
                continue
            what, micro = queue[0]
            needs = _needs(what, micro, stage, p)
            if needs is not None and needs not in done:
                continue
            start = max(ready[stage], done[needs] if needs is not None else 0)
            end = start + (FORWARD if what == "forward" else BACKWARD)
            ready[stage] = done[what, micro, stage] = end
            slots.append(Slot(stage, what, micro, start, end))
            queue.pop(0)
    return slots


def _needs(what: str, micro: int, stage: int, p: int) -> tuple[str, int, int] | None:
    if what == "forward":
        return ("forward", micro, stage - 1) if stage else None
    if stage == p - 1:
        return "forward", micro, stage
    return "backward", micro, stage + 1


def idle_share(slots: Sequence[Slot]) -> float:
    """The part of all stages' time in which they do nothing."""
    stages, length = 1 + max(one.stage for one in slots), max(one.end for one in slots)
    return 1 - sum(one.end - one.start for one in slots) / (stages * length)


def most_held(slots: Sequence[Slot], stage: int = 0) -> int:
    """The most micro-batches that a stage remembers at once for their backward pass."""
    own = [one for one in slots if one.stage == stage]
    moments = [(one.end, 1 if one.kind == "forward" else -1) for one in own]
    held, most = 0, 0
    for _, change in sorted(moments):
        held += change
        most = max(most, held)
    return most


def pipeline_picture(p: int, m: int, kind: str, most: int) -> Picture:
    """Draw who works when: a row a stage, time to the right, all of it as wide.

    `most` is the most stages of any picture of the figure.
    """
    slots = timeline(p, m, kind)
    unit = LENGTH / max(one.end for one in slots)
    body = text(LEFT, 14, "time →", MUTED)
    for stage in range(p):
        y = TOP + stage * ROW
        body += text(LEFT - 8, y + 16, f"stage {stage}", anchor="end")
        body += (
            f"<rect x='{LEFT}' y='{y}' width='{LENGTH}' height='{ROW - 3}' "
            f"fill='{EMPTY}'/>"
        )
    body += "".join(_boxes(slots, unit))
    idle = idle_share(slots)
    words = (
        f"{p} stages, {m} micro-batch{'es' * (m > 1)}: the stages stand idle for "
        f"{idle:.0%} of the time. Stage 0 remembers {most_held(slots)} at once."
    )
    return Picture(body, LEFT + LENGTH, TOP + ROW * most, words)


def _boxes(slots: Sequence[Slot], unit: float) -> Iterator[str]:
    """A box for each pass, with its micro-batch's number if there is room for all."""
    for one in slots:
        x, y = LEFT + one.start * unit, TOP + one.stage * ROW
        width = (one.end - one.start) * unit
        colour = PALETTE[0] if one.kind == "forward" else PALETTE[1]
        yield (
            f"<rect x='{x:.1f}' y='{y}' width='{width - 1:.1f}' height='{ROW - 3}' "
            f"fill='{colour}'/>"
        )
        if unit * FORWARD > 8.5:
            middle = x + width / 2 - 0.5
            yield text(middle, y + 16, str(one.micro), PAPER, anchor="middle")
