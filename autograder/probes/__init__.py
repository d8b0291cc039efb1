"""What is done with a learner's answer, beside it: a probe, given data, returns data.

A probe is `probe(theirs, x, parts)`. `x` is a dict of tensors and plain values; `parts`
gives earlier exercises by name. It returns one flat dict of tensors and plain values.
Nothing here knows a right answer: the same probe runs on the learner's answer, on the
reference and on each known mistake, and the judge compares what comes back.
"""

from autograder.probes.basic import PROBES, run
from autograder.probes.corruption import corruption
from autograder.probes.residual import residual
from autograder.probes.traces import traceless
from autograder.probes.widths import any_width

__all__ = ["PROBES", "run"]

PROBES["any_width"] = any_width
PROBES["corruption"] = corruption
PROBES["residual"] = residual
PROBES["traceless"] = traceless
