"""The parameters of an attention layer, counted with a switch for every slip."""

from collections.abc import Callable

from autograder.definition import Mistake


def count(
    d_model: int,
    num_heads: int,
    num_kv_heads: int | None = None,
    bias: bool = True,
    *,
    kv_width: Callable[[int, int, int], int] = lambda C, h, kv: kv * (C // h),
    kv_matrix: Callable[[int, int], int] = lambda C, width: width,
    v_matrix: Callable[[int, int], int] | None = None,
    matrices: str = "qkvo",
    inputs: Callable[[int, int], int] = lambda C, h: C,
    o_inputs: Callable[[int, int], int] = lambda C, width: C,
    biases: Callable[[int, int], int] = lambda C, width: 2 * C + 2 * width,
    biased: Callable[[bool], bool] = bool,
    times: Callable[[int], int] = lambda h: 1,
) -> int:
    """The twin of attention_parameters."""
    kv = num_heads if num_kv_heads is None else num_kv_heads
    width = kv_width(d_model, num_heads, kv)
    kv_outputs = kv_matrix(d_model, width)
    outputs = {"q": d_model, "k": kv_outputs, "v": kv_outputs}
    if v_matrix is not None:
        outputs["v"] = v_matrix(d_model, width)
    wide = inputs(d_model, num_heads)
    weights = sum(wide * outputs[name] for name in matrices if name != "o")
    if "o" in matrices:
        weights += o_inputs(d_model, width) * d_model
    return (weights + biases(d_model, width) * biased(bias)) * times(num_heads)


def divided(
    d_model: int, num_heads: int, num_kv_heads: int | None = None, bias: bool = True
) -> float:
    kv = num_heads if num_kv_heads is None else num_kv_heads
    width = d_model / num_heads * kv
    return 2 * (d_model + width) * (d_model + bias)


def multi_query_by_default(
    d_model: int, num_heads: int, num_kv_heads: int = 1, bias: bool = True
) -> int:
    return count(d_model, num_heads, num_kv_heads, bias)


def all_shrunk(
    d_model: int, num_heads: int, num_kv_heads: int | None = None, bias: bool = True
) -> int:
    kv = num_heads if num_kv_heads is None else num_kv_heads
    return 4 * kv * (d_model // num_heads) * (d_model + bias)


#: How the count goes wrong.
COUNTS = [
    Mistake(
        "kv-heads-ignored",
        "num_kv_heads has no effect: with fewer key/value heads W_k and W_v have "
        "num_kv_heads * d_k outputs, not d_model.",
        kv_width=lambda C, h, kv: C,
    ),
    Mistake(
        "kv-matrices-of-full-width",
        "W_k and W_v are counted as (d_model, d_model); with fewer key/value heads "
        "they have num_kv_heads * d_k outputs, as their biases do.",
        kv_matrix=lambda C, width: C,
    ),
    Mistake(
        "kv-width-without-d_k",
        "W_k and W_v are counted with num_kv_heads outputs; each key/value head "
        "has d_k of them: num_kv_heads * (d_model // num_heads).",
        kv_width=lambda C, h, kv: kv,
    ),
    Mistake(
        "kv-width-upside-down",
        "W_k and W_v are counted with d_model // num_kv_heads outputs; it should "
        "be num_kv_heads * (d_model // num_heads).",
        kv_width=lambda C, h, kv: C // kv,
    ),
    Mistake(
        "heads-read-slices",
        "Each head's matrices are counted as (d_k, d_k); every head reads all d_model "
        "features of a token, so they are (d_model, d_k).",
        inputs=lambda C, h: C // h,
    ),
    Mistake(
        "values-forgotten",
        "W_k and W_v are counted once; they are two matrices of the same size.",
        matrices="qko",
        biases=lambda C, width: 2 * C + width,
    ),
    Mistake(
        "one-of-two-shrunk",
        "Only one of W_k and W_v is counted at the smaller width; both have "
        "num_kv_heads * d_k outputs.",
        v_matrix=lambda C, width: C,
        biases=lambda C, width: 3 * C + width,
    ),
    Mistake(
        "all-four-shrunk",
        "All four matrices are counted at the smaller width; only W_k and W_v have "
        "num_kv_heads * d_k outputs, W_q and W_o stay (d_model, d_model).",
        wrong=all_shrunk,
    ),
    Mistake(
        "multi-query-by-default",
        "Without num_kv_heads one key/value head is counted; the default, None, means "
        "as many as num_heads.",
        wrong=multi_query_by_default,
    ),
    Mistake(
        "output-matrix-forgotten",
        "W_o's matrix is not counted: it has d_model * d_model weights.",
        matrices="qkv",
    ),
    Mistake(
        "output-matrix-shrunk",
        "W_o shrinks with the key/value heads; it takes the joined query heads, so "
        "it stays (d_model, d_model).",
        o_inputs=lambda C, width: width,
    ),
    Mistake(
        "biases-forgotten",
        "The biases are not counted: each matrix has one for each of its outputs.",
        biases=lambda C, width: 0,
    ),
    Mistake(
        "biases-of-full-width",
        "Four biases of d_model numbers are counted; those of W_k and W_v are as "
        "long as their outputs, num_kv_heads * d_k.",
        biases=lambda C, width: 4 * C,
    ),
    Mistake(
        "output-bias-forgotten",
        "The bias of W_o is not counted.",
        biases=lambda C, width: C + 2 * width,
    ),
    Mistake(
        "biases-of-keys-and-values-forgotten",
        "Only the biases of W_q and W_o are counted; W_k and W_v have num_kv_heads * "
        "d_k each, too.",
        biases=lambda C, width: 2 * C,
    ),
    Mistake(
        "output-bias-only",
        "Only the bias of W_o is counted; W_q, W_k and W_v have one, too.",
        biases=lambda C, width: C,
    ),
    Mistake(
        "one-number-for-a-bias",
        "A bias is counted as one number; it has one for each output of its matrix.",
        biases=lambda C, width: 4,
    ),
    Mistake(
        "bias-inverted",
        "bias is read the wrong way round: True means that biases count.",
        biased=lambda bias: not bias,
    ),
    Mistake(
        "bias-ignored",
        "bias=False has no effect: without biases only the matrices count.",
        biased=lambda bias: True,
    ),
    Mistake(
        "times-the-heads",
        "The count is multiplied by num_heads; each head has only its slice of the "
        "matrices, and the slices together are one of each.",
        times=lambda h: h,
    ),
    Mistake(
        "float-result",
        "The result is a float, since / is the true division: take //.",
        wrong=divided,
    ),
]
