"""Chapter 14, the clinic: any right repair passes, and none that only seems right."""

import inspect
import json
from functools import cache

import pytest

from autograder.chapters import PUBLISHED, stub
from autograder.grading import Grading, Options
from autograder.registry import EXERCISES
from autograder.source import SourceFile, Submission
from autograder.untouched import broken_source
from tests.mistakes.answers import check_source

HEAD = """
import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from autograder.parts import (
    FeedForward,
    MultiHeadAttention,
    apply_rope,
    causal_mask,
    merge_heads,
    next_token_loss,
    scaled_dot_product_attention,
    split_heads,
)
"""

REPAIRS = [name for name in EXERCISES if name.startswith("repair_")]
LEAKY, FLAT, VANISHING, DRIFTING, REPEATED, STALLED = REPAIRS


@cache
def given(name):
    """The code that a repair's cell holds."""
    return broken_source(name)


def mended(name, *changes):
    """The verdict on the given code with some lines changed: (before, after)."""
    source = given(name)
    for before, after in changes:
        assert source.count(before) == 1, before
        source = source.replace(before, after)
    return check_source(HEAD + source)


SMOOTH = 'self.smooth(rearrange(x, "B T C -> B C T"))'
NORMED = "F.normalize(split_heads(self.W_{}(x), self.num_heads), dim=-1)"
QUERY, KEY = NORMED.format("q"), NORMED.format("k")
HALVED = "x = (x + block(x)) / 2"
KEPT = '    cache["K"], cache["V"] = K, V\n'
TURN = "    Q, K = apply_rope(Q, queries), apply_rope(K, keys)\n"
JOIN = '        K = torch.cat([cache["K"], K], dim=2)\n'
COUNT = "torch.arange(T, dtype=x.dtype, device=x.device)"
RATE = "max_lr * min(1.0, (step + 1) / warmup)"
LOOP = "for step, (inputs, targets) in enumerate(batches):"

RIGHT = {
    "padded on the left": (
        LEAKY,
        ("padding=1", "padding=0"),
        ('"B T C -> B C T"))', '"B T C -> B C T")'),
        ("self.smooth(rearrange(x,", "self.smooth(F.pad(rearrange(x,"),
        ("\n        x = x + rearrange(smoothed", ", (2, 0)))\n        x = x + "
         "rearrange(smoothed"),
    ),
    "shifted by one": (
        LEAKY,
        (SMOOTH, SMOOTH + ".roll(1, -1) * (torch.arange(T) > 0)"),
    ),
    "the kernel's future taken out": (
        LEAKY,
        (
            "        T = tokens.shape[1]\n",
            "        T = tokens.shape[1]\n"
            "        with torch.no_grad():\n"
            "            self.smooth.weight[:, :, 2] = 0\n",
        ),
    ),
    "no smoothing at all": (LEAKY, (SMOOTH, '0 * rearrange(x, "B T C -> B C T")')),
    "not normed": (
        FLAT,
        (QUERY, "split_heads(self.W_q(x), self.num_heads)"),
        (KEY, "split_heads(self.W_k(x), self.num_heads)"),
    ),
    "a fixed size": (FLAT, (QUERY, f"15 * {QUERY}")),
    "a learned size": (
        FLAT,
        ("        self.W_o", "        self.gain = nn.Parameter(torch.tensor(10.0))\n"
         "        self.W_o"),
        (QUERY, f"self.gain * {QUERY}"),
    ),
    "a size of d_k for queries alone": (
        FLAT,
        (QUERY, f"F.layer_norm({QUERY}, (x.shape[-1] // self.num_heads,)) * 4"),
    ),
    "a plain residual": (VANISHING, (HALVED, "x = block(x) + x")),
    "a norm after each sum": (VANISHING, (HALVED, "x = F.layer_norm(x + block(x), "
                                          "x.shape[-1:])")),
    "small blocks": (VANISHING, (HALVED, "x = x + block(x) / len(self.blocks) ** 0.5")),
    "pre-norm": (VANISHING, (HALVED, "x = x + block(F.layer_norm(x, x.shape[-1:]))")),
    "kept before they are turned": (DRIFTING, (KEPT, ""), (TURN, KEPT + TURN)),
    "only new keys turned": (
        DRIFTING,
        (TURN, "    Q = apply_rope(Q, queries)\n"),
        ("    if cache:\n", "    K = apply_rope(K, torch.arange(K.shape[2]) + "
         "(cache['K'].shape[2] if cache else 0))\n    if cache:\n"),
    ),
    "turned back before they are kept": (
        DRIFTING,
        (KEPT, '    cache["K"], cache["V"] = apply_rope(K, -keys), V\n'),
    ),
    "the texts themselves kept": (
        DRIFTING,
        (KEPT, ""),
        ("    Q, K, V = (\n", "    new = x.shape[1]\n"
         "    x = cache['x'] = torch.cat([cache['x'], x], 1) if 'x' in cache else x\n"
         "    Q, K, V = (\n"),
        ("    if cache:\n", "    if False:\n"),
        ("return attention.W_o(merge_heads(heads))",
         "return attention.W_o(merge_heads(heads))[:, -new:]"),
    ),
    "ints": (REPEATED, (COUNT, "torch.arange(T, device=x.device)")),
    "float32": (REPEATED, (COUNT, "torch.arange(T).float()")),
    "float64, added before rounding": (
        REPEATED,
        (COUNT, "torch.arange(T, dtype=torch.float64)"),
        ("return x + ", "return (x.double() + "),
        (".to(x.dtype)", ").to(x.dtype)"),
    ),
    "steps counted through": (
        STALLED,
        (RATE, "max_lr * min(1.0, (len(losses) + 1) / warmup)"),
    ),
    "steps from epochs": (
        STALLED,
        ("for _ in range", "for epoch in range"),
        (RATE, "max_lr * min(1.0, (epoch * len(batches) + step + 1) / warmup)"),
    ),
    "a scheduler": (
        STALLED,
        (
            "    losses = []\n",
            "    losses = []\n    schedule = torch.optim.lr_scheduler.LinearLR("
            "optimizer, 1 / warmup, 1.0, warmup)\n",
        ),
        ("            for group in optimizer.param_groups:\n", ""),
        (f'                group["lr"] = {RATE}\n', ""),
        ("optimizer.step()\n", "optimizer.step()\n            schedule.step()\n"),
    ),
    "a count of its own": (
        STALLED,
        ("    losses = []\n", "    losses, step = [], -1\n"),
        (LOOP, "for inputs, targets in batches:\n            step += 1"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_any_right_repair_passes(name):
    exercise, *changes = RIGHT[name]
    verdict = mended(exercise, *changes)
    assert verdict.passed, verdict.message


WRONG = {
    "still padded, and cut on the wrong side": (
        LEAKY, "2 ahead", ("padding=1", "padding=2"), (SMOOTH, SMOOTH + "[..., 2:]"),
    ),
    "nothing attends": (
        LEAKY, "doesn't see", (SMOOTH, SMOOTH + ".roll(1, -1) * (torch.arange(T) > 0)"),
        ("x = x + self.attn(self.norm1(x), causal_mask(T))", "x = x"),
    ),
    "a mask that was right turned round": (
        LEAKY, "Later tokens", ("causal_mask(T)", "causal_mask(T).mT"),
    ),
    "every token cut off": (
        LEAKY, "not learned", (SMOOTH, SMOOTH + ".roll(1, -1) * (torch.arange(T) > 0)"),
        ("return self.head(self.norm2(x))", "return self.head(self.norm2(x)) * 1e-3"),
    ),
    "a sharp softmax without its mask": (
        FLAT, "mask is 0", (QUERY, f"15 * {QUERY}"), ("V, mask)", "V)"),
    ),
    "weights that aren't any": (
        FLAT, "rows", (QUERY, f"15 * {QUERY}"),
        ("heads)), weights", "heads)), 2 * weights"),
    ),
    "divided by the root of two": (
        VANISHING, "times smaller", (HALVED, "x = (x + block(x)) / 2**0.5"),
    ),
    "no residual": (VANISHING, "smaller", (HALVED, "x = block(x)")),
    "a norm, but halved all the same": (
        VANISHING, "smaller",
        (HALVED, "x = (x + block(F.layer_norm(x, x.shape[-1:]))) / 2"),
    ),
    "the first blocks skipped": (
        VANISHING, "no gradient", ("in self.blocks:", "in self.blocks[-2:]:"),
        (HALVED, "x = x + block(x)"),
    ),
    "fewer blocks": (
        VANISHING, "Number of blocks", ("range(n_layers)", "range(2)"),
        (HALVED, "x = x + block(x)"),
    ),
    "the graph cut": (
        VANISHING, "smaller", (HALVED, "x = x.detach() + block(x)"),
    ),
    "positions removed": (DRIFTING, "positions with it", (TURN, "")),
    "nothing kept": (DRIFTING, "Nothing is kept", (KEPT, "")),
    "positions from 0": (
        DRIFTING, "from 0",
        (TURN, "    Q = apply_rope(Q, torch.arange(Q.shape[2]))\n"),
        ("    if cache:\n", "    K = apply_rope(K, torch.arange(K.shape[2]))\n"
         "    if cache:\n"),
    ),
    "no positions": (REPEATED, "another has", (COUNT, "torch.zeros(T)")),
    "float32 out": (
        REPEATED, "float32", (COUNT, "torch.arange(T)"), (".to(x.dtype)", ""),
    ),
    "half the trouble": (
        REPEATED, "another has", (COUNT, "torch.arange(T).to(torch.float16)"),
    ),
    "a rate of 0 after the first epoch": (
        STALLED, "loss", (RATE, "max_lr * min(1.0, (step + 1) / warmup) ** 2"),
    ),
    "no warm-up at all": (STALLED, "warm-up", (RATE, "max_lr")),
    "a warm-up in each epoch": (
        STALLED, "warm-up", (RATE, "max_lr * min(1.0, (step + 1) / len(batches))"),
    ),
    "a warm-up in one leap": (
        STALLED, "warm-up", (RATE, "max_lr * min(1, (len(losses) + 1) // warmup)"),
    ),
    "a larger rate": (STALLED, "first step", ("max_lr=0.01", "max_lr=0.3")),
    "only queries from 0": (
        DRIFTING, "queries' positions", (KEPT, ""),
        (TURN, KEPT + "    Q = apply_rope(Q, torch.arange(x.shape[1]))\n"
         "    K = apply_rope(K, keys)\n"),
    ),
    "only new keys from 0": (
        DRIFTING, "new keys are turned", (TURN, "    Q = apply_rope(Q, queries)\n"),
        ("    if cache:\n", "    K = apply_rope(K, torch.arange(K.shape[2]))\n"
         "    if cache:\n"),
    ),
    "keys one place further": (
        DRIFTING, "one position further", (KEPT, ""),
        (TURN, KEPT + TURN.replace("(K, keys)", "(K, keys + 1)")),
    ),
    "values turned too": (
        DRIFTING, "values are turned", (KEPT, ""),
        (TURN, KEPT + TURN + "    V = apply_rope(V, keys)\n"),
    ),
    "the first call kept alone": (
        DRIFTING, "first call's",
        (KEPT, ""), (TURN, "    if not cache:\n    " + KEPT + TURN),
    ),
    "a mask from the top left": (
        DRIFTING, "mask", (KEPT, ""), (TURN, KEPT + TURN),
        ('mask = keys <= rearrange(queries, ',
         'mask = keys <= rearrange(torch.arange(x.shape[1]), '),
    ),
    "gradients cleared too late": (
        STALLED, "loss", (RATE, "max_lr"), ("loss.backward()\n", "loss.backward()\n"
                          "            optimizer.zero_grad()\n"),
    ),
    "tensors returned": (STALLED, "Tensor", (RATE, "max_lr"), ("loss.item()", "loss")),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_repair_that_only_seems_right_is_told_its_symptom(name):
    exercise, words, *changes = WRONG[name]
    verdict = mended(exercise, *changes)
    assert verdict.status == "failed", verdict
    assert words in verdict.message


def test_an_answer_that_wrote_into_its_input_does_not_spoil_the_next():
    right = (COUNT, "torch.arange(T, device=x.device)")
    before = mended(REPEATED, right, ("return x + ", "x += "), (").to(x.dtype)",
                    ").to(x.dtype)\n    return x"))  # fmt: skip
    assert "changed" in before.message
    assert mended(REPEATED, right).passed


@pytest.mark.parametrize("name", REPAIRS)
def test_the_broken_code_touched_but_not_mended_never_passes(name):
    lines = given(name).splitlines()
    at = next(i for i, line in enumerate(lines) if line.lstrip().startswith("return"))
    lines.insert(at, lines[at][: len(lines[at]) - len(lines[at].lstrip())] + "pass")
    verdict = check_source(HEAD + "\n".join(lines))
    assert verdict.status == "failed"
    assert verdict.mistake.startswith("still-")


@pytest.mark.parametrize("name", REPAIRS)
def test_a_cell_as_published_is_not_attempted_when_it_is_graded(name):
    cell = stub("14_looking_inside", name)
    file = SourceFile(PUBLISHED / "14_looking_inside.ipynb", (HEAD, cell), 14)
    submission = Submission("ada", file.path, (file,))
    verdict = Grading(None, submission, EXERCISES[name], Options()).verdict()
    assert verdict.status == "not_attempted"


@pytest.mark.parametrize("name", REPAIRS)
def test_hints_narrow_the_fault_down_and_don_t_name_the_line(name):
    one = EXERCISES[name]
    before, after = (
        inspect.getsource(x).splitlines() for x in (one.broken, one.reference)
    )
    changed = {
        line.strip() for line in set(after) - set(before) if len(line.strip()) > 8
    }
    told = json.dumps(one.hints)
    assert not [line for line in changed if line in told]
