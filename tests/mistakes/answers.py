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
