"""Checkpoints: written whole or not at all, and read with care."""

import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import nn

VERSION = 1

#: What every checkpoint holds.
HOLDS = {"recipe", "tokeniser", "model"}


class CheckpointError(Exception):
    """A checkpoint that can't be used; the message says what to do about it."""


def make_room(path: Path) -> None:
    """Make the folder of a checkpoint, and see that one can be written there.

    Raises OSError where none can.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".part-"):
        pass


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


def load(path: Path) -> dict[str, Any]:
    """Read a checkpoint, which may hold tensors and plain values only.

    Raises CheckpointError.
    """
    advice = "train one with `python -m minigpt.train`, or name another"
    if not path.is_file():
        raise CheckpointError(f"no checkpoint at {path}: {advice}")
    try:
        state: Any = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"{path} is damaged: {advice}") from error
    except Exception as error:  # bytes that aren't a checkpoint fail in any way
        raise CheckpointError(
            f"{path} is no checkpoint of MiniGPT: {advice}"
        ) from error
    if not isinstance(state, dict) or not (
        state.get("version") == VERSION and state.keys() >= HOLDS
    ):
        raise CheckpointError(f"{path} is no checkpoint of this version: {advice}")
    return state


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
