"""The parameters counted from a model's sizes are those of its published weights."""

import pytest

from bookkit.models import (
    GPT2_SMALL,
    GPT2_XL,
    LLAMA2_7B,
    LLAMA2_70B,
    LLAMA3_8B,
    MODELS,
    QWEN25_05B,
    QWEN25_72B,
)
from solutions.multihead import attention_parameters


@pytest.mark.parametrize(
    ("model", "published"),
    [
        (GPT2_SMALL, 124_439_808),
        (GPT2_XL, 1_557_611_200),
        (LLAMA2_7B, 6_738_415_616),
        (LLAMA2_70B, 68_976_648_192),
        (LLAMA3_8B, 8_030_261_248),
        (QWEN25_05B, 494_032_768),
        (QWEN25_72B, 72_706_203_648),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_parameters_are_those_of_the_published_weights(model, published):
    sizes = model.d_model, model.num_heads, model.num_kv_heads
    attention = model.n_layers * attention_parameters(*sizes, bias=model.bias)
    assert attention + model.other_parameters == published


def test_heads_divide_every_model():
    for model in MODELS:
        assert model.d_k * model.num_heads == model.d_model
        assert model.num_heads % model.num_kv_heads == 0


def test_feed_forward_networks_and_embeddings_are_counted_by_hand():
    assert LLAMA2_7B.feed_forward_parameters == 32 * 3 * 4096 * 11_008
    assert LLAMA2_7B.embedding_parameters == 2 * 32_000 * 4096
    assert GPT2_SMALL.feed_forward_parameters == 12 * (8 * 768**2 + 5 * 768)
    assert GPT2_SMALL.embedding_parameters == (50_257 + 1024) * 768
