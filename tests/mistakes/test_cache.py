"""Chapter 11, the KV cache: slips are named, unusual right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

CACHE = """
import torch

class KVCache:
    def __init__(self):
        self.keys = None
        self.values = None

    def append(self, K, V):
        if self.keys is None:
            self.keys = K
            self.values = V
        else:
            self.keys = torch.cat([self.keys, K], dim=2)
            self.values = torch.cat([self.values, V], dim=2)
        return self.keys, self.values

    def __len__(self):
        if self.keys is None:
            return 0
        return self.keys.size(2)
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            "            self.keys = torch.cat([self.keys, K], dim=2)\n"
            "            self.values = torch.cat([self.values, V], dim=2)\n",
            "            V = torch.cat([self.keys, V], dim=2)\n"
            "            K = torch.cat([self.keys, K], dim=2)\n"
            "            self.keys, self.values = K, V\n",
            "values-joined-to-keys",
        ),
        ("[self.keys, K], dim=2", "[K, self.keys], dim=2", "new-keys-first"),
        ("[self.values, V], dim=2", "[V, self.values], dim=2", "new-values-first"),
        ("return self.keys, self.values", "return K, V", "only-the-new-returned"),
        (
            "return self.keys, self.values",
            "return self.values, self.keys",
            "keys-and-values-exchanged",
        ),
        ("return self.keys, self.values", "return self.keys", "result-form"),
        ("return self.keys, self.values", "pass", "returns-nothing"),
        ("return self.keys.size(2)", "return len(self.keys)", "length-of-the-batch"),
        ("return self.keys.size(2)", "return self.keys.size(1)", "length-in-heads"),
        ("return self.keys.size(2)", "return self.keys.size(-1)", "length-in-features"),
        (
            "return self.keys.size(2)",
            "return self.keys.size(2) + self.values.size(2)",
            "length-counts-keys-and-values",
        ),
        ("            return 0\n", "            return None\n", None),
        (
            "            self.keys = torch.cat([self.keys, K], dim=2)\n"
            "            self.values = torch.cat([self.values, V], dim=2)\n",
            "            self.keys, self.values = K, V\n",
            "only-the-new-kept",
        ),
        (
            "            self.keys = torch.cat([self.keys, K], dim=2)\n"
            "            self.values = torch.cat([self.values, V], dim=2)\n",
            "            pass\n",
            "only-the-first-kept",
        ),
        (
            "            self.keys = torch.cat([self.keys, K], dim=2)\n"
            "            self.values = torch.cat([self.values, V], dim=2)\n",
            "            K = torch.cat([self.keys, K], dim=2)\n"
            "            return K, torch.cat([self.values, V], dim=2)\n",
            "joined-but-not-kept",
        ),
    ],
)
def test_slip_in_the_cache_is_named(right, slip, mistake):
    assert slipped(CACHE, right, slip).mistake == mistake


LISTS = """
import torch

class KVCache:
    def __init__(self):
        self.K, self.V = [], []

    def append(self, K, V):
        self.K.append(K)
        self.V.append(V)
        return torch.cat(self.K, dim=2), torch.cat(self.V, dim=2)

    def __len__(self):
        return sum(K.shape[2] for K in self.K)
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("sum(K.shape[2] for K in self.K)", "len(self.K)", "length-in-appends"),
        (
            "sum(K.shape[2] for K in self.K)",
            "self.K[-1].shape[2] if self.K else 0",
            "length-of-the-last-chunk",
        ),
        ("self.V.append(V)", "self.V.append(K)", "keys-for-values"),
        ("self.K.append(K)", "self.K.append(V)", "values-for-keys"),
        ("self.K.append(K)", "self.K.insert(0, K)", "new-keys-first"),
        (
            "return torch.cat(self.K, dim=2), torch.cat(self.V, dim=2)",
            "return self.K, self.V",
            "returned-as-lists",
        ),
        (
            "torch.cat(self.K, dim=2), torch.cat(self.V, dim=2)",
            "torch.stack(self.K), torch.stack(self.V)",
            "stacked",
        ),
        (
            "    def __init__(self):\n        self.K, self.V = [], []\n",
            "    K, V = [], []\n",
            "shared-by-all-caches",
        ),
    ],
)
def test_slip_in_a_cache_of_lists_is_named(right, slip, mistake):
    assert slipped(LISTS, right, slip).mistake == mistake


RIGHT_CACHES = named(
    """
# memory laid out before
class KVCache:
    def __init__(self, max_seq=32):
        self.max_seq, self.length = max_seq, 0

    def append(self, K, V):
        if self.length == 0:
            self.K, self.V = (
                t.new_empty(*t.shape[:2], self.max_seq, t.shape[3]) for t in (K, V)
            )
        end = self.length + K.shape[2]
        self.K[:, :, self.length : end] = K
        self.V[:, :, self.length : end] = V
        self.length = end
        return self.K[:, :, :end], self.V[:, :, :end]

    def __len__(self):
        return self.length

# a list of both
class KVCache(list):
    def append(self, K, V):
        super().append((K, V))
        return tuple(torch.cat(one, dim=-2) for one in zip(*self))

    def __len__(self):
        return sum(K.size(-2) for K, V in self)

# a module with one tensor for both
class KVCache(nn.Module):
    def __init__(self):
        super().__init__()
        self.both = None

    def append(self, K, V):
        new = torch.stack((K, V))
        self.both = new if self.both is None else torch.cat((self.both, new), 3)
        return self.both.unbind(0)

    def __len__(self):
        return self.both.shape[3] if self.both is not None else 0
"""
)


@pytest.mark.parametrize("source", RIGHT_CACHES.values(), ids=RIGHT_CACHES.keys())
def test_unusual_right_cache_is_accepted(source):
    verdict = check_source("import torch\nfrom torch import nn\n\n" + source)
    assert verdict.passed, verdict.message


ATTENTION = """
import math
import torch

def cached_attention(attention, x, cache):
    B, T, C = x.shape
    h = attention.num_heads
    d_k = C // h
    q = attention.W_q(x).view(B, T, h, d_k).transpose(1, 2)
    k = attention.W_k(x).view(B, T, h, d_k).transpose(1, 2)
    v = attention.W_v(x).view(B, T, h, d_k).transpose(1, 2)
    past = len(cache)
    k, v = cache.append(k, v)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)
    mask = torch.ones(T, past + T, dtype=torch.bool, device=x.device).tril(past)
    scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(B, T, C)
    return attention.W_o(out)
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("attention.W_o(out)", "x + attention.W_o(out)", "input-added"),
        (".tril(past)", ".tril(len(cache))", "no-mask"),
        (".tril(past)", ".tril()", "causal-from-top-left"),
        (".tril(past)", "", "no-mask"),
        (".tril(past)", ".tril(past + 1)", "mask-one-too-far"),
        (".tril(past)", ".tril(past - 1)", "mask-one-too-short"),
        (".tril(past)", ".triu(past)", "mask-upside-down"),
        (".masked_fill(~mask", ".masked_fill(mask", "mask-inverted"),
        ("torch.ones(T, past + T", "torch.ones(T, T", "mask-for-new-tokens-only"),
        (
            ".tril(past)",
            ".tril(past) if past == 0 else torch.tensor(True)",
            "no-mask-after-the-first-chunk",
        ),
        ("    k, v = cache.append(k, v)\n", "    past = 0\n", "cache-ignored"),
        (
            "    k, v = cache.append(k, v)\n",
            "    cache.append(k, v)\n    past = 0\n",
            "appended-but-not-used",
        ),
        (
            "    k, v = cache.append(k, v)\n",
            "    cache.append(k, v)\n"
            "    k, v = cache.append(k, v)\n"
            "    past = k.shape[2] - T\n",
            "appended-twice",
        ),
        (
            "    k, v = cache.append(k, v)\n",
            "    k, v = cache.append(k, v)\n"
            "    cache.append(k[:, :, past:], v[:, :, past:])\n",
            "appended-once-more",
        ),
        ("k, v = cache.append(k, v)", "k, v = cache.append(v, k)", "k-and-v-exchanged"),
        ("k, v = cache.append(k, v)", "v, k = cache.append(k, v)", "k-and-v-exchanged"),
        (
            "past = len(cache)\n    k, v = cache.append(k, v)",
            "k, v = cache.append(k, v)\n    past = len(cache)",
            "length-read-after-appending",
        ),
        (" / math.sqrt(d_k)", "", "unscaled-scores"),
        ("math.sqrt(d_k)", "d_k", "divided-by-d_k"),
        ("math.sqrt(d_k)", "math.sqrt(C)", "divided-by-root-d_model"),
        ("softmax(dim=-1)", "softmax(dim=-2)", "softmax-over-queries"),
        ("(weights @ v).transpose(1, 2)", "(weights @ v)", "joined-by-reshape"),
        (
            "attention.W_k(x).view(B, T, h, d_k).transpose(1, 2)",
            "attention.W_k(x).view(B, h, T, d_k)",
            "partly-right",
        ),
        ("return attention.W_o(out)", "return out", "no-output-projection"),
        (
            "return attention.W_o(out)",
            "return attention.W_o(out), cache",
            "result-form",
        ),
        ('float("-inf")', "0.0", "blocked-scores-zero"),
        ('float("-inf")', "-1e9", "blocked-too-low-for-half"),
        (", device=x.device", "", "left-on-cpu"),
        ("attention.W_v(x)", "attention.W_k(x)", "v-from-w-k"),
    ],
)
def test_slip_in_attention_is_named(right, slip, mistake):
    assert slipped(ATTENTION, right, slip).mistake == mistake


def test_fused_attention_is_forbidden():
    fused = "F.scaled_dot_product_attention(q, k, v, attn_mask=mask)"
    source = ATTENTION.replace("(weights @ v)", fused)
    verdict = check_source("import torch.nn.functional as F\n" + source)
    assert (verdict.status, verdict.mistake) == ("forbidden", "forbidden-built-in")


RIGHT_ATTENTION = named(
    """
# from the parts
def cached_attention(attention, x, cache):
    past, T = len(cache), x.shape[1]
    q, k, v = (
        split_heads(W(x), attention.num_heads)
        for W in (attention.W_q, attention.W_k, attention.W_v)
    )
    K, V = cache.append(k, v)
    mask = causal_mask(past + T)[past:].to(x.device)
    out, _ = scaled_dot_product_attention(q, K, V, mask)
    return attention.W_o(merge_heads(out))

# one query at a time
def cached_attention(attention, x, cache):
    outs = []
    for i in range(x.size(1)):
        one = x[:, i : i + 1]
        q = split_heads(attention.W_q(one), attention.num_heads)
        k, v = cache.append(
            split_heads(attention.W_k(one), attention.num_heads),
            split_heads(attention.W_v(one), attention.num_heads),
        )
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5
        outs.append(merge_heads(scores.softmax(-1) @ v))
    return attention.W_o(torch.cat(outs, dim=1))

# a mask only where it matters, heads behind the positions
def cached_attention(attention, x, cache):
    B, T, C = x.shape
    h = attention.num_heads
    q = (attention.W_q(x) / (C // h) ** 0.5).view(B, T, h, -1)
    k, v = cache.append(
        attention.W_k(x).view(B, T, h, -1).transpose(1, 2),
        attention.W_v(x).view(B, T, h, -1).transpose(1, 2),
    )
    scores = torch.einsum("bqhd,bhkd->bhqk", q, k)
    if T > 1:
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        scores[..., -T:] = scores[..., -T:].masked_fill(future, float("-inf"))
    out = torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), v)
    return attention.W_o(out.reshape(B, T, C))
"""
)


@pytest.mark.parametrize("source", RIGHT_ATTENTION.values(), ids=RIGHT_ATTENTION.keys())
def test_unusual_right_attention_is_accepted(source):
    given = (
        "import torch\n"
        "from autograder.parts import causal_mask, merge_heads, split_heads\n"
        "from autograder.parts import scaled_dot_product_attention\n\n"
    )
    verdict = check_source(given + source)
    assert verdict.passed, verdict.message


FORWARD = """
import torch
from autograder.parts import cached_attention

def forward_with_cache(model, tokens, caches):
    past = len(caches[0])
    T = tokens.shape[1]
    if past + T > model.max_seq:
        raise ValueError(f"{past + T} > {model.max_seq}")
    pos = torch.arange(past, past + T, device=tokens.device)
    x = model.embed(tokens) + model.pos_embed(pos)
    for block, cache in zip(model.blocks, caches):
        x = x + block.drop(cached_attention(block.attn, block.norm1(x), cache))
        x = x + block.drop(block.ff(block.norm2(x)))
    x = model.norm(x)
    return model.head(x)
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            "        x = x + block.drop(cached_attention(block.attn, block.norm1(x), ",
            "        x = block.norm1(x)\n"
            "        x = x + block.drop(cached_attention(block.attn, x, ",
            "skip-from-the-normed-input-attention",
        ),
        (
            "        x = x + block.drop(block.ff(block.norm2(x)))",
            "        x = block.norm2(x)\n        x = x + block.drop(block.ff(x))",
            "skip-from-the-normed-input-feed-forward",
        ),
        ("model.head(x)", "x @ model.embed.weight.T", "head-tied"),
        ("torch.arange(past, past + T", "torch.arange(T", "positions-restart"),
        (
            "torch.arange(past, past + T",
            "torch.arange(past + 1, past + T + 1",
            "positions-from-1",
        ),
        (
            "torch.arange(past, past + T",
            "torch.arange(max(past - 1, 0), max(past - 1, 0) + T",
            "positions-one-short",
        ),
        (
            "torch.arange(past, past + T",
            "torch.full((T,), past",
            "one-position-for-all",
        ),
        (" + model.pos_embed(pos)", "", "positions-forgotten"),
        (
            "block.norm1(x), cache",
            "block.norm1(x), caches[0]",
            "one-cache-for-all-blocks",
        ),
        ("block.norm1(x), cache", "block.norm1(x), type(cache)()", "cache-ignored"),
        ("block.norm1(x), cache", "x, cache", "first-norm-forgotten"),
        ("block.ff(block.norm2(x))", "block.ff(x)", "second-norm-forgotten"),
        ("block.ff(block.norm2(x))", "block.ff(block.norm1(x))", "norm1-twice"),
        (
            "x = x + block.drop(cached",
            "x = block.drop(cached",
            "first-residual-forgotten",
        ),
        (
            "x = x + block.drop(block.ff",
            "x = block.drop(block.ff",
            "second-residual-forgotten",
        ),
        (
            "        x = x + block.drop(block.ff(block.norm2(x)))\n",
            "",
            "feed-forward-forgotten",
        ),
        ("    x = model.norm(x)\n", "", "final-norm-forgotten"),
        ("return model.head(x)", "return x", "head-forgotten"),
        (
            "return model.head(x)",
            "return model.head(x[:, -1])",
            "last-token-without-axis",
        ),
        ("return model.head(x)", "return model.head(x[:, -1:])", "last-token-only"),
        (
            "return model.head(x)",
            "return model.head(x).softmax(-1)",
            "probabilities-returned",
        ),
        ("return model.head(x)", "return model.head(x), caches", "result-form"),
        ("past + T > model", "T > model", "new-tokens-alone-checked"),
        ("past + T > model", "past + T >= model", "refused-one-too-early"),
        ("past + T > model.max_seq", "False", "not-refused"),
        ("past + T > model.max_seq", "past > model.max_seq", "not-refused"),
        ("raise ValueError", "raise IndexError", "wrong-exception"),
        (
            "zip(model.blocks, caches)",
            "zip(model.blocks[:1], caches)",
            "first-block-only",
        ),
        (", device=tokens.device", "", "left-on-cpu"),
        (
            "        x = x + block.drop("
            "cached_attention(block.attn, block.norm1(x), cache))\n"
            "        x = x + block.drop(block.ff(block.norm2(x)))\n",
            "        x = block.norm1(x + cached_attention(block.attn, x, cache))\n"
            "        x = block.norm2(x + block.ff(x))\n",
            "post-norm",
        ),
        ("past = len(caches[0])", "past = len(caches)", "number-of-caches-for-length"),
    ],
)
def test_slip_in_the_forward_pass_is_named(right, slip, mistake):
    assert slipped(FORWARD, right, slip).mistake == mistake


WRITE = """
import torch
from autograder.parts import KVCache, forward_with_cache

@torch.no_grad()
def generate_with_cache(model, tokens, max_new_tokens):
    if tokens.shape[1] + max_new_tokens > model.max_seq:
        raise ValueError("too long")
    training = model.training
    model.eval()
    caches = [KVCache() for _ in model.blocks]
    current = tokens
    for _ in range(max_new_tokens):
        logits = forward_with_cache(model, current, caches)
        current = logits[:, -1].argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, current], dim=1)
    model.train(training)
    return tokens
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("    model.eval()\n", "", "dropout-left-on"),
        ("    model.train(training)\n", "", "mode-not-restored"),
        (
            "[KVCache() for _ in model.blocks]",
            "[KVCache()] * len(model.blocks)",
            "one-cache-for-all-blocks",
        ),
        (
            "forward_with_cache(model, current, caches)",
            "model(tokens)",
            "recomputes-everything",
        ),
        (
            "forward_with_cache(model, current, caches)",
            "forward_with_cache(model, tokens, [KVCache() for _ in model.blocks])",
            "recomputes-everything",
        ),
        (
            "forward_with_cache(model, current, caches)",
            "forward_with_cache(model, current, [KVCache() for _ in model.blocks])",
            "cache-forgotten-each-step",
        ),
        (
            "forward_with_cache(model, current, caches)",
            "model(current)",
            "cache-forgotten-each-step",
        ),
        (
            "forward_with_cache(model, current, caches)",
            "forward_with_cache(model, tokens, caches)",
            "whole-text-with-a-full-cache",
        ),
        (
            "current = tokens\n",
            "current = tokens[:, -1:]\n",
            "prompt-cut-to-its-last-token",
        ),
        ("logits[:, -1]", "logits[:, 0]", "first-position"),
        (
            "logits[:, -1].argmax(dim=-1, keepdim=True)",
            "torch.multinomial(logits[:, -1].softmax(-1), 1)",
            "drawn-not-greedy",
        ),
        ("return tokens", "return tokens[:, -max_new_tokens:]", "new-tokens-only"),
        ("range(max_new_tokens)", "range(max_new_tokens - 1)", "one-too-few"),
        ("tokens.shape[1] + max_new_tokens > model.max_seq", "False", "not-refused"),
        ("max_new_tokens > model", "max_new_tokens >= model", "refused-one-too-early"),
        ('raise ValueError("too long")', "tokens = tokens[:, -4:]", "not-refused"),
        (
            "    current = tokens\n",
            "    forward_with_cache(model, tokens, caches)\n"
            "    current = tokens[:, -1:]\n",
            "last-token-run-twice",
        ),
    ],
)
def test_slip_in_writing_is_named(right, slip, mistake):
    assert slipped(WRITE, right, slip).mistake == mistake


RIGHT_WRITING = named(
    """
# the prompt first, then the loop
def generate_with_cache(model, tokens, max_new_tokens):
    total = tokens.size(1) + max_new_tokens
    assert total <= model.max_seq, f"{total} tokens don't fit"
    mode = model.training
    model.eval()
    with torch.inference_mode():
        caches = [KVCache() for _ in range(len(model.blocks))]
        logits = forward_with_cache(model, tokens, caches)
        for _ in range(max_new_tokens):
            new = logits[:, -1:].argmax(-1)
            tokens = torch.cat((tokens, new), dim=1)
            if tokens.size(1) < total:
                logits = forward_with_cache(model, new, caches)
    model.train(mode)
    return tokens

# the prompt token by token, one pass too many in the end
@torch.no_grad()
def generate_with_cache(model, tokens, max_new_tokens):
    B, T = tokens.shape
    if T + max_new_tokens > model.max_seq:
        raise ValueError(f"{T} + {max_new_tokens} > {model.max_seq}")
    before = model.training
    model.train(False)
    caches = [KVCache() for _ in model.blocks]
    for t in range(T):
        logits = forward_with_cache(model, tokens[:, t : t + 1], caches)
    for _ in range(max_new_tokens):
        new = sample_next(logits[:, -1], temperature=0.0)
        tokens = torch.hstack([tokens, new])
        logits = forward_with_cache(model, new, caches)
    model.train(before)
    return tokens
"""
)


@pytest.mark.parametrize("source", RIGHT_WRITING.values(), ids=RIGHT_WRITING.keys())
def test_unusual_right_writing_is_accepted(source):
    given = (
        "import torch\n"
        "from autograder.parts import KVCache, forward_with_cache, sample_next\n\n"
    )
    verdict = check_source(given + source)
    assert verdict.passed, verdict.message


BYTES = (
    "def kv_cache_bytes(n_layers, n_kv_heads, d_head, seq_len, batch=1, "
    "bytes_per_value=2):\n    return "
)


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        (
            "n_layers * CACHE * bytes_per_value",
            "keys-alone-counted",
        ),
        (
            "2 * n_layers * n_kv_heads * d_head * seq_len * bytes_per_value",
            "batch-forgotten",
        ),
        ("2 * n_layers * CACHE * 2", "always-two-bytes"),
        (
            "2 * n_layers * CACHE",
            "bytes-per-value-forgotten",
        ),
        (
            "2 * n_layers * d_head * seq_len * batch * bytes_per_value",
            "n-kv-heads-forgotten",
        ),
        (
            "2 * CACHE * bytes_per_value",
            "n-layers-forgotten",
        ),
        (
            "2.0 * n_layers * CACHE * bytes_per_value",
            "float-result",
        ),
        (
            "2 * n_layers * CACHE * bytes_per_value / 1e9",
            "in-gigabytes",
        ),
        (
            "2 * n_layers * n_kv_heads * d_head * seq_len**2 * batch * bytes_per_value",
            "sequence-squared",
        ),
        (
            "2 * n_layers * CACHE * bytes_per_value * 8",
            "in-bits",
        ),
    ],
)
def test_slip_in_the_bytes_is_named(body, mistake):
    body = body.replace("CACHE", "n_kv_heads * d_head * seq_len * batch")
    assert check_source(BYTES + body).mistake == mistake


def test_all_usual_answers_are_accepted():
    for source in (CACHE, LISTS, ATTENTION, FORWARD, WRITE):
        verdict = check_source(source)
        assert verdict.passed, verdict.message
    per_token = (
        "(2 * n_layers * n_kv_heads * d_head * bytes_per_value) * seq_len * batch"
    )
    assert check_source(BYTES + per_token).passed
