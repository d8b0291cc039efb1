"""Chapter 14's plumbing: texts that repeat, maps of a model, the clinic's measures."""

import pytest
import torch

from bookkit.clinic import (
    admitted,
    by_depth,
    drift,
    least_loss,
    lesson_of_words,
    likeness,
    look_up,
    read_and_write,
)
from bookkit.induction import (
    attention_maps,
    attention_only,
    first_score,
    learn_to_repeat,
    previous_score,
    queries_keys_values,
    repeated,
    replaced,
)
from bookkit.tales import compose
from bookkit.writing import start
from solutions import clinic
from solutions.attention import scaled_dot_product_attention
from solutions.inside import induction_score
from solutions.masks import causal_mask
from solutions.minigpt import MiniGPT
from solutions.multihead import MultiHeadAttention


@pytest.fixture
def model():
    torch.manual_seed(0)
    return attention_only(MiniGPT(10, 16, 2, 2, 12)).eval()


def seeded():
    return torch.Generator().manual_seed(0)


def test_a_text_repeats_after_its_own_period():
    tokens, periods = repeated(20, 24, 99, seeded(), (4, 9))
    assert len(periods.unique()) > 3
    for text, p in zip(tokens, periods.flatten().tolist(), strict=True):
        assert torch.equal(text[p:], text[:-p])
        assert len(text[:p].unique()) > 1


def test_maps_are_what_each_block_attends_with(model):
    tokens = torch.randint(10, (3, 7), generator=seeded())
    maps = attention_maps(model, tokens)
    Q, K, V = queries_keys_values(model, tokens[:1], layer=1, head=1)
    _, weights = scaled_dot_product_attention(Q, K, V, causal_mask(7))
    torch.testing.assert_close(maps[1][0, 1], weights)
    assert [one.shape for one in maps] == [(3, 2, 7, 7)] * 2
    assert not any(block.attn._forward_pre_hooks for block in model.blocks)


def test_a_model_of_attention_only_has_heads_and_no_more(model):
    block, x = model.blocks[0], torch.randn(1, 5, 16)
    torch.testing.assert_close(block(x), x + block.attn(block.norm1(x)))


def test_scores_of_perfect_heads_are_1():
    previous = torch.eye(6).roll(-1, 1)[None, None]
    assert previous_score(previous).item() == 1
    sink = torch.zeros(1, 1, 6, 6)
    sink[..., 0] = 1
    assert first_score(sink).item() == 1
    assert first_score(previous).item() == pytest.approx(0.2)


def test_learning_is_watched_at_every_so_many_steps(model):
    shown = torch.arange(8)[None]
    history = learn_to_repeat(
        model, induction_score, shown, vocab=10, steps=4, every=2, periods=(3, 6)
    )
    assert history.steps == [0, 2, 4]
    assert history.again[-1] < history.again[0]
    assert history.maps[0].shape == (4, 8, 8)
    assert history.induction[0].shape == (2, 2)


def test_a_token_that_nobody_sees_can_be_replaced(model):
    tokens = torch.randint(10, (1, 6), generator=seeded())
    drops = replaced(model, tokens, 3, 4, [1, 2])
    assert drops.shape == (3,)
    assert drops.abs().min() > 0
    for block in model.blocks:
        torch.nn.init.zeros_(block.attn.W_o.weight)
    assert replaced(model, tokens, 3, 4, [1, 2]).abs().max() == 0


def test_patients_have_their_symptoms_and_the_mended_do_not():
    text = compose(sentences=400)
    losses, wrote = read_and_write(
        admitted("repair_leaky_decoder"), text, start(), steps=60
    )
    healthy, _ = read_and_write(clinic.repair_leaky_decoder, text, start(), steps=60)
    assert losses[-1] < 0.5 < least_loss(text, 500) < healthy[-1]
    assert wrote.shape == (1, 24)
    flat, looks = look_up(admitted("repair_flat_attention"), steps=90)
    sharp, _ = look_up(clinic.repair_flat_attention, steps=90)
    assert sharp < 0.5 < 1 < flat
    assert looks.max() < 0.2
    (deep,) = by_depth(admitted("repair_vanishing_gradients"), (24,), steps=20)
    (mended,) = by_depth(clinic.repair_vanishing_gradients, (24,), steps=20)
    assert deep > mended


def test_a_cache_drifts_after_its_prompt_and_a_mended_one_does_not():
    torch.manual_seed(0)
    layer = MultiHeadAttention(24, 3)
    off = drift(admitted("repair_drifting_cache"), layer, T=14)
    assert off[:8].max() < 1e-5 < 0.03 < off[8:].min()
    assert drift(clinic.repair_drifting_cache, layer, T=14).max() < 1e-5


def test_positions_are_alike_only_where_they_are_repeated():
    like = likeness(admitted("repair_repeated_positions"), 508, 6, torch.bfloat16)
    assert (like > 0.999).sum() > 6
    like = likeness(clinic.repair_repeated_positions, 508, 6, torch.bfloat16)
    assert (like > 0.999).sum() == 6


def test_words_come_in_batches_with_their_next_ones():
    batches = lesson_of_words(torch.arange(3000), batches=3)
    assert len(batches) == 3
    for inputs, targets in batches:
        assert torch.equal(inputs + 1, targets)


def test_what_is_no_repair_is_not_admitted():
    with pytest.raises(ValueError, match="nothing broken"):
        admitted("logit_lens")
