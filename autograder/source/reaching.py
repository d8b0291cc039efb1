"""Which statements a name needs, and in what order they have to run."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from .program import Program
from .statements import BUILTINS, Statement

END = 1 << 60  # the position after the last statement
MAX_STEPS = 20_000  # hundreds are usual; more was not written by hand
# The built-in names that `from torch import *` or `from numpy import *` replaces.
REPLACED = frozenset(
    "abs all any bool complex divmod float int max min pow range round sum".split()
)


def needed_for(
    program: Program, name: str, provided: Collection[str]
) -> list[Statement]:
    """The statements that make `name` what it is in the end, in the order to run.

    That is the order in which they stand, but that a statement comes after what it
    reads. Names in `provided` come from elsewhere. Raises BrokenCell where a name is
    bound nowhere but in a cell that isn't Python.
    """
    needed: set[int] = set()
    first: dict[int, set[int]] = defaultdict(set)  # what has to run before a statement
    asked: set[tuple[str, int]] = set()
    unbound: set[str] = set()
    questions = [(name, END)]
    steps = 0
    while questions:
        question = questions.pop()
        if question in asked or question[0] in provided:
            continue
        asked.add(question)
        wanted, at = question
        history = program.history(wanted)
        found = history.reaching(at)
        if history.bound_at is None:
            if wanted not in BUILTINS:
                unbound.add(wanted)
            if wanted not in BUILTINS or wanted in REPLACED:
                found = [*found, *program.stars]
        steps += len(found)
        if steps > MAX_STEPS:
            raise found[0].too_entangled()
        for statement in found:
            needed.add(statement.index)
            first[at].add(statement.index)
            questions += [(read, statement.index) for read in statement.reads.now]
            questions += [(read, at) for read in statement.reads.later]
    if not program.stars:
        program.refuse_broken(unbound)
    return [program.statements[index] for index in _in_order(needed, first)]


def _in_order(needed: Iterable[int], first: dict[int, set[int]]) -> list[int]:
    """The statements by number, each after those that have to run before it."""
    done: dict[int, None] = {}
    entered: set[int] = set()
    stack = sorted(needed, reverse=True)
    while stack:
        index = stack[-1]
        if index in entered:
            done[stack.pop()] = None  # what comes before it is done, or waits for it
        else:
            entered.add(index)
            waiting = first.get(index, set()) - entered
            stack += sorted(waiting, reverse=True)
    return list(done)
