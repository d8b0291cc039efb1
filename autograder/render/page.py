"""A verdict as HTML, for a notebook's output and for a feedback page.

Colours follow the page (JupyterLab, the book, VS Code, or the system's choice), and no
meaning hangs on colour alone: a sign and words say the same.
"""

from collections.abc import Sequence
from html import escape

from autograder.render.words import SAID, clean, hint_lines, points, tally
from autograder.verdict import Example, Verdict

_DARK = """
--ag-text:#e6e6e6;--ag-soft:#b4b9c0;--ag-back:#1d2229;--ag-line:#4a5360;
--ag-code:#2b323c;--ag-good:#7bd88f;--ag-bad:#ffab70;--ag-idle:#9db7ff"""

STYLE = (
    """<style>
.ag{--ag-text:#1f2328;--ag-soft:#57606a;--ag-back:#fbfcfd;--ag-line:#d0d7de;
--ag-code:#eef1f4;--ag-good:#116329;--ag-bad:#953800;--ag-idle:#0550ae;
color:var(--ag-text);background:var(--ag-back);border:1px solid var(--ag-line);
border-left-width:.4em;border-radius:.4em;padding:.7em 1em;margin:.3em 0;
font:15px/1.5 system-ui,sans-serif;max-width:52em;overflow-wrap:anywhere}
.ag.good{border-left-color:var(--ag-good)}.ag.bad{border-left-color:var(--ag-bad)}
.ag.idle{border-left-color:var(--ag-idle)}
.ag p{margin:.45em 0;color:inherit}
.ag .ag-head{display:flex;flex-wrap:wrap;gap:.2em 1em;margin:0;
justify-content:space-between}
.ag .ag-head b{font-weight:650}.ag .ag-soft,.ag summary{color:var(--ag-soft)}
.ag.good .ag-sign{color:var(--ag-good)}.ag.bad .ag-sign{color:var(--ag-bad)}
.ag.idle .ag-sign{color:var(--ag-idle)}
.ag code,.ag pre{font:13px/1.45 ui-monospace,monospace;background:var(--ag-code);
color:inherit;border:0;border-radius:.25em;padding:.05em .3em}
.ag pre{padding:.3em .6em;margin:0;white-space:pre;overflow-x:auto}
.ag table{border-collapse:collapse;margin:.4em 0;display:block;overflow-x:auto}
.ag table th,.ag table td{text-align:left;vertical-align:top;padding:.2em .8em .2em 0;
background:none;color:inherit;border:0;font-weight:400}
.ag table th{white-space:nowrap;overflow-wrap:normal}
.ag table tr.ag-soft th{color:var(--ag-soft)}
.ag details{margin:.35em 0}.ag summary{cursor:pointer}
html[data-theme="dark"] .ag,[data-jp-theme-light="false"] .ag,.vscode-dark .ag{"""
    + _DARK
    + """}
@media (prefers-color-scheme:dark){
html:not([data-theme]):not(:has([data-jp-theme-light])) body:not(.vscode-light) .ag{"""
    + _DARK
    + """}}
</style>"""
)

_KIND = {"passed": "good", "not_attempted": "idle", "missing": "idle"}


def as_html(
    verdict: Verdict,
    hints: Sequence[str] = (),
    style: bool = True,
    level: int | None = None,
) -> str:
    """One block of HTML; everything in it that isn't ours is escaped.

    On a page with headings, the exercise's name is one of that level, to be linked to.
    """
    sign, words = SAID[verdict.status]
    kind = _KIND.get(verdict.status, "bad")
    name = escape(verdict.exercise)
    title = f'<h{level} id="{name}">{name}</h{level}>' if level else f"<b>{name}</b>"
    head, left = ("div", "div") if level else ("p", "span")
    parts = [
        STYLE if style else "",
        f'<div class="ag {kind}" role="group" aria-label="Verdict on {name}">',
        f'<{head} class="ag-head"><{left}>'
        f'<span class="ag-sign" aria-hidden="true">{sign}</span> '
        f"{title} · {words}</{left}>"
        f'<span class="ag-soft">{points(verdict)}</span></{head}>',
        *(f"<p>{prose(found.message)}</p>" for found in verdict.diagnosis),
        _example(verdict.example, name) if verdict.example else "",
        _checks(verdict),
        _hints(hints) if verdict.diagnosis else "",
        *(f'<p class="ag-soft">{prose(note)}</p>' for note in verdict.notes),
        "</div>",
    ]
    return "\n".join(part for part in parts if part)


def prose(text: str) -> str:
    """Escaped text in which `code` stands as code."""
    pieces = clean(text).split("`")
    if len(pieces) % 2 == 0:
        return escape("`".join(pieces)).replace("\n", "<br>")
    return "".join(
        f"<code>{escape(piece)}</code>" if i % 2 else escape(piece)
        for i, piece in enumerate(pieces)
    ).replace("\n", "<br>")


def _example(example: Example, exercise: str) -> str:
    """The numbers; with the keys one reaches what a narrow page scrolls."""
    inputs = "".join(
        f'<tr><th scope="row">{escape(clean(name))}</th>'
        f'<td colspan="2">{_pre(text)}</td></tr>'
        for name, text in example.inputs
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(clean(row.label))}</th>'
        f"<td>{_pre(row.expected)}</td><td>{_pre(row.yours)}</td></tr>"
        for row in example.rows
    )
    return (
        f"<p>The smallest input that shows it: {escape(clean(example.title))}.</p>"
        f'<table tabindex="0" aria-label="Numbers of {exercise}">'
        f"<tbody>{inputs}</tbody>"
        "<tbody><tr class='ag-soft'><td></td><th scope='col'>expected</th>"
        f"<th scope='col'>yours</th></tr>{rows}</tbody></table>"
    )


def _pre(text: str) -> str:
    return f"<pre>{escape(clean(text))}</pre>"


def _checks(verdict: Verdict) -> str:
    if not verdict.checks:
        return ""
    if all(check.passed for check in verdict.checks):
        return f'<p class="ag-soft">{escape(clean(tally(verdict)))}</p>'
    items = "".join(
        f"<li>{'✓ holds' if check.passed else '✗ fails'}: "
        f"{escape(clean(check.name))}</li>"
        for check in verdict.checks
    )
    held = sum(check.passed for check in verdict.checks)
    title = f"{held} of {len(verdict.checks)} checks hold"
    return f"<details><summary>{title}</summary><ul>{items}</ul></details>"


def _hints(hints: Sequence[str]) -> str:
    return "".join(
        f"<details><summary>{label}</summary><p>{prose(text)}</p></details>"
        for label, text in hint_lines(hints)
    )
