"""How long each chapter takes from top to bottom, in a fresh kernel.

python -m benchmarks.chapters
"""

import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

CHAPTERS = Path(__file__).parents[1] / "chapters"


def main() -> None:
    for path in sorted(CHAPTERS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        start = time.perf_counter()
        NotebookClient(
            notebook, timeout=300, resources={"metadata": {"path": str(CHAPTERS)}}
        ).execute()
        print(f"{path.stem:<24} {time.perf_counter() - start:5.1f} s")


if __name__ == "__main__":
    main()
