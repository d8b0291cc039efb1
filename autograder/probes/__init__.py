"""What is done with a learner's answer, beside it: a probe, given data, returns data.

A probe is `probe(theirs, x, parts)`. `x` is a dict of tensors and plain values; `parts`
gives earlier exercises by name. It returns one flat dict of tensors and plain values.
Nothing here knows a right answer: the same probe runs on the learner's answer, on the
reference and on each known mistake, and the judge compares what comes back.
"""

from autograder.probes.basic import PROBES, run
from autograder.probes.blocks import grown, in_blocks, in_tiles
from autograder.probes.caches import attended, continued, remembered
from autograder.probes.clinic import decoder, depth, lookup, placed, rotating, taught
from autograder.probes.corruption import corruption
from autograder.probes.counting import counting
from autograder.probes.drawing import drawing
from autograder.probes.dropped import block
from autograder.probes.inside import layered, lens, spread
from autograder.probes.models import model
from autograder.probes.modern import encoder, llama, loading
from autograder.probes.ranks import averaged, reduced, sharded
from autograder.probes.residual import residual
from autograder.probes.sampling import filtering, sampling
from autograder.probes.tokens import cutting, listed
from autograder.probes.traces import traceless
from autograder.probes.training import grouped, loss, rate, step
from autograder.probes.widths import amount, any_width, fraction
from autograder.probes.written import written, written_with_cache

__all__ = ["PROBES", "run"]

PROBES["amount"] = amount
PROBES["any_width"] = any_width
PROBES["attended"] = attended
PROBES["averaged"] = averaged
PROBES["block"] = block
PROBES["continued"] = continued
PROBES["corruption"] = corruption
PROBES["counting"] = counting
PROBES["cutting"] = cutting
PROBES["decoder"] = decoder
PROBES["depth"] = depth
PROBES["drawing"] = drawing
PROBES["filtering"] = filtering
PROBES["encoder"] = encoder
PROBES["fraction"] = fraction
PROBES["grown"] = grown
PROBES["grouped"] = grouped
PROBES["in_blocks"] = in_blocks
PROBES["in_tiles"] = in_tiles
PROBES["layered"] = layered
PROBES["lens"] = lens
PROBES["listed"] = listed
PROBES["llama"] = llama
PROBES["loading"] = loading
PROBES["lookup"] = lookup
PROBES["loss"] = loss
PROBES["model"] = model
PROBES["placed"] = placed
PROBES["rate"] = rate
PROBES["reduced"] = reduced
PROBES["remembered"] = remembered
PROBES["residual"] = residual
PROBES["rotating"] = rotating
PROBES["sampling"] = sampling
PROBES["sharded"] = sharded
PROBES["spread"] = spread
PROBES["step"] = step
PROBES["taught"] = taught
PROBES["traceless"] = traceless
PROBES["written"] = written
PROBES["written_with_cache"] = written_with_cache
