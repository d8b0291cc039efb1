"""Chapter 13, parallelism: slips are named, right answers are accepted."""

import pytest

from autograder.render.plain import as_text
from tests.mistakes.answers import check_source, named, slipped

IMPORTS = """
import torch
import torch.nn.functional as F
from einops import rearrange, reduce
from autograder.parts import column_parallel

"""

COLUMN = """
import torch

def column_parallel(x, weight, bias, world_size):
    shards = []
    size = weight.shape[0] // world_size
    for rank in range(world_size):
        rows = slice(rank * size, (rank + 1) * size)
        shards.append(x @ weight[rows].T + bias[rows])
    return shards
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (" + bias[rows]", "", "no-bias"),
        (" + bias[rows]", " + bias", "whole-bias"),
        (" + bias[rows]", " + bias[rows] / world_size", "bias-divided"),
        (" + bias[rows]", " + (bias[rows] if rank == 0 else 0)", "bias-on-rank-0-only"),
        ("weight[rows].T", "weight[rows]", "weight-not-transposed"),
        (
            "weight[rows].T + bias[rows]",
            "weight.T + bias",
            "whole-output-on-every-rank",
        ),
        (
            "slice(rank * size, (rank + 1) * size)",
            "slice(0, size)",
            "first-shard-for-all",
        ),
        (
            "slice(rank * size, (rank + 1) * size)",
            "slice(rank, None, world_size)",
            "rows-dealt-out",
        ),
        ("range(world_size)", "reversed(range(world_size))", "ranks-reversed"),
        ("return shards", "return torch.cat(shards, dim=-1)", "shards-gathered"),
        ("return shards", "return torch.stack(shards)", "shards-stacked"),
        ("return shards", "return sum(shards)", "shards-added-up"),
        ("return shards", "return shards[0]", "one-shard-only"),
        ("return shards", "return {i: s for i, s in enumerate(shards)}", "result-form"),
        ("    return shards", "", "returns-nothing"),
        ("x @ weight", "x.detach() @ weight", "no-gradient"),
    ],
)
def test_slip_in_column_parallel_is_named(right, slip, mistake):
    assert slipped(COLUMN, right, slip).mistake == mistake


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        (
            "[F.linear(a, w, bias) for a, w in zip(x.chunk(world_size, -1), "
            "weight.chunk(world_size, 1))]",
            "input-split",
        ),
        (
            "[a @ w.T for a, w in zip(x.chunk(world_size, -1), "
            "weight.chunk(world_size, 1))]",
            "input-split-without-bias",
        ),
        (
            "[F.linear(x, w, bias) for w in weight.chunk(world_size)]",
            "whole-bias-in-linear",
        ),
        ("F.linear(x, weight, bias)", "shards-gathered"),
        (
            "[F.linear(a, weight, bias) for a in x.chunk(world_size)]",
            "batch-split",
        ),
        (
            "[F.linear(x, w, b) for w, b in "
            "zip(weight.split(world_size), bias.split(world_size))]",
            "world-size-taken-as-shard-size",
        ),
    ],
)
def test_wrong_column_parallel_is_named(body, mistake):
    source = f"def column_parallel(x, weight, bias, world_size):\n    return {body}\n"
    assert check_source(IMPORTS + source).mistake == mistake


ROW = """
import torch

def row_parallel(x_shards, weight, bias):
    world_size = len(x_shards)
    size = weight.shape[1] // world_size
    partial = []
    for rank, x in enumerate(x_shards):
        columns = weight[:, rank * size:(rank + 1) * size]
        partial.append(x @ columns.T)
    return sum(partial) + bias
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("sum(partial) + bias", "sum(partial, partial[0]) + bias", "first-rank-twice"),
        ("x @ columns.T)", "x @ columns.T + bias)", "bias-twice"),
        ("sum(partial) + bias", "sum(partial)", "no-bias"),
        ("sum(partial) + bias", "sum(p + bias for p in partial)", "bias-on-every-rank"),
        ("+ bias", "+ bias / world_size", "bias-divided"),
        ("+ bias", "+ bias * world_size", "bias-on-every-rank"),
        ("sum(partial) + bias", "sum(partial) / world_size + bias", "averaged"),
        ("sum(partial) + bias", "torch.stack(partial).mean(0) + bias", "averaged"),
        (
            "sum(partial) + bias",
            "torch.cat(partial, -1) + bias",
            "concatenated-then-bias",
        ),
        (
            "sum(partial) + bias",
            "torch.cat([p + bias for p in partial], -1)",
            "concatenated",
        ),
        ("sum(partial) + bias", "torch.cat(partial, -1)", "concatenated-without-bias"),
        ("sum(partial) + bias", "torch.stack(partial) + bias", "stacked"),
        ("sum(partial) + bias", "partial", "never-reduced"),
        ("sum(partial) + bias", "[p + bias for p in partial]", "never-reduced-biased"),
        ("sum(partial) + bias", "partial[0] + bias", "first-rank-only"),
        ("sum(partial) + bias", "x @ columns.T + bias", "last-rank-only"),
        (
            "sum(partial) + bias",
            "[sum(partial) + bias] * world_size",
            "a-copy-for-every-rank",
        ),
        (
            "weight[:, rank * size:(rank + 1) * size]",
            "weight.chunk(world_size, 0)[rank]",
            "weight-split-by-rows",
        ),
        ("weight[:, rank * size:(rank + 1) * size]", "weight", "weight-not-split"),
        (
            "weight[:, rank * size:(rank + 1) * size]",
            "weight[:, :size]",
            "first-columns-for-all",
        ),
        (
            "weight[:, rank * size:(rank + 1) * size]",
            "weight[:, rank::world_size]",
            "columns-dealt-out",
        ),
        (
            "        partial.append",
            "        x_shards[rank] = None\n        partial.append",
            "input-changed",
        ),
    ],
)
def test_slip_in_row_parallel_is_named(right, slip, mistake):
    assert slipped(ROW, right, slip).mistake == mistake


FFN = """
import torch
import torch.nn.functional as F

def tensor_parallel_ffn(x, W_1, b_1, W_2, b_2, world_size, all_reduce):
    size = W_1.shape[0] // world_size
    partial = []
    for rank in range(world_size):
        own = slice(rank * size, (rank + 1) * size)
        hidden = F.gelu(F.linear(x, W_1[own], b_1[own]))
        partial.append(F.linear(hidden, W_2[:, own]))
    y = all_reduce(partial)
    return y + b_2
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("y = all_reduce(partial)", "y = sum(partial)", "never-reduces"),
        (
            "y = all_reduce(partial)",
            "y = sum(all_reduce([p]) for p in partial)",
            "reduces-one-by-one",
        ),
        (
            "y = all_reduce(partial)",
            "y = partial[0]\n    for p in partial[1:]:\n        y = all_reduce([y, p])",
            "reduces-in-pairs",
        ),
        (
            "y = all_reduce(partial)",
            "y = 0 * partial[0]\n    for p in partial:\n        y = all_reduce([y, p])",
            "reduces-from-zero",
        ),
        (
            "y = all_reduce(partial)",
            "for p in partial:\n        y = all_reduce(partial)",
            "reduces-on-every-rank",
        ),
        (
            "y = all_reduce(partial)",
            "all_reduce(partial)\n    y = partial[0]",
            "sum-not-used",
        ),
        ("y + b_2", "y / world_size + b_2", "sum-averaged"),
        (
            "F.gelu(F.linear(x, W_1[own], b_1[own]))",
            "F.linear(x, W_1[own], b_1[own])",
            "no-activation",
        ),
        ("F.gelu(", "F.relu(", "relu"),
        ("F.gelu(", "F.silu(", "silu"),
        ("b_1[own]))", "b_1[own]), approximate='tanh')", "tanh-approximation"),
        (", b_1[own])", ")", "b_1-forgotten"),
        ("W_2[:, own])", "W_2[:, own], b_2)", "b_2-twice"),
        ("y + b_2", "y", "b_2-forgotten"),
        ("y + b_2", "y + b_2 / world_size", "b_2-divided"),
        ("y + b_2", "y + b_2 * world_size", "b_2-on-every-rank"),
        (
            "W_2[:, own])",
            "W_2.chunk(world_size, 1)[-1 - rank])",
            "shards-of-other-ranks",
        ),
        ("W_2[:, own])", "W_2.chunk(world_size, 0)[rank])", "W_2-split-by-outputs"),
        ("return y + b_2", "return all_reduce(partial) + b_2", "reduces-twice"),
        ("return y + b_2", "return sum(partial) + b_2", "sum-computed-anew"),
        ("    return y + b_2", "    y += b_2", "returns-nothing"),
    ],
)
def test_slip_in_the_parallel_ffn_is_named(right, slip, mistake):
    assert slipped(FFN, right, slip).mistake == mistake


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        (
            "    hidden = [F.linear(x, w, b) for w, b in zip(W_1.chunk(world_size), "
            "b_1.chunk(world_size))]\n"
            "    columns = W_2.chunk(world_size, 1)\n"
            "    p = [F.gelu(h @ w.T) for h, w in zip(hidden, columns)]\n"
            "    return all_reduce(p) + b_2",
            "gelu-on-partial-sums",
        ),
        (
            "    hidden = column_parallel(x, W_1, b_1, world_size)\n"
            "    p = [h @ w.T for h, w in zip(hidden, W_2.chunk(world_size, 1))]\n"
            "    return F.gelu(all_reduce(p) + b_2)",
            "gelu-at-the-end",
        ),
        (
            "    y = F.linear(F.gelu(F.linear(x, W_1, b_1)), W_2, b_2)\n"
            "    return all_reduce([y / world_size for _ in range(world_size)])",
            "whole-network-in-shares",
        ),
        (
            "    y = F.linear(F.gelu(F.linear(x, W_1, b_1)), W_2, b_2)\n"
            "    return all_reduce([y] * world_size)",
            "whole-network-on-every-rank",
        ),
        (
            "    y = F.linear(F.gelu(F.linear(x, W_1, b_1)), W_2, b_2)\n"
            "    return all_reduce([y])",
            "whole-network-reduced-alone",
        ),
        (
            "    h = torch.cat([F.gelu(h) for h in column_parallel(x, W_1, b_1, "
            "world_size)], -1)\n"
            "    return all_reduce([F.linear(h, W_2)]) + b_2",
            "whole-network-reduced-alone",
        ),
        (
            "    return F.linear(F.gelu(F.linear(x, W_1, b_1)), W_2, b_2)",
            "never-reduces",
        ),
        (
            "    z = [a @ w.T for a, w in zip(x.chunk(world_size, -1), "
            "W_1.chunk(world_size, 1))]\n"
            "    h = F.gelu(all_reduce(z) + b_1)\n"
            "    return torch.cat(column_parallel(h, W_2, b_2, world_size), -1)",
            "row-then-column",
        ),
        (
            "    h = all_reduce([F.gelu(h) for h in column_parallel(x, W_1, b_1, "
            "world_size)])\n"
            "    return all_reduce([h @ w.T for w in W_2.chunk(world_size, 1)]) + b_2",
            "hidden-numbers-reduced",
        ),
    ],
)
def test_wrong_parallel_ffn_is_named(body, mistake):
    head = "def tensor_parallel_ffn(x, W_1, b_1, W_2, b_2, world_size, all_reduce):\n"
    assert check_source(IMPORTS + head + body).mistake == mistake


def test_the_verdict_counts_the_calls():
    verdict = slipped(
        FFN, "    y = all_reduce", "    all_reduce(W_2.T)\n    y = all_reduce"
    )
    assert "Calls of all_reduce: 2, where 1 is asked for." in verdict.message


def test_where_only_the_calls_are_wrong_no_equal_results_are_shown():
    verdict = slipped(FFN, "y = all_reduce(partial)", "y = sum(partial)")
    assert verdict.example is None


MEAN = """
import torch

def all_reduce_mean(gradients):
    averaged = []
    for tensors in zip(*gradients):
        total = torch.stack(tensors).sum(dim=0)
        averaged.append(total / len(gradients))
    return averaged
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("total / len(gradients)", "total", "summed"),
        ("len(gradients))", "len(gradients[0]))", "divided-by-tensors"),
        ("len(gradients))", "len(gradients) ** 2)", "divided-twice"),
        (".sum(dim=0)", ".sum()", "wrong-shape"),
        (
            "total / len(gradients)",
            "torch.stack(tensors).mean()",
            "one-number-a-tensor",
        ),
        ("total / len(gradients)", "tensors[0]", "first-rank-only"),
        (".sum(dim=0)", ".sum(dim=0, keepdim=True)", "rank-axis-kept"),
        (
            "torch.stack(tensors).sum(dim=0)",
            "sum(tensors, tensors[0])",
            "first-rank-twice",
        ),
        (
            "return averaged",
            "return [averaged] * len(gradients)",
            "a-copy-for-every-rank",
        ),
        (
            "return averaged",
            "return torch.cat([a.ravel() for a in averaged])",
            "one-long-vector",
        ),
        ("return averaged", "return [a.ravel() for a in averaged]", "flattened"),
        ("return averaged", "return averaged[:1]", "first-tensor-only"),
        ("return averaged", "return (a for a in averaged)", "result-form"),
        ("return averaged", "return averaged[0]", "result-form"),
        ("zip(*gradients)", "gradients", "tensors-averaged"),
        (
            "total / len(gradients))",
            "total / len(gradients))\n        tensors[0].zero_()",
            "input-changed",
        ),
        (
            "    return averaged",
            "    for rank in gradients:\n        rank[:] = averaged\n"
            "    return averaged",
            "input-changed",
        ),
        (
            "    return averaged",
            "    gradients.clear()\n    return averaged",
            "input-changed",
        ),
    ],
)
def test_slip_in_averaging_is_named(right, slip, mistake):
    assert slipped(MEAN, right, slip).mistake == mistake


@pytest.mark.parametrize(
    ("formula", "mistake"),
    [
        ("(n_stages - 1) / n_microbatches + n_stages - 1", "brackets-missing"),
        ("n_stages / (n_microbatches + n_stages - 1)", "all-stages-idle"),
        ("n_microbatches / (n_microbatches + n_stages - 1)", "busy-share"),
        ("(n_stages - 1) / n_microbatches", "idle-to-busy"),
        ("(n_stages - 1) / (n_microbatches + n_stages)", "last-step-counted-twice"),
        ("n_stages / (n_microbatches + n_stages)", "all-stages-idle"),
        ("(n_stages - 1) / (n_microbatches * n_stages)", "steps-multiplied"),
        (
            "(n_microbatches - 1) / (n_microbatches + n_stages - 1)",
            "arguments-exchanged",
        ),
        ("1 - 1 / n_stages", "one-batch"),
        ("(n_stages - 1) / n_stages / n_microbatches", "steps-multiplied"),
        ("2 * (n_stages - 1) / (n_microbatches + n_stages - 1)", "counted-twice"),
        ("(n_stages - 1) // (n_microbatches + n_stages - 1)", "whole-number-division"),
        ("100 * (n_stages - 1) / (n_microbatches + n_stages - 1)", "in-percent"),
        ("round((n_stages - 1) / (n_microbatches + n_stages - 1), 2)", "rounded"),
        ("n_stages - 1", "idle-steps"),
        ("n_stages * (n_stages - 1)", "idle-slots-of-all-stages"),
        ("str((n_stages - 1) / (n_microbatches + n_stages - 1))", "result-form"),
    ],
)
def test_wrong_bubble_is_named(formula, mistake):
    source = f"def pipeline_bubble(n_stages, n_microbatches):\n    return {formula}\n"
    assert check_source(source).mistake == mistake


def test_a_long_name_and_its_value_stay_apart():
    source = "def pipeline_bubble(n_stages, n_microbatches):\n    return 0.5\n"
    assert "n_microbatches 8" in as_text(check_source(source))


RIGHT = named(
    """
# tensor_split
def column_parallel(x, weight, bias, world_size):
    return tuple(F.linear(x, w, b) for w, b in zip(
        weight.tensor_split(world_size), bias.tensor_split(world_size)))

# einsum over all ranks at once
def column_parallel(x, weight, bias, world_size):
    w = weight.reshape(world_size, -1, weight.shape[-1])
    b = bias.reshape(world_size, -1)
    y = torch.einsum("...i,roi->r...o", x, w)
    return [y[r] + b[r] for r in range(world_size)]

# the whole output, cut
def column_parallel(x, weight, bias, world_size):
    return F.linear(x, weight, bias).split(len(bias) // world_size, dim=-1)

# a layer a rank
def column_parallel(x, weight, bias, world_size, debug=False):
    outputs = []
    for w, b in zip(weight.chunk(world_size, 0), bias.chunk(world_size, 0)):
        layer = torch.nn.Linear(w.shape[1], w.shape[0]).to(x)
        state = {"weight": w, "bias": b}
        outputs.append(torch.func.functional_call(layer, state, (x,)))
    return outputs

# output by output
def column_parallel(x, weight, bias, world_size):
    n = weight.size(0) // world_size
    out = []
    for r in range(world_size):
        columns = [(x * weight[r * n + j]).sum(-1) + bias[r * n + j] for j in range(n)]
        out.append(torch.stack(columns, dim=-1))
    return out

# with a check, in place on its own
def column_parallel(x, weight, bias, world_size):
    if weight.shape[0] % world_size:
        raise ValueError("world_size must divide the outputs")
    out = [x.matmul(w.mT) for w in torch.chunk(weight, world_size)]
    for y, b in zip(out, torch.chunk(bias, world_size)):
        y += b
    return out

# bias on rank 0
def row_parallel(x_shards, weight, bias):
    cols = weight.chunk(len(x_shards), dim=-1)
    return sum(F.linear(x, w, bias if r == 0 else None)
               for r, (x, w) in enumerate(zip(x_shards, cols)))

# a share of the bias each
def row_parallel(x_shards, weight, bias):
    n = len(x_shards)
    cols = weight.tensor_split(n, dim=1)
    parts = [F.linear(x, w, bias / n) for x, w in zip(x_shards, cols)]
    return torch.stack(parts).sum(dim=0)

# a running total that starts with the bias
def row_parallel(x_shards, weight, bias):
    total, start = bias, 0
    for x in x_shards:
        total = total + x @ weight[:, start:start + x.shape[-1]].T
        start += x.shape[-1]
    return total

# gathered, then whole
def row_parallel(x_shards, weight, bias):
    return F.linear(torch.cat(x_shards, dim=-1), weight, bias)

# in place on its own buffer
def row_parallel(x_shards, weight, bias):
    y = torch.zeros(*x_shards[0].shape[:-1], len(bias)).to(x_shards[0])
    for r, x in enumerate(x_shards):
        w = weight[:, r * x.size(-1):(r + 1) * x.size(-1)]
        y += x @ w.t()
    return y.add_(bias)

# einops and einsum
def row_parallel(x_shards, weight, bias):
    x = torch.stack(list(x_shards))
    w = rearrange(weight, "o (r i) -> r o i", r=len(x_shards))
    return torch.einsum("r...i,roi->...o", x, w) + bias

# the bias on the last rank, a tuple for all_reduce
def tensor_parallel_ffn(x, W_1, b_1, W_2, b_2, world_size, all_reduce):
    parts = []
    for r, (w, b, v) in enumerate(zip(W_1.chunk(world_size), b_1.chunk(world_size),
                                      W_2.chunk(world_size, 1))):
        own = b_2 if r == world_size - 1 else torch.zeros_like(b_2)
        parts.append(F.gelu(x @ w.T + b) @ v.T + own)
    return all_reduce(tuple(parts))

# the bias in shares
def tensor_parallel_ffn(x, W_1, b_1, W_2, b_2, world_size, all_reduce):
    hidden = column_parallel(x, W_1, b_1, world_size)
    cols = W_2.tensor_split(world_size, dim=1)
    return all_reduce([F.linear(F.gelu(h), w, b_2 / world_size)
                       for h, w in zip(hidden, cols)])

# GELU by erf, in place on the sum
def tensor_parallel_ffn(x, W_1, b_1, W_2, b_2, world_size, all_reduce):
    size = len(W_1) // world_size
    partial = []
    for i in range(0, len(W_1), size):
        z = torch.einsum("...i,oi->...o", x, W_1[i:i + size]) + b_1[i:i + size]
        h = 0.5 * z * (1 + torch.erf(z / 2 ** 0.5))
        partial += [torch.einsum("...h,oh->...o", h, W_2[:, i:i + size])]
    y = all_reduce(partial)
    y += b_2
    return y

# neurons dealt out one by one
def tensor_parallel_ffn(x, W_1, b_1, W_2, b_2, world_size, all_reduce):
    def partial(r):
        own = slice(r, None, world_size)
        return torch.nn.GELU()(F.linear(x, W_1[own], b_1[own])) @ W_2[:, own].T

    return all_reduce([partial(r) for r in range(world_size)]) + b_2

# all ranks in one product
def tensor_parallel_ffn(x, W_1, b_1, W_2, b_2, world_size, all_reduce):
    w = rearrange(W_1, "(r h) c -> r h c", r=world_size)
    b = rearrange(b_1, "(r h) -> r h", r=world_size)
    v = rearrange(W_2, "c (r h) -> r c h", r=world_size)
    parts = []
    for rank in range(world_size):
        h = F.gelu(x @ w[rank].mT + b[rank])
        parts.append(h @ v[rank].mT)
    total = all_reduce(parts)
    return total.add(b_2)

# under float64 inside
def tensor_parallel_ffn(x, W_1, b_1, W_2, b_2, world_size, all_reduce):
    up = [t.double() for t in (x, W_1, b_1, W_2)]
    hidden = [F.gelu(F.linear(up[0], w, b))
              for w, b in zip(up[1].chunk(world_size), up[2].chunk(world_size))]
    sums = [h @ w.T for h, w in zip(hidden, up[3].chunk(world_size, dim=1))]
    return (all_reduce(sums) + b_2.double()).to(x.dtype)

# stacked, mean
def all_reduce_mean(gradients):
    return [torch.stack(same).mean(0) for same in zip(*gradients)]

# without gradients, in place on its own
@torch.no_grad()
def all_reduce_mean(gradients):
    out = [g.clone() for g in gradients[0]]
    for rank in gradients[1:]:
        for total, g in zip(out, rank):
            total.add_(g)
    for total in out:
        total.div_(len(gradients))
    return out

# einops, by index
def all_reduce_mean(gradients):
    return [reduce([rank[i] for rank in gradients], "rank ... -> ...", "mean")
            for i in range(len(gradients[0]))]

# one bucket
def all_reduce_mean(gradients):
    flat = torch.stack([torch.cat([g.flatten() for g in rank]) for rank in gradients])
    mean = flat.mean(dim=0)
    sizes = [g.numel() for g in gradients[0]]
    return [piece.view_as(g) for piece, g in zip(mean.split(sizes), gradients[0])]

# shares before the sum, a tuple
def all_reduce_mean(gradients):
    n = len(gradients)
    return tuple(sum(g / n for g in same) for same in zip(*gradients, strict=True))

# a running mean
def all_reduce_mean(gradients):
    mean = [torch.zeros_like(g) for g in gradients[0]]
    for k, rank in enumerate(gradients, 1):
        mean = [m + (g - m) / k for m, g in zip(mean, rank)]
    return mean

# 0 for one stage
def pipeline_bubble(n_stages, n_microbatches):
    if n_stages == 1:
        return 0
    return 1 - n_microbatches / (n_microbatches + n_stages - 1)

# an exact fraction
def pipeline_bubble(n_stages, n_microbatches):
    from fractions import Fraction
    return Fraction(n_stages - 1, n_stages + n_microbatches - 1)

# the schedule, counted
def pipeline_bubble(n_stages, n_microbatches):
    steps = n_microbatches + n_stages - 1
    busy = torch.zeros(n_stages, steps, dtype=torch.float64)
    for stage in range(n_stages):
        for m in range(n_microbatches):
            busy[stage, stage + m] = 1
    return 1 - busy.mean()

# forward and backward
def pipeline_bubble(n_stages, n_microbatches):
    forward, backward = 1.0, 2.0
    idle = (n_stages - 1) * (forward + backward)
    return idle / (n_microbatches * (forward + backward) + idle)

# NumPy's number
def pipeline_bubble(n_stages, n_microbatches):
    import numpy as np
    return np.float64(n_stages - 1) / np.float64(n_microbatches + n_stages - 1)
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_unusual_right_answer_is_accepted(source):
    verdict = check_source(IMPORTS + source)
    assert verdict.passed, verdict.message
