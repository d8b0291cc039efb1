"""T5's buckets with a switch wherever people slip, and the slips by name."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]


def same(x: Tensor) -> Tensor:
    return x


def logarithmic(a: Tensor, exact: int, max_distance: int) -> Tensor:
    """From 0 at `exact` to 1 at max_distance."""
    return (a / exact).log() / math.log(max_distance / exact)


def bucket(
    distance: Tensor,
    num_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = True,
    *,
    seen: Change = same,
    both: Callable[[bool], bool] = bool,
    left: Callable[[int], int] = lambda buckets: buckets // 2,
    offset_of: Callable[[int], int] = lambda buckets: buckets // 2,
    upper: Change = lambda d: d > 0,
    one_way: Change = lambda d: (-d).clamp(min=0),
    told: Callable[[int], int] = lambda most: most,
    counted: Callable[[int], int] = lambda buckets: buckets,
    exact_of: Callable[[int], int] = lambda N: N // 2,
    growth: Callable[[Tensor, int, int], Tensor] = logarithmic,
    widths: Callable[[int, int], int] = lambda N, exact: exact,
    base: Callable[[int], int] = lambda exact: exact,
    round: Change = torch.floor,
    last: Callable[[int], int] = lambda N: N - 1,
    result: Change = same,
    instead: Callable[[Tensor, int, int], Tensor] | None = None,
) -> Tensor:
    """The twin of relative_position_bucket; `instead` of buckets is something else."""
    if instead is not None:
        return instead(distance, num_buckets, max_distance)
    distance, N = seen(distance), counted(num_buckets)
    later: Tensor | int = 0
    if both(bidirectional):
        offset, N = offset_of(N), left(N)
        later, a = offset * upper(distance), distance.abs()
    else:
        a = one_way(distance)
    exact = exact_of(N)
    place = growth(a.clamp(min=exact), exact, told(max_distance))
    wide = base(exact) + round(place * widths(N, exact)).long()
    return result(later + torch.where(a < exact, a, wide.clamp(max=last(N))))


def _clipped(a: Tensor, exact: int, max_distance: int) -> Tensor:
    return (a - exact) / exact


def _linear(a: Tensor, exact: int, max_distance: int) -> Tensor:
    return (a - exact) / (max_distance - exact)


def _not_divided(a: Tensor, exact: int, max_distance: int) -> Tensor:
    return a.float().log() / math.log(max_distance)


def _of_max_distance(a: Tensor, exact: int, max_distance: int) -> Tensor:
    return (a / exact).log() / math.log(max_distance)


def _without_ratio(a: Tensor, exact: int, max_distance: int) -> Tensor:
    return a.float().log() / math.log(max_distance / exact)


def _nothing_divided(a: Tensor, exact: int, max_distance: int) -> Tensor:
    return (a / exact).log()


def _one_way_by_default(
    distance: Tensor,
    num_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = False,
) -> Tensor:
    return bucket(distance, num_buckets, max_distance, bidirectional)


#: How the buckets go wrong.
BUCKETS = [
    Mistake(
        "sign-reversed",
        "The sign of the distance is reversed: it is key position - query position, so "
        "positive distances are keys after the query, and those get the upper half.",
        seen=lambda d: -d,
    ),
    Mistake(
        "later-keys-not-apart",
        "Both ways, keys before and after the query share their buckets: positive "
        "distances should get the offset num_buckets/2.",
        upper=lambda d: torch.zeros_like(d),
    ),
    Mistake(
        "upper-half-for-earlier-keys",
        "The upper half of the buckets (the offset num_buckets/2) goes to negative "
        "distances; it belongs to positive ones, keys after the query.",
        upper=lambda d: d < 0,
    ),
    Mistake(
        "zero-in-the-upper-half",
        "Distance 0 gets the offset of the positive distances; only distances above 0 "
        "do: distance > 0, not >= 0.",
        upper=lambda d: d >= 0,
    ),
    Mistake(
        "buckets-not-halved",
        "Both ways, the number of buckets is not halved before the absolute distance "
        "is sorted: N = num_buckets/2 buckets are left for each direction.",
        left=lambda buckets: buckets,
    ),
    Mistake(
        "each-direction-all-buckets",
        "Both ways, num_buckets is never halved: each direction keeps all the buckets, "
        "and positive distances run past num_buckets. N = num_buckets // 2 are left "
        "for each, and that is the offset, too.",
        left=lambda buckets: buckets,
        offset_of=lambda buckets: buckets,
    ),
    Mistake(
        "offset-not-halved",
        "The offset of positive distances is num_buckets, so their buckets run past "
        "the end; it is num_buckets // 2.",
        offset_of=lambda buckets: buckets,
    ),
    Mistake(
        "offset-halved-twice",
        "The offset of positive distances is num_buckets / 4, half of what is left "
        "once num_buckets is halved; it is half of num_buckets as given.",
        offset_of=lambda buckets: buckets // 4,
    ),
    Mistake(
        "offset-one-too-small",
        "The offset of positive distances is one too small; it is num_buckets // 2.",
        offset_of=lambda buckets: buckets // 2 - 1,
    ),
    Mistake(
        "always-both-ways",
        "bidirectional=False has no effect: then all the buckets are for keys before "
        "the query, and positive distances count as 0.",
        both=lambda given: True,
    ),
    Mistake(
        "never-both-ways",
        "bidirectional=True has no effect: then half the buckets are for positive "
        "distances, with the offset num_buckets/2.",
        both=lambda given: False,
    ),
    Mistake(
        "bidirectional-inverted",
        "bidirectional is read the wrong way round: True means a half of the buckets "
        "for each direction.",
        both=lambda given: not given,
    ),
    Mistake(
        "one-way-by-default",
        "Without bidirectional the buckets are those of one direction; its default is "
        "True.",
        wrong=_one_way_by_default,
    ),
    Mistake(
        "later-keys-by-distance",
        "One way, keys after the query are sorted by their absolute distance; positive "
        "distances should count as 0: (-distance).clamp(min=0), not abs.",
        one_way=torch.abs,
    ),
    Mistake(
        "earlier-keys-all-zero",
        "One way, it is the keys before the query that count as distance 0, since the "
        "sign of the distance is not reversed; keys after it should: "
        "(-distance).clamp(min=0).",
        one_way=lambda d: d.clamp(min=0),
    ),
    Mistake(
        "one-way-negative",
        "One way, positive distances become negative numbers instead of 0: clamp them, "
        "(-distance).clamp(min=0).",
        one_way=lambda d: -d,
    ),
    Mistake(
        "max-distance-ignored",
        "The argument max_distance has no effect: 128 is written into the code.",
        told=lambda most: 128,
    ),
    Mistake(
        "num-buckets-ignored",
        "The argument num_buckets has no effect: 32 is written into the code.",
        counted=lambda buckets: 32,
    ),
    Mistake(
        "exact-buckets-quartered",
        "Only N/4 buckets hold one distance each (num_buckets is halved once too "
        "often); it is half of the N buckets left.",
        exact_of=lambda N: N // 4,
        widths=lambda N, exact: N - exact,
    ),
    Mistake(
        "widths-once-too-often-halved",
        "The logarithm is spread over N/4 buckets; it should be multiplied by N/2, the "
        "buckets left for far distances.",
        widths=lambda N, exact: exact // 2,
    ),
    Mistake(
        "widths-of-all-buckets",
        "The logarithm is spread over all N buckets; N/2 of them hold one near "
        "distance each, so multiply by the other N/2.",
        widths=lambda N, exact: N,
    ),
    Mistake(
        "widths-one-too-few",
        "The logarithm is multiplied by N/2 - 1; it should be N/2, and the result cut "
        "off at N - 1.",
        widths=lambda N, exact: exact - 1,
    ),
    Mistake(
        "far-buckets-without-offset",
        "Far distances start at bucket 0 again: add N/2 to the floor of the logarithm, "
        "since the first N/2 buckets are for near distances.",
        base=lambda exact: 0,
    ),
    Mistake(
        "rounded",
        "The logarithm is rounded to the nearest bucket; take the floor (.long() cuts "
        "off, .round() does not).",
        round=torch.round,
    ),
    Mistake(
        "rounded-up",
        "Far buckets are one too high: the logarithm is rounded up (ceil), or 1 is "
        "added. It is N/2 + floor(…).",
        round=torch.ceil,
    ),
    Mistake(
        "not-capped",
        "Far distances run beyond the last bucket: cut off at N - 1, so that whatever "
        "is further than max_distance shares it (clamp, min).",
        last=lambda N: 10**9,
    ),
    Mistake(
        "capped-at-n",
        "The cap is N, one bucket too many; the last of N buckets is N - 1.",
        last=lambda N: N,
    ),
    Mistake(
        "capped-too-early",
        "The cap is N - 2; the last of N buckets is N - 1.",
        last=lambda N: N - 2,
    ),
    Mistake(
        "no-logarithm",
        "There is no logarithm: every distance has a bucket of its own up to N - 1, "
        "and all others share that one (clipping). From N/2 on the buckets should grow "
        "with the log of the distance.",
        growth=_clipped,
    ),
    Mistake(
        "clipped-distances",
        "There are no buckets: distances are clipped to -num_buckets/2 … and shifted "
        "(as in Shaw et al.). T5 has a bucket for each near distance, and from N/2 on "
        "ever wider ones, by the log of the distance.",
        instead=lambda d, buckets, most: (
            d.clamp(-(buckets // 2), buckets // 2 - 1) + buckets // 2
        ),
    ),
    Mistake(
        "clipped-to-max-distance",
        "There are no buckets: distances are clipped to max_distance and shifted. T5 "
        "has a bucket for each near distance, and from N/2 on ever wider ones, by the "
        "log of the distance.",
        instead=lambda d, buckets, most: d.clamp(-most, most) + most,
    ),
    Mistake(
        "linear-widths",
        "Far buckets are equally wide: the distance is spread linearly up to "
        "max_distance. They should grow with its logarithm, "
        "log(a / (N/2)) / log(max_distance / (N/2)).",
        growth=_linear,
    ),
    Mistake(
        "logs-not-relative",
        "The logs are taken of the distances as they are, log(a) / log(max_distance); "
        "both are relative to N/2: log(a / (N/2)) / log(max_distance / (N/2)).",
        growth=_not_divided,
    ),
    Mistake(
        "log-of-max-distance-not-relative",
        "It is divided by log(max_distance); it should be log(max_distance / (N/2)).",
        growth=_of_max_distance,
    ),
    Mistake(
        "log-of-distance-not-relative",
        "The log is taken of the distance itself; it should be log(a / (N/2)), which "
        "is 0 where the far buckets begin.",
        growth=_without_ratio,
    ),
    Mistake(
        "log-not-divided",
        "The log of the distance is not divided by log(max_distance / (N/2)), so "
        "max_distance has no effect.",
        growth=_nothing_divided,
    ),
    Mistake(
        "logarithms-mixed",
        "Two different logarithms are mixed, log2 and the natural one; both must have "
        "the same base.",
        growth=lambda a, exact, most: (a / exact).log2() / math.log(most / exact),
    ),
    Mistake(
        "logarithms-mixed-below",
        "Two different logarithms are mixed, the natural one over log2; both must have "
        "the same base.",
        growth=lambda a, exact, most: (a / exact).log() / math.log2(most / exact),
    ),
    Mistake(
        "floats-returned",
        "The buckets come back as floats; they are indices into an embedding, so make "
        "them integers: .long().",
        result=lambda b: b.float(),
    ),
]
