"""Chapter 11, sampling and generation: slips are named, right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

SAMPLE = """
import torch
from autograder.parts import filter_logits

def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature < 0:
        raise ValueError("temperature must not be negative")
    if temperature == 0:
        return logits.argmax(dim=-1, keepdim=True)
    logits = logits / temperature
    logits = filter_logits(logits, top_k, top_p)
    probs = torch.softmax(logits, dim=-1)
    return torch.multinomial(probs, num_samples=1, generator=generator)
"""

DRAW = "return torch.multinomial(probs, num_samples=1, generator=generator)"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            "    if temperature == 0:\n"
            "        return logits.argmax(dim=-1, keepdim=True)\n"
            "    logits = logits / temperature\n",
            "    logits = logits / max(temperature, 0.1)\n",
            "wrong-fact",  # shown where the logits are close together
        ),
        ("logits = logits / temperature", "pass", "temperature-ignored"),
        ("logits / temperature", "logits * temperature", "temperature-inverted"),
        ("logits / temperature", "logits / temperature**2", "temperature-twice"),
        ("logits / temperature", "logits / temperature**0.5", "root-of-temperature"),
        ("logits / temperature", "logits - temperature", "temperature-ignored"),
        (
            "    logits = logits / temperature\n"
            "    logits = filter_logits(logits, top_k, top_p)\n",
            "    logits = filter_logits(logits, top_k, top_p) / temperature\n",
            "temperature-after-the-filters",
        ),
        ("temperature < 0", "temperature <= 0", "zero-refused"),
        ("temperature == 0:", "False:", "zero-not-greedy"),
        ("temperature == 0:", "temperature < 1:", "greedy-below-1"),
        ("temperature < 0:", "False:", "negative-not-refused"),
        ("raise ValueError", "raise TypeError", "wrong-exception"),
        (
            'raise ValueError("temperature must not be negative")',
            "temperature = 0",
            "negative-taken-as-greedy",
        ),
        (DRAW, "return probs.argmax(-1, keepdim=True)", "always-the-largest"),
        (
            "argmax(dim=-1, keepdim=True)",
            "argmin(-1, keepdim=True)",
            "greedy-takes-the-smallest",
        ),
        ("argmax(dim=-1, keepdim=True)", "argmax(dim=-1)", "greedy-without-keepdim"),
        ("argmax(dim=-1, keepdim=True)", "max(-1, keepdim=True).values", "wrong-fact"),
        ("logits, top_k, top_p)", "logits, None, top_p)", "top-k-ignored"),
        ("logits, top_k, top_p)", "logits, top_k)", "top-p-ignored"),
        ("filter_logits(logits, top_k, top_p)", "logits", "filters-ignored"),
        ("multinomial(probs", "multinomial(logits", "draws-from-logits"),
        ("multinomial(probs", "multinomial(probs.log()", "draws-from-logits"),
        ("logits, dim=-1)\n", "logits, dim=0)\n", "softmax-over-the-batch"),
        ("multinomial(probs", "multinomial(probs.softmax(-1)", "softmax-twice"),
        (
            "logits = logits / temperature",
            "logits = (logits / temperature).softmax(-1)",
            "softmax-before-the-filters",
        ),
        (
            "multinomial(probs",
            "multinomial((logits > -torch.inf).float()",
            "drawn-uniformly",
        ),
        (", generator=generator)\n", ")\n", "generator-ignored"),
        (
            "    probs = ",
            "    torch.manual_seed(0)\n    generator = None\n    probs = ",
            "seeded-inside",
        ),
        (
            "    probs = ",
            "    if generator is not None:\n"
            "        generator.manual_seed(generator.initial_seed())\n    probs = ",
            "generator-set-back",
        ),
        ("generator=generator)\n", "generator=generator)[:, 0]\n", "wrong-fact"),
        ("generator=generator)\n", "generator=generator).float()\n", "wrong-fact"),
        (
            DRAW,
            "i = torch.multinomial(probs, 1, generator=generator)\n"
            "    return logits.gather(-1, i)",
            "wrong-fact",
        ),
        (
            DRAW,
            "return torch.multinomial(probs.sort(descending=True).values, 1, "
            "generator=generator)",
            "index-in-sorted-order",
        ),
        (
            DRAW,
            "one = torch.multinomial(probs[0], 1, generator=generator)\n"
            "    return one.expand(len(probs), 1)",
            "one-draw-for-the-batch",
        ),
        (
            DRAW,
            "return torch.multinomial(probs[0], len(probs), replacement=True, "
            "generator=generator)[:, None]",
            "first-row-for-all",
        ),
        ("return logits.argmax", "return logits, logits.argmax", "result-form"),
        (DRAW, DRAW.removeprefix("return "), "returns-nothing"),
    ],
)
def test_slip_in_sampling_is_named(right, slip, mistake):
    assert slipped(SAMPLE, right, slip).mistake == mistake


RIGHT = named(
    """
# gumbel noise on the logits
def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    assert temperature >= 0
    if temperature == 0:
        return logits.max(dim=-1, keepdim=True).indices
    kept = filter_logits(logits.float() / temperature, top_k=top_k, top_p=top_p)
    u = torch.rand(kept.shape, generator=generator, dtype=torch.float64)
    return (kept - torch.log(-torch.log(u))).argmax(-1, keepdim=True)

# the inverse of the cumulative sum
def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature < 0.0:
        raise ValueError(temperature)
    if temperature < 1e-6:
        return torch.argmax(logits, -1)[:, None]
    p = filter_logits(logits.double() / temperature, top_k, top_p).softmax(-1)
    u = torch.rand(len(p), 1, generator=generator, dtype=torch.float64)
    total = p.cumsum(-1)
    return torch.searchsorted(total, u * total[:, -1:], right=True)

# powers of the probabilities
def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature < 0:
        raise ValueError(temperature)
    if not temperature:
        return logits.topk(1).indices
    p = logits.float().softmax(-1) ** (1 / temperature)
    p = p / p.sum(-1, keepdim=True)
    p = filter_logits(p.log(), top_k, top_p).softmax(-1)
    return p.multinomial(1, generator=generator)

# row by row, in int32
def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature < 0:
        raise ValueError(temperature)
    rows = []
    if temperature > 0:
        logits = filter_logits(logits.log_softmax(-1) / temperature, top_k, top_p)
    for row in logits:
        if temperature == 0:
            rows.append(row.argmax().view(1))
        else:
            rows.append(torch.multinomial(row.softmax(0), 1, generator=generator))
    return torch.stack(rows).int()

# a race of exponential clocks
def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature < 0:
        raise ValueError(temperature)
    if temperature == 0:
        return logits.argmax(-1, keepdim=True)
    p = filter_logits(logits / temperature, top_k, top_p).softmax(-1)
    return (p / torch.empty_like(p).exponential_(generator=generator)).argmax(
        -1, keepdim=True
    )
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_unusual_right_sampling_is_accepted(source):
    given = "import torch\nfrom autograder.parts import filter_logits\n\n"
    verdict = check_source(given + source)
    assert verdict.passed, verdict.message


GENERATE = """
import torch
from autograder.parts import sample_next

@torch.no_grad()
def generate(model, tokens, max_new_tokens, **sampling):
    was_training = model.training
    model.eval()
    for _ in range(max_new_tokens):
        context = tokens[:, -model.max_seq:]
        logits = model(context)
        next_token = sample_next(logits[:, -1, :], **sampling)
        tokens = torch.cat((tokens, next_token), dim=1)
    model.train(was_training)
    return tokens
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("    model.eval()\n", "", "dropout-left-on"),
        ("    model.train(was_training)\n", "", "mode-not-restored"),
        ("model.train(was_training)", "model.train()", "train-mode-afterwards"),
        ("model.eval()", "model.training = False", "mode-of-the-top-only"),
        (
            "model.train(was_training)",
            "model.training = was_training",
            "mode-restored-at-the-top-only",
        ),
        ("@torch.no_grad()\n", "", "gradients-kept"),
        ("tokens[:, -model.max_seq:]", "tokens", "not-cropped"),
        (
            "tokens[:, -model.max_seq:]",
            "tokens[:, :model.max_seq]",
            "cropped-to-the-first",
        ),
        ("-model.max_seq:", "-model.max_seq + 1:", "cropped-one-too-short"),
        ("tokens[:, -model.max_seq:]", "tokens[:, -1:]", "last-token-alone"),
        ("context = tokens", "context = tokens = tokens", "crops-what-it-returns"),
        ("return tokens", "return tokens[:, -model.max_seq:]", "cropped-in-the-end"),
        ("return tokens", "return tokens[:, -max_new_tokens:]", "new-tokens-only"),
        ("logits[:, -1, :]", "logits[:, 0, :]", "first-position"),
        ("logits[:, -1, :]", "logits[:, -2, :]", "last-position-but-one"),
        (", **sampling)\n        tokens", ")\n        tokens", "options-ignored"),
        (
            "sample_next(logits[:, -1, :], **sampling)",
            "logits[:, -1].argmax(-1, keepdim=True)",
            "always-greedy",
        ),
        (
            "**sampling)\n        tokens",
            "temperature=sampling.get('temperature', 1.0))\n        tokens",
            "options-ignored",
        ),
        ("range(max_new_tokens)", "range(max_new_tokens - 1)", "one-too-few"),
        ("range(max_new_tokens)", "range(max_new_tokens + 1)", "one-too-many"),
        (
            "range(max_new_tokens)",
            "range(max_new_tokens - tokens.shape[1])",
            "up-to-a-total",
        ),
        (
            "        context =",
            "        if tokens.shape[1] >= model.max_seq:\n            break\n"
            "        context =",
            "stops-at-max-seq",
        ),
        ("(tokens, next_token)", "(next_token, tokens)", "put-in-front"),
        ("[:, -1, :]", "[:, -1, :].softmax(dim=-1)", "softmax-before-sampling"),
        (
            "    for _",
            "    tokens = tokens[:, -model.max_seq:]\n    for _",
            "prompt-cropped",
        ),
        ("(tokens, next_token), dim=1", "(tokens, next_token), dim=0", None),
        ("cat((tokens, next_token)", "cat((tokens[:, 1:], next_token)", "overwritten"),
        (
            "(tokens, next_token)",
            "(tokens, next_token[:1].expand(len(tokens), 1))",
            "one-row-for-the-batch",
        ),
        ("    return tokens", "    tokens", "returns-nothing"),
    ],
)
def test_slip_in_generating_is_named(right, slip, mistake):
    assert slipped(GENERATE, right, slip).mistake == mistake


RIGHT_LOOPS = named(
    """
# inference mode and a list
def generate(model, tokens, max_new_tokens, **sampling):
    mode = model.training
    model.train(False)
    try:
        with torch.inference_mode():
            found = [tokens]
            for _ in range(max_new_tokens):
                seen = torch.cat(found, 1)[:, -model.max_seq :]
                found.append(sample_next(model(seen)[:, -1], **sampling))
    finally:
        model.train(mode)
    return torch.cat(found, 1)

# a buffer laid out before
def generate(model, tokens, max_new_tokens, **sampling):
    B, T = tokens.shape
    training = model.training
    text = tokens.new_zeros(B, T + max_new_tokens)
    text[:, :T] = tokens
    model.eval()
    with torch.no_grad():
        for t in range(T, T + max_new_tokens):
            logits = model(text[:, max(0, t - model.max_seq) : t])[:, -1]
            text[:, t] = sample_next(logits, **sampling).squeeze(1)
    if training:
        model.train()
    return text

# every module's own mode, and a sampler of its own
def generate(model, tokens, max_new_tokens, temperature=1.0, top_k=None, top_p=None,
             generator=None):
    modes = {m: m.training for m in model.modules()}
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            context = tokens
            if context.size(1) > model.max_seq:
                context = context[:, context.size(1) - model.max_seq :]
            logits = model(context)[:, -1, :]
            if temperature == 0:
                new = logits.argmax(-1, keepdim=True)
            else:
                logits = filter_logits(logits / temperature, top_k, top_p)
                u = torch.rand(logits.shape, generator=generator)
                new = (logits.softmax(-1).log() - (-u.log()).log()).argmax(-1, True)
            tokens = torch.hstack([tokens, new])
    for module, mode in modes.items():
        module.training = mode
    return tokens
"""
)


@pytest.mark.parametrize("source", RIGHT_LOOPS.values(), ids=RIGHT_LOOPS.keys())
def test_unusual_right_loop_is_accepted(source):
    given = "import torch\nfrom autograder.parts import filter_logits, sample_next\n\n"
    verdict = check_source(given + source)
    assert verdict.passed, verdict.message


def test_the_usual_answers_are_accepted():
    for source in (SAMPLE, GENERATE):
        verdict = check_source(source)
        assert verdict.passed, verdict.message


def test_gradients_that_stay_switched_off_are_noticed():
    source = GENERATE.replace("@torch.no_grad()\n", "")
    right = "    model.eval()\n"
    verdict = slipped(source, right, f"    torch.set_grad_enabled(False)\n{right}")
    assert verdict.mistake == "gradients-switched-off-for-good"
