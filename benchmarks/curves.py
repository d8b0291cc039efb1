"""Run the trainer's presets and record how they go, for chapter 10 to draw.

    python -m benchmarks.curves [--data PATH] [PRESET…]

Writes bookkit/recorded/PRESET.json: the losses at every hundredth step, and what the
model writes in the end. By default the two presets for a CPU.
"""

import argparse
import json
import time

import torch
from rich.progress import track

from bookkit.recorded import FOLDER
from minigpt import corpus, parts
from minigpt.model import choose_device
from minigpt.recipes import PRESETS
from minigpt.train import sample
from minigpt.trainer import Run

EVERY = 100


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.curves")
    usual = ["cpu", "shakespeare-char"]
    parser.add_argument("presets", nargs="*", default=usual, metavar="PRESET")
    parser.add_argument("--data", help="where shakespeare lies, if not to download it")
    options = parser.parse_args()
    if unknown := [name for name in options.presets if name not in PRESETS]:
        parser.error(f"no preset {unknown[0]!r}; there are {', '.join(PRESETS)}")
    for name in options.presets:
        _record(name, options.data)


def _record(name: str, data: str | None) -> None:
    recipe, text = PRESETS[name]
    if text == "shakespeare" and data:
        text = data
    device = choose_device()
    compiled = device.type == "cuda"
    run = Run(recipe, corpus.load(text), parts.references(), device, compiled=compiled)
    start, losses, checks = time.perf_counter(), [], []
    for report in track(run.steps(EVERY), name, total=recipe.steps):
        losses.append(report.loss)
        if report.unseen_loss is not None:
            mean = sum(losses) / len(losses)
            checks.append([report.step, round(mean, 3), round(report.unseen_loss, 3)])
            losses = []
    seconds = time.perf_counter() - start
    record = {
        "torch": torch.__version__,
        "device": device.type,
        "threads": torch.get_num_threads(),
        "seconds": round(seconds),
        "loss": round(run.loss_on_unseen(batches=200), 3),
        "checks": checks,
        "writes": sample(run, 300),
    }
    FOLDER.mkdir(exist_ok=True)
    lines = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (FOLDER / f"{name}.json").write_text(lines, "utf-8")
    print(f"{name}: {record['loss']:.3f} on unseen text, {seconds:.0f} s")


if __name__ == "__main__":
    main()
