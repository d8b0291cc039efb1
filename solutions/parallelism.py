"""Chapter 13: parallelism."""

from einops import rearrange
from torch.nn import functional as F


def column_parallel(x, weight, bias, world_size):
    """Give each rank some of a linear layer's outputs to compute.

    x (..., d_in), weight (d_out, d_in), bias (d_out,), as in nn.Linear -> a list with
    each rank's shard (..., d_out / world_size), in the ranks' order.

    Shoeybi et al. 2019, section 3.
    """
    weights = rearrange(weight, "(rank d_out) d_in -> rank d_out d_in", rank=world_size)
    biases = rearrange(bias, "(rank d_out) -> rank d_out", rank=world_size)
    return [F.linear(x, W, b) for W, b in zip(weights, biases, strict=True)]


def row_parallel(x_shards, weight, bias):
    """Multiply a shard of the input on each rank, and add up what they get.

    x_shards, a list of (..., d_in / ranks); weight (d_out, d_in), bias (d_out,), as in
    nn.Linear -> the layer's whole output (..., d_out).

    Shoeybi et al. 2019, section 3.
    """
    ranks = len(x_shards)
    weights = rearrange(weight, "d_out (rank d_in) -> rank d_out d_in", rank=ranks)
    partial_sums = map(F.linear, x_shards, weights)  # each (..., d_out)
    return sum(partial_sums) + bias  # the bias once, not once a rank


def tensor_parallel_ffn(x, W_1, b_1, W_2, b_2, world_size, all_reduce):
    """Share a feed-forward network out: W_1 by columns, W_2 by rows.

    x (..., d_model), W_1 (d_ff, d_model), b_1 (d_ff,), W_2 (d_model, d_ff), b_2
    (d_model,) -> (..., d_model), as W_2 gelu(W_1 x + b_1) + b_2, with the exact GELU.
    Calls all_reduce once: a list of partial sums, one a rank -> their sum.

    Shoeybi et al. 2019, section 3.
    """
    hidden = column_parallel(x, W_1, b_1, world_size)  # each (..., d_ff / world_size)
    W_2 = rearrange(W_2, "d_model (rank d_ff) -> rank d_model d_ff", rank=world_size)
    partial_sums = [F.linear(F.gelu(h), W) for h, W in zip(hidden, W_2, strict=True)]
    return all_reduce(partial_sums) + b_2


def all_reduce_mean(gradients):
    """Average each tensor's gradient over the ranks.

    gradients, a list (one a rank) of lists of tensors, in the same order and of the
    same shapes on every rank -> one such list, the same for every rank.
    """
    same_tensor = zip(*gradients, strict=True)  # from all ranks
    return [sum(tensors) / len(gradients) for tensors in same_tensor]


def pipeline_bubble(n_stages, n_microbatches):
    """Say which part of its time a stage stands idle in GPipe's schedule.

    -> a fraction, 0 for a single stage.

    Huang et al. 2019, section 2.3.
    """
    idle = n_stages - 1  # steps until the first micro-batch has reached the last stage
    return idle / (n_microbatches + idle)
