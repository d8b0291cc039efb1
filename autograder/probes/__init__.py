"""What is done with a learner's answer, beside it: a probe, given data, returns data.

A probe is `probe(theirs, x, parts)`. `x` is a dict of tensors and plain values; `parts`
gives earlier exercises by name. It returns one flat dict of tensors and plain values.
Nothing here knows a right answer: the same probe runs on the learner's answer, on the
reference and on each known mistake, and the judge compares what comes back.
"""

from autograder.probes.basic import PROBES, run
from autograder.probes.caches import attended, continued, remembered
from autograder.probes.corruption import corruption
from autograder.probes.residual import residual
from autograder.probes.sampling import filtering, sampling
from autograder.probes.traces import traceless
from autograder.probes.widths import any_width
from autograder.probes.written import written, written_with_cache

__all__ = ["PROBES", "run"]

PROBES["any_width"] = any_width
PROBES["attended"] = attended
PROBES["continued"] = continued
PROBES["corruption"] = corruption
PROBES["filtering"] = filtering
PROBES["remembered"] = remembered
PROBES["residual"] = residual
PROBES["sampling"] = sampling
PROBES["traceless"] = traceless
PROBES["written"] = written
PROBES["written_with_cache"] = written_with_cache
