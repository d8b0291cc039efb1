# %% [markdown]
# Multi-head attention, written in an editor: no notebook, so no chapter in its metadata.

# %%
import torch
from torch import nn

from autograder import exercise
from autograder.parts import scaled_dot_product_attention


# %%
@exercise
def split_heads(x, num_heads):
    B, T, C = x.shape
    if C % num_heads:
        raise ValueError(f"{C} features don't divide into {num_heads} heads")
    return x.reshape(B, T, num_heads, C // num_heads).transpose(1, 2)


# %%
@exercise
def merge_heads(x):
    B, h, T, d = x.shape
    return x.reshape(B, T, h * d)


# %%
@exercise
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} features don't divide into {num_heads} heads")
        self.num_heads = num_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, x, mask=None):
        q, k, v = (
            split_heads(W(x), self.num_heads) for W in (self.W_q, self.W_k, self.W_v)
        )
        out, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.W_o(merge_heads(out))


# %%
if __name__ == "__main__":
    layer = MultiHeadAttention(512, 8)
    print(layer(torch.randn(64, 128, 512)).shape)
