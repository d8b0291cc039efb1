"""The Python standard library's own source, as text to learn from: always there."""

import sysconfig
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

# Long modules that every supported Python keeps as a single file.
MODULES = (
    "argparse ast calendar configparser contextlib copy csv dataclasses datetime "
    "difflib doctest functools heapq inspect optparse pdb pydoc random shutil socket "
    "statistics subprocess tarfile textwrap threading tokenize typing"
).split()
SHOWN = {" ": "␣", "\n": "⏎"}
OTHER = "▯"


def source(modules: Sequence[str] = MODULES) -> str:
    """The modules' source, one after the other."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    return "\n".join((folder / f"{name}.py").read_text("utf-8") for name in modules)


def characters(text: str, size: int = 80) -> tuple[Tensor, list[str]]:
    """Number a text's characters: (N,), and how each of the `size` numbers is shown.

    The most frequent get a number each, the last number is for all others.
    """
    codes = torch.tensor([ord(character) for character in text])
    known, counts = codes.unique(return_counts=True)
    kept = known[counts.argsort(descending=True, stable=True)[: size - 1]]
    numbers = torch.full((int(known.max()) + 1,), size - 1)
    numbers[kept] = torch.arange(len(kept))
    shown = [SHOWN.get(chr(code), chr(code)) for code in kept.tolist()]
    return numbers[codes], shown + [OTHER] * (size - len(shown))
