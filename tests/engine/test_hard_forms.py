"""The form of a definition holds for exercises whose inputs are more than tensors.

Two of the book's hardest contracts, declared in small: a function that is given
callables, and a training step. What a probe makes beside the learner's code (callables,
a model, an optimiser) never travels; the data does.
"""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder import probes
from autograder.definition import Exercise, Mistake
from autograder.inputs import normal, whole
from autograder.judge import check


class Counted:
    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, x):
        self.calls += 1
        return self.function(x)


def probe_residual(theirs, x, parts):
    """Give the answer a sublayer and a norm, made from data, that count their calls."""
    args = x["args"]
    sublayer = Counted(lambda value: value @ args["W"])
    norm = Counted(lambda value: value / (value.norm(dim=-1, keepdim=True) + 1))
    out = theirs(args["x"].clone(), sublayer, norm)
    calls = {"out.sublayer calls": sublayer.calls, "out.norm calls": norm.calls}
    return {"kind": "residual", "out.value": out} | calls


def pre_norm(x, sublayer, norm):
    return x + sublayer(norm(x))


def residual_twin(
    x, sublayer, norm, *, skip=True, outside=False, base="x", twice=False
):
    if outside:
        return norm(x + sublayer(x)) if skip else norm(sublayer(x))
    normed = norm(x)
    out = sublayer(normed) + (sublayer(normed) * 0 if twice else 0)
    return out + (x if base == "x" else normed) if skip else out


PRE_NORM = Exercise(
    pre_norm,
    inputs={"a batch of sequences": {"x": normal("B T C"), "W": normal("C C", 0.3)}},
    hints=["a", "b", "c"],
    twin=residual_twin,
    mistakes=[
        Mistake("no-skip", "The residual is missing.", skip=False),
        Mistake("post-norm", "The norm comes after the sum.", outside=True),
        Mistake("skip-from-normed", "The skip starts at norm(x).", base="normed"),
        Mistake("runs-twice", "The sublayer runs twice.", twice=True),
    ],
    probe="residual",
    without=["device", "gradients", "unchanged"],
)


def probe_train(theirs, x, parts):
    """Two steps of plain SGD on a small model: weights, loss, mode."""
    args = x["args"]
    model = nn.Sequential(nn.Embedding(7, 5), nn.Linear(5, 7))
    with torch.no_grad():
        for p, value in zip(model.parameters(), args["weights"], strict=True):
            p.copy_(value)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    seen = {"kind": "step"}
    for step in range(2):
        batches = list(zip(args["inputs"], args["targets"], strict=True))
        seen[f"out.loss {step}"] = theirs(model, optimizer, batches, 0.2)
        for name, p in model.named_parameters():
            seen[f"out.{name} after step {step}"] = p.detach().clone()
    return seen | {"out.training": model.training}


def train_step(model, optimizer, micro_batches, max_norm=1.0):
    return train_twin(model, optimizer, micro_batches, max_norm)


def train_twin(
    model, optimizer, micro_batches, max_norm=1.0, *, zero=True, clip=True, by="tokens"
):
    if zero:
        optimizer.zero_grad()
    kept = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs).flatten(0, 1)
        if by == "tokens":
            loss = F.cross_entropy(logits, targets.flatten(), reduction="sum") / kept
        else:
            loss = F.cross_entropy(logits, targets.flatten()) / len(micro_batches)
        loss.backward()
        total += loss.item()
    if clip:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return total


def ragged(sizes, generator):
    targets = [torch.randint(7, (2, 4), generator=generator) for _ in range(2)]
    targets[0][:, 1:] = -100  # the micro-batches keep different numbers of tokens
    return targets


TRAIN = Exercise(
    train_step,
    inputs={
        "micro-batches that keep different numbers of tokens": {
            "weights": lambda sizes, g: [
                torch.randn(shape, generator=g) for shape in ((7, 5), (7, 5), (7,))
            ],
            "inputs": lambda sizes, g: [whole("2 4", 0, 7)(sizes, g) for _ in range(2)],
            "targets": ragged,
        }
    },
    hints=["a", "b", "c"],
    twin=train_twin,
    mistakes=[
        Mistake("stale-gradients", "The gradients are not cleared.", zero=False),
        Mistake("unclipped", "The gradients are not clipped.", clip=False),
        Mistake("mean-of-means", "Each micro-batch weighs the same.", by="batch"),
    ],
    probe="train",
)


@pytest.fixture(autouse=True)
def _probes(monkeypatch):
    monkeypatch.setitem(probes.PROBES, "residual", probe_residual)
    monkeypatch.setitem(probes.PROBES, "train", probe_train)


@pytest.mark.parametrize("exercise", [PRE_NORM, TRAIN], ids=lambda one: one.id)
def test_the_right_answer_passes(exercise):
    assert check(exercise, exercise.reference).status == "passed"


@pytest.mark.parametrize(
    ("exercise", "mistake"),
    [(one, row) for one in (PRE_NORM, TRAIN) for row in one.mistakes],
    ids=lambda value: value.id,
)
def test_each_mistake_is_named(exercise, mistake):
    assert check(exercise, exercise.answer([mistake])).mistake == mistake.id


def test_two_mistakes_in_a_training_step_are_named_together():
    def theirs(model, optimizer, micro_batches, max_norm=1.0):
        return train_twin(
            model, optimizer, micro_batches, max_norm, zero=False, clip=False
        )

    found = check(TRAIN, theirs).diagnosis
    assert [one.mistake for one in found] == ["stale-gradients", "unclipped"]
