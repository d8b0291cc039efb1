"""The isolation that a class was graded with, in one sentence."""

from collections.abc import Collection

#: What keeps an answer from files, processes and the network, and how it is called.
WALLS = {
    "own view of the files": "own view of the files",
    "process namespace": "own processes",
    "network namespace": "no network",
    "Landlock rules for files": "Landlock",
    "seccomp filter": "seccomp",
}
TOGETHER = "memory limit for all processes together"


def isolation_sentence(layers: Collection[str]) -> str:
    """How far the answers were kept apart from this machine, from a run's layers.

    One line for whoever started the run: `full`, `partial` or `none but limits`.
    """
    held = [name for layer, name in WALLS.items() if layer in layers]
    lacking = [name for layer, name in WALLS.items() if layer not in layers]
    if not held:
        return (
            "Isolation: none but limits on time, memory and files. Code that means "
            "harm could do it; grade on Linux where you don't know whose code it is."
        )
    memory = "all of an answer's processes" if TOGETHER in layers else "each process"
    limits = f"The memory limit holds for {memory}."
    level = f"partial ({', '.join(held)}; not {', '.join(lacking)})"
    if not lacking:
        level = f"full ({', '.join(held)})"
    return f"Isolation: {level}. {limits}"
