"""Operations of a layer, with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable

from autograder.definition import Mistake

Count = Callable[[int, int], float]


def attention(
    n: int,
    d_model: int,
    *,
    projections: Count = lambda n, C: 8 * n * C**2,
    pairs: Count = lambda n, C: 4 * n**2 * C,
    more: Count = lambda n, C: 0,
    factor: float = 1,
) -> float:
    """The twin of attention_flops."""
    C = d_model
    return _whole((projections(n, C) + pairs(n, C) + more(n, C)) * factor)


def feed_forward(
    n: int,
    ff_dim: int,
    d_model: int,
    *,
    count: Callable[[int, int, int], float] = lambda n, F, C: 4 * n * C * F,
    factor: float = 1,
) -> float:
    """The twin of feed_forward_flops."""
    return _whole(count(n, ff_dim, d_model) * factor)


def _whole(number: float) -> float:
    return int(number) if number == int(number) else number


ONCE = Mistake(
    "multiply-adds-once",
    "A multiply-add counts as one operation here; it is two, a multiplication and an "
    "addition: everything comes out half as large as it should.",
    factor=0.5,
)
TRAINING = Mistake(
    "backward-pass-too",
    "This is three times as much, as if the backward pass were counted too; only the "
    "forward pass is asked for.",
    factor=3,
)

ATTENTION = [
    ONCE,
    TRAINING,
    Mistake(
        "pairs-linear-in-n",
        "The quadratic term has n once; every query meets every key, which is n² "
        "pairs: 4 n² C.",
        pairs=lambda n, C: 4 * n * C,
    ),
    Mistake(
        "scores-or-sum-only",
        "The quadratic term is 2 n² C, one product over all pairs; there are two: the "
        "scores Q Kᵀ, and the weighted sum of the values.",
        pairs=lambda n, C: 2 * n**2 * C,
    ),
    Mistake(
        "pairs-left-out",
        "The quadratic term is missing: the scores and the weighted sum take 4 n² C.",
        pairs=lambda n, C: 0,
    ),
    Mistake(
        "pairs-without-features",
        "The quadratic term has no C: a score is a dot product of vectors, and all "
        "heads together have C features.",
        pairs=lambda n, C: 4 * n**2,
    ),
    Mistake(
        "pairs-square-in-features",
        "The quadratic term is quadratic in n alone: 4 n² C, with C once.",
        pairs=lambda n, C: 4 * n**2 * C**2,
    ),
    Mistake(
        "causal-half",
        "The quadratic term is 2 n (n + 1) C, the causal pairs only; the contract "
        "counts all n² pairs, as a dense kernel calculates them.",
        pairs=lambda n, C: 2 * n * (n + 1) * C,
    ),
    Mistake(
        "projections-left-out",
        "The projections are missing: W_q, W_k, W_v and W_o take 8 n C².",
        projections=lambda n, C: 0,
    ),
    Mistake(
        "projections-multiply-adds-once",
        "The projections' term is 4 n C², a multiply-add counted as one operation; it "
        "is two, as in the quadratic term: 8 n C².",
        projections=lambda n, C: 4 * n * C**2,
    ),
    Mistake(
        "w-o-forgotten",
        "The projections are three, 6 n C²; W_o is one too: 8 n C².",
        projections=lambda n, C: 6 * n * C**2,
    ),
    Mistake(
        "one-projection",
        "One projection is counted, 2 n C²; there are four, W_q, W_k, W_v and W_o: "
        "8 n C².",
        projections=lambda n, C: 2 * n * C**2,
    ),
    Mistake(
        "projections-linear-in-c",
        "The projections' term has C once; each is a C by C matrix: 8 n C².",
        projections=lambda n, C: 8 * n * C,
    ),
    Mistake(
        "projections-square-in-n",
        "The projections' term has n²; each token is projected once: 8 n C².",
        projections=lambda n, C: 8 * n**2 * C**2,
    ),
    Mistake(
        "projections-without-n",
        "The projections' term has no n; each of the n tokens is projected: 8 n C².",
        projections=lambda n, C: 8 * C**2,
    ),
    Mistake(
        "feed-forward-too",
        "The feed-forward network is counted too, 16 n C²; here it is the attention "
        "alone.",
        more=lambda n, C: 16 * n * C**2,
    ),
    Mistake(
        "n-and-d-model-exchanged",
        "n and d_model have changed places: the quadratic term is 4 n² C.",
        wrong=lambda n, d_model: attention(d_model, n),
    ),
]

FEED_FORWARD = [
    Mistake(
        "multiply-adds-once",
        "This is half of it: a multiply-add counts as two operations, and there are "
        "two products, W_1 and W_2.",
        factor=0.5,
    ),
    TRAINING,
    Mistake(
        "three-products",
        "Three products are counted, as a gated network such as SwiGLU has; this one "
        "has two, W_1 and W_2.",
        count=lambda n, F, C: 6 * n * C * F,
    ),
    Mistake(
        "four-times-assumed",
        "ff_dim has no effect: it is taken to be 4 C. The width is an argument.",
        count=lambda n, F, C: 16 * n * C**2,
    ),
    Mistake(
        "square-in-features",
        "The products take C² where each goes between C and ff_dim features: C ff_dim.",
        count=lambda n, F, C: 4 * n * C**2,
    ),
    Mistake(
        "square-in-ff-dim",
        "The products take ff_dim² where each goes between C and ff_dim features: "
        "C ff_dim.",
        count=lambda n, F, C: 4 * n * F**2,
    ),
    Mistake(
        "square-in-n",
        "This grows with n²; every token goes through the network by itself, once.",
        count=lambda n, F, C: 4 * n**2 * C * F,
    ),
    Mistake(
        "one-token-only",
        "n has no effect: this is what one token takes.",
        count=lambda n, F, C: 4 * C * F,
    ),
    Mistake(
        "features-left-out",
        "d_model has no effect: each product goes between C and ff_dim features.",
        count=lambda n, F, C: 4 * n * F,
    ),
    Mistake(
        "sizes-added",
        "ff_dim and d_model are added; a product of a token with a matrix takes as "
        "many multiply-adds as the matrix has numbers: C ff_dim.",
        count=lambda n, F, C: 4 * n * (C + F),
    ),
]
