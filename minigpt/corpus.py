"""The text to learn from: a file, tinyshakespeare, or Python's own library."""

import hashlib
import os
import sysconfig
import tempfile
import urllib.request
from pathlib import Path

SHAKESPEARE = (
    "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/"
    "tinyshakespeare/input.txt"
)
SHAKESPEARE_SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"

#: Characters of the standard library's source that are read: enough for minutes.
STDLIB_CHARACTERS = 2_000_000


class CorpusError(Exception):
    """There is no text to learn from; the message says what to do about it."""


def load(data: str, cache: Path | None = None) -> str:
    """The text that `data` names: "stdlib", "shakespeare", or a file's path.

    Raises CorpusError where it can't be had.
    """
    if data == "stdlib":
        return standard_library()
    if data == "shakespeare":
        return shakespeare(cache or cache_folder())
    path = Path(data)
    if not path.is_file():
        raise CorpusError(
            f"no text at {data}: give a file's path, or `shakespeare`, or `stdlib`"
        )
    return _text_of(path)


def standard_library(characters: int = STDLIB_CHARACTERS) -> str:
    """The source of Python's own modules, one after the other, by name."""
    folder = Path(sysconfig.get_path("stdlib"))
    pieces: list[str] = []
    for path in sorted(folder.glob("*.py")):
        if sum(map(len, pieces)) >= characters:
            break
        try:
            pieces.append(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue  # a module more or less makes no difference
    if not pieces:
        raise CorpusError(f"no source of the standard library in {folder}: name a file")
    return "".join(pieces)[:characters]


def shakespeare(cache: Path) -> str:
    """Karpathy's tinyshakespeare, from the cache or downloaded into it."""
    path = cache / "tinyshakespeare.txt"
    if not (path.is_file() and _sha256(path.read_bytes()) == SHAKESPEARE_SHA256):
        _download(SHAKESPEARE, SHAKESPEARE_SHA256, path)
    return _text_of(path)


def cache_folder() -> Path:
    """Where downloads are kept: $XDG_CACHE_HOME, or ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "minigpt"


def _download(url: str, sha256: str, path: Path) -> None:
    advice = "download it by hand and give its path with --data, or take --data stdlib"
    try:
        with urllib.request.urlopen(url, timeout=30) as response:
            content = response.read(16_000_000)
    except OSError as error:
        raise CorpusError(f"could not download {url} ({error}): {advice}") from error
    if _sha256(content) != sha256:
        raise CorpusError(f"{url} holds another text than expected: {advice}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    Path(file.name).replace(path)  # whole or not at all, whoever else downloads


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path} is no UTF-8 text (byte {error.start}): save it as UTF-8"
        ) from error
    except OSError as error:
        raise CorpusError(f"{path}: {error.strerror or error}") from error


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
