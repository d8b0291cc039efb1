"""Chapter 7: slips in masks are caught and named, unusual right answers accepted."""

import pytest

from tests.mistakes.answers import check_source

IMPORTS = """
import math

import numpy as np
import torch
import torch.nn.functional as F
from einops import rearrange, repeat

"""


def judged(signature, body):
    """The verdict on a function of one expression, or of several lines."""
    lines = body.strip().splitlines()
    if not any("return" in line for line in lines):
        lines[-1] = f"return {lines[-1]}"
    inner = "".join(f"    {line}\n" for line in lines)
    return check_source(f"{IMPORTS}def {signature}:\n{inner}")


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("torch.triu(torch.ones(n, n), diagonal=1).bool()", "mask-inverted"),
        ("torch.ones(n, n).triu().bool()", "triangle-flipped"),
        ("torch.ones(n, n).tril(-1).bool()", "diagonal-missing"),
        ("torch.ones(n, n).tril(1).bool()", "one-ahead"),
        ("torch.ones(n, n, dtype=torch.bool)", "everything-allowed"),
        ("torch.eye(n).bool()", "nothing-but-itself"),
        ("torch.tril(torch.ones(n, n))", "mask-of-floats"),
        ("torch.tril(torch.ones(n, n, dtype=torch.long))", "mask-of-integers"),
        ("torch.full((n, n), float('-inf')).triu(1)", "mask-to-be-added"),
        (
            "torch.nn.Transformer.generate_square_subsequent_mask(n)",
            "mask-to-be-added",
        ),
        ("torch.ones(1, 1, n, n).tril().bool()", "axes-for-batch-and-heads"),
        ("torch.ones(n, n).tril().bool()[None]", "batch-axis"),
        ("torch.arange(n)[:, None] <= torch.arange(n)", "triangle-flipped"),
        ("torch.arange(n) < torch.arange(n)[:, None]", "diagonal-missing"),
        ("torch.ones(n, n).tril().to(torch.uint8)", "wrong-dtype"),
        ("torch.ones(n + 1, n + 1).tril().bool()", "wrong-shape"),
        ("torch.ones(8, 8).tril().bool()", "wrong-shape"),
        ("[[j <= i for j in range(n)] for i in range(n)]", "result-form"),
        ("np.tril(np.ones((n, n), dtype=bool))", "result-form"),
        (
            "m = torch.ones(n, n).bool()\nfor i in range(n):\n"
            "    m[i, i:] = False\nreturn m",
            "diagonal-missing",
        ),
        ("print(torch.ones(n, n).tril().bool())\nreturn None", "returns-nothing"),
        # two at once
        ("torch.ones(n, n).triu(1)", ["mask-inverted", "mask-of-floats"]),
    ],
)
def test_slip_in_a_causal_mask_is_named(body, mistake):
    verdict = judged("causal_mask(n)", body)
    assert not verdict.passed
    found = [one.mistake for one in verdict.diagnosis]
    assert found == (mistake if isinstance(mistake, list) else [mistake])


@pytest.mark.parametrize(
    "body",
    [
        "torch.tril(torch.ones(n, n)).bool()",
        "torch.tril(torch.ones(n, n)) == 1",
        "~torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)",
        "torch.arange(n)[:, None] >= torch.arange(n)[None, :]",
        "torch.arange(n).unsqueeze(1).ge(torch.arange(n))",
        "torch.full((n, n), True).tril_()",
        "torch.ones(n, n).cumsum(1) <= torch.arange(1, n + 1)[:, None]",
        "torch.tensor([[j <= i for j in range(n)] for i in range(n)])",
        "torch.from_numpy(np.tril(np.ones((n, n), dtype=bool)))",
        "m = torch.zeros(n, n, dtype=torch.bool)\nfor i in range(n):\n"
        "    m[i, : i + 1] = True\nreturn m",
        "i, j = torch.tril_indices(n, n)\nm = torch.zeros(n, n, dtype=torch.bool)\n"
        "m[i, j] = True\nreturn m",
        "torch.ones(n, n).triu().T.bool()",
        "torch.nn.Transformer.generate_square_subsequent_mask(n) == 0",
        "torch.stack([torch.arange(n) <= i for i in range(n)])",
    ],
)
def test_unusual_causal_mask_is_accepted(body):
    verdict = judged("causal_mask(n)", body)
    assert verdict.passed, verdict.message


KEYS = "torch.arange(max_len, device=lengths.device)"


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        (f"({KEYS} >= lengths[:, None])[:, None, None, :]", "mask-inverted"),
        (f"({KEYS} <= lengths[:, None])[:, None, None, :]", "one-token-too-many"),
        (f"({KEYS} + 1 < lengths[:, None])[:, None, None, :]", "one-token-too-few"),
        (f"({KEYS} < lengths[:, None])", "axes-missing"),
        (f"({KEYS} < lengths[:, None])[:, None]", "one-axis-missing"),
        (
            f"({KEYS} < lengths[:, None])[:, None, :, None]",
            "padding-on-the-query-axis",
        ),
        (f"({KEYS} < lengths[:, None])[..., None, None]", "axes-at-the-end"),
        (f"({KEYS} < lengths[:, None])[None, None]", "axes-in-front"),
        (
            f"m = {KEYS} < lengths[:, None]\n"
            "return (m[:, :, None] & m[:, None, :]).unsqueeze(1)",
            "queries-masked-too",
        ),
        (
            f"m = {KEYS} < lengths[:, None]\n"
            "return repeat(m, 'B m -> B 1 n m', n=max_len)",
            "every-query-spelled-out",
        ),
        (
            "k = torch.arange(int(lengths.max()))\n"
            "return (k < lengths[:, None])[:, None, None]",
            "max_len-ignored",
        ),
        (
            f"({KEYS} >= max_len - lengths[:, None])[:, None, None]",
            "padding-on-the-left",
        ),
        (f"({KEYS} < lengths[:, None])[:, None, None].float()", "mask-of-floats"),
        (f"({KEYS} < lengths[:, None])[:, None, None].long()", "mask-of-integers"),
        (
            "(torch.arange(max_len) < lengths[:, None])[:, None, None]",
            "left-on-cpu",
        ),
        (f"({KEYS} < lengths)[:, None, None]", None),
        (
            "m = torch.zeros(len(lengths), 1, 1, max_len)\n"
            "for i, n in enumerate(lengths):\n    m[i, ..., n:] = -torch.inf\nreturn m",
            "mask-to-be-added",
        ),
    ],
)
def test_slip_in_a_padding_mask_is_named(body, mistake):
    verdict = judged("padding_mask(lengths, max_len)", body)
    assert not verdict.passed
    assert verdict.mistake == mistake
    assert verdict.message


@pytest.mark.parametrize(
    "body",
    [
        f"({KEYS} < lengths[:, None])[:, None, None, :]",
        f"({KEYS}[None, :] < lengths.unsqueeze(1)).unsqueeze(1).unsqueeze(1)",
        f"({KEYS} < lengths.view(-1, 1, 1, 1))",
        f"({KEYS} < lengths.view(-1, 1, 1))[:, None]",
        f"{KEYS}.expand(len(lengths), max_len).lt(lengths[:, None])"
        ".view(-1, 1, 1, max_len)",
        f"lengths.reshape(-1, 1, 1, 1) > {KEYS}",
        f"~({KEYS} >= rearrange(lengths, 'b -> b 1 1 1'))",
        "m = torch.zeros(len(lengths), 1, 1, max_len, dtype=torch.bool,\n"
        "                device=lengths.device)\n"
        "for i, n in enumerate(lengths.tolist()):\n    m[i, ..., :n] = True\nreturn m",
        "torch.stack([torch.arange(max_len) < n for n in lengths.cpu()])"
        "[:, None, None].to(lengths.device)",
        "one = torch.ones(len(lengths), max_len, device=lengths.device)\n"
        "return (one.cumsum(-1) <= lengths[:, None])[:, None, None]",
    ],
)
def test_unusual_padding_mask_is_accepted(body):
    verdict = judged("padding_mask(lengths, max_len)", body)
    assert verdict.passed, verdict.message


IJ = "i, j = torch.arange(n)[:, None], torch.arange(n)\n"
REFUSE = "if window < 1:\n    raise ValueError('no window')\n"


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        (f"{REFUSE}{IJ}(j <= i) & (j >= i - window)", "window-too-long-by-one"),
        (f"{REFUSE}{IJ}(j <= i) & (i - j <= window)", "window-too-long-by-one"),
        (f"{REFUSE}{IJ}(j <= i) & (i - j < window - 1)", "window-too-short-by-one"),
        (f"{REFUSE}{IJ}(j < i) & (j >= i - window)", "own-position-missing"),
        (f"{REFUSE}{IJ}(i - j).abs() < window", "window-both-ways"),
        (f"{REFUSE}{IJ}(i - j).abs() <= window", "window-both-ways-and-too-long"),
        (f"{REFUSE}{IJ}(i - j).abs() <= window // 2", "window-centred"),
        (f"{REFUSE}{IJ}i - j < window", "not-causal"),
        (f"{REFUSE}{IJ}(j >= i) & (j < i + window)", "window-ahead"),
        (f"{REFUSE}torch.ones(n, n).tril().bool()", "window-ignored"),
        (
            f"{REFUSE}torch.ones(n, n).tril().triu(-window).bool()",
            "window-too-long-by-one",
        ),
        (
            f"{REFUSE}torch.ones(n, n).tril().triu(window - 1).bool()",
            "diagonal-signs-turned",
        ),
        (f"{REFUSE}torch.ones(n, n).tril(-window).bool()", "window-outside"),
        (f"{REFUSE}torch.ones(n, n).tril(window - 1).bool()", None),
        (f"{REFUSE}torch.ones(n, n).triu(1 - window).bool()", "not-causal"),
        (f"{REFUSE}{IJ}~((j <= i) & (j > i - window))", "mask-inverted"),
        (f"{REFUSE}{IJ}(j <= i) & (i // window == j // window)", "blocks"),
        (f"{REFUSE}{IJ}((j <= i) & (j > i - window)).float()", "mask-of-floats"),
        (f"{IJ}(j <= i) & (j > i - window)", "small-window-not-refused"),
        (f"window = max(window, 1)\n{IJ}(j <= i) & (j > i - window)", "not-refused"),
        (
            "if window < 1:\n    raise TypeError('no')\n"
            f"{IJ}(j <= i) & (j > i - window)",
            "wrong-exception",
        ),
        (
            "if window < 0:\n    raise ValueError('no')\n"
            f"{IJ}(j <= i) & (j > i - window)",
            None,
        ),
        (
            "if not 1 <= window <= n:\n    raise ValueError('no')\n"
            f"{IJ}(j <= i) & (j > i - window)",
            "long-window-refused",
        ),
        (
            "if window <= 1:\n    raise ValueError('no')\n"
            f"{IJ}(j <= i) & (j > i - window)",
            "window-of-one-refused",
        ),
    ],
)
def test_slip_in_a_window_is_named(body, mistake):
    verdict = judged("sliding_window_mask(n, window)", body)
    assert not verdict.passed
    if mistake is not None:
        assert verdict.mistake == mistake
    assert verdict.message


@pytest.mark.parametrize(
    "body",
    [
        f"assert window >= 1\n{IJ}(i - j >= 0) & (i - j < window)",
        f"{REFUSE}torch.ones(n, n).tril().triu(1 - window).bool()",
        f"{REFUSE}torch.ones(n, n).bool().tril() & ~torch.ones(n, n).bool()"
        ".tril(-window)",
        f"{REFUSE}m = torch.zeros(n, n, dtype=torch.bool)\nfor i in range(n):\n"
        "    m[i, max(0, i - window + 1) : i + 1] = True\nreturn m",
        f"{REFUSE}from autograder.parts import causal_mask\n"
        "return causal_mask(n).triu(-(window - 1))",
        f"{REFUSE}{IJ}d = i - j\nreturn (0 <= d) * (d < window)",
        f"{REFUSE}sum(torch.diag(torch.ones(n - k), -k)"
        " for k in range(min(n, window))) > 0",
    ],
)
def test_unusual_window_is_accepted(body):
    verdict = judged("sliding_window_mask(n, window)", body)
    assert verdict.passed, verdict.message


CAUSAL = "m = torch.ones(n, n).tril().bool()\n"


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        (f"{CAUSAL}return m", "prefix-causal"),
        (
            "m = torch.eye(n).bool()\nm[:prefix, :prefix] = True\nreturn m",
            "rest-sees-itself-only",
        ),
        (f"{CAUSAL}m[:prefix] = True\nreturn m", "prefix-sees-everything"),
        (
            f"{CAUSAL}m[: prefix + 1, : prefix + 1] = True\nreturn m",
            "prefix-too-long-by-one",
        ),
        (f"{IJ}(j <= i) | (j <= prefix)", "prefix-too-long-by-one"),
        (
            f"{IJ}(j <= i) | ((i < prefix - 1) & (j < prefix - 1))",
            "prefix-too-short-by-one",
        ),
        (f"{IJ}(i < prefix) & (j < prefix)", "rest-sees-nothing"),
        (f"{IJ}(j <= i) & (i < prefix) & (j < prefix)", "both-conditions-at-once"),
        (
            f"{CAUSAL}m[:prefix, :prefix] = True\nm[prefix:, :prefix] = False\n"
            "return m",
            "prefix-hidden-from-the-rest",
        ),
        (f"{IJ}(j < prefix).expand(n, n)", "only-the-prefix-seen"),
        ("torch.ones(n, n).tril(prefix).bool()", "looks-ahead-by-the-prefix"),
        (
            "torch.ones(n, n).tril(prefix - 1).bool()",
            "looks-ahead-by-the-prefix-less-one",
        ),
        (f"{CAUSAL}m[prefix:, prefix:] = True\nreturn m", "all-but-the-prefix"),
        (
            f"{CAUSAL}m[n - prefix :, n - prefix :] = True\nreturn m",
            None,  # a negative start at a prefix longer than the text
        ),
        ("torch.ones(n, n).bool()", "everything-allowed"),
        (f"{IJ}(j < i) | ((i < prefix) & (j < prefix))", "diagonal-missing"),
        (f"{IJ}(j >= i) | ((i < prefix) & (j < prefix))", "triangle-flipped"),
        (f"{CAUSAL}m[:prefix, :prefix] = True\nreturn ~m", "mask-inverted"),
        (f"{CAUSAL}m[:prefix, :prefix] = True\nreturn m.float()", "mask-of-floats"),
        (f"{CAUSAL}m[:prefix, prefix:] = True\nreturn m", None),
        (f"{CAUSAL}m[prefix, :] = True\nreturn m", None),
    ],
)
def test_slip_in_a_prefix_is_named(body, mistake):
    verdict = judged("prefix_mask(n, prefix)", body)
    assert not verdict.passed
    if mistake is not None:
        assert verdict.mistake == mistake
    assert verdict.message


@pytest.mark.parametrize(
    "body",
    [
        f"{CAUSAL}m[:prefix, :prefix] = True\nreturn m",
        f"{CAUSAL}m[:, :prefix] = True\nreturn m",
        f"{IJ}(j <= i) | (j < prefix)",
        f"{IJ}j <= torch.clamp(i, min=prefix - 1)",
        "torch.tensor([[j <= i or j < prefix for j in range(n)] for i in range(n)])",
        f"{CAUSAL}p = min(n, prefix)\n"
        "corner = torch.zeros(n, n)\ncorner[:p, :p] = 1\nreturn m | corner.bool()",
        "from autograder.parts import causal_mask\nm = causal_mask(n)\n"
        "full = F.pad(torch.ones(min(n, prefix), min(n, prefix)), "
        "(0, max(0, n - prefix)) * 2)\nreturn torch.logical_or(m, full)",
        f"{IJ}torch.maximum(i, torch.tensor(prefix - 1)) >= j",
    ],
)
def test_unusual_prefix_is_accepted(body):
    verdict = judged("prefix_mask(n, prefix)", body)
    assert verdict.passed, verdict.message
