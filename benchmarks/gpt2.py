"""Hugging Face's GPT-2 with a MiniGPT's shape and weights, to measure ours against.

Needs the package `transformers`, which the project itself does not: pip install it.
"""

from typing import Any

import torch
from torch import nn


def as_gpt2(model: Any, activation: str = "gelu") -> nn.Module:
    """A MiniGPT's weights in transformers' GPT2LMHeadModel.

    It is the same function with the exact GELU, "gelu"; GPT-2 itself has "gelu_new".
    """
    from transformers import GPT2Config, GPT2LMHeadModel

    vocab_size, d_model = model.embed.weight.shape
    config = GPT2Config(
        vocab_size=vocab_size,
        n_positions=model.max_seq,
        n_embd=d_model,
        n_layer=len(model.blocks),
        n_head=model.blocks[0].attn.num_heads,
        activation_function=activation,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    theirs: nn.Module = GPT2LMHeadModel(config)
    theirs.load_state_dict(_renamed(model), strict=True)
    return theirs


def _renamed(model: Any) -> dict[str, torch.Tensor]:
    """GPT-2's names; its linear layers hold their matrices transposed."""
    named = {
        "transformer.wte.weight": model.embed.weight,
        "transformer.wpe.weight": model.pos_embed.weight,
        "transformer.ln_f.weight": model.norm.weight,
        "transformer.ln_f.bias": model.norm.bias,
        "lm_head.weight": model.head.weight,
    }
    for i, block in enumerate(model.blocks):
        to, attn = f"transformer.h.{i}", block.attn
        qkv = (attn.W_q, attn.W_k, attn.W_v)
        named |= {
            f"{to}.ln_1.weight": block.norm1.weight,
            f"{to}.ln_1.bias": block.norm1.bias,
            f"{to}.ln_2.weight": block.norm2.weight,
            f"{to}.ln_2.bias": block.norm2.bias,
            f"{to}.attn.c_attn.weight": torch.cat([W.weight.T for W in qkv], dim=1),
            f"{to}.attn.c_attn.bias": torch.cat([W.bias for W in qkv]),
            f"{to}.attn.c_proj.weight": attn.W_o.weight.T,
            f"{to}.attn.c_proj.bias": attn.W_o.bias,
            f"{to}.mlp.c_fc.weight": block.ff.W_1.weight.T,
            f"{to}.mlp.c_fc.bias": block.ff.W_1.bias,
            f"{to}.mlp.c_proj.weight": block.ff.W_2.weight.T,
            f"{to}.mlp.c_proj.bias": block.ff.W_2.bias,
        }
    return {name: value.detach() for name, value in named.items()}
