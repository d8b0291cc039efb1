"""Chapter 3: multi-head attention."""

from einops import rearrange, repeat
from torch import nn

from solutions.attention import scaled_dot_product_attention


def split_heads(x, num_heads):
    """Cut each token's features into heads: head i takes the i-th slice.

    x (B, T, C) -> (B, h, T, C/h). Raises ValueError if num_heads doesn't divide C.
    """
    C = x.shape[-1]
    if C % num_heads != 0:
        raise ValueError(f"C = {C} features can't be cut into {num_heads} equal heads")
    return rearrange(x, "B T (h d_k) -> B h T d_k", h=num_heads)


def merge_heads(x):
    """Lay the heads' features side by side again: undo split_heads.

    x (B, h, T, d_k) -> (B, T, h*d_k).
    """
    return rearrange(x, "B h T d_k -> B T (h d_k)")


class MultiHeadAttention(nn.Module):
    """Let several heads attend side by side, each with its own slice of features.

    x (B, T, C), mask broadcastable to (B, h, T, T) with True or 1 = may attend
    -> (B, T, C). W_q, W_k, W_v and W_o are nn.Linear(C, C).
    Raises ValueError if num_heads doesn't divide d_model.

    Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} is no multiple of {num_heads} heads")
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        Q = split_heads(self.W_q(x), self.num_heads)  # (B, h, T, d_k)
        K = split_heads(self.W_k(x), self.num_heads)
        V = split_heads(self.W_v(x), self.num_heads)
        heads, _ = scaled_dot_product_attention(Q, K, V, mask)  # (B, h, T, d_k)
        return self.W_o(merge_heads(heads))


def repeat_kv(x, groups):
    """Repeat each key/value head for the query heads that share it.

    x (B, h_kv, T, d) -> (B, h_kv*groups, T, d); head i of x comes back as heads
    i*groups to i*groups + groups - 1.
    """
    return repeat(x, "B h_kv T d -> B (h_kv groups) T d", groups=groups)


class GroupedQueryAttention(nn.Module):
    """Multi-head attention in which groups of query heads share a key/value head.

    x (B, T, C), mask broadcastable to (B, h, T, T) with True or 1 = may attend
    -> (B, T, C). W_q and W_o are nn.Linear(C, C), W_k and W_v
    nn.Linear(C, num_kv_heads*d_k). Raises ValueError if num_heads doesn't divide
    d_model or num_kv_heads doesn't divide num_heads.

    Ainslie et al. 2023, section 2.2.
    """

    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} is no multiple of {num_heads} heads")
        if num_heads % num_kv_heads != 0:
            groups = f"{num_heads} query heads, {num_kv_heads} key/value heads"
            raise ValueError(f"{groups}: the second number must divide the first")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        kv_dim = num_kv_heads * (d_model // num_heads)
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, kv_dim)
        self.W_v = nn.Linear(d_model, kv_dim)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        groups = self.num_heads // self.num_kv_heads
        Q = split_heads(self.W_q(x), self.num_heads)  # (B, h, T, d_k)
        K = repeat_kv(split_heads(self.W_k(x), self.num_kv_heads), groups)
        V = repeat_kv(split_heads(self.W_v(x), self.num_kv_heads), groups)
        heads, _ = scaled_dot_product_attention(Q, K, V, mask)  # (B, h, T, d_k)
        return self.W_o(merge_heads(heads))


def attention_parameters(d_model, num_heads, num_kv_heads=None, bias=True):
    """Count the numbers that an attention layer learns.

    d_model C, num_heads h, num_kv_heads (default: h), bias -> int: the sizes of W_q,
    W_k, W_v and W_o, with their biases or without.
    """
    num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    kv_dim = num_kv_heads * (d_model // num_heads)
    outputs = d_model + kv_dim + kv_dim + d_model  # of W_q, W_k, W_v, W_o
    return outputs * (d_model + (1 if bias else 0))  # a bias is one more input
