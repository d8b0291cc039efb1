"""Chapter 11: generation and the KV cache."""

import torch
from einops import rearrange

from solutions.attention import scaled_dot_product_attention
from solutions.multihead import merge_heads, split_heads


def filter_logits(logits, top_k=None, top_p=None):
    """Leave only likely tokens to choose from; the others get -inf.

    logits (..., vocab) -> (..., vocab). top_k keeps the k largest; top_p then keeps the
    fewest most probable tokens that together reach p, at least one.

    Fan et al. 2018 (top-k); Holtzman et al. 2020, section 3.1 (top-p).
    """
    if top_k is not None:
        k = min(top_k, logits.shape[-1])
        smallest_kept = logits.topk(k).values[..., -1:]
        logits = logits.masked_fill(logits < smallest_kept, -torch.inf)
    if top_p is not None:
        ordered, order = logits.sort(dim=-1, descending=True)
        probabilities = ordered.softmax(dim=-1)
        before = probabilities.cumsum(dim=-1) - probabilities
        excluded = before >= top_p  # p was reached before this token
        excluded[..., 0] = False
        excluded = torch.zeros_like(excluded).scatter(-1, order, excluded)
        logits = logits.masked_fill(excluded, -torch.inf)
    return logits


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Draw each sequence's next token.

    logits (B, vocab) -> (B, 1), ints. The logits are divided by the temperature, then
    filtered; temperature 0 takes the largest. Raises ValueError if it is negative.
    """
    if temperature < 0:
        raise ValueError(f"temperature = {temperature}, but it can't be negative")
    if temperature == 0:
        return logits.argmax(dim=-1, keepdim=True)
    kept = filter_logits(logits / temperature, top_k, top_p)
    return torch.multinomial(kept.softmax(dim=-1), 1, generator=generator)


@torch.no_grad()
def generate(model, tokens, max_new_tokens, **sampling):
    """Write on, token by token: predict, draw, append.

    tokens (B, T) -> (B, T + max_new_tokens). The model sees the last max_seq tokens, in
    eval mode; afterwards it is in the mode it was in. `sampling` as for sample_next.
    """
    was_training = model.training
    model.eval()
    try:
        for _ in range(max_new_tokens):
            logits = model(tokens[:, -model.max_seq :])[:, -1]  # (B, vocab)
            tokens = torch.cat([tokens, sample_next(logits, **sampling)], dim=1)
    finally:
        model.train(was_training)
    return tokens


class KVCache:
    """Keep the keys and values of all tokens seen so far.

    append takes those of new tokens, (B, h, T_new, d_k), and returns those of all,
    (B, h, T, d_k). len(cache) is T.
    """

    def __init__(self):
        self.K, self.V = None, None

    def append(self, K, V):
        if self.K is not None:
            K, V = torch.cat([self.K, K], dim=2), torch.cat([self.V, V], dim=2)
        self.K, self.V = K, V
        return K, V

    def __len__(self):
        return 0 if self.K is None else self.K.shape[2]


def cached_attention(attention, x, cache):
    """Attend from new tokens to all tokens, the old ones' keys and values remembered.

    attention, a MultiHeadAttention; x (B, T_new, C), cache -> (B, T_new, C), what the
    causal attention over all tokens gives for the new ones.
    """
    Q = split_heads(attention.W_q(x), attention.num_heads)  # (B, h, T_new, d_k)
    K, V = cache.append(
        split_heads(attention.W_k(x), attention.num_heads),
        split_heads(attention.W_v(x), attention.num_heads),
    )  # (B, h, T, d_k)
    keys = torch.arange(len(cache), device=x.device)
    queries = rearrange(keys[-x.shape[1] :], "T_new -> T_new 1")  # the last positions
    heads, _ = scaled_dot_product_attention(Q, K, V, keys <= queries)
    return attention.W_o(merge_heads(heads))


def forward_with_cache(model, tokens, caches):
    """Run a MiniGPT over new tokens only, with one cache for each block.

    tokens (B, T_new) -> logits (B, T_new, vocab), as if the model had seen all tokens
    again. Positions go on from the caches' length.
    Raises ValueError if they would reach max_seq.
    """
    past, T_new = len(caches[0]), tokens.shape[1]
    if past + T_new > model.max_seq:
        raise ValueError(f"{past} + {T_new} tokens, max_seq = {model.max_seq}")
    positions = torch.arange(past, past + T_new, device=tokens.device)
    x = model.embed(tokens) + model.pos_embed(positions)  # (B, T_new, C)
    for block, cache in zip(model.blocks, caches, strict=True):
        x = x + block.drop(cached_attention(block.attn, block.norm1(x), cache))
        x = x + block.drop(block.ff(block.norm2(x)))
    return model.head(model.norm(x))


@torch.no_grad()
def generate_with_cache(model, tokens, max_new_tokens):
    """Write on greedily, each new token at the price of one.

    tokens (B, T) -> (B, T + max_new_tokens), the same as generate at temperature 0.
    Raises ValueError if T + max_new_tokens > max_seq: a moving window would change the
    position of every key in the cache.
    """
    T = tokens.shape[1]
    if T + max_new_tokens > model.max_seq:
        raise ValueError(f"{T} + {max_new_tokens} tokens, max_seq = {model.max_seq}")
    was_training, caches = model.training, [KVCache() for _ in model.blocks]
    model.eval()
    try:
        new = tokens
        for _ in range(max_new_tokens):
            logits = forward_with_cache(model, new, caches)[:, -1]
            new = sample_next(logits, temperature=0)  # (B, 1)
            tokens = torch.cat([tokens, new], dim=1)
    finally:
        model.train(was_training)
    return tokens


def kv_cache_bytes(n_layers, n_kv_heads, d_head, seq_len, batch=1, bytes_per_value=2):
    """Count the memory that the cache of a whole model takes.

    -> int, in bytes: keys and values, two tensors a layer.
    """
    values = 2 * n_layers * n_kv_heads * d_head * seq_len * batch
    return values * bytes_per_value
