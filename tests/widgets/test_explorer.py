"""The attention explorer shows the numbers of the functions that it is given."""

import json
import re

import pytest
import torch

from bookkit.widgets.explorer import explore
from solutions.attention import attention_scores, scaled_dot_product_attention

WORDS = ["grey", "cat", "runs"]
CAUSAL = torch.ones(3, 3).tril().bool()


@pytest.fixture
def qkv():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(3, 3, 2, generator=generator)


def told(card):
    """All words that the figure may say: a list for each query, step by step."""
    text = re.search(r"application/json'>(.*?)</script>", card.data, re.S)[1]
    strides, values = json.loads(text)["words"]
    assert strides == [4, 1]
    return [values[4 * i : 4 * i + 4] for i in range(3)]


def shown(card):
    return set(re.findall(r"[−\d.]+", card.data))


def said(number):
    return f"{number:z.2f}".replace("-", "−")


def test_it_says_the_scores_weights_and_output_of_each_query(qkv):
    Q, K, V = qkv
    output, weights = scaled_dot_product_attention(Q, K, V)
    for i, steps in enumerate(told(explore(WORDS, Q, K, V))):
        raw = (Q[i] @ K.mT).max().item()
        assert said(raw) in steps[0]
        assert (
            f"√2 = 1.41: {WORDS[i]}'s largest is now {said(raw / 2**0.5)}" in steps[1]
        )
        best = weights[i].argmax().item()
        assert f"most to {WORDS[best]} {weights[i, best]:.2f}" in steps[2]
        assert f"({', '.join(map(said, output[i].tolist()))})" in steps[3]


def test_every_number_of_the_table_is_in_the_figure(qkv):
    Q, K, V = qkv
    output, weights = scaled_dot_product_attention(Q, K, V)
    numbers = [Q @ K.mT, attention_scores(Q, K), weights, output, V]
    wanted = {said(number) for table in numbers for number in table.flatten().tolist()}
    assert wanted <= shown(explore(WORDS, Q, K, V))


def test_it_calls_the_readers_functions(qkv):
    def halves(Q, K, V, mask=None):
        return V, torch.tensor([[0.125, 0.875, 0.0]]).expand(3, 3)

    card = explore(WORDS, *qkv, scores=lambda Q, K: 77 * (Q @ K.mT), attention=halves)
    first = told(card)[0]
    assert "cat 0.88" in first[2]
    assert said(77 * (qkv[0, 0] @ qkv[1].mT).max().item()) in first[1]


def test_a_blocked_key_has_no_score_no_weight_and_no_arc(qkv):
    card = explore(WORDS, *qkv, mask=CAUSAL)
    assert "grey's query fits grey best" in told(card)[0][0]
    assert "grey 1.00" in told(card)[0][2]
    assert {"−∞", "–"} <= set(re.findall(r"−∞|–", card.data))


def test_scores_that_are_all_alike_are_said_so():
    zero = torch.zeros(3, 2)
    assert "scores 0.00 with every key" in told(explore(WORDS, zero, zero, zero))[1][0]


def test_it_starts_with_the_query_that_is_asked_for(qkv):
    card = explore(WORDS, *qkv, query="runs")
    assert re.search(r"value='2' checked><span>runs", card.data)


def test_tensors_that_do_not_fit_the_tokens_are_refused(qkv):
    with pytest.raises(ValueError, match="2, 3 and 3 rows, for 3 tokens"):
        explore(WORDS, qkv[0][:2], qkv[1], qkv[2])
