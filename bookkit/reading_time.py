"""How long a page takes: to read, and with its exercises.

People read prose of this kind at about 200 words a minute; a line of code or a formula
on a line of its own takes longer than its words say. Exercises state their own minutes.
"""

import math
import re

from nbformat import NotebookNode

from bookkit.notebooks import exercise_name

WORDS_A_MINUTE = 200
SECONDS_A_LINE = 3  # of code
SECONDS_A_FORMULA = 15  # on lines of its own
FOLDED = re.compile(r"^:::+\{dropdown\}.*?^:::+$", re.DOTALL | re.MULTILINE)
DRAWN = re.compile(r"^```\{raw\}.*?^```$", re.DOTALL | re.MULTILINE)
DISPLAYED = re.compile(r"\$\$.*?\$\$", re.DOTALL)
MARKUP = re.compile(r"\{[a-z:]+\}`[^`]*`|\]\([^)]*\)|[|*#`$\\{}\[\]]+|-{3,}")


def minutes_to_read(notebook: NotebookNode) -> float:
    """The minutes that prose, code and formulas take; folded answers aren't counted."""
    seconds = 0.0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            hidden = {"remove-input", "hide-input"} & set(cell.metadata.get("tags", []))
            if not hidden:
                seconds += SECONDS_A_LINE * len(cell.source.splitlines())
        elif cell.cell_type == "markdown":
            prose = DRAWN.sub(" ", FOLDED.sub(" ", cell.source))
            prose, formulas = DISPLAYED.subn(" ", prose)
            words = MARKUP.sub(" ", prose).split()
            seconds += SECONDS_A_FORMULA * formulas
            seconds += 60 * len(words) / WORDS_A_MINUTE
    return seconds / 60


def exercises_in(notebook: NotebookNode) -> list[str]:
    """The exercises that a notebook asks for."""
    names = map(exercise_name, notebook.cells)
    return [name for name in names if name is not None]


def told(reading: float, exercises: float) -> str:
    """How long it takes to read, and with the exercises, in words."""
    whole = f"About {_duration(reading)} to read"
    if exercises:
        whole += f", {_duration(reading + exercises)} with the exercises"
    return f"{whole}."


def _duration(minutes: float) -> str:
    """Rounded up to five minutes, and beyond 85 to a quarter of an hour."""
    if minutes <= 85:
        return f"{max(5, 5 * math.ceil(minutes / 5))} minutes"
    hours, quarters = divmod(math.ceil(minutes / 15), 4)
    return f"{hours}{('', ' ¼', ' ½', ' ¾')[quarters]} hours"
