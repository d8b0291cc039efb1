"""Plumbing of the chapter on generation: training, writing, counting, feeding."""

from functools import partial

import pytest
import torch

from bookkit.tales import NOUNS, WORDS, compose, quality
from bookkit.writing import feed, passed, start, subjects, teach, write
from solutions.generation import KVCache, cached_attention, generate_with_cache
from solutions.minigpt import MiniGPT
from solutions.training import get_batch, next_token_loss


def small(n_layers=2):
    torch.manual_seed(0)
    return MiniGPT(len(WORDS), 32, n_layers, 4, max_seq=24).eval()


def greedy(logits):
    return logits.argmax(-1, keepdim=True)


def test_a_taught_model_writes_right_sentences_and_is_in_eval_mode():
    model, text = small(), compose(1000)
    teach(model, text, get_batch, next_token_loss, steps=150)
    assert not model.training
    written = write(model, start(4), 24, greedy)
    assert quality(written[:, 1:]).right > 0.9


def test_writing_goes_on_to_the_length_asked_for():
    model = small()
    written = write(model, start(2), 9, greedy)
    assert written.shape == (2, 9)
    assert torch.equal(written[:, :1], start(2))
    assert torch.equal(written, generate_with_cache(model, start(2), 8))


def test_subjects_are_first_nouns():
    def ids(text):
        return torch.tensor([WORDS.index(word) for word in text.split()])

    texts = [
        ids("the old cat sees the dog . the dog sees the cat ."),
        ids("the cat helps the hen . the ."),
    ]
    shares = subjects(texts, NOUNS)
    assert shares[:2] == [pytest.approx(2 / 3), pytest.approx(1 / 3)]
    assert sum(shares) == pytest.approx(1)


def test_tokens_that_pass_are_counted_and_the_hook_is_gone():
    model, tokens = small(), torch.zeros(2, 5, dtype=torch.long)
    assert passed(model, lambda: (model(tokens), model(tokens[:, :3]))) == 16
    assert not model.blocks[0].ff._forward_pre_hooks


@pytest.mark.parametrize("lengths", [[12], [1] * 12, [5, 3, 4]])
def test_feeding_in_chunks_is_one_pass(lengths):
    model, tokens = small(), compose(3)[None, :12]
    caches = [KVCache() for _ in model.blocks]
    logits = feed(model, tokens.split(lengths, 1), cached_attention, caches)
    torch.testing.assert_close(logits, model(tokens))


def test_restarted_positions_are_wrong_from_the_second_chunk_on():
    model, tokens = small(), compose(3)[None, :12]
    caches = [KVCache() for _ in model.blocks]
    run = partial(feed, model, tokens.split([4, 8], 1), cached_attention, caches)
    agrees = (run(restart=True) - model(tokens)).abs().amax(-1)[0] < 1e-4
    assert agrees.tolist() == [True] * 4 + [False] * 8
