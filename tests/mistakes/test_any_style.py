"""Right answers in styles that any exercise may meet, and answers that keep something.

What an answer keeps between calls is told as such; layers with two names are one.
"""

import pytest

from tests.mistakes.answers import check_source

RIGHT = {
    "layers in a Sequential, named afterwards": """
        from torch import nn
        class FeedForward(nn.Module):
            def __init__(self, d_model, ff_dim):
                super().__init__()
                up, down = nn.Linear(d_model, ff_dim), nn.Linear(ff_dim, d_model)
                self.net = nn.Sequential(up, nn.GELU(), down)
                self.W_1, self.W_2 = self.net[0], self.net[2]
            def forward(self, x):
                return self.net(x)
    """,
    "layers in a list, of which two are named before": """
        from torch import nn
        class SwiGLU(nn.Module):
            def __init__(self, d_model, ff_dim):
                super().__init__()
                sizes = [(d_model, ff_dim)] * 2 + [(ff_dim, d_model)]
                layers = [nn.Linear(*size, bias=False) for size in sizes]
                self.W_gate, self.W_up = layers[:2]
                self.layers = nn.ModuleList(layers)
                self.W_down = layers[2]
            def forward(self, x):
                gate, up, down = self.layers
                return down(nn.functional.silu(gate(x)) * up(x))
    """,
    "NumPy's int": """
        import numpy as np
        def attention_parameters(d_model, num_heads, num_kv_heads=None, bias=True):
            kv = (num_kv_heads or num_heads) * d_model // num_heads
            return np.sum([o * (d_model + bias) for o in (d_model, kv, kv, d_model)])
    """,
    "NumPy's float": """
        import numpy as np
        def feed_forward_share(d_model, ff_dim):
            return np.float32(ff_dim / (ff_dim + 2 * d_model))
    """,
    "a fraction": """
        from fractions import Fraction
        def pipeline_bubble(n_stages, n_microbatches):
            return Fraction(n_stages - 1, n_microbatches + n_stages - 1)
    """,
}


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_right_answer_is_accepted(source):
    verdict = check_source(source)
    assert verdict.passed, verdict.message


def test_one_layer_for_two_is_not_two_layers():
    right = RIGHT["layers in a Sequential, named afterwards"]
    verdict = check_source(right.replace("self.net[2]", "self.net[0]"))
    assert not verdict.passed
    assert verdict.mistake == "parameter-missing"


KEPT = {
    "masks by n alone": """
        import torch
        MASKS = {}
        def prefix_mask(n, prefix):
            if n not in MASKS:
                MASKS[n] = torch.ones(n, n, dtype=torch.bool).tril()
                MASKS[n][:prefix, :prefix] = True
            return MASKS[n]
    """,
    "texts by their ids alone": """
        TEXTS = {}
        def bpe_decode(ids, merges):
            pieces = [bytes([i]) for i in range(256)]
            for a, b in merges:
                pieces.append(pieces[a] + pieces[b])
            text = b"".join(pieces[i] for i in ids).decode(errors="replace")
            return TEXTS.setdefault(tuple(ids), text)
    """,
    "ids by their text alone": """
        IDS = {}
        def bpe_encode(text, merges):
            ids = list(text.encode())
            for new, pair in enumerate(merges, 256):
                i = 0
                while i < len(ids) - 1:
                    if tuple(ids[i:i + 2]) == pair:
                        ids[i:i + 2] = [new]
                    i += 1
            return IDS.setdefault(text, ids)
    """,
    "widths by the model's alone": """
        WIDTHS = {}
        def swiglu_dim(d_model, multiple_of=256):
            width = -(-8 * d_model // (3 * multiple_of)) * multiple_of
            return WIDTHS.setdefault(d_model, width)
    """,
    "idle shares by the stages alone": """
        SHARES = {}
        def pipeline_bubble(n_stages, n_microbatches):
            share = (n_stages - 1) / (n_microbatches + n_stages - 1)
            return SHARES.setdefault(n_stages, share)
    """,
}


@pytest.mark.parametrize("source", KEPT.values(), ids=KEPT)
def test_what_was_kept_for_other_arguments_is_told(source):
    verdict = check_source(source)
    assert not verdict.passed
    assert "what was kept from that call" in verdict.message


@pytest.mark.parametrize(
    "source",
    [
        """
        import torch
        TABLES = {}
        def sinusoidal_positions(max_seq, d_model):
            if d_model % 2:
                raise ValueError(d_model)
            angles = torch.arange(max_seq)[:, None] * 10000.0 ** (
                -torch.arange(0, d_model, 2) / d_model)
            table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
            return TABLES.setdefault(d_model, table)[:max_seq]
        """,
        """
        import torch
        FREQUENCIES = {}
        def rope_angles(positions, d_k, base=10000.0):
            if d_k % 2:
                raise ValueError(d_k)
            frequencies = base ** (-torch.arange(0, d_k, 2) / d_k)
            kept = FREQUENCIES.setdefault(d_k, frequencies)
            return positions.float()[:, None] * kept.to(positions.device)
        """,
        """
        import torch
        TABLE = torch.ones(64, 64, dtype=torch.bool).tril()
        def causal_mask(n):
            return TABLE[:n, :n]
        """,
    ],
)
def test_table_for_some_sizes_is_not_enough(source):
    assert not check_source(source).passed


@pytest.mark.parametrize(
    "source",
    [
        """
        calls = 0
        def path_length(kind, i, j):
            global calls
            calls += 1
            if kind not in ("rnn", "attention"):
                raise ValueError(kind)
            return (abs(i - j) if kind == "rnn" else int(i != j)) + (calls % 2 == 0)
        """,
        """
        calls = 0
        def merge_heads(x):
            global calls
            calls += 1
            merged = x.transpose(1, 2).flatten(2)
            return merged if calls % 2 else merged.flip(-1)
        """,
        """
        import math
        steps = []
        def learning_rate(step, max_lr, min_lr, warmup, total):
            step = len(steps)
            steps.append(step)
            if step < warmup:
                return max_lr * (step + 1) / warmup
            if step >= total:
                return min_lr
            turn = math.pi * (step - warmup) / (total - warmup)
            return min_lr + (max_lr - min_lr) * (1 + math.cos(turn)) / 2
        """,
    ],
)
def test_another_result_at_the_second_call_is_told(source):
    assert check_source(source).mistake == "differs-when-repeated"
