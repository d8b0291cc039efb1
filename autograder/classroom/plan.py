"""Which submissions need to be graded, and what of them: the others are kept."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder.classroom.work import Item, version
from autograder.grading import Options
from autograder.overview.feedback import page_names
from autograder.registry import EXERCISES
from autograder.source import Contents, Found, UsageError, contents_of
from autograder.spelling import like

Record = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """What is to be graded, from what it is made, and the record that is still good if
    it can't be."""

    number: int
    item: Item
    made_from: dict[str, str]
    old: Record | None


class Plan:
    """What a command line asks for. Submissions go by their number, in a fixed order.

    Raises UsageError for a name in `regrade` that is neither a submission nor an
    exercise.
    """

    def __init__(
        self,
        found: Sequence[Found],
        out: Path,
        options: Options,
        regrade: Collection[str] = (),
    ) -> None:
        self.found, self.options = found, options
        names = {one.name for one in found}
        for name in regrade:
            if name not in names and name not in EXERCISES:
                also = like(name, names | EXERCISES.keys())
                raise UsageError(
                    f"--regrade {name}: there is no such submission and no such "
                    f"exercise; {also or 'name one as results.json does'}"
                )
        self.anew = names.intersection(regrade)
        self.only = tuple(name for name in EXERCISES if name in regrade)
        self.key = None if options.key is None else fingerprint(options.key)
        self.hide = _outermost({*(one.path.parent for one in found), out})
        #: the name of each submission's page and record, without its ending
        pages = page_names([one.name for one in found])
        self.files = [name.removesuffix(".html") for name in pages]
        self._marks = {
            "grader": version(),
            "key": self.key or "",
            "options": _of_options(options),
        }

    def __len__(self) -> int:
        return len(self.found)

    def task(self, number: int, record: Record | None) -> Task | None:
        """What is to be done about a submission with this record; None if nothing."""
        one = self.found[number]
        contents = contents_of(one.path)
        made_from = self._marks | {"contents": _of_contents(one.path.name, contents)}
        only: tuple[str, ...] = ()
        old = record if _is_of(record, one.name, made_from) else None
        if old is not None and one.name not in self.anew:
            had = {exercise["id"] for exercise in old["exercises"]}
            only = tuple(name for name in self.only if name in had)
            by_this_grader = old["made_from"]["grader"] == made_from["grader"]
            if not only and (by_this_grader or self.only or self.anew):
                return None
            if only:
                made_from["grader"] = old["made_from"]["grader"]
        item = Item(
            one.name,
            one.path.name,
            contents,
            self.options,
            self.hide,
            self._marks["grader"],
            only,
            old if only else None,
        )
        return Task(number, item, made_from, old)


def _is_of(record: Record | None, name: str, made_from: dict[str, str]) -> bool:
    """Whether it is this submission's, and of the same contents, options and key."""
    if record is None or record.get("submission") != name:
        return False
    had = record.get("made_from")
    return isinstance(had, dict) and all(
        had.get(mark) == made_from[mark] for mark in made_from if mark != "grader"
    )


def fingerprint(key: bytes) -> str:
    """By which two keys can be told apart, and from which neither can be found.

    Slow on purpose, so that a key isn't found by trying many.
    """
    salt = b"autograder: the fingerprint of an instructor's key"
    return hashlib.pbkdf2_hmac("sha256", key, salt, 600_000).hex()[:16]


def _of_options(options: Options) -> str:
    told = json.dumps([options.partial, asdict(options.limits)], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _of_contents(file: str, contents: Contents) -> str:
    """The hash of a submission: every byte of it, and what its files are called."""
    digest = hashlib.sha256()
    whole = [("", contents.error), ("", contents.file), *contents.folder]
    for name, data in [(file, None), *whole]:
        kind = type(data).__name__
        told = data.encode(errors="surrogatepass") if isinstance(data, str) else data
        head = [kind, name, len(told or b"")]
        digest.update(json.dumps(head).encode() + b"\n" + (told or b""))
    return digest.hexdigest()


def _outermost(folders: Collection[Path]) -> tuple[str, ...]:
    """The folders, resolved, without those that lie in another one of them."""
    outer: list[Path] = []
    for folder in sorted({folder.resolve() for folder in folders}):
        if not outer or not folder.is_relative_to(outer[-1]):
            outer.append(folder)
    return tuple(map(str, outer))
