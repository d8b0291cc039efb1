"""Answers as learners write them, judged from their source."""

import textwrap

from autograder import parts
from autograder.judge import check
from autograder.registry import EXERCISES
from autograder.verdict import Verdict


def check_source(source: str) -> Verdict:
    """Judge the answer that a source defines; its last definition is the answer."""
    source = textwrap.dedent(source)
    starts = [line for line in source.splitlines() if line[:4] in ("def ", "clas")]
    name = starts[-1].split("(")[0].split()[1].rstrip(":")
    return check(EXERCISES[name], parts.run(name, source))


def named(sources: str) -> dict[str, str]:
    """Answers by name, from a text with a comment `# name` above each."""
    found = {}
    for block in textwrap.dedent(sources).split("\n# ")[1:]:
        name, _, source = block.partition("\n")
        found[name] = source
    return found


def slipped(source: str, right: str, slip: str) -> Verdict:
    """The verdict on a right answer with one slip in it."""
    assert source.count(right) == 1  # else the slip would test nothing
    verdict = check_source(source.replace(right, slip))
    assert not verdict.passed
    assert verdict.message
    return verdict
