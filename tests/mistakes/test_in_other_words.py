"""Slips written in another way than the twin writes them, and slips beside the twin."""

import pytest

from tests.mistakes.answers import check_source

HEAD = "import math\nimport torch\nfrom torch.nn import functional as F\n"
ATTEND = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.mT / Q.shape[-1] ** 0.5
    if mask is not None:
        s = {masked}
    w = {squashed}
    return w @ V, w
"""
READ = """
def rnn_forward(x, W_x, W_h, b):
    h, states = x.new_zeros(x.shape[0], W_h.shape[0]), []
    for t in {steps}:
        h = torch.tanh({token} + h @ W_h + b)
        states.append(h)
    return torch.stack(states, 1)
"""


def read(steps="range(x.shape[1])", token="x[:, t] @ W_x"):
    return READ.format(steps=steps, token=token)


def attend(masked="s.masked_fill(mask == 0, -torch.inf)", squashed="s.softmax(-1)"):
    return ATTEND.format(masked=masked, squashed=squashed)


def one_line(signature, body):
    return f"def {signature}:\n    return {body}\n"


@pytest.mark.parametrize(
    ("source", "mistake"),
    [
        # The same two sizes don't fit, but not in the product.
        (
            one_line(
                "weighted_sum(weights, values)", "weights / weights.sum(-1) @ values"
            ),
            "averaged-without-keepdim",
        ),
        (attend(masked="s; V = V * mask[..., :1]"), None),
        (
            one_line("pairwise_dots(x, y)", "torch.einsum('...nd,...nm->...dm', x, y)"),
            "summed-over-rows",
        ),
        (
            "from autograder.parts import alibi_slopes\n"
            + one_line(
                "alibi_bias(num_heads, n)",
                "(torch.arange(n)[:, None] - torch.arange(n)).clamp(min=0) "
                "* -alibi_slopes(num_heads)",
            ),
            "slopes-along-the-keys",
        ),
        # A few whole numbers agree with many a formula.
        (
            "from autograder.parts import relative_position_bucket as right\n"
            "def relative_position_bucket(distance, num_buckets=32, "
            "max_distance=512, bidirectional=True):\n"
            "    return right(distance, num_buckets, max_distance, bidirectional)\n",
            "partly-right",
        ),
        (
            "def sinusoidal_positions(max_seq, d_model):\n"
            "    if d_model % 2:\n"
            "        raise ValueError(d_model)\n"
            "    t = torch.arange(max_seq)[:, None] * (\n"
            "        torch.arange(0, d_model, 2) / d_model\n"
            "    ) ** (1 / 10000)\n"
            "    return torch.stack((t.sin(), t.cos()), -1).flatten(1)\n",
            "base-and-exponent-exchanged",
        ),
        # Axes that don't fit: einsum, linear and @ each say so in other words.
        (
            one_line(
                "weighted_sum(weights, values)",
                "torch.einsum('...mn,...md->...nd', weights, values)",
            ),
            "weights-transposed",
        ),
        (read(token="F.linear(x[:, t], W_x)"), "projection-transposed"),
        (read(steps="range(1, x.shape[1])"), "first-token-left-out"),
        (read(steps="range(x.shape[1] - 1)"), "last-token-left-out"),
        (
            one_line(
                "stable_softmax(x, dim=-1)",
                "(x.exp() / x.exp().sum(dim, True)).nan_to_num()",
            ),
            "overflow-covered-up",
        ),
        (
            one_line(
                "attention_scores(Q, K)",
                "torch.einsum('...nd,...md->...nm', Q, K) / math.sqrt(len(Q))",
            ),
            "divided-by-root-of-axis-0",
        ),
        (attend("s + (1 - mask.float()) * float('-inf')"), "zero-times-infinity"),
        (attend(squashed="s.exp()"), "not-divided-by-the-sum"),
        (
            one_line(
                "attention_parameters(d_model, num_heads, num_kv_heads=None, "
                "bias=True)",
                "2 * d_model * (d_model + (num_kv_heads or num_heads) * (d_model // "
                "num_heads)) + 4 * bias",
            ),
            "one-number-for-a-bias",
        ),
        (
            one_line(
                "rms_norm(x, weight, eps=1e-6)",
                "(x.double() * (x.double().mean(-1, True) + eps).rsqrt() * weight)"
                ".to(x.dtype)",
            ),
            "not-squared",
        ),
    ],
)
def test_slip_in_other_words_is_named(source, mistake):
    assert check_source(HEAD + source).mistake == mistake


def test_mask_with_much_wrong_is_judged():
    """Yes-or-no results have no size, so nothing may ask how far off they are."""
    verdict = check_source(
        "import torch\ndef padding_mask(lengths, max_len):\n"
        "    keys = torch.arange(max_len, device=lengths.device)\n"
        "    return (keys > lengths[:, None])[:, None, None]\n"
    )
    assert verdict.status == "failed"
    assert "agree with the expected ones" in verdict.message


def test_tensors_are_not_printed_in_a_sentence():
    verdict = check_source(
        "import torch\nfrom autograder.parts import rnn_forward\n"
        "def gradient_reach(x, W_x, W_h, b):\n"
        "    with torch.enable_grad():\n"
        "        x = x.detach().requires_grad_()\n"
        "        last = rnn_forward(x, W_x, W_h, b)[:, -1].sum()\n"
        "        (g,) = torch.autograd.grad(last, x, create_graph=True)\n"
        "    return g.norm(dim=(0, 2))\n"
    )
    assert verdict.mistake == "attached-unless-under-no-grad"
    assert "tensor(" not in verdict.message


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (
            one_line(
                "attention_scores(Q, K)",
                "torch.bmm(Q, K.mT) / Q.shape[-1] ** 0.5",
            ),
            "any number of leading axes",
        ),
        (
            attend().replace("if mask is not None", "if mask"),
            "ask `is not None`",
        ),
        (
            "def prefix_mask(n, prefix):\n"
            "    if prefix > n:\n"
            "        raise ValueError(prefix)\n"
            "    mask = torch.ones(n, n).tril().bool()\n"
            "    mask[:prefix, :prefix] = True\n"
            "    return mask\n",
            "refuses too much",
        ),
    ],
)
def test_error_is_told_with_its_usual_cause(source, says):
    assert says in check_source(HEAD + source).message
