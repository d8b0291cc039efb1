"""Chapter 1: slips are caught and named, unusual right answers are accepted."""

import pytest

from tests.mistakes.answers import check_source

RNN = """
import torch


def rnn_forward(x, W_x, W_h, b):
    B, T, C = x.shape
    h = torch.zeros(B, W_h.shape[0], dtype=x.dtype, device=x.device)
    states = []
    for t in range(T):
        h = torch.tanh(x[:, t] @ W_x + h @ W_h + b)
        states.append(h)
    return torch.stack(states, dim=1)
"""

STEP = "h = torch.tanh(x[:, t] @ W_x + h @ W_h + b)"
STACK = "torch.stack(states, dim=1)"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (STACK, "h", "last-state-only"),
        (STACK, "states[-1]", "last-state-only"),
        (STACK, "torch.stack(states)", "time-first"),
        (STACK, "torch.stack(states, dim=-1)", "stacked-at-the-end"),
        (STACK, "torch.cat(states, dim=-1)", "states-joined"),
        (STACK, "torch.stack(states[::-1], dim=1)", "states-in-reverse"),
        (STACK, "torch.cat(states, 0).view(B, T, -1)", "relabelled"),
        (STACK, "torch.stack(states, dim=1), h", "result-form"),
        (STACK, "torch.stack([h] * T, dim=1)", "last-state-everywhere"),
        (STEP, STEP.replace("h = ", "h = h + "), "added-to-the-old-state"),
        (STACK, "states", "result-form"),
        (STACK, "None", "returns-nothing"),
        ("range(T)", "reversed(range(T))", "from-the-end"),
        ("range(T)", "range(T - 1)", "last-token-left-out"),
        ("range(T)", "range(1, T)", "first-token-left-out"),
        (STEP, f"{STEP}.detach()", "no-gradient"),
        (STEP, STEP.replace("h @ W_h", "h.detach() @ W_h"), "state-cut-off"),
        (STEP, STEP.replace(" + h @ W_h", ""), "state-not-carried"),
        (STEP, STEP.replace("h @ W_h", "0 * h @ W_h"), "state-not-carried"),
        (STEP, STEP.replace("h = ", "h = h * 0; h = "), "state-not-carried"),
        (STEP, STEP.replace("W_h", "W_h.T"), "recurrent-transposed"),
        (STEP, STEP.replace(" + b", ""), "no-bias"),
        (STEP, STEP.replace(" + b)", ") + b"), "bias-outside"),
        (STEP, STEP.replace("+ b", "+ b + b"), "bias-twice"),
        (STEP, STEP.replace("torch.tanh", ""), "no-tanh"),
        (STEP, STEP.replace("tanh", "sigmoid"), "sigmoid"),
        (STEP, STEP.replace("tanh", "relu"), "relu"),
        (STEP, "h = torch.tanh(x[:, t] @ W_x + b) + h @ W_h", "tanh-apart"),
        (STEP, "h = (x[:, t] @ W_x + b).tanh() + (h @ W_h).tanh()", "two-tanhs"),
        (STEP, STEP.replace("x[:, t]", "x[:, 0]"), "same-token-again"),
        ("torch.zeros(", "torch.ones(", "started-at-one"),
        ("dtype=x.dtype, ", "", "started-in-float32"),
        (", device=x.device", "", "left-on-cpu"),
        ("states.append(h)", "states.insert(0, h)", "states-in-reverse"),
    ],
)
def test_slip_in_reading_is_named(right, slip, mistake):
    assert RNN.count(right) == 1  # else the row would test nothing
    verdict = check_source(RNN.replace(right, slip))
    assert not verdict.passed
    assert verdict.mistake == mistake


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        (  # the state is kept before the step
            "h, states = x.new_zeros(x.shape[0], W_h.shape[0]), []\n"
            "for t in range(x.shape[1]):\n"
            "    states.append(h)\n"
            "    h = (x[:, t] @ W_x + h @ W_h + b).tanh()\n"
            "return torch.stack(states, dim=1)",
            "state-before-the-token",
        ),
        (
            "states = [x.new_zeros(x.shape[0], W_h.shape[0])]\n"
            "for t in range(x.shape[1]):\n"
            "    states.append((x[:, t] @ W_x + states[-1] @ W_h + b).tanh())\n"
            "return torch.stack(states, dim=1)",
            "start-state-included",
        ),
        (  # `for x_t in x` walks along the batch
            "h, states = x.new_zeros(x.shape[1], W_h.shape[0]), []\n"
            "for x_t in x:\n"
            "    h = (x_t @ W_x + h @ W_h + b).tanh()\n"
            "    states.append(h)\n"
            "return torch.stack(states)",
            "along-the-batch",
        ),
        (
            "a, states = x.new_zeros(x.shape[0], W_h.shape[0]), []\n"
            "for t in range(x.shape[1]):\n"
            "    a = x[:, t] @ W_x + a @ W_h + b\n"
            "    states.append(a.tanh())\n"
            "return torch.stack(states, dim=1)",
            "tanh-in-the-end",
        ),
        (
            "rnn = torch.nn.RNN(x.shape[2], W_h.shape[0], batch_first=True)\n"
            "return rnn(x)[0]",
            "forbidden-built-in",
        ),
        (
            "cell = torch.nn.RNNCell(x.shape[2], W_h.shape[0])\n"
            "return torch.stack([cell(x[:, t]) for t in range(x.shape[1])], 1)",
            "forbidden-built-in",
        ),
    ],
)
def test_wrong_reading_is_named(body, mistake):
    lines = "\n    ".join(body.splitlines())
    source = f"import torch\n\ndef rnn_forward(x, W_x, W_h, b):\n    {lines}\n"
    assert check_source(source).mistake == mistake


READS = {
    "preallocated, written in place": """
        out = x.new_empty(x.shape[0], x.shape[1], W_h.shape[0])
        h = x.new_zeros(W_h.shape[0])
        for t in range(x.shape[1]):
            h = (x[:, t] @ W_x + h @ W_h + b).tanh()
            out[:, t] = h
        return out
    """,
    "one product for both": """
        W = torch.cat([W_x, W_h])
        h, states = x.new_zeros(x.shape[0], W_h.shape[0]), []
        for x_t in x.unbind(1):
            h = torch.tanh(torch.cat([x_t, h], -1) @ W + b)
            states += [h.unsqueeze(1)]
        return torch.cat(states, 1)
    """,
    "time first inside, not contiguous": """
        h, states = None, []
        for x_t in (x @ W_x + b).transpose(0, 1):
            h = torch.tanh(x_t if h is None else x_t + h @ W_h)
            states.append(h)
        return torch.stack(states).transpose(0, 1)
    """,
    "fused products": """
        h, states = x.new_zeros(x.shape[0], W_h.shape[0]), []
        for x_t in x.unbind(1):
            h = torch.addmm(torch.addmm(b, x_t, W_x), h, W_h).tanh()
            states.append(h)
        return torch.stack(states, 1)
    """,
    "float64 inside, F.linear": """
        inside = torch.float64
        h = torch.zeros(len(x), len(W_h), dtype=inside, device=x.device)
        states = []
        for t in range(x.size(1)):
            a = F.linear(x[:, t].to(inside), W_x.T.to(inside), b.to(inside))
            h = torch.tanh(a + F.linear(h, W_h.T.to(inside)))
            states.append(h)
        return torch.stack(states, 1).to(x.dtype)
    """,
    "recursion": """
        if x.shape[1] == 0:
            return x.new_zeros(x.shape[0], 0, W_h.shape[0])
        before = rnn_forward(x[:, :-1], W_x, W_h, b)
        h = before[:, -1] if before.shape[1] else x.new_zeros(len(x), len(W_h))
        now = torch.tanh(x[:, -1] @ W_x + h @ W_h + b)
        return torch.cat([before, now[:, None]], 1)
    """,
    "the tanh by its formula": """
        h, states = x.new_zeros(x.shape[0], W_h.shape[0]), []
        for t in range(x.shape[1]):
            a = einsum(x[:, t], W_x, "B C, C H -> B H") + h @ W_h + b
            h = 2 * torch.sigmoid(2 * a) - 1
            states.append(h)
        return rearrange(states, "T B H -> B T H")
    """,
}


def whole(name, signature, body):
    """A function with its imports, from a body indented as above."""
    lines = body.replace("\n        ", "\n    ").rstrip()
    return (
        "import torch\nfrom einops import einsum, rearrange\n"
        f"from torch.nn import functional as F\n\n\ndef {name}({signature}):{lines}\n"
    )


@pytest.mark.parametrize("style", READS)
def test_unusual_reading_is_accepted(style):
    verdict = check_source(whole("rnn_forward", "x, W_x, W_h, b", READS[style]))
    assert verdict.status == "passed", verdict.message


PATH = """
def path_length(kind, i, j):
    if kind == "rnn":
        return abs(i - j)
    if kind == "attention":
        return int(i != j)
    raise ValueError(f"unknown kind {kind!r}")
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("int(i != j)", "1", "one-step-to-itself"),
        ("int(i != j)", "i != j", "bool-for-int"),
        ("int(i != j)", "0", "no-steps"),
        ("int(i != j)", "abs(i - j)", "always-far"),
        ("abs(i - j)", "abs(i - j) + 1", "positions-counted"),
        ("abs(i - j)", "len(range(min(i, j), max(i, j) + 1))", "positions-counted"),
        ("abs(i - j)", "max(abs(i - j) - 1, 0)", "positions-between-counted"),
        ("abs(i - j)", "i - j", "signed"),
        ("abs(i - j)", "j - i", "signed-the-other-way"),
        ("abs(i - j)", "len(range(i, j))", "backwards-is-nothing"),
        ("abs(i - j)", "min(abs(i - j), 1)", "one-step-in-the-rnn"),
        ("abs(i - j)", "abs(i - j) / 1", "float-for-int"),
        ("abs(i - j)", "((i - j) ** 2) ** 0.5", "float-for-int"),
        ('raise ValueError(f"unknown kind {kind!r}")', "", "nothing-for-another-kind"),
        ('raise ValueError(f"unknown kind {kind!r}")', "return {}[kind]", None),
        (
            "raise ValueError",
            "raise NotImplementedError",
            "wrong-exception",
        ),
        ('raise ValueError(f"unknown kind {kind!r}")', "return -1", "not-refused"),
        ('kind == "rnn"', 'kind in ("rnn")', "not-refused"),
        ('kind == "rnn"', 'kind.startswith("rnn")', "not-refused"),
    ],
)
def test_slip_in_the_path_is_named(right, slip, mistake):
    assert PATH.count(right) == 1
    verdict = check_source(PATH.replace(right, slip))
    assert not verdict.passed
    assert verdict.mistake == (mistake or "key-error")


def test_exchanged_kinds_are_named():
    kinds = {'"rnn"': '"attention"', '"attention"': '"rnn"'}
    first, second = kinds
    source = PATH.replace(first, "?").replace(second, first).replace("?", second)
    assert check_source(source).mistake == "kinds-exchanged"


@pytest.mark.parametrize(
    "body",
    [
        "assert kind in ('rnn', 'attention')\n"
        "    return min(abs(i - j), {'rnn': abs(i - j), 'attention': 1}[kind])",
        "match kind:\n        case 'rnn':\n            return max(i, j) - min(i, j)\n"
        "        case 'attention':\n            return 0 if i == j else 1\n"
        "        case _:\n            raise ValueError(kind)",
        "lengths = {'rnn': abs(j - i), 'attention': int(i != j)}\n"
        "    if kind not in lengths:\n        raise ValueError('no such kind')\n"
        "    return lengths[kind]",
        "if kind not in {'rnn', 'attention'}:\n        raise ValueError\n"
        "    return bool(i - j) + 0 if kind == 'attention' else abs(j - i)",
    ],
)
def test_unusual_paths_are_accepted(body):
    verdict = check_source(f"def path_length(kind, i, j):\n    {body}\n")
    assert verdict.status == "passed", verdict.message
