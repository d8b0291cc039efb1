"""The small decoder: what it is asked for, what it learns, and how it writes."""

import pytest
import torch
from torch import nn

from bookkit.decoder import Decoder, reading_loss, train, windows, write
from bookkit.sentences import WORDS, compose, possible
from solutions.feed_forward import FeedForward
from solutions.masks import causal_mask
from solutions.multihead import MultiHeadAttention


def small():
    torch.manual_seed(0)

    def block():
        return MultiHeadAttention(16, 2), FeedForward(16, 32)

    return Decoder(len(WORDS), 12, 16, layers=1, block=block)


def test_windows_begin_with_a_sentence_and_fit_into_the_text():
    text = compose(20)
    places = windows(text, 12, 100, torch.Generator().manual_seed(0))
    assert places.shape == (100, 13)
    assert set(places[:, 0].tolist()) <= set(text.starts.tolist())
    assert places.max() < len(text.tokens)


def test_forward_is_reading_the_vectors():
    model, tokens = small(), torch.arange(10)[None]
    mask = causal_mask(10)
    logits = model(tokens, mask)
    assert logits.shape == (1, 10, len(WORDS))
    assert torch.equal(logits, model.read(model.vectors(tokens), mask))
    assert not torch.equal(logits, model(tokens))  # the mask reaches the attention


def test_an_honest_model_nears_the_true_surprise_and_doesn_t_pass_it():
    text, mask = compose(1000), causal_mask(12)
    losses, floor = train(small(), text, mask, steps=150)
    late, best = sum(losses[-20:]) / 20, sum(floor[-20:]) / 20
    assert losses[0] > 2 > best
    assert best - 0.05 < late < best + 0.35


def test_a_model_that_sees_the_next_word_passes_it():
    text = compose(1000)
    model, mask = small(), torch.ones(12, 12).tril(1)
    _, floor = train(model, text, mask, steps=150)
    assert reading_loss(model, compose(100, seed=1), mask) < floor[-1] / 2


@pytest.mark.parametrize("shift", [0, 1])
def test_the_word_asked_for_is_the_shifted_one(shift):
    """A model that always says the word `shift` places on loses nothing."""

    class Oracle(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(1))

        def forward(self, tokens, mask):
            said = tokens if shift == 0 else tokens.roll(-1, dims=1)
            return 50.0 * nn.functional.one_hot(said, len(WORDS)) + self.weight

    class Loop:  # one word, over and over: the roll's last word is right, too
        tokens = torch.zeros(40, dtype=torch.long)
        surprise = torch.zeros(40)
        starts = torch.tensor([0, 3])

    alternating = Loop()
    alternating.tokens = torch.arange(40) % 2
    alternating.starts = torch.tensor([0, 2])
    losses, _ = train(Oracle(), alternating, causal_mask(12), shift=shift, steps=1)
    assert losses[0] < 1e-6


def test_writing_draws_from_the_last_place_alone():
    model, mask = small(), causal_mask(12)
    train(model, compose(1000), mask, steps=100)
    texts = write(model, mask, WORDS, "the", batch=20)
    assert [len(text) for text in texts] == [12] * 20
    assert {text[0] for text in texts} == {"the"}
    rights = [right for text in texts for right in possible(text)]
    assert sum(rights) > 0.8 * len(rights)
    assert texts == write(model, mask, WORDS, "the", batch=20)
