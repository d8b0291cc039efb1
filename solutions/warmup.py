"""Chapter 0: the three operations that attention consists of."""

from einops import einsum


def pairwise_dots(x, y):
    """Compare every row of x with every row of y, by their dot product.

    x (..., n, d), y (..., m, d) -> (..., n, m).
    """
    return einsum(x, y, "... n d, ... m d -> ... n m")


def weighted_sum(weights, values):
    """Mix the rows of values, each as much as its weight says.

    weights (..., n, m), values (..., m, d) -> (..., n, d).
    """
    return einsum(weights, values, "... n m, ... m d -> ... n d")


def stable_softmax(x, dim=-1):
    """Turn scores into shares: none is negative, and along dim they sum to 1.

    x, any shape -> the same shape: exp(x) / sum(exp(x)), for scores as large as 10,000
    too, in half precision too. A score of -inf gets a share of 0.
    """
    powers = (x - x.amax(dim, keepdim=True)).exp()  # the largest is e^0 = 1
    return powers / powers.sum(dim, keepdim=True)
