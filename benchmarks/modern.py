"""The modern decoder against MiniGPT: the same tokens, and the same time.

    python -m benchmarks.modern [--data PATH] [--seeds 3] [--only NAME…]

Trains every decoder of chapter 15 on tinyshakespeare from every seed, and writes how
the runs went to bookkit/recorded/modern.json, which the chapter draws. A run that is
recorded there already isn't made again, so that one can stop and go on; `--only` takes
some of the decoders, for a process each. `--time` measures how long a step takes.
`--search` prints what other rates bring on a quarter of the tokens, and stops.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import torch
from einops import rearrange
from filelock import FileLock
from rich.progress import Progress
from torch import Tensor
from torch.nn import functional as F

from bookkit.modern import INGREDIENTS, Shape, classic, modern
from bookkit.plans import Plan, losses_on, train
from bookkit.recorded import FOLDER
from minigpt import corpus
from minigpt.model import fuse
from solutions.modern import LlamaBlock
from solutions.multihead import repeat_kv
from solutions.positions import rope_angles

RECORD = FOLDER / "modern.json"

#: How many parts of the unseen text have a loss of their own in the record.
PARTS = 20


@dataclass(frozen=True)
class Entry:
    """A decoder and how it is trained: by a plan, or for as long as the classic one."""

    plan: Plan
    classic: bool = False
    without: str | None = None
    same_time: bool = False


TUNED = Plan(schedule="linear", last=0.0, rate=4e-3)
MUON = replace(TUNED, muon=0.006)

ENTRIES = {
    "classic": Entry(Plan(), classic=True),
    "classic, tuned": Entry(replace(TUNED, rate=8e-3), classic=True),
    "classic, Muon": Entry(MUON, classic=True),
    "modern": Entry(TUNED),
    "modern, Muon": Entry(MUON),
    "modern, same time": Entry(MUON, same_time=True),
} | {
    f"without {part}": Entry(MUON, without=part, same_time=True) for part in INGREDIENTS
}


#: The largest rates that were tried, on a quarter of the tokens.
RATES = {
    "classic, tuned": [{"rate": rate} for rate in (2e-3, 4e-3, 8e-3, 1.6e-2)],
    "modern": [{"rate": rate} for rate in (2e-3, 4e-3, 8e-3)],
    "modern, Muon": [{"muon": rate} for rate in (5e-3, 1e-2, 2e-2)],
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.modern")
    parser.add_argument("--data", default="shakespeare", help="a text, or its path")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=list(ENTRIES), metavar="NAME")
    parser.add_argument("--time", action="store_true", help="measure steps in turns")
    parser.add_argument("--search", action="store_true", help="try rates, and stop")
    options = parser.parse_args()
    if unknown := [name for name in options.only if name not in ENTRIES]:
        parser.error(f"{unknown[0]!r} is none of: {'; '.join(ENTRIES)}")
    text = corpus.load(options.data)
    letters = {letter: i for i, letter in enumerate(sorted(set(text)))}
    tokens = torch.tensor([letters[letter] for letter in text])
    cut = int(len(tokens) * 0.9)
    seen, unseen = tokens[:cut], tokens[cut:]
    shape = Shape(len(letters))
    if options.search:
        _search(shape, seen, unseen)
        return
    timed = any(ENTRIES[name].same_time for name in options.only)
    if options.time or (timed and not _read()["seconds"]):
        _write("seconds", _in_turns(shape, seen))
    todo = [
        (name, seed)
        for seed in range(options.seeds)
        for name in options.only
        if str(seed) not in _read()["runs"].get(name, {})
    ]
    with Progress() as progress:
        for name, seed in todo:
            entry = _settled(name)
            bar = progress.add_task(f"{name}, seed {seed}", total=entry.plan.steps)
            step = partial(progress.advance, bar)
            run = _run(entry, shape, seed, seen, unseen, step)
            _write("runs", {name: {str(seed): run}})
            progress.console.print(f"{name}, seed {seed}: {run['loss']:.3f}")


def _search(shape: Shape, seen: Tensor, unseen: Tensor) -> None:
    for name, tried in RATES.items():
        for rates in tried:
            plan = replace(ENTRIES[name].plan, steps=500, warmup=50, **rates)
            entry = replace(ENTRIES[name], plan=plan)
            loss = _run(entry, shape, 0, seen, unseen, lambda: None)["loss"]
            print(f"{name}, {rates}: {loss:.3f}")


def _settled(name: str) -> Entry:
    """The entry, with as many steps as the time allows."""
    entry = ENTRIES[name]
    if not entry.same_time:
        return entry
    seconds = _read()["seconds"]
    share = seconds["classic"] / seconds["modern, Muon"]
    steps = round(ENTRIES["classic"].plan.steps * share)
    return replace(entry, plan=replace(entry.plan, steps=steps))


def _model(entry: Entry, shape: Shape, seed: int) -> Any:
    """The decoder, with each attention in one kernel."""
    if entry.classic:
        model = classic(shape, seed)
        fuse(model, shape.vocab_size)
        return model
    decoder = modern(LlamaBlock, shape, entry.without, seed)
    for block in decoder.blocks:
        block.attn.forward = partial(attend, block.attn)
    return decoder


def attend(attention: Any, x: Tensor, positions: Tensor) -> Tensor:
    """LlamaBlock's attention in one kernel, with the weights of `attention`.

    Turning a pair of features is a product of complex numbers.
    """
    heads, kv_heads = attention.num_heads, attention.num_kv_heads
    weights = [attention.W_q.weight, attention.W_k.weight, attention.W_v.weight]
    QKV = rearrange(
        F.linear(x, torch.cat(weights)),
        "B T (h d_k) -> B h T d_k",
        h=heads + 2 * kv_heads,
    )
    Q, K, V = QKV.split([heads, kv_heads, kv_heads], dim=1)
    angles = rope_angles(positions, Q.shape[-1])
    turn = torch.polar(torch.ones_like(angles), angles)  # (T, d_k/2)
    Q, K = (
        torch.view_as_real(
            torch.view_as_complex(a.unflatten(-1, (-1, 2))) * turn
        ).flatten(-2)
        for a in (Q, K)
    )
    K, V = (repeat_kv(a, heads // kv_heads) for a in (K, V))
    mixed = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    out: Tensor = attention.W_o(rearrange(mixed, "B h T d_k -> B T (h d_k)"))
    return out


def _run(
    entry: Entry, shape: Shape, seed: int, seen: Tensor, unseen: Tensor, step: Any
) -> dict[str, Any]:
    """Train from a seed; the losses on unseen text on the way and in the end."""
    model, plan = _model(entry, shape, seed), entry.plan
    every = max(1, plan.steps // 10)
    checks, start, checking = [], time.perf_counter(), 0.0
    for done, _ in enumerate(train(model, plan, seen, seed), start=1):
        step()
        if done % every == 0 or done == plan.steps or done == every // 2:
            before = time.perf_counter()
            loss = float(losses_on(model, unseen, plan.seq_len, 320).mean())
            checks.append([done, round(loss, 4)])
            checking += time.perf_counter() - before
    seconds = time.perf_counter() - start - checking
    pieces = losses_on(model, unseen, plan.seq_len)
    parts = [round(float(part.mean()), 4) for part in pieces.tensor_split(PARTS)]
    return {
        "plan": asdict(plan),
        "parameters": sum(p.numel() for p in model.parameters()),
        "tokens": plan.tokens,
        "seconds": round(seconds),
        "checks": checks,
        "loss": round(float(pieces.mean()), 4),
        "parts": parts,
        "read": len(pieces) * plan.seq_len,
    }


def _in_turns(shape: Shape, seen: Tensor, rounds: int = 25) -> dict[str, float]:
    """The seconds of a core that a step takes: the best of rounds taken in turns.

    Decoders of the same kind share one measurement; those without a part have none.
    """
    kinds = {
        name: (entry.classic, entry.plan.muon > 0)
        for name, entry in ENTRIES.items()
        if entry.without is None
    }
    going: dict[tuple[bool, bool], Iterator[float]] = {}
    for name, kind in kinds.items():
        entry = ENTRIES[name]
        going[kind] = train(_model(entry, shape, 0), entry.plan, seen)
    best = dict.fromkeys(going, float("inf"))
    for _ in range(rounds):
        for kind, steps in going.items():
            start = time.process_time()
            for _ in range(2):
                next(steps)
            best[kind] = min(best[kind], (time.process_time() - start) / 2)
    return {name: round(best[kind], 4) for name, kind in kinds.items()}


def _read() -> dict[str, Any]:
    if not RECORD.exists():
        return {
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "seconds": {},
            "runs": {},
        }
    found: dict[str, Any] = json.loads(RECORD.read_text("utf-8"))
    return found


def _write(field: str, news: dict[str, Any]) -> None:
    """Add to the record, whole or not at all, whoever else writes to it."""
    RECORD.parent.mkdir(exist_ok=True)
    with FileLock(RECORD.with_suffix(".lock")):
        record = _read()
        for name, value in news.items():
            if isinstance(value, dict):
                value = record[field].get(name, {}) | value
            record[field][name] = value
        draft = RECORD.with_suffix(".draft")
        draft.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
        draft.replace(RECORD)


if __name__ == "__main__":
    main()
