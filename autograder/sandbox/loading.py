"""From source to what it defines, and from an exception to words, in the worker."""

import linecache
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..wire import WireError
from .job import Status

MESSAGE_LENGTH = 2000


def load(source: str, name: str, module_name: str, filename: str) -> Any:
    """Run the source as a module of its own and take `name` from it.

    `inspect.getsource` and tracebacks find its lines, though there is no such file.
    """
    module = ModuleType(module_name)
    module.__file__ = filename
    sys.modules[module_name] = module
    remember(source, filename)
    exec(compile(source, filename, "exec", dont_inherit=True), module.__dict__)
    try:
        return module.__dict__[name]
    except KeyError:
        raise NameError(f"the code defines no {name}", name=name) from None


class Siblings(MetaPathFinder, Loader):
    """Finds the other files of a submission, as if they lay beside the answer."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in self.sources else None

    def exec_module(self, module: ModuleType) -> None:
        source, filename = self.sources[module.__name__], f"{module.__name__}.py"
        remember(source, filename)
        exec(compile(source, filename, "exec", dont_inherit=True), module.__dict__)


def remember(source: str, filename: str) -> None:
    """Let tracebacks and `inspect.getsource` find the lines, without a file."""
    lines = source.splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)


class Parts(Mapping[str, Any]):
    """What the exercise may build on, each made from its source at its first use."""

    def __init__(self, sources: dict[str, str]) -> None:
        self.sources = sources
        self.loaded: dict[str, Any] = {}
        self.loading: list[str] = []

    def __getitem__(self, name: str) -> Any:
        if name not in self.loaded:
            if name in self.loading:
                circle = " -> ".join([*self.loading, name])
                raise ImportError(f"these parts need each other: {circle}")
            source = self.sources[name]
            self.loading.append(name)
            try:
                module = f"autograder.parts.{name}"
                self.loaded[name] = load(source, name, module, f"<part {name}>")
            finally:
                self.loading.remove(name)
        return self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sources)

    def __len__(self) -> int:
        return len(self.sources)


def explain(error: BaseException, filename: str) -> tuple[Status, str]:
    """What kind of end this is, and the learner's line where it came about."""
    if _means_lack_of_memory(type(error).__name__, _text(error)):
        return "out_of_memory", ""
    if isinstance(error, WireError):
        return "error", f"The result can't be handed over: {error}."
    if isinstance(error, SystemExit):
        return "crashed", f"The code called sys.exit({_shown(error.code)})."
    kind, text = type(error).__name__, _text(error)
    line = _line(error, filename)
    message = f"{kind}: {text}{line}" if text else f"{kind}{line}"
    return "error" if isinstance(error, Exception) else "crashed", message


def tells_lack_of_memory(reply: Mapping[str, Any]) -> bool:
    """Whether a probe brings an exception back as data that says so."""
    errors = [reply.get(key) for key in ("error", "grad_error")]
    return any(
        isinstance(error, Mapping)
        and _means_lack_of_memory(str(error.get("type")), str(error.get("message")))
        for error in errors
    )


def _means_lack_of_memory(kind: str, text: str) -> bool:
    """Python has a class for it; torch has none, and names what could not allocate."""
    return kind == "MemoryError" or "DefaultCPUAllocator" in text


def _text(error: BaseException) -> str:
    try:
        return str(error)[:MESSAGE_LENGTH]
    except BaseException:  # their own class, so anything may happen
        return ""


def _shown(code: object) -> str:
    """What was given to sys.exit, as far as it can be told."""
    try:
        return f"{code!r:.80}"
    except BaseException:  # their own class, or a number of too many digits
        return "…"


def _line(error: BaseException, filename: str) -> str:
    """Where in their file: the innermost line of it that the exception passed."""
    if isinstance(error, SyntaxError) and error.filename == filename:
        number, text = error.lineno, error.text
    else:
        number = None
        for frame, lineno in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename == filename:
                number = lineno
        if number is None:
            return ""
        text = linecache.getline(filename, number)
    return f" (line {number}: {(text or '').strip()[:200]})"
