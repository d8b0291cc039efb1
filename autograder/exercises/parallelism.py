"""Chapter 13: parallelism."""

import solutions.parallelism as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import normal, size
from autograder.twins.parallel_ffn import PARALLEL, ffn
from autograder.twins.replicas import BUBBLES, MEANS, bubble, mean_of
from autograder.twins.shards import COLUMN, ROW, column, row

CHAPTER = Chapter(13, "Parallelism", "13_parallelism")

#: Two ranks, or three: both divide the six of axis h.
TWO, THREE = size("groups"), size("kv")
RANKS = {"groups": ("rank", "ranks"), "kv": ("rank", "ranks")}

#: (rank, …): a gradient of each rank.
WEIGHT, BIAS, EMBEDDING = "d m", "d_v", "H d_k"

all_reduce_mean = Exercise(
    solutions.all_reduce_mean,
    points=1,
    minutes=8,
    difficulty=2,
    probe="averaged",
    without=["gradients"],
    words=RANKS | {"m": ("column", "columns")},
    inputs={
        "two ranks, three tensors": {
            "weights": normal(f"groups {WEIGHT}"),
            "biases": normal(f"groups {BIAS}"),
            "embeddings": normal(f"groups {EMBEDDING}"),
        },
        "three ranks, two tensors": {
            "weights": normal(f"kv {WEIGHT}"),
            "biases": normal(f"kv {BIAS}"),
        },
        "tensors of one shape": {
            "weights": normal(f"kv {WEIGHT}"),
            "biases": normal(f"kv {WEIGHT}"),
        },
        "one tensor": {"weights": normal(f"5 {WEIGHT}")},
        "one rank": {
            "weights": normal(f"1 {WEIGHT}"),
            "biases": normal(f"1 {BIAS}"),
        },
    },
    twin=mean_of,
    mistakes=MEANS,
    hints=[
        "Which numbers are averaged with each other: those of one rank, or those that "
        "have the same place on every rank?",
        "`zip(*gradients)` gives, tensor by tensor, what all the ranks have of it. Add "
        "these up and divide by the number of ranks, without `+=` on a rank's own.",
        "`[sum(tensors) / len(gradients) for tensors in zip(*gradients)]`.",
    ],
)

X, W, B = normal("... d"), normal("h d"), normal("h")

column_parallel = Exercise(
    solutions.column_parallel,
    points=1,
    minutes=8,
    difficulty=2,
    words=RANKS | {"h": ("output", "outputs")},
    inputs={
        "two ranks": {"x": X, "weight": W, "bias": B, "world_size": TWO},
        "three ranks": {"x": X, "weight": W, "bias": B, "world_size": THREE},
        "as many inputs as outputs": {
            "x": normal("... h"),
            "weight": normal("h h"),
            "bias": B,
            "world_size": THREE,
        },
        "as many ranks as outputs": {
            "x": X,
            "weight": W,
            "bias": B,
            "world_size": size("h"),
        },
        "one rank": {"x": X, "weight": W, "bias": B, "world_size": 1},
    },
    twin=column,
    mistakes=COLUMN,
    hints=[
        "One output of a linear layer is one row of `weight` times x, plus one number "
        "of the bias. Which rows does rank 0 need for the first shard?",
        "Cut `weight` and `bias` into world_size blocks along dim 0; each rank "
        "computes its own small linear layer on all of x. `chunk(world_size)` cuts.",
        "`[F.linear(x, W, b) for W, b in zip(weight.chunk(world_size), "
        "bias.chunk(world_size))]`.",
    ],
)

row_parallel = Exercise(
    solutions.row_parallel,
    points=2,
    minutes=10,
    difficulty=2,
    probe="sharded",
    words=RANKS | {"h": ("input", "inputs")},
    inputs={
        name: {
            "x": normal("... h"),
            "weight": normal("d h"),
            "bias": normal("d"),
            "world_size": ranks,
        }
        for name, ranks in {
            "two ranks": TWO,
            "three ranks": THREE,
            "as many ranks as inputs": size("h"),
            "one rank": 1,
        }.items()
    },
    twin=row,
    mistakes=ROW,
    hints=[
        "An output is a sum over all inputs. A rank has some of the inputs: which "
        "part of the sum can it compute, and which columns of `weight` does it need "
        "for that?",
        "Cut `weight` into len(x_shards) blocks along dim 1. Each rank multiplies its "
        "shard by its block; what the ranks get is added up. The bias is not part of a "
        "rank's product.",
        "`blocks = weight.chunk(len(x_shards), dim=1)`, then `sum(x @ W.T for x, W in "
        "zip(x_shards, blocks)) + bias`.",
    ],
)

tensor_parallel_ffn = Exercise(
    solutions.tensor_parallel_ffn,
    points=3,
    minutes=15,
    difficulty=3,
    uses=[solutions.column_parallel],
    probe="reduced",
    # GELU's tanh form is 2e-4 of the largest result off, rounding 3e-7.
    tolerance=1.5e-6,
    words=RANKS | {"h": ("hidden number", "hidden numbers")},
    returns=["result"],
    inputs={
        name: {
            "x": normal("... d"),
            "W_1": normal("h d", scale=0.5),
            "b_1": normal("h"),
            "W_2": normal("d h"),
            "b_2": normal("d"),
            "world_size": ranks,
        }
        for name, ranks in {
            "two ranks": TWO,
            "three ranks": THREE,
            "one rank": 1,
        }.items()
    },
    twin=ffn,
    mistakes=PARALLEL,
    hints=[
        "Which split of W_1 leaves a rank with whole hidden numbers, so that it can "
        "apply GELU without asking anybody?",
        "Split W_1 and b_1 by outputs (dim 0): GELU works on each rank's shard. Split "
        "W_2 by inputs (dim 1): each rank gets a partial sum of every output. One "
        "all_reduce adds them up; b_2 comes once, after it.",
        "`hidden = column_parallel(x, W_1, b_1, world_size)`, then `partial = "
        "[F.gelu(h) @ W.T for h, W in zip(hidden, W_2.chunk(world_size, dim=1))]`, "
        "and `all_reduce(partial) + b_2`.",
    ],
)

pipeline_bubble = Exercise(
    solutions.pipeline_bubble,
    points=1,
    minutes=5,
    difficulty=1,
    probe="fraction",
    inputs={
        "4 stages, 8 micro-batches": {"n_stages": 4, "n_microbatches": 8},
        "4 stages, 1 micro-batch": {"n_stages": 4, "n_microbatches": 1},
        "3 stages, 7 micro-batches": {"n_stages": 3, "n_microbatches": 7},
        "8 stages, 32 micro-batches": {"n_stages": 8, "n_microbatches": 32},
        "12 stages, 5 micro-batches": {"n_stages": 12, "n_microbatches": 5},
        "2 stages, 2 micro-batches": {"n_stages": 2, "n_microbatches": 2},
        "1 stage": {"n_stages": 1, "n_microbatches": 6},
    },
    twin=bubble,
    mistakes=BUBBLES,
    hints=[
        "Draw two stages and three micro-batches, a step a column. How many columns "
        "are there, and how many of a stage's are empty?",
        "The last micro-batch starts after m - 1 steps and passes p stages, so there "
        "are m + p - 1 steps. A stage works in m of them.",
        "`(n_stages - 1) / (n_microbatches + n_stages - 1)`.",
    ],
)
