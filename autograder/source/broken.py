"""What is wrong with a cell that isn't Python, and where."""

# What ast.parse and compile raise for text that isn't Python, or is nested too deeply.
UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class BrokenCell(Exception):
    """What an exercise needs stands only in a cell that isn't Python.

    Numbers of the code cell and of the line in it, both from 1; the line; what is
    wrong there.
    """

    def __init__(self, cell: int, line: int, text: str, message: str) -> None:
        super().__init__(cell, line, text, message)
        self.cell, self.line, self.text, self.message = cell, line, text, message

    def __str__(self) -> str:
        shown = f": {self.text}" if self.text else ""
        return f"code cell {self.cell}, line {self.line}: {self.message}{shown}"


def broken_cell(
    problem: BaseException, source: str, cell: int, line: int | None = None
) -> BrokenCell:
    """Say what is wrong with `source`, whose fault stands at a line of a cell."""
    lines = source.split("\n")
    at = min(max(1, getattr(problem, "lineno", None) or 1), len(lines))
    if "\0" in source:
        message = "a null byte stands in the code"
    elif isinstance(problem, SyntaxError) and "for integer string" in problem.msg:
        message = "a number stands here that has more digits than Python reads"
    elif isinstance(problem, SyntaxError):
        message = problem.msg
    elif isinstance(problem, ValueError):
        message = "it holds characters that no encoding has"
    else:
        message = "it is nested too deeply to be read"
    text = "".join(char if char.isprintable() else " " for char in lines[at - 1])
    return BrokenCell(cell, line or at, text.strip()[:200], message)
