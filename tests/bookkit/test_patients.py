"""Each patient has its condition, and its curve shows it."""

from types import SimpleNamespace

import pytest
import torch

from bookkit.patients import Patient, examine
from bookkit.tale import TALE
from minigpt.parts import references


@pytest.fixture(scope="module")
def ids():
    return torch.tensor(list(TALE.encode()))


def calls_of(patient, ids, steps=2):
    """What reached the loss, and the gradients' sizes before each step."""
    seen = []
    parts = references()

    def loss(logits, targets):
        seen.append((logits.detach(), targets))
        return right(logits, targets)

    right, parts.next_token_loss = parts.next_token_loss, loss
    chart = examine(patient, ids, parts, steps=steps, every=steps)
    return chart, seen


def test_a_healthy_run_starts_at_an_even_guess_and_falls(ids):
    chart = examine(Patient(), ids, references(), steps=25, every=10)
    assert chart.losses[0] == pytest.approx(5.545, abs=0.1)
    assert chart.losses[-1] < 4
    assert chart.checked == [1, 10, 20]
    assert len(chart.unseen) == 3


def test_without_the_shift_a_run_learns_to_repeat(ids):
    shifted = examine(Patient(), ids, references(), steps=30).losses[-1]
    repeating = examine(Patient(shift=0), ids, references(), steps=30).losses[-1]
    assert repeating < shifted - 1


def test_a_softmax_before_the_loss_hands_it_probabilities(ids):
    _, seen = calls_of(Patient(softmax_first=True), ids)
    logits, _ = seen[0]
    torch.testing.assert_close(logits.sum(-1), torch.ones(logits.shape[:-1]))


def test_few_tokens_are_all_that_is_learned_from(ids):
    _, seen = calls_of(Patient(tokens=40), ids)
    _, targets = seen[0]
    assert set(targets.unique().tolist()) <= set(ids[:40].tolist())


def test_gradients_that_are_never_cleared_change_the_second_step_not_the_first(ids):
    cleared = examine(Patient(), ids, references(), steps=3).losses
    kept = examine(Patient(clears=False), ids, references(), steps=3).losses
    assert cleared[:2] == kept[:2]
    assert cleared[2] != kept[2]


def test_the_rate_is_the_patients(ids):
    rates = []

    def rate(step, *sizes):
        rates.append(sizes)
        return 0.0

    parts = SimpleNamespace(**{**vars(references()), "learning_rate": rate})
    chart = examine(Patient(max_lr=0.5, warmup=7), ids, parts, steps=3)
    assert rates[0] == (0.5, 0.05, 7, 3)
    assert len(chart.losses) == 3
