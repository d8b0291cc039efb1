"""Chapter 8, what is left to chance: slips named, every way to draw accepted."""

import pytest

import solutions.architectures as solutions
from autograder.probes import run
from autograder.registry import EXERCISES
from autograder.trials import trials
from tests.mistakes.answers import check_source, named, slipped

MASK_TOKENS = """
import torch

def mask_tokens(tokens, mask_id, vocab_size, probability, generator):
    inputs = tokens.clone()
    targets = tokens.clone()
    chosen = torch.rand(tokens.shape, generator=generator) < probability
    targets[~chosen] = -100
    fate = torch.rand(tokens.shape, generator=generator)
    masked = chosen & (fate < 0.8)
    swapped = chosen & (fate >= 0.8) & (fate < 0.9)
    inputs[masked] = mask_id
    random = torch.randint(0, vocab_size, tokens.shape, generator=generator)
    inputs[swapped] = random[swapped]
    return inputs, targets
"""

CHOOSE = "chosen = torch.rand(tokens.shape, generator=generator) < probability"
RANDOM = "random = torch.randint(0, vocab_size, tokens.shape, generator=generator)"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("masked = chosen & (fate < 0.8)", "masked = chosen", "none-stay-90-10"),
        ("inputs[swapped] = random[swapped]", "pass", "none-random"),
        ("(fate >= 0.8) & (fate < 0.9)", "(fate >= 0.8)", "none-stay"),
        ("(fate < 0.8)\n", "(fate < 0.1)\n", None),
        ("(fate >= 0.8) & (fate < 0.9)", "(fate > 0.98)", "random-share-of-the-rest"),
        (
            "(fate >= 0.8) & (fate < 0.9)",
            "(torch.rand(tokens.shape, generator=generator) < 0.5)",
            "random-over-masked",
        ),
        (
            "(fate >= 0.8) & (fate < 0.9)",
            "(torch.rand(tokens.shape, generator=generator) < 0.1)",
            "random-over-masked-a-tenth",
        ),
        ("(fate >= 0.8) & (fate < 0.9)", "(fate < 0.5)", "wrong-fact"),
        ("masked = chosen & (fate < 0.8)", "masked = fate < 0.8", "masked-anywhere"),
        ("swapped = chosen &", "swapped =", "random-anywhere"),
        (
            "fate = torch.rand(tokens.shape, generator=generator)",
            "fate = (chosen.cumsum(0) - 1) / chosen.sum(0).clamp(min=1)",
            "fate-by-place",  # the upper rows are masked, the lowest kept
        ),
        ("targets[~chosen] = -100", "targets[chosen] = -100", "targets-inverted"),
        ("targets[~chosen] = -100", "pass", "targets-everywhere"),
        ("targets[~chosen] = -100", "targets[~chosen] = 0", "zero-for-no-target"),
        ("= -100", "= -1", "minus-one-for-no-target"),
        ("= -100", "= mask_id", "mask-id-for-no-target"),
        ("= -100", "= -99", "wrong-fact"),
        ("return inputs, targets", "return targets, inputs", "results-exchanged"),
        ("return inputs, targets", "return inputs", "result-form"),
        ("return inputs, targets", "return inputs, targets, chosen", "result-form"),
        (
            "return inputs, targets",
            "targets[~masked] = -100\n    return inputs, targets",
            "targets-of-masked-only",
        ),
        (
            "return inputs, targets",
            "targets[inputs == tokens] = -100\n    return inputs, targets",
            "targets-where-inputs-differ",
        ),
        (
            "return inputs, targets",
            "return inputs, torch.where(inputs == mask_id, tokens, -100)",
            "targets-where-mask-id-stands",
        ),
        (
            "return inputs, targets",
            "return inputs, torch.where(chosen, inputs, -100)",
            "targets-from-the-inputs",
        ),
        ("return inputs, targets", "return inputs.float(), targets", "wrong-fact"),
        (
            "targets = tokens.clone()",
            "targets = inputs",
            "inputs-and-targets-one-tensor",
        ),
        ("(fate >= 0.8) & (fate < 0.9)", "(fate < 0.1)", "random-below-0.1"),
        ("return inputs, targets", "return inputs, targets.flatten()", "wrong-fact"),
        ("return inputs, targets", "return inputs, targets.tolist()", "wrong-fact"),
        ("< probability", "< 0.15", "probability-ignored"),
        ("< probability", "> probability", "probability-inverted"),
        ("inputs = tokens.clone()", "inputs = tokens", "input-changed"),
        (
            CHOOSE,
            "chosen = torch.rand(tokens.shape) < probability",
            "generator-ignored",
        ),
        (
            RANDOM,
            "random = torch.randint(0, vocab_size, tokens.shape)",
            "generator-ignored",
        ),
        (
            CHOOSE,
            "generator = torch.Generator().manual_seed(0)\n    " + CHOOSE,
            "seeded-anew",
        ),
        (
            CHOOSE,
            "generator.manual_seed(42)\n    " + CHOOSE,
            "seeded-anew",
        ),
        (
            CHOOSE,
            "chosen = (torch.rand(tokens.shape[1], generator=generator) < probability)"
            "\n    chosen = chosen.expand(tokens.shape)",
            "same-places-in-all-rows",
        ),
        (
            CHOOSE,
            "chosen = torch.rand(len(tokens), 1, generator=generator) < probability\n"
            "    chosen = chosen.expand(tokens.shape)",
            "whole-rows-chosen",
        ),
        (
            CHOOSE,
            "k = round(probability * tokens.shape[1])\n"
            "    order = torch.rand(tokens.shape, generator=generator).argsort(1)\n"
            "    chosen = order.argsort(1) < k",
            "count-fixed-a-row",
        ),
        (
            CHOOSE,
            "k = int(probability * tokens.numel())\n"
            "    chosen = torch.zeros(tokens.numel(), dtype=torch.bool)\n"
            "    chosen[torch.randperm(tokens.numel(), generator=generator)[:k]] = True"
            "\n    chosen = chosen.view(tokens.shape)",
            "count-fixed-in-all",
        ),
        (
            CHOOSE,
            "odd = torch.rand(tokens.shape, generator=generator) < probability / 2\n"
            "    chosen = odd | odd.roll(1, dims=1)",
            None,  # spans of two
        ),
        (
            RANDOM,
            "random = torch.randint(0, vocab_size, (1,), generator=generator)\n"
            "    random = random.expand(tokens.shape)",
            "one-random-token",
        ),
        (RANDOM, RANDOM.replace("(0, v", "(1, v"), "random-without-the-first"),
        ("vocab_size, tokens", "vocab_size - 1, tokens", "random-without-the-last"),
        (
            "vocab_size, tokens",
            "vocab_size + 1, tokens",
            "random-beyond-the-vocabulary",
        ),
        ("randint(0, vocab_size", "randint(0, mask_id", "random-below-mask-id"),
        ("randint(0, vocab_size", "randint(0, 30522", "wrong-fact"),
        ("fate < 0.9)", "fate < 0.85)", "wrong-fact"),
        ("masked = chosen & (fate < 0.8)", "masked = chosen & (fate < 0.6)", None),
    ],
)
def test_slip_in_the_corruption_is_named(right, slip, mistake):
    verdict = slipped(MASK_TOKENS, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


@pytest.mark.parametrize(
    ("right", "slip", "says"),
    [
        ("= -100", "= -99", "not the tokens: -99, where -100 is asked for"),
        (
            "fate = torch.rand(tokens.shape, generator=generator)",
            "fate = torch.rand(len(tokens), 1, generator=generator)",
            "from row to row: too uneven for chance",
        ),
        ("fate < 0.9)", "fate < 0.85)", "that stay: 15%, where 10% is asked for"),
        ("(fate < 0.8)\n", "(fate < 0.63)\n", "become mask_id: 63%, where 80%"),
        ("randint(0, vocab_size", "randint(0, 30522", "outside the vocabulary"),
        ("return inputs, targets", "return inputs.float(), targets", "float32"),
        ("inputs = tokens.clone()", "inputs = tokens", "writes into its input"),
        (RANDOM, "random = torch.randint(0, vocab_size, tokens.shape)", "same seed"),
        (
            CHOOSE,
            "odd = torch.rand(tokens.shape, generator=generator) < probability / 2\n"
            "    chosen = odd | odd.roll(1, dims=1)",
            "Neighbours of chosen tokens are chosen: too often",
        ),
        (
            "return inputs, targets",
            "return inputs",
            "Return inputs, targets, in this order",
        ),
    ],
)
def test_what_was_found_is_said(right, slip, says):
    assert says in slipped(MASK_TOKENS, right, slip).message


def test_all_chosen_masked_is_named():
    source = MASK_TOKENS.replace("masked = chosen & (fate < 0.8)", "masked = chosen")
    source = source.replace("inputs[swapped] = random[swapped]", "pass")
    assert check_source(source).mistake == "all-masked"


def test_one_draw_for_two_questions_is_named():
    source = MASK_TOKENS.replace(
        CHOOSE,
        "fate = torch.rand(tokens.shape, generator=generator)\n"
        "    chosen = fate < probability",
    )
    again = "    fate = torch.rand(tokens.shape, generator=generator)\n    masked"
    assert source.count(again) == 1
    verdict = check_source(source.replace(again, "    masked"))
    assert verdict.mistake == "draw-reused"


RIGHT = named(
    """
# corruption: bernoulli, and half of the rest
def mask_tokens(tokens, mask_id, vocab_size, probability, generator):
    p = torch.full(tokens.shape, probability)
    chosen = torch.bernoulli(p, generator=generator).bool()
    targets = tokens.masked_fill(~chosen, -100)
    eighty = torch.bernoulli(torch.full(tokens.shape, 0.8), generator=generator).bool()
    half = torch.bernoulli(torch.full(tokens.shape, 0.5), generator=generator).bool()
    inputs = tokens.clone()
    inputs[chosen & eighty] = mask_id
    swapped = chosen & ~eighty & half
    words = torch.randint(vocab_size, tokens.shape, generator=generator)
    inputs[swapped] = words[swapped]
    return inputs, targets

# corruption: one draw cut in four
def mask_tokens(tokens, mask_id, vocab_size, probability, generator):
    r = torch.rand(tokens.shape, generator=generator)
    word = torch.randint(0, vocab_size, tokens.shape, generator=generator)
    inputs = torch.where(r < 0.8 * probability, mask_id, tokens)
    swapped = (r >= 0.8 * probability) & (r < 0.9 * probability)
    inputs = torch.where(swapped, word, inputs)
    return inputs, torch.where(r < probability, tokens, -100)

# corruption: one draw, stretched
def mask_tokens(tokens, mask_id, vocab_size, probability, generator):
    r = torch.rand(tokens.shape, generator=generator)
    chosen = r < probability
    fate = r / probability if probability else r
    inputs = tokens.clone()
    inputs[chosen & (fate < 0.8)] = mask_id
    swapped = chosen & (fate > 0.9)
    count = int(swapped.sum())
    inputs[swapped] = torch.randint(vocab_size, (count,), generator=generator)
    return [inputs, torch.where(chosen, tokens, torch.full_like(tokens, -100))]

# corruption: the fate by multinomial
def mask_tokens(tokens, mask_id, vocab_size, probability, generator):
    shape = tokens.shape
    chosen = torch.empty(shape).uniform_(generator=generator) < probability
    fate = torch.multinomial(
        torch.tensor([0.8, 0.1, 0.1]), tokens.numel(), True, generator=generator
    ).view(shape)
    words = torch.empty_like(tokens).random_(0, vocab_size, generator=generator)
    fates = torch.stack([torch.full_like(tokens, mask_id), words, tokens])
    inputs = fates.gather(0, fate[None])[0]
    return torch.where(chosen, inputs, tokens), tokens.masked_fill(~chosen, -100)

# corruption: places of the chosen, dealt out by a permutation
def mask_tokens(tokens, mask_id, vocab_size, probability, generator):
    flat = tokens.flatten()
    places = (torch.rand(len(flat), generator=generator) < probability).nonzero()[:, 0]
    places = places[torch.randperm(len(places), generator=generator)]
    first, second = round(0.8 * len(places)), round(0.9 * len(places))
    inputs, targets = flat.clone(), torch.full_like(flat, -100)
    targets[places] = flat[places]
    inputs[places[:first]] = mask_id
    inputs[places[first:second]] = torch.randint(
        vocab_size, (second - first,), generator=generator
    )
    return inputs.view_as(tokens), targets.view_as(tokens)

# corruption: ten sides of a die
def mask_tokens(tokens, mask_id, vocab_size, probability, generator):
    chosen = torch.rand(tokens.size(), generator=generator).le(probability)
    die = torch.randint(1, 11, tokens.size(), generator=generator)
    inputs = tokens.masked_fill(chosen & (die <= 8), mask_id)
    random = torch.randint(vocab_size, tokens.size(), generator=generator)
    inputs = inputs.where(~(chosen & (die == 9)), random)
    return inputs, tokens * chosen - 100 * ~chosen

# corruption: token by token
def mask_tokens(tokens, mask_id, vocab_size, probability, generator):
    inputs, targets = tokens.clone(), torch.full_like(tokens, -100)
    for b in range(tokens.shape[0]):
        for t in range(tokens.shape[1]):
            if torch.rand(1, generator=generator).item() >= probability:
                continue
            targets[b, t] = tokens[b, t]
            fate = torch.rand(1, generator=generator).item()
            if fate < 0.8:
                inputs[b, t] = mask_id
            elif fate < 0.9:
                inputs[b, t] = torch.randint(vocab_size, (1,), generator=generator)
    return inputs, targets

# corruption: a generator of Python's, seeded from the one given
def mask_tokens(tokens, mask_id, vocab_size, probability, generator):
    dice = random.Random(int(torch.randint(2**31, (1,), generator=generator)))
    inputs, targets = [], []
    for row in tokens.tolist():
        chosen = [dice.random() < probability for _ in row]
        targets.append([t if c else -100 for t, c in zip(row, chosen)])
        fates = dice.choices("mmmmmmmmrk", k=len(row))
        inputs.append([
            mask_id if c and f == "m" else dice.randrange(vocab_size)
            if c and f == "r" else t for t, c, f in zip(row, chosen, fates)
        ])
    return torch.tensor(inputs), torch.tensor(targets)
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_every_way_to_draw_is_accepted(source):
    verdict = check_source("import random\n\nimport torch\n\n" + source)
    assert verdict.passed, verdict.message


def test_a_right_answer_gives_the_same_facts_from_any_seed():
    """Thirty seeds, where fewer than one in ten million may differ."""
    for trial in trials(EXERCISES["mask_tokens"], 0):
        answers = [
            run("corruption", solutions.mask_tokens, trial.x | {"seed": seed}, {})
            for seed in range(30)
        ]
        assert all(answer == answers[0] for answer in answers)
        assert "error" not in answers[0]


SHIFT = """
import torch

def shift_right(tokens, start_id):
    B, T = tokens.shape
    shifted = torch.zeros_like(tokens)
    shifted[:, 1:] = tokens[:, :-1]
    shifted[:, 0] = start_id
    return shifted
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            "shifted[:, 1:] = tokens[:, :-1]",
            "shifted = tokens.clone()",
            "first-overwritten",
        ),
        ("shifted[:, 0] = start_id", "pass", "start-always-zero"),
        (
            "shifted[:, 0] = start_id",
            "shifted[0] = start_id",
            "whole-row-overwritten-zeros-elsewhere",
        ),
        (
            "shifted[:, 0] = start_id",
            "shifted[0, 0] = start_id",
            "first-row-only-zeros-elsewhere",
        ),
        (
            "shifted[:, 1:] = tokens[:, :-1]",
            "shifted[:, :-1] = tokens[:, 1:]",
            "shifted-left-over-zeros",
        ),
        ("torch.zeros_like(tokens)", "torch.zeros(B, T)", "floats"),
        ("torch.zeros_like(tokens)", "tokens", None),
        ("return shifted", "return tokens", "nothing-shifted"),
        ("return shifted", "return shifted, tokens", "result-form"),
        ("    return shifted\n", "", "returns-nothing"),
    ],
)
def test_slip_in_the_shift_is_named(right, slip, mistake):
    verdict = slipped(SHIFT, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("torch.roll(tokens, 1, dims=1)", "start-missing"),
        ("torch.roll(tokens, -1, dims=1)", None),
        ("torch.cat([S, tokens], dim=1)", "last-not-dropped"),
        ("torch.cat([S, tokens[:, 1:]], dim=1)", "first-overwritten"),
        ("torch.cat([tokens[:, 1:], S], dim=1)", "shifted-left"),
        ("torch.cat([tokens[:, :-1], S], dim=1)", "start-at-the-end"),
        ("torch.cat([S, tokens[:, :-2]], dim=1)", "two-dropped"),
        ("torch.cat([tokens[:, :1], tokens[:, :-1]], 1)", "first-token-repeated"),
        ("torch.cat([0 * S, tokens[:, :-1]], dim=1)", "start-always-zero"),
        ("torch.cat([S, S, tokens[:, :-2]], dim=1)", "shifted-by-two"),
        ("torch.cat([S[:1].expand(1, tokens.size(1)), tokens[:-1]])", "rows-shifted"),
        ("torch.cat([S, tokens.roll(1, 0)[:, 1:]], dim=1)", "rows-rolled"),
        ("tokens[:, :-1]", "start-left-out"),
        (
            "torch.cat([S.flatten()[:1], tokens.flatten()[:-1]]).view_as(tokens)",
            "rolled-from-row-to-row",
        ),
        ("tokens.__setitem__((slice(None), 0), start_id)", None),
        ("F.pad(tokens, (1, 0), value=start_id)", "last-not-dropped"),
        ("F.pad(tokens[:, :-1], (1, 0))", "start-always-zero"),
        ("F.pad(tokens[:, 1:], (0, 1), value=start_id)", "shifted-left"),
        (
            "torch.cat([torch.full((len(tokens), 1), start_id), tokens[:, :-1]], 1)",
            "left-on-cpu",
        ),
        ("torch.cat([S.float(), tokens[:, :-1]], dim=1)", "floats"),
    ],
)
def test_wrong_shift_is_named(body, mistake):
    head = "import torch\nfrom torch.nn import functional as F\n"
    verdict = check_source(
        f"{head}def shift_right(tokens, start_id):\n"
        f"    S = torch.full_like(tokens[:, :1], start_id)\n    return {body}\n"
    )
    assert not verdict.passed
    assert verdict.message
    if mistake is not None:
        assert verdict.mistake == mistake


def test_a_shift_in_place_is_told():
    verdict = check_source(
        "def shift_right(tokens, start_id):\n"
        "    tokens[:, 1:] = tokens[:, :-1].clone()\n"
        "    tokens[:, 0] = start_id\n    return tokens\n"
    )
    assert verdict.mistake == "input-changed"


@pytest.mark.parametrize(
    "body",
    [
        "torch.cat([S, tokens[:, :-1]], dim=1)",
        "torch.cat([S, tokens], dim=1)[:, :-1]",
        "F.pad(tokens[:, :-1], (1, 0), value=start_id)",
        "F.pad(tokens, (1, -1), value=start_id)",
        "torch.where(torch.arange(tokens.size(1), device=S.device) == 0, start_id, "
        "tokens.roll(1, 1))",
        "torch.hstack((tokens.new_full((len(tokens), 1), start_id), tokens[:, :-1]))",
        "tokens.roll(1).index_fill(1, torch.zeros(1, dtype=torch.long, "
        "device=S.device), start_id)",
        "tokens.roll(1).masked_fill(torch.arange(tokens.shape[1], "
        "device=tokens.device).eq(0), start_id)",
        "torch.stack([S[:, 0], *tokens[:, :-1].unbind(1)], dim=1)",
    ],
)
def test_unusual_shift_is_accepted(body):
    head = "import torch\nfrom torch.nn import functional as F\n"
    verdict = check_source(
        f"{head}def shift_right(tokens, start_id):\n"
        f"    S = torch.full_like(tokens[:, :1], start_id)\n    return {body}\n"
    )
    assert verdict.passed, verdict.message
