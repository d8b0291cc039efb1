"""The class report as a page: what to explain again first, everybody's points last."""

from collections.abc import Iterator
from html import escape
from itertools import groupby

from autograder.overview.charts import PATTERNS, bar, bins, histogram
from autograder.overview.document import document, sheet
from autograder.overview.findings import findings, opening
from autograder.overview.people import could_not_be_read, everybody, names, to_look_at
from autograder.overview.sections import place
from autograder.overview.statistics import Asked, Slip, Statistics
from autograder.overview.wording import listed, num, percent, times
from autograder.registry import CHAPTERS, EXERCISES
from autograder.render.page import prose

#: What each kind is called, in the order of a bar.
WORDS = {
    "passed": "right",
    "failed": "not right yet",
    "stopped": "stopped or not allowed",
    "idle": "not attempted",
}
SHOWN = 12  # mistakes before the rest is folded
MOST = 200


def class_page(found: Statistics, book: str | None = None) -> str:
    """The whole page; with the address of a book, sections are links into it."""
    parts = [
        "<h1>Class report</h1>",
        f'<p class="lead">{escape(opening(found))}</p>',
        *_explain_again(found, book),
        *_points(found),
        *_exercises(found, book),
        *_mistakes(found, book),
        *_blockers(found),
        *to_look_at(found),
        *could_not_be_read(found),
        *everybody(found),
    ]
    title = f"Class report: {times(len(found.rows), 'submission')}"
    body = "\n".join([PATTERNS, *parts])
    return document(title, body, sheet("class.css"), sheet("class.js"))


def _explain_again(found: Statistics, book: str | None) -> Iterator[str]:
    if not found.graded:
        return
    yield '<h2 id="again">What to explain again</h2>'
    told = findings(found)
    if not told:
        yield "<p>Nothing stands out: no mistake was made by many.</p>"
        return
    yield '<ol class="again">'
    for one in told:
        count = f"<b>{one.count}</b> in " if one.count else "In "
        where = f'<span class="soft">{_where(one.exercise, book)}</span>'
        yield f"<li>{count}{_name(one.exercise)}: {prose(one.text)} {where}</li>"
    yield "</ol>"


def _name(exercise: str) -> str:
    name = escape(exercise, quote=True)
    shown = name.replace("_", "_<wbr>")
    return f'<a href="#{name}"><code>{shown}</code></a>'


def _where(exercise: str, book: str | None) -> str:
    """The section to open, as a link where the book's address is known."""
    found = place(exercise)
    if found is None:
        return ""
    words = escape(str(found))
    words = words[0].upper() + words[1:]
    if book is None:
        return f"{words}."
    return f'<a href="{escape(found.address(book), quote=True)}">{words}</a>.'


def _points(found: Statistics) -> Iterator[str]:
    if len(found.graded) < 2:
        return
    counted, axis = bins([(row.points, row.max_points) for row in found.graded])
    rows = "".join(
        f'<tr><th scope="row">{escape(one.label)}</th>'
        f'<td class="count">{num(one.count)}</td></tr>'
        for one in counted
    )
    yield '<h2 id="points">Points</h2>'
    yield (
        f"<figure>{histogram(counted, axis)}"
        f"<figcaption>How many submissions have how much: {escape(axis)}.</figcaption>"
        '</figure><details class="screen"><summary>The same as a table</summary>'
        f'<table><thead><tr><th scope="col">{escape(axis)}</th>'
        f'<th scope="col">submissions</th></tr></thead><tbody>{rows}</tbody></table>'
        "</details>"
    )


def _exercises(found: Statistics, book: str | None) -> Iterator[str]:
    if not found.asked:
        return
    yield '<h2 id="exercises">Exercises</h2>'
    chips = "".join(
        f"<span>{_chip(kind)} {words}</span>" for kind, words in WORDS.items()
    )
    yield f'<p class="soft legend">{chips}</p>'
    for chapter, asked in groupby(found.asked, key=lambda one: one.chapter):
        title = f": {CHAPTERS[chapter].title}" if chapter in CHAPTERS else ""
        yield f"<h3>Chapter {chapter}{escape(title)}</h3>"
        yield '<ul class="exercises">'
        for one in asked:
            yield f"<li>{''.join(_exercise(one, book))}</li>"
        yield "</ul>"


def _chip(kind: str) -> str:
    return (
        f'<svg class="chip" aria-hidden="true"><rect class="{kind}" width="100%" '
        'height="100%"/></svg>'
    )


def _exercise(one: Asked, book: str | None) -> Iterator[str]:
    """Its bar, the same in words, and the mistakes made in it."""
    name = escape(one.id, quote=True)
    parts = [(kind, one.kinds[kind], words) for kind, words in WORDS.items()]
    words = ", ".join(f"{num(n)} {said}" for _, n, said in parts if n)
    right = percent(one.kinds["passed"], one.total)
    yield f'<div class="name" id="{name}"><code>{name}</code>'
    yield f"<b>{right} right</b></div>"
    yield bar(parts, f"{one.id}, of {num(one.total)}: {words}")
    if one.blocked:
        words += f"; {num(one.blocked)} only because of an earlier exercise"
    yield f'<p class="soft">{escape(words)}</p>'
    if one.slips:
        lines = "".join(
            f"<li>{num(len(slip.who))} × {prose(slip.message)}</li>"
            for slip in one.slips[:SHOWN]
        )
        if rest := one.slips[SHOWN:]:
            lines += f"<li>and {times(len(rest), 'other mistake')}</li>"
        kinds = len(one.slips)
        summary = f"{times(kinds, 'kind')} of mistake{'s' * (kinds > 1)}"
        where = _where(one.id, book)
        yield (
            f"<details><summary>{summary}</summary><ul>{lines}</ul>"
            f'<p class="soft">{where}</p></details>'
        )


def _mistakes(found: Statistics, book: str | None) -> Iterator[str]:
    if not found.slips:
        return
    yield '<h2 id="mistakes">Mistakes, the most frequent first</h2>'
    most = len(found.slips[0].who)
    yield '<ol class="mistakes">'
    yield from (_mistake(one, most, book) for one in found.slips[:SHOWN])
    yield "</ol>"
    if rest := found.slips[SHOWN:MOST]:
        yield '<details class="screen"><summary>'
        yield f"{times(len(rest), 'rarer mistake')}</summary>"
        yield f'<ol class="mistakes" start="{SHOWN + 1}">'
        yield from (_mistake(one, most, book) for one in rest)
        yield "</ol></details>"
    if left := len(found.slips) - SHOWN - len(rest):
        if left > 0:
            yield f"<p>{times(left, 'mistake')} more: see the exercises above.</p>"


def _mistake(slip: Slip, most: int, book: str | None) -> str:
    """How often, where, the message that was shown, and the hints to show."""
    count = len(slip.who)
    drawn = bar(
        [("failed", count, "made it"), ("none", most - count, "")],
        f"{times(count, 'submission')}",
    )
    example = "For example: " if slip.differs else ""
    ident = f" · {escape(slip.mistake)}" if slip.mistake else ""
    hints = EXERCISES[slip.exercise].hints if slip.exercise in EXERCISES else ()
    folded = "".join(f"<li>{prose(hint)}</li>" for hint in hints)
    return (
        f'<li><div class="name"><span><b>{num(count)} ×</b> {_name(slip.exercise)}'
        f'<span class="soft">{ident}</span></span></div>{drawn}'
        f"<p>{example}{prose(slip.message)}</p>"
        f'<p class="soft">{_where(slip.exercise, book)}</p>'
        f"<details><summary>Hints to show</summary><ol>{folded}</ol></details>"
        '<details class="screen"><summary>Who</summary>'
        f"<p>{names(slip.who, slip.exercise)}</p>"
        "</details></li>"
    )


def _blockers(found: Statistics) -> Iterator[str]:
    if not found.blockers:
        return
    yield '<h2 id="blockers">Exercises that hold up others</h2>'
    yield (
        "<p>With the reference in the place of theirs, the later exercise is right: "
        "its mistake is counted where it was made.</p><ul>"
    )
    for one in found.blockers:
        later = listed(f"{_name(name)} ({num(n)})" for name, n in one.later.items())
        yield (
            f"<li><b>{_name(one.exercise)}</b> holds up {later} "
            f"in {times(len(one.who), 'submission')}."
            f"<details><summary>Who</summary><p>{names(one.who, one.exercise)}</p>"
            "</details></li>"
        )
    yield "</ul>"
