"""All exercises, found in the modules of `autograder.exercises`."""

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterable
from typing import Any

from autograder import exercises as package
from autograder.definition import Chapter, Exercise


def _load() -> tuple[dict[str, Exercise], dict[int, Chapter], dict[str, int]]:
    found: dict[str, Exercise] = {}
    chapters: dict[int, Chapter] = {}
    chapter_of: dict[str, int] = {}
    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    for module in sorted(modules, key=lambda module: module.CHAPTER.number):
        chapters[module.CHAPTER.number] = module.CHAPTER
        for exercise in vars(module).values():
            if isinstance(exercise, Exercise) and exercise.id not in found:
                found[exercise.id] = exercise
                chapter_of[exercise.id] = module.CHAPTER.number
    return found, chapters, chapter_of


EXERCISES, CHAPTERS, CHAPTER_OF = _load()


def chapter_of(exercise: Exercise) -> int:
    """The number of the exercise's chapter; -1 for one that is in no chapter."""
    return CHAPTER_OF.get(exercise.id, -1)


def of_chapter(number: int) -> list[Exercise]:
    """A chapter's exercises, in the order of its page."""
    return [one for one in EXERCISES.values() if CHAPTER_OF[one.id] == number]


def nearest(name: str, known: Iterable[str] = ()) -> str | None:
    """The known id that is most like a mistyped one."""
    close = difflib.get_close_matches(name, list(known) or list(EXERCISES), n=1)
    return close[0] if close else None


def used_by(exercise: Exercise) -> list[Callable[..., Any]]:
    """The earlier exercises' references that this one builds on, transitively."""
    found: dict[str, Callable[..., Any]] = {}
    for reference in exercise.uses:
        found[reference.__name__] = reference
        if reference.__name__ in EXERCISES:
            for deeper in used_by(EXERCISES[reference.__name__]):
                found.setdefault(deeper.__name__, deeper)
    return list(found.values())
