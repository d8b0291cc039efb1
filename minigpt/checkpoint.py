"""Checkpoints: written whole or not at all, and read with care."""

import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout
from torch import Tensor, nn

VERSION = 1

#: What every checkpoint holds.
HOLDS = {"recipe": dict, "tokeniser": dict, "model": dict}

#: What it takes to go on with the training, too.
GOES_ON = HOLDS | {
    "text": str,
    "optimizer": dict,
    "step": int,
    "history": list,
    "generator": Tensor,
    "random": Tensor,
}

ADVICE = "train one with `python -m minigpt.train`, or name another"
INSTEAD = f"take it away and {ADVICE}"


class CheckpointError(Exception):
    """A checkpoint that can't be used; the message says what to do about it."""


@contextmanager
def room(path: Path) -> Iterator[None]:
    """The folder of a checkpoint, made where it isn't there, for this process alone.

    It is gone again if nothing was kept in it. Raises CheckpointError where another
    training is at work there, OSError where nothing can be written.
    """
    folder = path.parent
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    lock = folder / ".lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(lock, timeout=0):
            try:
                yield
            finally:
                if not path.exists():
                    with suppress(OSError):  # on Windows it is still open
                        lock.unlink(missing_ok=True)
    except Timeout as error:
        raise CheckpointError(
            f"another training is at work in {folder}: wait for its end, or give "
            "another --out"
        ) from error
    finally:
        for one in made:
            with suppress(OSError):  # something is in it
                one.rmdir()


def save(path: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint. Killed at any moment, the file is the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = tempfile.NamedTemporaryFile(dir=path.parent, prefix=".part-", delete=False)
    try:
        with file:
            torch.save({"version": VERSION, **state}, file)
            file.flush()
            os.fsync(file.fileno())  # on the disk before the name points to it
        Path(file.name).replace(path)
    except BaseException:
        Path(file.name).unlink(missing_ok=True)
        raise
    for left in path.parent.glob(".part-*"):
        left.unlink(missing_ok=True)  # of a run that was killed while it wrote


def load(path: Path, holds: Mapping[str, type] = HOLDS) -> dict[str, Any]:
    """Read a checkpoint, which may hold tensors and plain values only.

    Raises CheckpointError, also where something isn't there that it is to hold.
    """
    if not path.is_file():
        raise CheckpointError(f"no checkpoint at {path}: {ADVICE}")
    try:
        state: Any = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"{path} is damaged: {INSTEAD}") from error
    except Exception as error:  # bytes that aren't a checkpoint fail in any way
        raise CheckpointError(
            f"{path} is no checkpoint of MiniGPT: {INSTEAD}"
        ) from error
    if not isinstance(state, dict) or state.get("version") != VERSION:
        raise CheckpointError(f"{path} is no checkpoint of this version: {INSTEAD}")
    for name, kind in holds.items():
        with understood(path, name):
            if not isinstance(state[name], kind):
                raise TypeError(f"{name} is no {kind.__name__}")
    return state


@contextmanager
def understood(path: Path, name: str) -> Iterator[None]:
    """Use what a checkpoint keeps by that name.

    Raises CheckpointError where it isn't what a training kept.
    """
    try:
        yield
    except Exception as error:  # nonsense fails in any way
        raise CheckpointError(
            f"{path} does not hold the {name} of a training: {INSTEAD}"
        ) from error


def fill(model: nn.Module, state: dict[str, Any], path: Path) -> None:
    """Give a model the weights of a checkpoint.

    Raises CheckpointError where they aren't this model's.
    """
    try:
        model.load_state_dict(state["model"])
    except RuntimeError as error:
        raise CheckpointError(
            f"{path} holds the weights of a model made of other parts: use the same "
            "--parts as in its training"
        ) from error
