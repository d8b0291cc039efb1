"""The page that whoever handed in a submission gets back.

Self-contained: no request, no script, and everything that comes from a submission is
escaped. On paper every check is printed, and of the hints the first and those unfolded.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from autograder.filenames import safe_names
from autograder.overview.document import document, sheet
from autograder.overview.sections import place
from autograder.overview.wording import BLAME, blamed, listed, num, times
from autograder.registry import CHAPTERS, EXERCISES
from autograder.render.page import STYLE, as_html, prose
from autograder.render.words import SAID, clean, points
from autograder.verdict import Verdict

if TYPE_CHECKING:
    from autograder.report import Result

#: Names that are taken in the folder of results before any page is written.
TAKEN = ("results.json", "grades.csv", "class.html", "submissions")


def page_names(submissions: Sequence[str]) -> list[str]:
    """A file name for each feedback page: safe on every system, and none twice."""
    return safe_names(submissions, ".html", TAKEN)


def feedback(result: "Result") -> str:
    """The page: what is right, what to look at first, and a verdict an exercise."""
    name = clean(result.submission)
    body = [f"<h1>{escape(name)}</h1>", *_top(result)]
    body += [f'<p class="note">{escape(clean(note))}</p>' for note in result.notes]
    if len(result.verdicts) > 1:
        body.append(_contents(result.verdicts))
    for chapter, verdicts in groupby(result.verdicts, key=lambda one: one.chapter):
        title = CHAPTERS[chapter].title if chapter in CHAPTERS else ""
        body.append(f"<h2>{escape(f'Chapter {chapter} · {title}'.rstrip(' ·'))}</h2>")
        body += map(_verdict, verdicts)
    style = STYLE.removeprefix("<style>").removesuffix("</style>")
    style += sheet("feedback.css")
    return document(f"Feedback: {name}", "\n".join(body), style)


def _top(result: "Result") -> Iterator[str]:
    """The points, how much is right, and where to begin."""
    if result.error is not None:
        yield f'<p class="lead">Not graded: {escape(clean(result.error))}</p>'
        return
    had = f"{num(result.points)} of {times(result.max_points, 'point')}"
    yield f'<p class="lead"><b>{had}</b>. {summary(result.verdicts)}</p>'
    if first := look_first(result.verdicts):
        yield f'<p class="lead">{first}</p>'


def summary(verdicts: Sequence[Verdict]) -> str:
    """`Of 6 exercises, 4 are right, 1 is not right yet, 1 is not attempted.`"""
    if not verdicts:
        return ""
    if all(one.passed for one in verdicts):
        return (
            "Everything is right."
            if len(verdicts) > 1
            else f"<code>{escape(verdicts[0].exercise)}</code> is right."
        )
    counts = Counter("right" if one.passed else _state(one) for one in verdicts)
    if len(verdicts) == 1:
        return f"<code>{escape(verdicts[0].exercise)}</code> {_state(verdicts[0])}."
    right = counts.pop("right", 0)
    parts = [f"{right or 'none'} {'are' if right > 1 else 'is'} right"]
    parts += [f"{count} {_plural(what, count)}" for what, count in counts.items()]
    return f"Of {len(verdicts)} exercises, {listed(parts)}."


def _state(verdict: Verdict) -> str:
    """The status as the end of a sentence about one exercise."""
    words = SAID[verdict.status][1]
    verb = "" if words.split()[0] in ("stops", "takes", "ended", "uses") else "is "
    return verb + words


def _plural(words: str, count: int) -> str:
    """What is said of one exercise, said of several."""
    if count == 1:
        return words
    for one, more in (("is ", "are "), ("stops ", "stop "), ("takes ", "take ")):
        if words.startswith(one):
            return more + words.removeprefix(one)
    if words.startswith("uses "):
        return "use built-ins that are the exercises"
    return words.replace("its process", "their processes")


def look_first(verdicts: Sequence[Verdict]) -> str:
    """Where to begin: the wrong answer on which others wait, else the first."""
    open_ = [one for one in verdicts if not one.passed]
    waiting = {
        one.exercise: guilty
        for one in open_
        if (guilty := blamed((d.mistake, d.message) for d in one.diagnosis))
    }
    wrong = [one for one in open_ if one.diagnosis]
    causes = [one for one in wrong if one.exercise not in waiting] or wrong
    held_up = {
        one.exercise: [later for later, by in waiting.items() if by == [one.exercise]]
        for one in causes
    }
    if causes:
        first = max(causes, key=lambda one: len(held_up[one.exercise]))
        found = next((d for d in first.diagnosis if d.mistake != BLAME), None)
        said = prose(found.message.split("\n")[0]) if found else ""
        text = f"Look first at {_link(first.exercise)}: {said}"
        if then := held_up[first.exercise]:
            verb = "is" if len(then) == 1 else "are"
            text += f" Once it is right, {listed(map(_link, then))} {verb} too."
        return text
    left = [one for one in open_ if one.max_points] or open_
    return f"Next: {_link(left[0].exercise)}." if left else ""


def _link(exercise: str) -> str:
    name = escape(exercise)
    shown = name.replace("_", "_<wbr>")
    return f'<a href="#{name}"><code>{shown}</code></a>'


def _contents(verdicts: Sequence[Verdict]) -> str:
    """Every exercise in a line, each leading to its verdict."""
    rows = "".join(
        f'<tr><th scope="row">{_link(one.exercise)}</th>'
        f'<td><span aria-hidden="true">{SAID[one.status][0]}</span> '
        f"{SAID[one.status][1]}</td><td>{points(one)}</td></tr>"
        for one in verdicts
    )
    return (
        '<table class="contents"><caption>All exercises</caption><thead><tr>'
        '<th scope="col">exercise</th><th scope="col">outcome</th>'
        f'<th scope="col">points</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _verdict(verdict: Verdict) -> str:
    hints = EXERCISES[verdict.exercise].hints
    card = as_html(verdict, hints, style=False, level=3)
    where = place(verdict.exercise)
    if verdict.passed or where is None:
        return card
    more = f" All {len(hints)} hints stand there, too." if verdict.diagnosis else ""
    return f'{card}\n<p class="where">In the book: {escape(str(where))}.{more}</p>'
