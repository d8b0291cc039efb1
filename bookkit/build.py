"""Build the book: python -m bookkit.build

Chapters are run side by side into Jupyter Book's execution cache; those whose cells
haven't changed are there already. The cache looks at the notebook alone, so it is
dropped here when the code that notebooks import changes.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from bookkit.notebooks import freeze, run

ROOT = Path(__file__).resolve().parents[1]
#: What a notebook may import.
IMPORTED = ("solutions", "autograder", "bookkit", "minigpt")
KINDS = {".py", ".toml", ".json", ".css", ".js"}  # the modules, and what they show


def fingerprint(root: Path) -> str:
    """A hash of everything but the notebooks that decides what the notebooks print."""
    digest = hashlib.sha256()
    for package in ("torch", "numpy", "einops", "matplotlib"):
        digest.update(f"{package} {version(package)}\n".encode())
    for folder in IMPORTED:
        files = (root / folder).rglob("*")
        for path in sorted(path for path in files if path.suffix in KINDS):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def drop_stale_cache(root: Path) -> bool:
    """Drop the execution cache if code has changed since it was filled."""
    build = root / "_build"
    record, now = build / "code.sha256", fingerprint(root)
    if record.is_file() and record.read_text() == now:
        return False
    shutil.rmtree(build / ".jupyter_cache", ignore_errors=True)
    build.mkdir(exist_ok=True)
    record.write_text(now)
    return True


def fill_cache(root: Path, paths: Sequence[Path], progress: Progress) -> list[str]:
    """Run the notebooks that the cache lacks, as many at a time as there are cores.

    Returns what went wrong, a text for each notebook in which a cell raises.
    """
    cache = get_cache(str(root / "_build" / ".jupyter_cache"))
    waiting: list[tuple[Path, NotebookNode]] = []
    for path in paths:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        try:
            cache.match_cache_notebook(notebook)
        except KeyError:
            waiting.append((path, notebook))

    def execute(path: Path, notebook: NotebookNode) -> float:
        task = progress.add_task(path.stem, total=len(notebook.cells))
        start = perf_counter()
        run(notebook, path.parent, lambda: progress.advance(task))
        progress.update(task, completed=len(notebook.cells))
        freeze(notebook)
        return perf_counter() - start

    failures = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [(path, nb, pool.submit(execute, path, nb)) for path, nb in waiting]
        for path, notebook, job in jobs:
            try:
                data = {"execution_seconds": job.result()}
            except CellExecutionError as error:
                failures.append(f"{path}: a cell raises\n{error}")
                continue
            bundle = CacheBundleIn(notebook, str(path), data=data)
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    return failures


def main() -> int:
    """Build every page, treating each warning as an error; say where to open it."""
    drop_stale_cache(ROOT)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns) as progress:
        chapters = sorted((ROOT / "chapters").glob("*.ipynb"))
        failures = fill_cache(ROOT, chapters, progress)
    if failures:
        print(*failures, sep="\n", file=sys.stderr)
        return 1
    script = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", script, "build", str(ROOT)]
    done = subprocess.run([*command, "-q", "--all", "-W", "--keep-going"], cwd=ROOT)
    if done.returncode:
        print("The book has warnings or errors: see above.", file=sys.stderr)
        return done.returncode
    page = ROOT / "_build" / "html" / "index.html"
    print(f"\nThe book is ready. Open {page.as_uri()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
