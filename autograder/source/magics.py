"""Cells as IPython takes them, made plain Python without moving a line."""

import ast
import re
import warnings
from collections.abc import Iterator

from .parsing import parsed

# Cell magics whose body another program reads, or nobody.
FOREIGN = frozenset(
    """! ai bash bigquery cmd cython file html HTML javascript js julia latex markdown
    mermaid perl powershell pypy python python2 python3 R ruby script sh shell skip sql
    svg sx system writefile writetemplate""".split()
)
# Line magics that IPython knows without their percent sign.
BARE = (
    "pip|pip3|conda|mamba|micromamba|uv|cd|ls|ll|cat|mkdir|rm|cp|mv|load_ext|matplotlib"
)

CELL_MAGIC = re.compile(r"\s*%%(!|\w+)")
TIMED = re.compile(r"(\s*)%time\s+(?=\S)")
MAGIC = re.compile(
    rf"""[%!?/,;]                                   # %timeit f()  !ls  ?torch  /f 1
       | [\w.,*()\[\]"' ]+ = [ ]* (?: ! | %[A-Za-z])  # files = !ls
       | [^\s\#"'][^\#"']* \?{{1,2}} [ ]* ;? (?: \#.* )? $   # torch.softmax?
       | (?: {BARE} ) [ ]+ [\w./~-]                  # pip install einops
    """,
    re.VERBOSE,
)
# What decides where a logical line ends: strings, comments, brackets, line ends.
LEXEME = re.compile(
    r"""(?P<text> \"{3} (?: \\. | (?!\"{3}). )* (?: \"{3} | \Z)
                | '{3} (?: \\. | (?!'{3}). )* (?: '{3} | \Z)
                | " (?: \\. | [^"\\\n] )* "?
                | ' (?: \\. | [^'\\\n] )* '?
                | \#[^\n]* | \\\n )
     | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<end>\n)""",
    re.VERBOSE | re.DOTALL,
)


def parse(cell: str) -> tuple[ast.Module, list[str]]:
    """Parse a cell, or what is left of it without its magics, with its lines.

    Raises SyntaxError, ValueError, RecursionError or MemoryError, as ast.parse does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in a string is the learner's business
        try:
            return parsed(cell), cell.split("\n")
        except SyntaxError:
            plain = without_magics(cell)
            if plain == cell:
                raise
        return parsed(plain), plain.split("\n")


def without_magics(cell: str) -> str:
    """The cell with a blank line or `pass` in the place of every magic."""
    lines = cell.split("\n")
    for number in _cell_magics(lines):
        magic = CELL_MAGIC.match(lines[number])
        if magic is not None and magic[1] in FOREIGN:
            return "\n" * (len(lines) - 1)
        lines[number] = ""
    text = "\n".join(_dedented(lines))
    return "".join(_without_line_magics(text))


def _cell_magics(lines: list[str]) -> Iterator[int]:
    """The numbers of the lines that begin the cell and start with %%."""
    for number, line in enumerate(lines):
        if CELL_MAGIC.match(line):
            yield number
        elif line.strip() and not line.lstrip().startswith("#"):
            return


def _dedented(lines: list[str]) -> list[str]:
    """The lines without the indent of the first, which IPython ignores too."""
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    return [line.removeprefix(indent) for line in lines]


def _without_line_magics(text: str) -> Iterator[str]:
    """The text logical line by logical line, with `pass` for each magic."""
    start = 0
    while start < len(text):
        stop = _physical_end(text, start)
        line = text[start:stop]
        if timed := TIMED.match(line):
            yield timed[1]
            start += timed.end()
        elif MAGIC.match(line.strip()):
            indent = line[: len(line) - len(line.lstrip())]
            while text[start:stop].endswith("\\\n"):  # the command goes on
                stop = _physical_end(text, stop)
            yield indent + "pass" + "\n" * text.count("\n", start, stop)
            start = stop
            continue
        stop = _logical_end(text, start)
        yield text[start:stop]
        start = stop


def _physical_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end + 1


def _logical_end(text: str, start: int) -> int:
    depth = 0
    for lexeme in LEXEME.finditer(text, start):
        if lexeme["open"]:
            depth += 1
        elif lexeme["close"]:
            depth = max(0, depth - 1)
        elif lexeme["end"] and depth == 0:
            return lexeme.end()
    return len(text)
