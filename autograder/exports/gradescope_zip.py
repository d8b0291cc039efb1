"""A Gradescope autograder: a zip file that installs this project and grades with it.

Gradescope unpacks it to /autograder/source, runs setup.sh once, and run_autograder for
each submission, which it puts into /autograder/submission. To try the scripts anywhere,
name another folder in GRADESCOPE_HOME, and a Python to grade with in PYTHON.
"""

import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.exports.errors import ExportError

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("pyproject.toml", "README.md", "LICENSE", "requirements.lock")
PACKAGES = ("autograder", "solutions")
KINDS = (".py", ".json", ".css", ".js")

SETUP = """\
#!/usr/bin/env bash
# Install the grader, once, when Gradescope builds the image.
set -euo pipefail
home=${GRADESCOPE_HOME:-/autograder}

# PyTorch for a CPU alone is smaller by gigabytes: put its index here, as pytorch.org
# shows it for pip.
torch_index=""

apt-get update
for version in 3.13 3.12 3.11; do
  python=python$version
  apt-get install -y "$python" "$python-venv" && break
done
"$python" -m venv "$home/env"
if [ -n "$torch_index" ]; then
  "$home/env/bin/pip" install torch --index-url "$torch_index"
fi
"$home/env/bin/pip" install "$home/source/project" \\
  -c "$home/source/project/requirements.lock"
"""

RUN = """\
#!/usr/bin/env bash
# Grade the submission that Gradescope has put beside this script.
set -euo pipefail
home=${GRADESCOPE_HOME:-/autograder}
python=${PYTHON:-$home/env/bin/python}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/class"
cp -R "$home/submission" "$work/class/submission"  # a folder is one submission

cd "$work"
"$python" -m autograder grade class --out graded --jobs 1@KEY@
"$python" -m autograder export gradescope graded --submission submission \\
  --to "$home/results/results.json"@CHAPTERS@
"""


def gradescope_zip(
    chapters: Sequence[int] = (), key: bytes | None = None, root: Path = ROOT
) -> bytes:
    """The zip file's bytes, the same for the same project.

    With chapters, their exercises are the assignment, whatever is handed in; else those
    that a submission has. Raises ExportError where `root` isn't the project's folder.
    """
    run = RUN.replace("@KEY@", ' --key "$home/source/key"' if key else "")
    run = run.replace("@CHAPTERS@", "".join(f" --chapter {one}" for one in chapters))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "setup.sh", SETUP.encode(), 0o755)
        _add(archive, "run_autograder", run.encode(), 0o755)
        if key:
            _add(archive, "key", key, 0o600)
        for path in _project(root):
            name = f"project/{path.relative_to(root).as_posix()}"
            _add(archive, name, path.read_bytes(), 0o644)
    return packed.getvalue()


def _project(root: Path) -> Iterator[Path]:
    """The files that installing and grading need."""
    for name in NEEDED:
        if not (root / name).is_file():
            raise ExportError(
                f"no {name} in {root}; run this from a clone of the project, "
                "installed with 'pip install -e .'"
            )
        yield root / name
    for package in PACKAGES:
        found = (root / package).rglob("*")
        yield from sorted(path for path in found if path.suffix in KINDS)


def _add(archive: zipfile.ZipFile, name: str, data: bytes, mode: int) -> None:
    """Add a file of a fixed date, so that equal contents are equal bytes."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system, entry.external_attr = 3, mode << 16
    archive.writestr(entry, data)
