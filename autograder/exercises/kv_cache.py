"""Chapter 11, continued: the KV cache."""

from typing import Any

import solutions.generation as solutions
from autograder.definition import Exercise
from autograder.exercises.generation import CHAPTER as CHAPTER
from autograder.exercises.generation import texts
from autograder.inputs import normal, size
from autograder.probes.small_gpt import count
from autograder.twins.cache import CACHES, Cache
from autograder.twins.cache_bytes import BYTES, cache_bytes
from autograder.twins.cached_attention import (
    ATTENTION,
    INHERITED,
    attend_with_cache,
)
from autograder.twins.forward_with_cache import FORWARD, forward
from autograder.twins.writing_with_cache import WITH_CACHE, write_with_cache
from solutions.attention import scaled_dot_product_attention
from solutions.feed_forward import FeedForward
from solutions.masks import causal_mask
from solutions.minigpt import MiniGPT, TransformerBlock
from solutions.multihead import MultiHeadAttention, merge_heads, split_heads

#: How eleven tokens come: some at first, then a few at a time. Two of the usual slips
#: with positions and masks are exact for the first new token.
CHUNKS = "4 1 1 2 3"
ONE_BY_ONE = " ".join("1" * 11)

#: An axis of eleven.
WORDS = {"H": ("token", "tokens")}

KV = {"K": normal("B h H d_k"), "V": normal("B h H d_k")}

KVCache = Exercise(
    solutions.KVCache,
    points=2,
    minutes=8,
    difficulty=2,
    probe="remembered",
    without=["gradients"],
    words=WORDS,
    returns=("all K", "all V"),
    inputs={
        "chunks of 4, 1, 1, 2, 3": KV | {"chunks": CHUNKS},
        "two chunks of one size": KV | {"chunks": "5 5 1"},
        "all at once": KV | {"chunks": "11"},
    },
    twin=Cache,
    mistakes=CACHES,
    hints=[
        "What must an object remember between two calls of append? What is it when "
        "nothing has been appended yet?",
        "Start with self.K = self.V = None in __init__. The first append keeps what it "
        "is given; later ones join old and new along the sequence, axis 2.",
        "`torch.cat([self.K, K], dim=2)`, V likewise; keep both and return both. "
        "`len` is `self.K.shape[2]`, or 0 while there is none.",
    ],
)

X = {
    "x": normal("B H C"),
    "weights": normal("4 C C"),
    "biases": normal("4 C"),
    "num_heads": size("h"),
}

cached_attention = Exercise(
    solutions.cached_attention,
    points=3,
    minutes=20,
    difficulty=4,
    probe="attended",
    without=["gradients"],
    words=WORDS,
    uses=[
        scaled_dot_product_attention,
        split_heads,
        merge_heads,
        MultiHeadAttention,
        solutions.KVCache,
    ],
    forbids=["attention"],
    inputs={
        "chunks of 4, 1, 1, 2, 3": X | {"chunks": CHUNKS},
        "one token at a time": X | {"chunks": ONE_BY_ONE},
        "all at once": X | {"chunks": "11"},
    },
    twin=attend_with_cache,
    mistakes=[*ATTENTION, *INHERITED],
    hints=[
        "The new tokens ask, all tokens answer: whose queries are needed, and whose "
        "keys and values? Which of these are in the cache already?",
        "Project x with attention.W_q, W_k and W_v, cut into heads, append K and V, "
        "and attend to all that append returns. The mask is (T_new, T): the new tokens "
        "are the last of T positions.",
        "With `keys = torch.arange(len(cache))` after appending, the queries stand at "
        "`keys[-T_new:]`, and the mask is `keys <= queries[:, None]`. End with "
        "`attention.W_o(merge_heads(heads))`.",
    ],
)


#: The model that is run, and what it is made of.
MODEL = [MiniGPT, TransformerBlock, FeedForward, causal_mask]


def continuing(chunks: str, max_seq: int = 11, T: int = 11) -> dict[str, Any]:
    """Texts in chunks, for a MiniGPT whose weights are given."""
    return {
        "tokens": texts(T),
        "weights": normal(str(count(max_seq))),
        "chunks": chunks,
        "max_seq": max_seq,
    }


forward_with_cache = Exercise(
    solutions.forward_with_cache,
    points=3,
    minutes=20,
    difficulty=4,
    probe="continued",
    without=["gradients"],
    words=WORDS,
    tolerance=3e-5,
    uses=[*MODEL, solutions.KVCache, solutions.cached_attention],
    inputs={
        "chunks of 4, 1, 1, 2, 3, up to max_seq": continuing(CHUNKS),
        "one token at a time": continuing("1 1 1 1 1", max_seq=9, T=5),
        "all at once": continuing("7", max_seq=9, T=7),
    },
    refuses={
        "12 tokens at once, max_seq = 11": continuing("12", T=12),
        "11 tokens and one more, max_seq = 11": continuing("11 1", T=12),
        "10 tokens and two more, max_seq = 11": continuing("10 2", T=12),
    },
    twin=forward,
    mistakes=FORWARD,
    hints=[
        "What in MiniGPT's forward mixes tokens, and what treats each by itself? Only "
        "the first has to know of the cache. And which position has the first new "
        "token?",
        "Follow MiniGPT's forward: positions from len(caches[0]) on, each block "
        "written out with cached_attention in the place of attn, then the final norm "
        "and the head. Compare past + T_new with max_seq before anything else.",
        "In the loop over `zip(model.blocks, caches)`: `x = x + cached_attention("
        "block.attn, block.norm1(x), cache)`, then `x = x + block.ff(block.norm2(x))`. "
        "Positions: `torch.arange(past, past + T_new)` on the tokens' device.",
    ],
)


def writing(T: int, new: int, max_seq: int = 12, mode: str = "train") -> dict[str, Any]:
    return {
        "tokens": texts(T),
        "weights": normal(str(count(max_seq))),
        "max_new_tokens": new,
        "max_seq": max_seq,
        "mode": mode,
    }


generate_with_cache = Exercise(
    solutions.generate_with_cache,
    points=3,
    minutes=15,
    difficulty=3,
    probe="written_with_cache",
    without=["edges", "dtypes", "device", "gradients"],
    uses=[
        *MODEL,
        solutions.sample_next,
        solutions.KVCache,
        solutions.forward_with_cache,
    ],
    inputs={
        "a short text": writing(4, 6),
        "up to max_seq": writing(5, 7, mode="eval"),
        "a prompt of one token": writing(1, 5),
        "one new token": writing(4, 1),
        "no new token": writing(4, 0),
    },
    refuses={
        "T + max_new_tokens = max_seq + 1": writing(5, 8),
        "a prompt longer than max_seq": writing(13, 2),
    },
    twin=write_with_cache,
    mistakes=WITH_CACHE,
    hints=[
        "The prompt has many tokens, every later step has one: what do you give "
        "forward_with_cache the first time, and what after that?",
        "Refuse what is too long first. Make one KVCache for each block before the "
        "loop. In the loop run the new tokens, take the last position's argmax, append "
        "it to the text, and let it be the only new token of the next step.",
        "Before the loop `new = tokens`; in it `logits = forward_with_cache(model, "
        "new, caches)[:, -1]`, `new = logits.argmax(dim=-1, keepdim=True)`, and "
        "`tokens = torch.cat([tokens, new], dim=1)`. The modes are as in generate.",
    ],
)

LLAMA = {"n_layers": 32, "n_kv_heads": 32, "d_head": 128, "seq_len": 4096}

kv_cache_bytes = Exercise(
    solutions.kv_cache_bytes,
    points=1,
    minutes=5,
    difficulty=1,
    inputs={
        "a small model": {"n_layers": 3, "n_kv_heads": 5, "d_head": 7, "seq_len": 11},
        "as large as Llama 2 7B's": LLAMA,
        "a batch": LLAMA | {"seq_len": 1000, "batch": 6},
        "float32": LLAMA | {"n_kv_heads": 8, "batch": 3, "bytes_per_value": 4},
        "one byte a value": LLAMA | {"batch": 1, "bytes_per_value": 1},
    },
    twin=cache_bytes,
    mistakes=BYTES,
    hints=[
        "How many numbers does one token leave behind in one layer, for one head? And "
        "how many tensors of them are there?",
        "A key and a value, d_head numbers each, for every key/value head, layer, "
        "token and sequence of the batch; each number takes bytes_per_value bytes.",
        "`2 * n_layers * n_kv_heads * d_head * seq_len * batch * bytes_per_value`.",
    ],
)
