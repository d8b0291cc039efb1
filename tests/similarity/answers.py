"""Answers to one exercise, each written in a way of its own, and one disguised."""

HEAD = (
    "import math\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
)

#: Five right answers to MultiHeadAttention, as five people who never met write it.
VIEWS = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{d_model} features can't be cut into {num_heads} heads")
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        # cut into heads
        q = self.W_q(x).view(B, T, self.num_heads, self.d_k).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.num_heads, self.d_k).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.num_heads, self.d_k).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        out = weights @ v
        out = out.transpose(1, 2).contiguous().view(B, T, C)
        return self.W_o(out), weights
"""

EINSUM = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        size, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError("num_heads must divide d_model")
        self.num_heads, self.size = num_heads, size
        for name in "qkvo":
            setattr(self, f"W_{name}", nn.Linear(d_model, d_model))

    def heads(self, layer, x):
        return layer(x).unflatten(-1, (self.num_heads, self.size))

    def forward(self, x, mask=None):
        Q, K, V = (self.heads(one, x) for one in (self.W_q, self.W_k, self.W_v))
        logits = torch.einsum("bnhd,bmhd->bhnm", Q, K) * self.size**-0.5
        if mask is not None:
            logits = torch.where(mask.bool(), logits, -torch.inf)
        p = logits.softmax(-1)
        return self.W_o(torch.einsum("bhnm,bmhd->bnhd", p, V).flatten(-2)), p
"""

LOOP = """
def one_head(q, k, v, mask):
    s = torch.matmul(q, k.mT)
    s = s / q.size(-1) ** 0.5
    if mask is not None:
        s = s + torch.log(mask.to(s.dtype))
    a = torch.softmax(s, dim=2)
    return torch.matmul(a, v), a


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        nn.Module.__init__(self)
        if d_model / num_heads != d_model // num_heads:
            raise ValueError(d_model, num_heads)
        self.num_heads = num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = [
            nn.Linear(d_model, d_model) for _ in range(4)
        ]

    def forward(self, x, mask=None):
        results, attentions = [], []
        pieces = zip(
            self.W_q(x).chunk(self.num_heads, -1),
            self.W_k(x).chunk(self.num_heads, -1),
            self.W_v(x).chunk(self.num_heads, -1),
        )
        for i, (q, k, v) in enumerate(pieces):
            here = mask
            if mask is not None and mask.dim() == 4:
                here = mask[:, min(i, mask.shape[1] - 1)]
            result, attention = one_head(q, k, v, here)
            results.append(result)
            attentions.append(attention)
        return self.W_o(torch.cat(results, dim=-1)), torch.stack(attentions, dim=1)
"""

RESHAPE = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super(MultiHeadAttention, self).__init__()
        assert_ok = d_model % num_heads == 0
        if not assert_ok:
            raise ValueError("d_model not divisible")
        self.d_model = d_model
        self.num_heads = num_heads
        self.head_dim = int(d_model / num_heads)
        self.W_q = nn.Linear(self.d_model, self.d_model)
        self.W_k = nn.Linear(self.d_model, self.d_model)
        self.W_v = nn.Linear(self.d_model, self.d_model)
        self.W_o = nn.Linear(self.d_model, self.d_model)

    def split(self, tensor):
        batch, length, _ = tensor.size()
        tensor = tensor.reshape(batch, length, self.num_heads, self.head_dim)
        return tensor.permute(0, 2, 1, 3)

    def join(self, tensor):
        batch, _, length, _ = tensor.size()
        return tensor.permute(0, 2, 1, 3).reshape(batch, length, self.d_model)

    def forward(self, x, mask=None):
        query = self.split(self.W_q(x))
        key = self.split(self.W_k(x))
        value = self.split(self.W_v(x))
        energy = torch.matmul(query, key.permute(0, 1, 3, 2))
        energy = energy / torch.sqrt(torch.tensor(self.head_dim, dtype=x.dtype))
        if mask is not None:
            energy = energy.masked_fill(torch.logical_not(mask), -float("inf"))
        attention = torch.softmax(energy, dim=-1)
        context = self.join(torch.matmul(attention, value))
        return self.W_o(context), attention
"""

BADDBMM = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model} num_heads={num_heads}")
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        batch, steps, width = x.shape
        h, d = self.num_heads, width // self.num_heads
        fold = lambda y: y.view(batch, steps, h, d).movedim(2, 1).reshape(-1, steps, d)
        bias = x.new_zeros(batch, h, steps, steps)
        if mask is not None:
            bias = bias.masked_fill_(~mask.bool(), -torch.inf)
        w = torch.baddbmm(
            bias.flatten(0, 1), fold(self.W_q(x)), fold(self.W_k(x)).mT, alpha=d**-0.5
        )
        w = (w - w.amax(-1, True)).exp()
        w = w / w.sum(-1, True)
        mixed = torch.bmm(w, fold(self.W_v(x))).unflatten(0, (batch, h))
        return self.W_o(mixed.movedim(1, 2).flatten(2)), w.unflatten(0, (batch, h))
"""

OWN_WAYS = {
    "views": VIEWS,
    "einsum": EINSUM,
    "loop": LOOP,
    "reshape": RESHAPE,
    "baddbmm": BADDBMM,
}

#: RESHAPE by somebody who hides where it is from: other names, order, remarks, types.
DISGUISED = '''
class MultiHeadAttention(nn.Module):
    """My very own attention layer."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super(MultiHeadAttention, self).__init__()
        fits: bool = d_model % num_heads == 0
        if not fits:
            raise ValueError('cannot split that')
        self.num_heads = num_heads
        self.width = d_model
        self.per_head = int(d_model / num_heads)
        # the four layers
        self.W_o = nn.Linear(self.width, self.width)
        self.W_v = nn.Linear(self.width, self.width)
        self.W_k = nn.Linear(self.width, self.width)
        self.W_q = nn.Linear(self.width, self.width)

    def merge_them(self, t):
        n, _, m, _ = t.size()
        return t.permute(0, 2, 1, 3).reshape(n, m, self.width)

    def cut_them(self, t):
        n, m, _ = t.size()
        t = t.reshape(n, m, self.num_heads, self.per_head)
        return t.permute(0, 2, 1, 3)

    def forward(self, x: torch.Tensor, mask=None):
        v = self.cut_them(self.W_v(x))  # values
        k = self.cut_them(self.W_k(x))  # keys
        q = self.cut_them(self.W_q(x))  # queries

        e = torch.matmul(q, k.permute(0, 1, 3, 2))
        e = e / torch.sqrt(torch.tensor(self.per_head, dtype=x.dtype))
        if mask is not None:
            e = e.masked_fill(torch.logical_not(mask), -float('inf'))
        a = torch.softmax(e, dim=-1)
        c = self.merge_them(torch.matmul(a, v))
        return self.W_o(c), a
'''

#: A short answer as nearly everybody writes it.
SHORT = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ V, weights
"""


def hand_in(folder, **answers):
    """A folder of submissions, one file an answer."""
    folder.mkdir(exist_ok=True)
    for name, source in answers.items():
        (folder / f"{name}.py").write_text(HEAD + source, "utf-8")
    return folder
