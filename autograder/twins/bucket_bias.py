"""The bias by T5's buckets, with a switch wherever people slip."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.buckets import BUCKETS, bucket, same

Change = Callable[[Tensor], Tensor]


def bias(
    module: Any,
    n: int,
    m: int,
    *,
    of_buckets: Callable[[int], int] = lambda buckets: buckets,
    of_distance: Callable[[int], int] = lambda most: most,
    of_direction: Callable[[bool], bool] = bool,
    apart: Callable[[Tensor, Tensor], Tensor] = lambda queries, keys: (
        keys[None, :] - queries[:, None]
    ),
    sizes: Callable[[int, int], tuple[int, int]] = lambda n, m: (n, m),
    first: Callable[[int, int], int] = lambda n, m: 0,
    rows: Change = same,
    moved: Change = lambda b: b.permute(2, 0, 1)[None],
    result: Change = same,
    **switches: Any,
) -> Tensor:
    """The twin of RelativePositionBias; `switches` are those of the buckets."""
    device = module.bias.weight.device
    n, m = sizes(n, m)
    queries = torch.arange(n, device=device) + first(n, m)
    distance = apart(queries, torch.arange(m, device=device))
    index = bucket(
        distance,
        of_buckets(module.num_buckets),
        of_distance(module.max_distance),
        of_direction(module.bidirectional),
        **switches,
    )
    return result(moved(rows(module.bias(index))))


#: How the bias goes wrong around the buckets.
BIASES = [
    Mistake(
        "distance-reversed",
        "The distance is query position - key position; it is the other way round, "
        "key - query: keys[None, :] - queries[:, None].",
        apart=lambda queries, keys: queries[:, None] - keys[None, :],
    ),
    Mistake(
        "queries-along-columns",
        "Rows and columns are exchanged, (1, h, m, n): a row is a query, a column a "
        "key, (1, h, n, m).",
        moved=lambda b: b.permute(2, 1, 0)[None],
    ),
    Mistake(
        "n-and-m-exchanged",
        "n and m are exchanged: n counts queries (rows), m keys (columns).",
        sizes=lambda n, m: (m, n),
    ),
    Mistake(
        "batch-axis-missing",
        "The shape is (h, n, m); a first axis of 1, for the batch, is missing: "
        "(1, h, n, m), with unsqueeze(0).",
        result=lambda b: b[0],
    ),
    Mistake(
        "heads-last",
        "The heads are the last axis, shape (n, m, h), as the embedding gives them; "
        "move them to the front and add an axis for the batch: (1, h, n, m).",
        moved=same,
    ),
    Mistake(
        "heads-last-with-batch",
        "The heads are the last axis, (1, n, m, h), as the embedding gives them; they "
        "stand before the queries: permute to (1, h, n, m).",
        moved=lambda b: b[None],
    ),
    Mistake(
        "heads-by-reshape",
        "The heads are brought forward by view or reshape, which mixes numbers of "
        "different heads and positions; move the axis: permute(2, 0, 1).",
        moved=lambda b: b.reshape(1, b.shape[2], b.shape[0], b.shape[1]),
    ),
    Mistake(
        "distances-absolute",
        "The distance has lost its sign (abs), so earlier and later keys look alike; "
        "hand key - query to relative_position_bucket as it is.",
        apart=lambda queries, keys: (keys[None, :] - queries[:, None]).abs(),
    ),
    Mistake(
        "queries-at-the-end",
        "The queries are taken for the last n of m positions, as with a KV cache; here "
        "they are 0…n-1, and keys 0…m-1.",
        first=lambda n, m: m - n,
    ),
    Mistake(
        "positions-for-distances",
        "The bias depends on the key's position alone; it depends on the distance, "
        "key - query, so that it is constant along diagonals.",
        apart=lambda queries, keys: keys[None, :] - 0 * queries[:, None],
    ),
    Mistake(
        "arguments-not-handed-on",
        "num_buckets, max_distance and bidirectional are not handed on to "
        "relative_position_bucket, so its defaults are used.",
        of_buckets=lambda buckets: 32,
        of_distance=lambda most: 128,
        of_direction=lambda both: True,
    ),
    Mistake(
        "num-buckets-not-handed-on",
        "num_buckets is not handed on to relative_position_bucket, so its default, 32, "
        "is used.",
        of_buckets=lambda buckets: 32,
    ),
    Mistake(
        "max-distance-not-handed-on",
        "max_distance is not handed on to relative_position_bucket, so its default, "
        "128, is used.",
        of_distance=lambda most: 128,
    ),
    Mistake(
        "bidirectional-not-handed-on",
        "bidirectional is not handed on to relative_position_bucket, so its default, "
        "True, is used.",
        of_direction=lambda both: True,
    ),
    Mistake(
        "always-one-way",
        "The buckets are those of one direction, whatever bidirectional says: pass it "
        "on to relative_position_bucket.",
        of_direction=lambda both: False,
    ),
    Mistake(
        "bias-negative",
        "The sign of the bias is reversed; the numbers of the embedding are added to "
        "the scores as they are.",
        result=lambda b: -b,
    ),
    Mistake(
        "bias-exponential",
        "The bias goes through a softmax; it is added to the scores before theirs, as "
        "it comes from the embedding.",
        result=lambda b: b.softmax(-1),
    ),
    Mistake(
        "bias-cut-off",
        "The embedding is cut off from the graph (detach, .data, no_grad): the values "
        "are right, but the bias would never be learned.",
        rows=lambda rows: rows.detach(),
    ),
]

#: Rows of the buckets that another row of the bias says better, or that don't show.
_LEFT_OUT = (
    "sign-reversed",
    "always-both-ways",
    "num-buckets-ignored",
    "max-distance-ignored",
    "floats-returned",
    "never-both-ways",
    "capped-at-n",
    "offset-not-halved",
)

#: Rows of the buckets that show in the bias, each in its own way.
INHERITED = [row for row in BUCKETS if row.switches and row.id not in _LEFT_OUT]
