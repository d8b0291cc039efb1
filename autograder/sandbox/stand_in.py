"""What a learner's code finds in the worker under the names of this project.

`from autograder import exercise` and `from autograder.parts import …` work, since a
notebook says so; nothing else of the project can be imported. `torch.compile` leaves
code as it is: a worker has no compiler, nowhere to write, and little time.
"""

import sys
from collections.abc import Sequence
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import torch

from .loading import Parts

OURS = {"autograder", "solutions", "bookkit", "minigpt"}
ROOT = Path(__file__).parents[2]


def forget_project() -> None:
    """Take the project off the import path, however it came to be on it."""
    sys.path = [entry for entry in sys.path if not _leads_to_project(entry)]
    sys.path_importer_cache.clear()
    sys.meta_path = [
        finder
        for finder in sys.meta_path
        if not getattr(finder, "__module__", "").startswith("__editable__")
    ]
    sys.meta_path.insert(0, Refusal())


def _leads_to_project(entry: str) -> bool:
    """The project's folder, a relative one, or an editable install's mark."""
    inside = Path(entry).is_relative_to(ROOT)
    libraries = "site-packages" in entry or "dist-packages" in entry
    return not Path(entry).is_absolute() or (inside and not libraries)


class Refusal(MetaPathFinder):
    """Says that the project's modules don't exist, also where they are installed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.partition(".")[0] in OURS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def install(parts: Parts) -> None:
    """Put the stand-ins where imports find them."""
    for name in list(sys.modules):
        if name.partition(".")[0] in OURS:
            del sys.modules[name]
    autograder, offered = ModuleType("autograder"), PartsModule(parts)
    stand_ins = {"exercise": exercise, "reference": partial(getattr, offered)}
    autograder.__dict__.update(stand_ins, parts=offered, __path__=[])
    sys.modules |= {"autograder": autograder, "autograder.parts": offered}
    torch.compile = uncompiled


def exercise(target: Any = None, /, **options: Any) -> Any:
    """The decorator, which here leaves what it decorates as it is."""
    return exercise if target is None else target


def uncompiled(model: Any = None, **options: Any) -> Any:
    """In the place of `torch.compile`: what it gives, only not as fast."""
    return uncompiled if model is None else model


class PartsModule(ModuleType):
    """Offers the job's parts; another name imports, and fails where it is used."""

    def __init__(self, parts: Parts) -> None:
        super().__init__("autograder.parts")
        self.__dict__.update(_parts=parts, __all__=list(parts), __path__=[])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        parts: Parts = self.__dict__["_parts"]
        return parts[name] if name in parts else Missing(name)


class Missing:
    """A part that this exercise doesn't build on."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        name = self.__dict__["_name"]
        raise ImportError(f"{name} isn't one of the parts that this exercise may use")

    __call__ = __mro_entries__ = __getattr__ = __setattr__ = _refuse
    __instancecheck__ = __subclasscheck__ = _refuse
