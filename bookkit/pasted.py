"""Style sheets and scripts that are pasted into a cell's output."""

from pathlib import Path


def in_one_line(path: Path) -> str:
    """A file's text without line breaks, since each stored output holds it.

    The file has no comments that end with their line.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    return " ".join(line.strip() for line in lines)
