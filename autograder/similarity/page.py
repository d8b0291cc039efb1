"""The pairs as a page: side by side, with what such a score means and what not."""

from collections.abc import Iterator
from html import escape

from autograder.overview.document import document, sheet
from autograder.overview.wording import listed, num, times
from autograder.registry import EXERCISES
from autograder.render.words import clean
from autograder.similarity.answers import Answer, Read
from autograder.similarity.pairs import THRESHOLD, Found, Group, Pair

GROUPS = 100  # shown side by side
EXCERPTS = 3  # a group
ROWS = 20  # pairs of a group
NAMED = 12
LISTED = 200
LINES, WIDTH = 120, 200


def similarity_page(read: Read, found: Found) -> str:
    """What was compared, the groups with their excerpts, and what could not be read."""
    body = [
        "<h1>Answers that are nearly the same</h1>",
        f'<p class="lead">{_opening(read, found)}</p>',
        _meaning(),
    ]
    if found.groups:
        body.append('<h2 id="groups">Groups, the most telling first</h2>')
    for number, group in enumerate(found.groups[:GROUPS], 1):
        body += _group(number, group)
    if more := len(found.groups) - GROUPS:
        if more > 0:
            body.append(f"<p>And {times(more, 'group')} more, less telling.</p>")
    body += _unread(read)
    style = sheet("similar.css")
    return document("Answers that are nearly the same", "\n".join(body), style)


def _opening(read: Read, found: Found) -> str:
    text = (
        f"{times(read.submissions, 'submission')}, {times(len(read.answers), 'answer')}"
    )
    text += (
        f": {num(found.compared)} have enough of their own to be compared; "
        f"{num(found.ordinary)} are short, or much like the book's or most others'."
    )
    if not found.pairs:
        return f"{text} No two of them are nearly the same."
    alike = times(len(found.pairs), "pair")
    verb = "is" if len(found.pairs) == 1 else "are"
    return f"{text} <b>{alike}</b> {verb} nearly the same."


def _meaning() -> str:
    return f"""<div class="meaning">
<p><b>What the percentage says.</b> Of everything that is these two answers' own, so
much stands in both. Names, comments, types and formatting don't count; the order of
statements hardly does. What the book's solution has, and what many of the class have,
is left out before. Pairs from {int(100 * THRESHOLD)} % on are shown.</p>
<p><b>What it doesn't say.</b> Who wrote it first, or that anybody copied. Two who
worked together, read the same page, asked the same assistant or took the same course
before write alike, too. And an answer that isn't listed isn't proved to be somebody's
own. Read both, then ask both.</p>
</div>"""


def _group(number: int, group: Group) -> Iterator[str]:
    shown = [escape(clean(name)) for name in group.submissions[:NAMED]]
    if more := len(group.submissions) - NAMED:
        shown += [f"{num(more)} more"] if more > 0 else []
    yield f'<section><h3 id="group-{number}">{number}. {listed(shown)}</h3>'
    yield _table(group)
    best: dict[str, Pair] = {}
    for pair in group.pairs:
        best.setdefault(pair.exercise, pair)
    for count, pair in enumerate(list(best.values())[:EXCERPTS]):
        yield _excerpt(pair, unfolded=count == 0)
    if rest := list(best)[EXCERPTS:]:
        order = [name for name in EXERCISES if name in rest]
        names = listed(f"<code>{escape(name)}</code>" for name in order)
        yield f'<p class="soft">Alike as well, not shown: {names}.</p>'
    yield "</section>"


def _table(group: Group) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(clean(pair.one.submission))}</th>'
        f"<td>{escape(clean(pair.other.submission))}</td>"
        f"<td><code>{escape(pair.exercise)}</code></td>"
        f'<td class="count">{_percent(pair)}</td></tr>'
        for pair in group.pairs[:ROWS]
    )
    more = len(group.pairs) - ROWS
    rest = f'<p class="soft">And {times(more, "pair")} more.</p>' if more > 0 else ""
    heads = "".join(
        f'<th scope="col">{one}</th>'
        for one in ("one", "other", "exercise", "the same")
    )
    return (
        '<div class="wide" role="region" tabindex="0" aria-label="Pairs"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{rest}"
    )


def _percent(pair: Pair) -> str:
    return f"{int(100 * pair.score)} %"


def _excerpt(pair: Pair, unfolded: bool) -> str:
    """Both answers as they were written, the lines with something shared marked."""
    sides = "".join(_side(one, pair) for one in (pair.one, pair.other))
    return (
        f"<details{' open' if unfolded else ''}><summary>"
        f"<code>{escape(pair.exercise)}</code>, {_percent(pair)} the same</summary>"
        f'<div class="sides">{sides}</div></details>'
    )


def _side(answer: Answer, pair: Pair) -> str:
    marked: set[int] = set()
    for one in pair.shared:
        first, last = answer.prints[one]
        marked.update(range(first, min(last, first + LINES) + 1))
    name = escape(clean(answer.submission), quote=True)
    lines = answer.source.rstrip("\n").split("\n")
    rows = [
        _line(text, n in marked and bool(text.strip()))
        for n, text in enumerate(lines[:LINES], 1)
    ]
    if more := len(lines) - LINES:
        rows += [f"… {times(more, 'line')} more"] if more > 0 else []
    return (
        f'<figure><figcaption>{name}</figcaption><pre tabindex="0" role="region" '
        f'aria-label="{name}, {escape(pair.exercise)}">{"".join(rows)}</pre></figure>'
    )


def _line(text: str, marked: bool) -> str:
    shown = escape(clean(text.expandtabs(4))[:WIDTH])
    return f"<mark>{shown}</mark>\n" if marked else f"{shown}\n"


def _unread(read: Read) -> Iterator[str]:
    if not read.unread:
        return
    yield '<h2 id="unread">Could not be compared</h2><ul>'
    for name, why in read.unread[:LISTED]:
        line = " ".join(clean(why).split())[:300]
        yield f"<li>{escape(clean(name))}: {escape(line)}</li>"
    if more := len(read.unread) - LISTED:
        if more > 0:
            yield f"<li>and {num(more)} more</li>"
    yield "</ul>"
