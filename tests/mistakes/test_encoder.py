"""Chapter 15's encoder, its pooling and its loading: slips named, answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

POOL = """
import torch
import torch.nn.functional as F

def mean_pool(hidden, mask):
    m = mask.unsqueeze(-1).to(hidden.dtype)
    summed = (hidden * m).sum(dim=1)
    mean = summed / m.sum(dim=1).clamp(min=1e-9)
    return F.normalize(mean, p=2, dim=1)
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("summed / m.sum(dim=1).clamp(min=1e-9)", "hidden[:, 0]", "first-token"),
        ("mask.unsqueeze", "(~mask).unsqueeze", "mask-inverted"),
        ("(hidden * m)", "hidden", "padding-averaged-too"),
        ("F.normalize(mean, p=2, dim=1)", "mean", "not-normalised"),
        ("p=2, dim=1", "p=2, dim=0", "normalised-over-the-batch"),
        ("p=2, dim=1", "p=1, dim=1", "divided-by-the-sum"),
        (
            "F.normalize(mean, p=2, dim=1)",
            "mean / mean.norm()",
            "normalised-all-together",
        ),
        ("(hidden * m).sum(dim=1)", "hidden.amax(dim=1)", "largest-with-padding"),
        ("(hidden * m)", "(F.normalize(hidden, dim=-1) * m)", "tokens-normalised-too"),
        (
            "summed / m.sum(dim=1).clamp(min=1e-9)",
            "hidden[torch.arange(len(hidden)), mask.sum(1) - 1]",
            "last-by-count",
        ),
        (
            "summed / m.sum(dim=1).clamp(min=1e-9)",
            "torch.stack([h[:n].mean(0) for h, n in zip(hidden, mask.sum(1))])",
            "padding-expected-at-the-end",
        ),
        ("(hidden * m).sum(dim=1)", "(hidden * m).sum(dim=-1)", None),
        ("mask.unsqueeze(-1)", "mask", None),
    ],
)
def test_slip_in_pooling_is_named(right, slip, mistake):
    verdict = slipped(POOL, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


@pytest.mark.parametrize(
    "body",
    [
        "F.normalize((hidden * mask[..., None]).sum(1), dim=-1)",
        "F.normalize(hidden.masked_fill(~mask[..., None], 0).mean(1), dim=-1)",
        "F.normalize(torch.stack([h[m].mean(0) for h, m in zip(hidden, mask)])"
        ", dim=-1)",
        "(lambda s: s / s.pow(2).sum(-1, keepdim=True).sqrt())"
        "(torch.einsum('btc,bt->bc', hidden, mask.to(hidden.dtype)))",
        "F.normalize(torch.bmm(mask[:, None].to(hidden.dtype), hidden)[:, 0], dim=-1)",
    ],
)
def test_unusual_pooling_is_accepted(body):
    source = "import torch\nimport torch.nn.functional as F\n"
    source += f"def mean_pool(hidden, mask):\n    return {body}\n"
    verdict = check_source(source)
    assert verdict.passed, verdict.message


ENCODER = """
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.W_q, self.W_k = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.W_v, self.W_o = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, mask):
        B, T, C = x.shape
        q, k, v = [W(x).view(B, T, self.heads, -1).transpose(1, 2)
                   for W in (self.W_q, self.W_k, self.W_v)]
        scores = q @ k.mT / math.sqrt(C // self.heads)
        scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)
        return self.W_o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))

class FFN(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        return self.W_2(F.gelu(self.W_1(x)))

class Block(nn.Module):
    def __init__(self, dim, heads, hidden, eps=1e-12):
        super().__init__()
        self.attn, self.ff = SelfAttention(dim, heads), FFN(dim, hidden)
        self.norm1 = nn.LayerNorm(dim, eps=eps)
        self.norm2 = nn.LayerNorm(dim, eps=eps)

    def forward(self, x, mask):
        x = self.norm1(x + self.attn(x, mask))
        return self.norm2(x + self.ff(x))

class MiniLMEncoder(nn.Module):
    def __init__(self, vocab_size=30522, d_model=384, n_layers=6, num_heads=12,
                 ff_dim=1536, max_seq=512):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.pos_embed = nn.Embedding(max_seq, d_model)
        self.type_embed = nn.Embedding(2, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.blocks = nn.ModuleList(
            [Block(d_model, num_heads, ff_dim) for _ in range(n_layers)])

    def forward(self, tokens, mask):
        pos = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.embed(tokens) + self.pos_embed(pos)
        x = x + self.type_embed(torch.zeros_like(tokens))
        x = self.norm(x)
        for block in self.blocks:
            x = block(x, mask)
        return x
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            "        x = x + self.type_embed(torch.zeros_like(tokens))\n",
            "",
            "type-embedding-missing",
        ),
        ("torch.zeros_like", "torch.ones_like", "type-embedding-of-row-1"),
        (" + self.pos_embed(pos)", "", "positions-missing"),
        ("        x = self.norm(x)\n", "", "norm-of-the-embeddings-missing"),
        ("eps=1e-12):", "eps=1e-5):", None),
        (
            "F.gelu(self.W_1(x))",
            'F.gelu(self.W_1(x), approximate="tanh")',
            "tanh-gelu",
        ),
        (
            "x = self.norm1(x + self.attn(x, mask))\n"
            "        return self.norm2(x + self.ff(x))",
            "x = x + self.attn(self.norm1(x), mask)\n"
            "        return x + self.ff(self.norm2(x))",
            "pre-norm",
        ),
        (
            "scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)",
            "pass",
            "padding-attended",
        ),
        ("~mask[:, None, None, :]", "mask[:, None, None, :]", "mask-inverted"),
        ("nn.ModuleList(", "list(", "blocks-in-a-plain-list"),
        (
            "            x = block(x, mask)\n        return x",
            "            return block(x, mask)",
            "first-block-only",
        ),
        (
            "            x = block(x, mask)\n        return x",
            "            x = block(x, mask)\n        return x * mask[..., None]",
            "padding-zeroed-last",
        ),
        (
            "        x = self.norm(x)\n",
            "        x = self.norm(x) * mask[..., None]\n",
            "padding-zeroed-first",
        ),
        ("zeros_like(tokens)", "zeros_like(tokens) + mask", "types-from-the-mask"),
        (
            "self.pos_embed(pos)",
            "self.pos_embed((mask.cumsum(1) - 1).clamp(min=0))",
            "positions-of-real-tokens",
        ),
        ("self.pos_embed(pos)", "self.pos_embed(pos + 2)", "positions-from-2"),
        (
            "self.pos_embed(pos)",
            "self.pos_embed(torch.arange(len(tokens)))[:, None]",
            "positions-of-the-batch",
        ),
        (
            "        x = x + self.type_embed(torch.zeros_like(tokens))\n"
            "        x = self.norm(x)\n",
            "        x = self.norm(x) + self.type_embed(torch.zeros_like(tokens))\n",
            "normed-before-type",
        ),
        (
            "self.norm1(x + self.attn(x, mask))",
            "self.norm1(self.attn(x, mask))",
            "no-residual-attention",
        ),
        ("self.norm2(x + self.ff(x))", "self.norm1(x + self.ff(x))", "norm1-twice"),
        (
            "self.norm2(x + self.ff(x))",
            "x + self.ff(self.norm2(x))",
            "pre-norm-feed-forward",
        ),
        ("eps=1e-12):", "eps=1e-05):", "eps-1e-5-in-the-blocks"),
        (
            "nn.LayerNorm(d_model, eps=1e-12)",
            "nn.LayerNorm(d_model)",
            "eps-1e-5-of-the-embeddings",
        ),
        ("F.gelu(self.W_1(x))", "F.relu(self.W_1(x))", "relu-for-gelu"),
    ],
)
def test_slip_in_the_encoder_is_named(right, slip, mistake):
    verdict = slipped(ENCODER, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


ENCODERS = named(
    ENCODER.replace("\nimport math\n", "\n# by_hand\nimport math\n", 1)
    + """
# of_parts
import torch
from torch import nn
from autograder.parts import FeedForward, MultiHeadAttention, post_norm
class MiniLMEncoder(nn.Module):
    def __init__(self, vocab_size=30522, d_model=384, n_layers=6, num_heads=12,
                 ff_dim=1536, max_seq=512):
        super().__init__()
        norm = lambda: nn.LayerNorm(d_model, 1e-12)
        self.embed = nn.Embedding(vocab_size, d_model, padding_idx=0)
        self.pos_embed = nn.Embedding(max_seq, d_model)
        self.type_embed = nn.Embedding(2, d_model)
        self.norm = norm()
        self.blocks = nn.ModuleList(nn.ModuleDict(dict(
            attn=MultiHeadAttention(d_model, num_heads), norm1=norm(),
            ff=FeedForward(d_model, ff_dim), norm2=norm())) for _ in range(n_layers))
    def forward(self, tokens, mask):
        x = self.embed(tokens) + self.pos_embed.weight[: tokens.shape[1]]
        x = self.norm(x + self.type_embed.weight[0])
        for b in self.blocks:
            attend = lambda x: b["attn"](x, mask[:, None, None, :])
            x = post_norm(x, attend, b["norm1"])
            x = post_norm(x, b["ff"], b["norm2"])
        return x
"""
)


@pytest.mark.parametrize("answer", ENCODERS)
def test_right_encoders_are_accepted(answer):
    verdict = check_source(ENCODERS[answer])
    assert verdict.passed, verdict.message


LOAD = """
import torch

INNER = {
    "attn.W_q": "attention.self.query", "attn.W_k": "attention.self.key",
    "attn.W_v": "attention.self.value", "attn.W_o": "attention.output.dense",
    "norm1": "attention.output.LayerNorm", "ff.W_1": "intermediate.dense",
    "ff.W_2": "output.dense", "norm2": "output.LayerNorm",
}

def pairs(model):
    found = {
        "embed.weight": "embeddings.word_embeddings.weight",
        "pos_embed.weight": "embeddings.position_embeddings.weight",
        "type_embed.weight": "embeddings.token_type_embeddings.weight",
        "norm.weight": "embeddings.LayerNorm.weight",
        "norm.bias": "embeddings.LayerNorm.bias",
    }
    for i in range(len(model.blocks)):
        for mine, theirs in INNER.items():
            for kind in ("weight", "bias"):
                at = f"encoder.layer.{i}.{theirs}.{kind}"
                found[f"blocks.{i}.{mine}.{kind}"] = at
    return found

def load_encoder(model, state_dict):
    names = pairs(model)
    rest = dict(state_dict)
    rest.pop("embeddings.position_ids", None)
    rest = {n: t for n, t in rest.items() if not n.startswith("pooler.")}
    params = dict(model.named_parameters())
    if set(rest) != set(names.values()):
        raise ValueError("names differ")
    for mine, theirs in names.items():
        if params[mine].shape != rest[theirs].shape:
            raise ValueError(f"{theirs} has another shape")
    with torch.no_grad():
        for mine, theirs in names.items():
            params[mine].copy_(rest[theirs])
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            '"attn.W_q": "attention.self.query", "attn.W_k": "attention.self.key"',
            '"attn.W_k": "attention.self.query", "attn.W_q": "attention.self.key"',
            "query-and-key-exchanged",
        ),
        (
            '"norm1": "attention.output.LayerNorm"',
            '"norm2": "attention.output.LayerNorm"',
            None,
        ),
        (
            'if not n.startswith("pooler.")',
            "",
            "pooler-refused",
        ),
        ("set(rest) != set(names.values())", "False", None),
        (
            "set(rest) != set(names.values())",
            "set(names.values()) - set(rest)",
            "unknown-accepted",
        ),
        ("params[mine].shape != rest[theirs].shape", "False", None),
        ('ValueError("names differ")', 'KeyError("names differ")', None),
        ("rest = dict(state_dict)", "rest = state_dict", "state-dict-emptied"),
        (
            '"attn.W_o": "attention.output.dense"',
            '"attn.W_o": "attention.output"',
            "always-refused",
        ),
        (
            "    params = dict(",
            "    import copy\n    model = copy.deepcopy(model)\n    params = dict(",
            "not-in-place",
        ),
        (
            'if not n.startswith("pooler.")}',
            'if n in names.values() or not n.startswith(("pooler.", "embeddings."))}',
            "unknown-embeddings-accepted",
        ),
        (
            "params[mine].shape != rest[theirs].shape:",
            "params[mine].numel() != rest[theirs].numel():",
            None,
        ),
        ("with torch.no_grad():", "if True:", "copied-with-gradients"),
        (
            "params[mine].copy_(rest[theirs])",
            "if 'type' not in mine: params[mine].copy_(rest[theirs])",
            "type-embeddings-skipped",
        ),
        (
            'raise ValueError("names differ")',
            'raise Exception("names differ")',
            None,
        ),
        (
            "    if set(rest) != set(names.values()):\n"
            '        raise ValueError("names differ")\n',
            "    if set(rest) - set(names.values()):\n"
            '        raise ValueError("unknown")\n',
            "missing-key-error",
        ),
        (
            "set(rest) != set(names.values())",
            "len(rest) != len(names)",
            None,  # one missing and one unknown
        ),
        (
            "params[mine].shape != rest[theirs].shape:",
            "params[mine].shape[0] != rest[theirs].shape[0]:",
            "shapes-compared-in-part",
        ),
        (
            "    for mine, theirs in names.items():\n"
            "        if params[mine].shape != rest[theirs].shape:\n"
            '            raise ValueError(f"{theirs} has another shape")\n',
            "",
            "shapes-not-compared",
        ),
        (
            '            raise ValueError(f"{theirs} has another shape")\n'
            "    with torch.no_grad():\n"
            "        for mine, theirs in names.items():\n",
            '            raise ValueError(f"{theirs} has another shape")\n'
            "        with torch.no_grad():\n",
            "shapes-compared-late",
        ),
        (
            "params[mine].copy_(rest[theirs])",
            "params[mine].copy_(rest[theirs].T if 'dense' in theirs and "
            "rest[theirs].dim() == 2 and rest[theirs].shape[0] == 4 == "
            "rest[theirs].shape[1] else rest[theirs])",
            None,
        ),
    ],
)
def test_slip_in_loading_is_named(right, slip, mistake):
    verdict = slipped(LOAD, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        # by the order in the file, whatever the names say
        (
            "    names = pairs(model).values()\n"
            "    kept = [t for n, t in state_dict.items() if n in names]\n"
            "    shapes = [t.shape for t in kept]\n"
            "    if shapes != [p.shape for p in model.parameters()]:\n"
            "        raise ValueError('shapes')\n"
            "    for p, t in zip(model.parameters(), kept):\n"
            "        p.data.copy_(t)\n",
            "always-refused",
        ),
        (
            "    ours = {theirs: mine for mine, theirs in pairs(model).items()}\n"
            "    named = {ours.get(n, n): t for n, t in state_dict.items()}\n"
            "    model.load_state_dict(named, strict=False)\n",
            "strict-false",
        ),
        (
            "    names = {n for n in state_dict if not n.startswith('pooler.')}\n"
            "    names -= {'embeddings.position_ids'}\n"
            "    if names != set(pairs(model).values()):\n"
            "        raise ValueError('names')\n"
            "    todo = [(p, state_dict[pairs(model)[n]])\n"
            "            for n, p in model.named_parameters()]\n"
            "    if any(p.numel() != t.numel() for p, t in todo):\n"
            "        raise ValueError('shapes')\n"
            "    for p, t in todo:\n"
            "        p.data.copy_(t.reshape(p.shape))\n",
            "numbers-counted",
        ),
    ],
)
def test_another_way_of_loading_is_named(body, mistake):
    head = LOAD[: LOAD.index("def load_encoder")]
    verdict = check_source(f"{head}def load_encoder(model, state_dict):\n{body}")
    assert verdict.mistake == mistake


def test_a_check_that_comes_too_late_is_named():
    late = LOAD.replace(
        "    if set(rest) != set(names.values()):\n"
        '        raise ValueError("names differ")\n',
        "",
    ).replace(
        "    for mine, theirs in names.items():\n        if params",
        "    for mine, theirs in names.items():\n"
        "        if theirs not in rest:\n"
        "            raise ValueError(theirs)\n        if params",
    )
    assert late != LOAD
    late = late.replace(
        '            raise ValueError(f"{theirs} has another shape")\n'
        "    with torch.no_grad():\n"
        "        for mine, theirs in names.items():\n"
        "            params[mine].copy_(rest[theirs])\n",
        '            raise ValueError(f"{theirs} has another shape")\n'
        "        with torch.no_grad():\n"
        "            params[mine].copy_(rest.pop(theirs))\n"
        "    if rest:\n"
        "        raise ValueError(str(rest.keys()))\n",
    )
    verdict = check_source(late)
    assert verdict.mistake == "partly-loaded", verdict.message


def test_an_unknown_tensor_that_is_found_too_late_is_named():
    complete = "set(names.values()) - set(rest)"
    late = LOAD.replace("set(rest) != set(names.values())", complete)
    assert complete in late
    late += (
        "    if len(rest) > len(names):\n        raise ValueError(str(rest.keys()))\n"
    )
    verdict = check_source(late)
    assert verdict.mistake == "unknown-found-late", verdict.message


@pytest.mark.parametrize(
    ("refusal", "mistake"),
    [
        ("raise Exception('names or shapes')", "plain-exception"),
        ("return print('names or shapes')", "noticed-but-not-raised"),
    ],
)
def test_another_refusal_everywhere_is_named(refusal, mistake):
    source = LOAD.replace('raise ValueError("names differ")', refusal)
    source = source.replace('raise ValueError(f"{theirs} has another shape")', refusal)
    assert source.count(refusal) == 2
    verdict = check_source(source)
    assert verdict.mistake == mistake, verdict.message


LOADERS = named(
    LOAD.replace("\nimport torch\n", "\n# by_table\nimport torch\n", 1)
    + """
# renamed_and_assigned
import re
def load_encoder(model, state_dict):
    rules = [("encoder.layer", "blocks"), ("embeddings.word_embeddings", "embed"),
             ("embeddings.position_embeddings", "pos_embed"),
             ("embeddings.token_type_embeddings", "type_embed"),
             ("embeddings.LayerNorm", "norm"), ("attention.self.query", "attn.W_q"),
             ("attention.self.key", "attn.W_k"), ("attention.self.value", "attn.W_v"),
             ("attention.output.dense", "attn.W_o"),
             ("attention.output.LayerNorm", "norm1"), ("output.LayerNorm", "norm2"),
             ("intermediate.dense", "ff.W_1"), ("output.dense", "ff.W_2")]
    mine = {}
    for name, t in state_dict.items():
        if name == "embeddings.position_ids" or name.startswith("pooler."):
            continue
        for old, new in rules:
            name = name.replace(old, new)
        mine[name] = t
    own = model.state_dict()
    assert own.keys() == mine.keys(), own.keys() ^ mine.keys()
    for n in own:
        assert own[n].shape == mine[n].shape, n
    model.load_state_dict(mine)
"""
)


@pytest.mark.parametrize("answer", LOADERS)
def test_right_loaders_are_accepted(answer):
    verdict = check_source(LOADERS[answer])
    assert verdict.passed, verdict.message
