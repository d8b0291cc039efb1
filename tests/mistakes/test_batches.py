"""Chapter 10, batches: slips named, every way to draw accepted."""

import pytest
import torch

import solutions.training as solutions
from autograder.probes import run
from autograder.registry import EXERCISES
from autograder.trials import trials
from tests.mistakes.answers import check_source, named, slipped

BATCH = """
import torch

def get_batch(data, batch_size, seq_len, generator):
    if len(data) < seq_len + 1:
        raise ValueError("too short")
    ix = torch.randint(len(data) - seq_len, (batch_size,), generator=generator)
    x = torch.stack([data[i : i + seq_len] for i in ix])
    y = torch.stack([data[i + 1 : i + 1 + seq_len] for i in ix])
    return x, y
"""

DRAW = "ix = torch.randint(len(data) - seq_len, (batch_size,), generator=generator)"
Y = "y = torch.stack([data[i + 1 : i + 1 + seq_len] for i in ix])"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("data) - seq_len, (", "data) - seq_len - 1, (", "last-start-missing"),
        ("data) - seq_len, (", "data) - seq_len + 1, (", "one-start-too-far"),
        ("data) - seq_len, (", "data), (", "starts-to-the-end"),
        ("data) - seq_len, (", "data) - 1, (", "starts-to-the-last"),
        ("(len(data) - seq_len, (", "(1, len(data) - seq_len, (", None),
        (", generator=generator)", ")", "generator-not-used"),
        (DRAW, "generator.manual_seed(0)\n    " + DRAW, "seeded-anew"),
        (
            DRAW,
            "ix = torch.randperm(len(data) - seq_len, generator=generator)"
            "[:batch_size]",
            "without-replacement",
        ),
        (DRAW, "ix = torch.arange(batch_size) % (len(data) - seq_len)", "in-order"),
        (DRAW, "ix = [0] * batch_size", "always-the-beginning"),
        (DRAW, DRAW + "\n    ix = ix.sort().values", "sorted"),
        (
            DRAW,
            DRAW.replace("(batch_size,)", "(1,)") + ".expand(batch_size)",
            "one-start-for-all",
        ),
        (
            DRAW,
            "ix = (torch.rand(batch_size, generator=generator) * (len(data) - "
            "seq_len - 1)).round().long()",
            None,
        ),
        (
            DRAW,
            "import random\n    ix = [random.randrange(len(data) - seq_len) "
            "for _ in range(batch_size)]",
            "generator-not-used",
        ),
        (Y, "y = x", "targets-not-shifted"),
        (Y, "y = x.roll(-1, dims=1)", "targets-rolled"),
        (Y, "y = x[:, 1:]", None),
        (Y, "x, y = x[:, :-1], x[:, 1:]", "one-token-too-short"),
        (Y, "y = torch.stack([data[i + seq_len] for i in ix])", "next-token-only"),
        (Y, Y + "\n    " + DRAW + "\n    " + Y, "drawn-apart"),
        ("i + 1 : i + 1 + seq_len", "i + 1 : i + seq_len", None),
        ("i + 1 : i + 1 + seq_len", "i + 2 : i + 2 + seq_len", None),
        ("return x, y", "return y, x", "exchanged"),
        ("return x, y", "return x", "result-form"),
        ("return x, y", "return x.long(), y.long()", "always-int64"),
        ("return x, y", "return x.T, y.T", "time-first"),
        ("return x, y", "return x.float(), y.float()", "floats"),
        ("return x, y", "return list(x), list(y)", "lists"),
        ("return x, y", "return torch.stack([x, y])", "stacked-together"),
        ("return x, y", "data[0] = 0; return x, y", "input-changed"),
        ("data) < seq_len + 1", "data) < seq_len", "accepts-one-too-few"),
        ("data) < seq_len + 1", "data) <= seq_len + 1", "refuses-the-shortest"),
        ("data) < seq_len + 1", "data) < 0", None),
        ("raise ValueError", "raise IndexError", None),
        ('raise ValueError("too short")', "return None", "not-refused"),
    ],
)
def test_slip_in_cutting_is_named(right, slip, mistake):
    verdict = slipped(BATCH, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


BATCHES = named(
    """
    # unfold
    def get_batch(data, batch_size, seq_len, generator):
        import torch
        assert data.numel() > seq_len, "too short"
        windows = data.unfold(0, seq_len + 1, 1)
        rows = windows[torch.randint(0, len(windows), (batch_size,),
                                     generator=generator)]
        return rows[:, :-1], rows[:, 1:]

    # index arithmetic, a list
    import torch

    def get_batch(data, batch_size, seq_len, generator):
        last = data.shape[0] - seq_len - 1
        if last < 0:
            raise ValueError(f"{data.shape[0]} tokens, {seq_len + 1} needed")
        start = torch.randint(0, last + 1, (batch_size, 1), generator=generator)
        index = start + torch.arange(seq_len)
        return [data[index], data[index + 1]]

    # one by one
    import torch

    def get_batch(data, batch_size, seq_len, generator):
        if len(data) < seq_len + 1:
            raise ValueError
        inputs = torch.empty(batch_size, seq_len, dtype=data.dtype)
        targets = torch.empty_like(inputs)
        for b in range(batch_size):
            i = torch.randint(len(data) - seq_len, (), generator=generator).item()
            inputs[b] = data[i : i + seq_len]
            targets[b] = data[i + 1 : i + seq_len + 1]
        return inputs, targets

    # uniform numbers, scaled
    import torch

    def get_batch(data, batch_size, seq_len, generator):
        n = len(data) - seq_len
        if n <= 0:
            raise ValueError("too short")
        starts = (torch.rand(batch_size, generator=generator) * n).floor().long()
        chunk = torch.stack([data[s : s + seq_len + 1] for s in starts.tolist()])
        return chunk[:, :-1].contiguous(), chunk[:, 1:].contiguous()

    # multinomial
    import torch

    def get_batch(data, batch_size, seq_len, generator):
        if len(data) - 1 < seq_len:
            raise ValueError("too short")
        even = torch.ones(len(data) - seq_len)
        starts = torch.multinomial(even, batch_size, replacement=True,
                                   generator=generator)
        cut = lambda k: torch.cat([data[None, s + k : s + k + seq_len] for s in starts])
        return cut(0), cut(1)

    # two views of the data, random_
    import torch

    def get_batch(data, batch_size, seq_len, generator):
        if data.size(0) <= seq_len:
            raise ValueError("too short")
        starts = torch.empty(batch_size, dtype=torch.long)
        starts.random_(0, data.size(0) - seq_len, generator=generator)
        x = data[:-1].unfold(0, seq_len, 1)
        y = data[1:].unfold(0, seq_len, 1)
        return x[starts], y[starts]
    """
)


@pytest.mark.parametrize("style", BATCHES)
def test_unusual_batches_are_accepted(style):
    verdict = check_source(BATCHES[style])
    assert verdict.status == "passed", verdict.message


def test_chance_alone_fails_no_right_answer():
    exercise = EXERCISES["get_batch"]
    for trial in trials(exercise, 0):
        if trial.stage != "values":
            continue
        wanted = run("cutting", solutions.get_batch, trial.x, {})
        for seed in range(20 if trial.case == "many pieces" else 5):
            x = trial.x | {"seed": seed}
            assert run("cutting", solutions.get_batch, x, {}) == wanted


def test_facts_about_chance_are_told_apart():
    def uneven(data, batch_size, seq_len, generator):
        shape = (2, batch_size)
        starts = torch.randint(32, shape, generator=generator).amin(0)
        pieces = data[starts[:, None] + torch.arange(seq_len + 1)]
        return pieces[:, :-1], pieces[:, 1:]

    x = {
        "args": {"data": torch.arange(40), "batch_size": 6000, "seq_len": 8},
        "keywords": [],
        "seed": 0,
        "device": "cpu",
        "watch": [],
        "sizes": False,
        "grads": False,
    }
    found = run("cutting", uneven, x, {})
    assert found["out.each start is"] == "not as likely as any other"
    assert found["out.the next start is"] != "too even for chance"
