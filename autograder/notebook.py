"""The decorator that grades an answer where it is written."""

import io
import linecache
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import Any, TypeVar, cast

from autograder import keeping, parts, render, workbook
from autograder.definition import Exercise
from autograder.judge import check
from autograder.registry import EXERCISES, chapter_of, nearest
from autograder.untouched import untouched
from autograder.verdict import Verdict

Answer = TypeVar("Answer", bound=Callable[..., Any])


def exercise(answer: Answer) -> Answer:
    """Grade a function or class and show the verdict under the cell.

    Gives the answer back, so that the page goes on with what the learner wrote; gives
    the reference back where the cell is still as the chapter gave it. Raises
    ValueError for a name that no exercise has.
    """
    if parts.LOADING.get():
        return answer
    name = answer.__name__
    if name not in EXERCISES:
        near = nearest(name)
        also = f"; did you mean {near!r}?" if near else ""
        raise ValueError(f"no exercise is called {name!r}{also}")
    definition = EXERCISES[name]
    cells = _cells(sys._getframe(1).f_code.co_filename)
    if untouched(cells[-1:], name):
        _show(_not_attempted(definition), ())
        return cast(Answer, definition.reference)
    with redirect_stdout(io.StringIO()) as printed:
        verdict = check(definition, answer)
    notes = _after(definition, verdict, cells)
    lines = len(printed.getvalue().splitlines())
    if lines:
        notes += (
            f"Your code printed {lines} line{'' if lines == 1 else 's'} while it was "
            "checked, not shown here: call it in a cell of your own to see them.",
        )
    _show(verdict, definition.hints, notes)
    return answer


def _cells(filename: str) -> Sequence[str]:
    """The cells run so far, the current one last; outside a notebook, the file."""
    running = "".join(linecache.getlines(filename))
    shell = _shell()
    if shell is None:
        return [running]
    cells = list(shell.history_manager.input_hist_raw)
    if not cells or cells[-1].strip() != running.strip():
        cells.append(running)  # nbval runs cells without storing them in the history
    return cells


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _not_attempted(definition: Exercise) -> Verdict:
    full = 0.0 if definition.optional else float(definition.points)
    verb = "mend" if definition.broken else "write"
    minutes = "1 minute" if definition.minutes == 1 else f"{definition.minutes} minutes"
    return Verdict(
        definition.id,
        chapter_of(definition),
        "not_attempted",
        0.0,
        full,
        notes=(
            f"Until you {verb} it, the reference takes its place and the page runs on. "
            f"About {minutes}, difficulty {definition.difficulty} of 5.",
        ),
    )


def _after(
    definition: Exercise, verdict: Verdict, cells: Sequence[str]
) -> tuple[str, ...]:
    """Keep what is to be kept, and say how to go on."""
    name, book = definition.id, workbook.current()
    kept = keeping.keep(book, verdict, cells) if book else None
    if not verdict.passed:
        go_on = (
            "Yours stays in place. To go on with the reference: "
            f'`from autograder import reference; {name} = reference("{name}")`.'
        )
        return (kept, go_on) if kept else (go_on,)
    if book is None or kept is None:
        return ("Not kept: this folder is no workbook. `autograder start` makes one.",)
    return (kept, keeping.far(book, chapter_of(definition)))


def _show(
    verdict: Verdict, hints: Sequence[str], notes: tuple[str, ...] | None = None
) -> None:
    if notes is not None:
        fields = {**vars(verdict), "notes": notes}
        verdict = Verdict(**fields)
    show(render.as_text(verdict, hints), render.as_html(verdict, hints))


class _Shown:
    """Something to display: text for readers without HTML, HTML for the others."""

    def __init__(self, text: str, html: str) -> None:
        self.text, self.html = text, html

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html}


def show(text: str, html: str) -> None:
    """Display under the cell; outside a notebook, print the text."""
    if _shell() is None:
        print(text)
    else:
        from IPython.display import display

        display(_Shown(text, html))  # type: ignore[no-untyped-call]
