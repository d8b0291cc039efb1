"""Chapter 10, training: slips named, every style accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

LOSS = """
import torch
import torch.nn.functional as F

def next_token_loss(logits, targets, ignore_index=-100):
    V = logits.shape[-1]
    logits = logits.reshape(-1, V)
    targets = targets.reshape(-1)
    return F.cross_entropy(logits, targets, ignore_index=ignore_index)
"""

LOSS_CALL = "F.cross_entropy(logits, targets, ignore_index=ignore_index)"
FLAT = """    V = logits.shape[-1]
    logits = logits.reshape(-1, V)
    targets = targets.reshape(-1)
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            LOSS_CALL,
            LOSS_CALL.replace("(logits", "(logits.softmax(-1)"),
            "softmax-first",
        ),
        (LOSS_CALL, "F.cross_entropy(logits, targets)", "ignore-index-hard-coded"),
        (LOSS_CALL, "F.cross_entropy(logits, targets, ignore_index=0)", None),
        (LOSS_CALL, LOSS_CALL[:-1] + ", reduction='sum')", "sum"),
        (LOSS_CALL, LOSS_CALL[:-1] + ", reduction='none')", "not-averaged-flat"),
        (LOSS_CALL, LOSS_CALL[:-1] + ", reduction='none').mean()", "mean-over-all"),
        (
            LOSS_CALL,
            LOSS_CALL[:-1] + ", reduction='sum') / targets.numel()",
            "mean-over-all",
        ),
        (LOSS_CALL, LOSS_CALL[:-1] + ", label_smoothing=0.1)", "label-smoothing"),
        (LOSS_CALL, LOSS_CALL + ".item()", "number-for-tensor"),
        (LOSS_CALL, LOSS_CALL + ".detach()", "detached"),
        (LOSS_CALL, LOSS_CALL + ".exp()", "perplexity"),
        (LOSS_CALL, "-" + LOSS_CALL, "sign"),
        (LOSS_CALL, LOSS_CALL + " / 0.6931471805599453", "in-bits"),
        (LOSS_CALL, LOSS_CALL.replace("cross_entropy", "nll_loss"), "no-log-softmax"),
        (
            LOSS_CALL,
            "F.nll_loss(logits.softmax(-1), targets, ignore_index=ignore_index)",
            "no-log",
        ),
        (
            LOSS_CALL,
            "F.nll_loss(logits.log_softmax(0), targets, ignore_index=ignore_index)",
            None,
        ),
        (LOSS_CALL, LOSS_CALL.replace("targets", "targets.int()"), None),
        (
            LOSS_CALL,
            "F.mse_loss(logits.softmax(-1), F.one_hot(targets, V).float())",
            None,
        ),
        (
            LOSS_CALL,
            "F.cross_entropy(logits[:-1], targets[1:], ignore_index=ignore_index)",
            None,
        ),
        (
            FLAT,
            "    logits, targets = logits[:, :-1], targets[:, 1:]\n" + FLAT,
            "shifted-by-axis-number",
        ),
        (
            FLAT,
            "    logits, targets = logits[..., :-1, :], targets[..., 1:]\n" + FLAT,
            "shifted",
        ),
        (FLAT, "    logits, targets = logits[:, 1:], targets[:, :-1]\n" + FLAT, None),
        (
            FLAT,
            "    logits, targets = logits[..., :-1, :], targets[..., :-1]\n" + FLAT,
            "last-position-dropped",
        ),
        (
            "targets = targets.reshape(-1)\n",
            "targets = targets.reshape(-1)\n"
            "    targets = targets.where(targets > 0, ignore_index)\n",
            None,
        ),
        (
            FLAT,
            "    B, T, V = logits.shape\n    logits = logits.view(B * T, V)\n"
            "    targets = targets.view(B * T)\n",
            "three-axes-only",
        ),
        (FLAT, "    logits = logits.transpose(1, 2)\n", "classes-moved-by-number"),
        (FLAT, "", "classes-not-second"),
        ("logits.reshape(-1, V)", "logits.mT.reshape(-1, V)", None),
        ("logits.reshape(-1, V)", "logits.reshape(V, -1).T", None),
        ("targets.reshape(-1)", "targets.T.reshape(-1)", None),
        (
            LOSS_CALL,
            "F.nll_loss(logits.softmax(1).log(), targets, ignore_index=ignore_index)",
            "log-of-the-softmax",
        ),
        ("    return " + LOSS_CALL, "    loss = " + LOSS_CALL, "returns-nothing"),
    ],
)
def test_slip_in_the_loss_is_named(right, slip, mistake):
    verdict = slipped(LOSS, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


@pytest.mark.parametrize("log", ["(p + 1e-9).log()", "p.clamp(min=1e-12).log()"])
def test_a_floor_in_the_log_is_named(log):
    kept = "targets != ignore_index"
    p = f"logits.softmax(-1)[{kept}].gather(-1, targets[{kept}][:, None])"
    verdict = slipped(LOSS, LOSS_CALL, f"-(lambda p: {log})({p}).mean()")
    assert "floor-in-the-log" in [one.mistake for one in verdict.diagnosis]


WRONG_LOSSES = named(
    """
    # sum-by-batch
    import torch.nn.functional as F

    def next_token_loss(logits, targets, ignore_index=-100):
        loss = F.cross_entropy(logits.flatten(0, -2), targets.flatten(),
                               ignore_index=ignore_index, reduction="sum")
        return loss / logits.shape[0]

    # mean-of-means
    import torch.nn.functional as F

    def next_token_loss(logits, targets, ignore_index=-100):
        if logits.dim() == 2:
            return F.cross_entropy(logits, targets, ignore_index=ignore_index)
        V, T = logits.shape[-1], logits.shape[-2]
        rows = zip(logits.reshape(-1, T, V), targets.reshape(-1, T))
        losses = [F.cross_entropy(l, t, ignore_index=ignore_index) for l, t in rows]
        return sum(losses) / len(losses)

    # nothing-ignored
    def next_token_loss(logits, targets, ignore_index=-100):
        logp = logits.log_softmax(-1)
        picked = logp.gather(-1, targets.clamp(min=0).unsqueeze(-1))
        return -picked.mean()

    # softmax-over-positions
    def next_token_loss(logits, targets, ignore_index=-100):
        logp = logits.log_softmax(-2)
        mask = targets != ignore_index
        picked = logp.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        return -picked[mask].mean()
    """
)


@pytest.mark.parametrize("mistake", WRONG_LOSSES)
def test_wrong_loss_is_named(mistake):
    assert check_source(WRONG_LOSSES[mistake]).mistake == mistake


LOSSES = named(
    """
    # the vocabulary moved to the second axis
    import torch.nn.functional as F

    def next_token_loss(logits, targets, ignore_index=-100):
        logits = logits.movedim(-1, 1)
        return F.cross_entropy(logits, targets, ignore_index=ignore_index)

    # log_softmax and gather
    def next_token_loss(logits, targets, ignore_index=-100):
        kept = targets != ignore_index
        logp = logits.log_softmax(dim=-1)
        safe = targets.masked_fill(~kept, 0)
        picked = logp.gather(-1, safe[..., None]).squeeze(-1)
        return -(picked * kept).sum() / kept.sum()

    # kept ones only, logsumexp
    import torch

    def next_token_loss(logits, targets, ignore_index=-100):
        kept = targets != ignore_index
        logits, targets = logits[kept], targets[kept]
        right = logits[torch.arange(len(targets), device=logits.device), targets]
        return (logits.logsumexp(-1) - right).mean()

    # sum over count
    import torch.nn.functional as F

    def next_token_loss(logits, targets, ignore_index=-100):
        loss = F.cross_entropy(logits.flatten(end_dim=-2), targets.flatten(),
                               ignore_index=ignore_index, reduction="sum")
        return loss / (targets != ignore_index).sum()

    # a module, in float32
    from torch import nn

    def next_token_loss(logits, targets, ignore_index=-100):
        criterion = nn.CrossEntropyLoss(ignore_index=ignore_index)
        V = logits.size(-1)
        return criterion(logits.float().contiguous().view(-1, V),
                         targets.contiguous().view(-1))

    # nll of log_softmax
    import torch.nn.functional as F
    from einops import rearrange

    def next_token_loss(logits, targets, ignore_index=-100):
        logp = F.log_softmax(rearrange(logits, "... V -> (...) V"), dim=1)
        return F.nll_loss(logp, rearrange(targets, "... -> (...)"),
                          ignore_index=ignore_index)

    # log-probabilities are logits too
    import torch.nn.functional as F

    def next_token_loss(logits, targets, ignore_index=-100):
        logp = logits.log_softmax(-1).flatten(0, -2)
        return F.cross_entropy(logp, targets.flatten(), ignore_index=ignore_index)
    """
)


@pytest.mark.parametrize("style", LOSSES)
def test_unusual_losses_are_accepted(style):
    verdict = check_source(LOSSES[style])
    assert verdict.status == "passed", verdict.message


RATE = """
import math

def learning_rate(step, max_lr, min_lr, warmup, total):
    if step < warmup:
        return max_lr * (step + 1) / warmup
    if step >= total:
        return min_lr
    t = (step - warmup) / (total - warmup)
    return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * t))
"""

END = "    if step >= total:\n        return min_lr\n"
COS = "math.cos(math.pi * t)"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("(step + 1) / warmup", "step / warmup", "starts-at-zero"),
        ("(step + 1) / warmup", "(step + 1) / (warmup + 1)", "warm-up-too-long"),
        ("(step + 1) / warmup", "(step + 1) // warmup", None),
        ("max_lr * (step + 1) / warmup", "max_lr", "no-warm-up"),
        (
            "return max_lr * (step + 1)",
            "return min_lr + (max_lr - min_lr) * (step + 1)",
            "warm-up-from-min",
        ),
        ("step < warmup", "step <= warmup", "warm-up-one-step-longer"),
        (
            RATE[RATE.index("    if step < warmup") : RATE.index("    t = ")],
            END
            + RATE[RATE.index("    if step < warmup") : RATE.index(END)].replace(
                "<", "<="
            ),
            "warm-up-one-step-longer-after-the-end",
        ),
        ("step < warmup", "step < warmup - 1", None),
        (END, "", None),
        ("step >= total", "step > total", "end-not-included"),
        (END, END.replace("min_lr", "0.0"), "zero-at-the-end"),
        ("/ (total - warmup)", "/ total", "decay-over-total"),
        ("(step - warmup) / (total - warmup)", "step / total", "cosine-from-zero"),
        ("(step - warmup) /", "step /", "step-not-shifted"),
        ("(step - warmup) /", "(step - warmup + 1) /", "decay-one-step-early"),
        ("(total - warmup)", "(total - warmup - 1)", "decay-one-step-short"),
        (COS, "math.cos(t)", "no-pi"),
        (COS, "math.cos(2 * math.pi * t)", "whole-cosine"),
        (COS, "math.sin(math.pi * t)", None),
        ("1 + math", "1 - math", "cosine-upside-down"),
        ("0.5 * (max", "(max", "cosine-not-halved"),
        ("(max_lr - min_lr)", "max_lr", "min-added"),
        ("min_lr + 0.5 * (max_lr - min_lr)", "0.5 * max_lr", "decays-to-zero"),
        (
            "0.5 * (max_lr - min_lr) * (1 + " + COS + ")",
            "(max_lr - min_lr) * (1 - t)",
            "linear-decay",
        ),
        (
            "0.5 * (max_lr - min_lr) * (1 + " + COS + ")",
            "(max_lr - min_lr) * " + COS,
            "cosine-not-raised",
        ),
        (
            f"{END}    t = (step - warmup) / (total - warmup)",
            "    t = min(1.0, (step - warmup) / (total - warmup))",
            "divides-by-zero",
        ),
        (
            f"{END}    t = (step - warmup) / (total - warmup)",
            "    t = min(1.0, (step - warmup) / max(1, total - warmup))",
            "decay-of-one-step",
        ),
        (COS, "__import__('torch').cos(__import__('torch').tensor(math.pi * t))", None),
    ],
)
def test_slip_in_the_rate_is_named(right, slip, mistake):
    verdict = slipped(RATE, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


RATES = named(
    """
    # one expression
    from math import cos, pi

    def learning_rate(step, max_lr, min_lr, warmup, total):
        return (
            max_lr * (step + 1) / warmup if step < warmup
            else min_lr if step >= total
            else min_lr + (max_lr - min_lr) * 0.5
            * (1.0 + cos(pi * (step - warmup) / (total - warmup)))
        )

    # numpy
    import numpy as np

    def learning_rate(step, max_lr, min_lr, warmup, total):
        if step < warmup:
            return (step + 1) / warmup * max_lr
        part = np.clip((step - warmup) / max(1, total - warmup), 0, 1)
        if step >= total:
            part = 1.0
        return max_lr + (min_lr - max_lr) * (1 - np.cos(np.pi * part)) / 2

    # the square of a cosine
    import math

    def learning_rate(step, max_lr, min_lr, warmup, total):
        if step < warmup:
            return max_lr / warmup * (step + 1)
        step = min(step, total)
        if step == total:
            return float(min_lr)
        half = math.pi / 2 * (step - warmup) / (total - warmup)
        return max_lr * math.cos(half) ** 2 + min_lr * math.sin(half) ** 2

    # torch, taken out of it
    import torch

    def learning_rate(step, max_lr, min_lr, warmup, total):
        if step >= warmup:
            if total <= step:
                return min_lr
            x = torch.tensor((step - warmup) / (total - warmup), dtype=torch.float64)
            share = (1 + torch.cos(torch.pi * x)) / 2
            return (min_lr + (max_lr - min_lr) * share).item()
        return max_lr * (step + 1) / warmup
    """
)


@pytest.mark.parametrize("style", RATES)
def test_unusual_rates_are_accepted(style):
    verdict = check_source(RATES[style])
    assert verdict.status == "passed", verdict.message


GROUPS = """
def parameter_groups(model, weight_decay):
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        if p.dim() >= 2:
            decay.append(p)
        else:
            no_decay.append(p)
    return [
        {"params": decay, "weight_decay": weight_decay},
        {"params": no_decay, "weight_decay": 0.0},
    ]
"""

WALK = "for name, p in model.named_parameters():"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("p.dim() >= 2", 'not name.endswith("bias")', "by-the-name-bias"),
        ("p.dim() >= 2", '"bias" not in name', "by-the-name-bias"),
        ("p.dim() >= 2", 'name.endswith("weight")', "by-the-name-weight"),
        ("p.dim() >= 2", '"bias" not in name and "norm" not in name', None),
        ("p.dim() >= 2", "p.dim() > 2", "matrices-excluded"),
        ("p.dim() >= 2", "p.dim() == 2", "matrices-only"),
        ("p.dim() >= 2", "p.dim() >= 1", "vectors-decay"),
        ("p.dim() >= 2", "p.dim() < 2", "groups-exchanged"),
        ("p.dim() >= 2", "True", "all-decay"),
        ("p.dim() >= 2", "p.numel() > 10", None),
        ("p.dim() >= 2", "p.dim() >= 2 and 'embed' not in name", "embeddings-excluded"),
        (
            "named_parameters()",
            "named_parameters(remove_duplicate=False)",
            "tied-twice",
        ),
        (WALK, "for name, p in model.state_dict().items():", None),
        (WALK, "for name, p in model.named_parameters(recurse=False):", None),
        (
            WALK,
            "for name, p in [(n, p) for m in model.modules() "
            "for n, p in m.named_parameters()]:",
            None,
        ),
        (
            WALK,
            "for name, p in [(n, p) for m in model.modules() "
            "for n, p in m.named_parameters(recurse=False)]:",
            "tied-twice",
        ),
        ('"weight_decay": 0.0', '"lr": 0.0', "decay-not-said-for-the-others"),
        ('"weight_decay": 0.0', '"weight_decay": weight_decay', "all-decay"),
        ('"weight_decay": weight_decay', '"weight_decay": 0.1', "decay-hard-coded"),
        (
            '"weight_decay": weight_decay',
            '"weight_decay": 0.01',
            "decay-hard-coded-small",
        ),
        ("            no_decay.append(p)", "            pass", "others-left-out"),
        ("            decay.append(p)", "            decay.append(name)", "wrong-fact"),
        (
            "    return [",
            "    return decay, no_decay\n    return [",
            "lists-without-decay",
        ),
    ],
)
def test_slip_in_the_groups_is_named(right, slip, mistake):
    verdict = slipped(GROUPS, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


def test_an_optimiser_for_groups_is_told():
    source = GROUPS.replace("[\n        {", "torch.optim.AdamW([\n        {")
    source = "import torch\n" + source.replace("},\n    ]", "}])")
    assert check_source(source).mistake == "optimiser-returned"


PARAMETER_GROUPS = named(
    """
    # no decay first, generators
    def parameter_groups(model, weight_decay):
        yield dict(params=(p for p in model.parameters() if p.ndim < 2), weight_decay=0)
        yield dict(params=(p for p in model.parameters() if p.ndim > 1),
                   weight_decay=weight_decay)

    # by hand, each tensor once
    def parameter_groups(model, weight_decay):
        seen, groups = set(), {True: [], False: []}
        for module in model.modules():
            for p in module.parameters(recurse=False):
                if id(p) not in seen:
                    seen.add(id(p))
                    groups[len(p.shape) >= 2].append(p)
        return [{"params": groups[True], "weight_decay": weight_decay},
                {"params": groups[False], "weight_decay": 0.0}]

    # a tuple, names kept
    def parameter_groups(model, weight_decay):
        named = {n: p for n, p in model.named_parameters() if p.requires_grad}
        big = [(n, p) for n, p in named.items() if p.dim() >= 2]
        small = [(n, p) for n, p in named.items() if p.dim() < 2]
        return ({"params": small, "weight_decay": 0.0, "lr": 1e-3},
                {"params": big, "weight_decay": weight_decay, "lr": 1e-3})

    # filters and sets
    def parameter_groups(model, weight_decay):
        every = set(model.parameters())
        wide = {p for p in every if p.dim() >= 2}
        return [{"params": list(wide), "weight_decay": weight_decay},
                {"params": filter(lambda p: p not in wide, every), "weight_decay": 0.}]
    """
)


@pytest.mark.parametrize("style", PARAMETER_GROUPS)
def test_unusual_groups_are_accepted(style):
    verdict = check_source(PARAMETER_GROUPS[style])
    assert verdict.status == "passed", verdict.message


STEP = """
import torch
import torch.nn.functional as F

def train_step(model, optimizer, micro_batches, max_norm=1.0):
    optimizer.zero_grad()
    total = sum((t != -100).sum().item() for _, t in micro_batches)
    loss_sum = 0.0
    for x, y in micro_batches:
        logits = model(x)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum")
        loss = loss / total
        loss.backward()
        loss_sum += loss.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss_sum
"""

CLEAR = "    optimizer.zero_grad()\n"
CLIP = "    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
GO = "    optimizer.step()\n"
IN_LOOP = "        logits = model(x)\n"
BACK = "        loss.backward()\n"
SUM = ', reduction="sum")\n        loss = loss / total\n'


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            BACK,
            "        (loss / len(micro_batches)).backward()\n",
            "gradient-divided-once-more",
        ),
        (CLEAR, "", "stale-gradients"),
        (SUM, ")\n        loss = loss / len(micro_batches)\n", "mean-of-means"),
        (SUM, ")\n", "means-added"),
        ("        loss = loss / total\n", "", None),
        (SUM, ', reduction="sum")\n        loss = loss / y.numel()\n', None),
        (CLIP, "", "unclipped"),
        (CLIP + GO, GO + CLIP, "unclipped"),
        (CLIP, CLIP.replace("norm_(", "value_("), "clipped-by-value"),
        (", max_norm)\n    opt", ", 1.0)\n    opt", "norm-hard-coded"),
        (", max_norm)\n    opt", ", max_norm, norm_type=1)\n    opt", None),
        (
            CLIP,
            "    for p in model.parameters():\n        "
            "torch.nn.utils.clip_grad_norm_(p, max_norm)\n",
            "clipped-by-parameter",
        ),
        (GO, "", "no-step"),
        (GO, GO + GO, None),
        (BACK, BACK + "        optimizer.step()\n", None),
        (BACK, BACK + "    " + CLIP, None),
        ("loss_sum += loss.item()", "loss_sum = loss.item()", "last-share-returned"),
        ("loss_sum += loss.item()", "loss_sum += loss", None),
        ("return loss_sum", "return loss", None),
        ("return loss_sum", "return torch.tensor(loss_sum)", "tensor-returned"),
        ("    return loss_sum\n", "", "nothing-returned"),
        ("return loss_sum", "return loss_sum * total", "sum-returned"),
        ("return loss_sum", "return loss_sum / len(micro_batches)", None),
        (IN_LOOP, "    " + CLEAR + IN_LOOP, "cleared-each-time"),
        (CLIP, CLEAR + CLIP, "cleared-before-the-step"),
        (CLEAR, CLEAR + "    model.train()\n", "set-to-training"),
        (CLEAR, CLEAR + "    model.eval()\n", "set-to-evaluation"),
        ("for x, y in micro_batches:", "for x, y in micro_batches[:1]:", None),
        (IN_LOOP, "        with torch.no_grad():\n    " + IN_LOOP, None),
        ('reduction="sum")\n', 'reduction="sum", ignore_index=0)\n', None),
    ],
)
def test_slip_in_the_step_is_named(right, slip, mistake):
    verdict = slipped(STEP, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


WRONG_STEPS = named(
    """
    # small-steps
    import torch
    from autograder.parts import next_token_loss

    def train_step(model, optimizer, micro_batches, max_norm=1.0):
        losses = []
        for x, y in micro_batches:
            optimizer.zero_grad()
            loss = next_token_loss(model(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    # always-scaled
    from autograder.parts import next_token_loss

    def train_step(model, optimizer, micro_batches, max_norm=1.0):
        optimizer.zero_grad()
        n = [int((y != -100).sum()) for _, y in micro_batches]
        out = 0.0
        for (x, y), k in zip(micro_batches, n):
            loss = next_token_loss(model(x), y) * k / sum(n)
            loss.backward()
            out += loss.item()
        norm = sum((p.grad ** 2).sum() for p in model.parameters()) ** 0.5
        for p in model.parameters():
            p.grad.mul_(max_norm / norm)
        optimizer.step()
        return out

    # gradient-of-means-added-mean-returned
    import torch
    from autograder.parts import next_token_loss

    def train_step(model, optimizer, micro_batches, max_norm=1.0):
        optimizer.zero_grad()
        total = 0.0
        for x, y in micro_batches:
            loss = next_token_loss(model(x), y)
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        return total / len(micro_batches)
    """
)


@pytest.mark.parametrize("mistake", WRONG_STEPS)
def test_wrong_step_is_named(mistake):
    assert check_source(WRONG_STEPS[mistake]).mistake == mistake


TRAIN_STEPS = named(
    """
    # the part, weighed
    import torch
    from autograder.parts import next_token_loss

    def train_step(model, optimizer, micro_batches, max_norm=1.0):
        optimizer.zero_grad(set_to_none=True)
        counts = [(y != -100).sum() for _, y in micro_batches]
        everything = sum(counts)
        total = 0.0
        for (x, y), n in zip(micro_batches, counts):
            loss = next_token_loss(model(x), y)
            (loss * n / everything).backward()
            total += loss.item() * n.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        return total / everything.item()

    # gradients divided at the end
    import torch
    import torch.nn.functional as F

    def train_step(model, optimizer, micro_batches, max_norm=1.0):
        for p in model.parameters():
            p.grad = None
        total, n = 0.0, 0
        for x, y in micro_batches:
            logits = model(x)
            loss = F.cross_entropy(logits.transpose(1, 2), y, reduction="sum")
            loss.backward()
            total += float(loss.detach())
            n += int(y.ne(-100).sum())
        for p in model.parameters():
            p.grad.div_(n)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        optimizer.zero_grad()
        return total / n

    # one large batch
    import torch
    import torch.nn.functional as F

    def train_step(model, optimizer, micro_batches, max_norm=1.0):
        x = torch.cat([x for x, _ in micro_batches])
        y = torch.cat([y for _, y in micro_batches])
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        model.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_norm)
        optimizer.step()
        return loss.item()

    # one backward, clipped by hand
    import torch
    import torch.nn.functional as F

    def train_step(model, optimizer, micro_batches, max_norm=1.0):
        optimizer.zero_grad()
        losses, kept = [], 0
        for x, y in micro_batches:
            logits = model(x)
            losses.append(F.cross_entropy(logits.view(-1, logits.size(-1)),
                                          y.view(-1), reduction="none").sum())
            kept += (y != -100).sum().item()
        mean = torch.stack(losses).sum() / kept
        mean.backward()
        params = [p for g in optimizer.param_groups for p in g["params"]]
        norm = torch.cat([p.grad.flatten() for p in params]).norm()
        if norm > max_norm:
            for p in params:
                p.grad *= max_norm / norm
        optimizer.step()
        return float(mean)

    # autograd.grad
    import torch
    import torch.nn.functional as F

    def train_step(model, optimizer, micro_batches, max_norm=1.0):
        params = list(model.parameters())
        kept = sum(int((y >= 0).sum()) for _, y in micro_batches)
        grads, total = [torch.zeros_like(p) for p in params], 0.0
        for x, y in micro_batches:
            loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(),
                                   reduction="sum") / kept
            grads = [a + b for a, b in zip(grads, torch.autograd.grad(loss, params))]
            total += loss.item()
        for p, g in zip(params, grads):
            p.grad = g
        torch.nn.utils.clip_grad_norm_(params, max_norm)
        optimizer.step()
        return total

    # a closure
    import torch
    from torch.nn import functional as F

    def train_step(model, optimizer, micro_batches, max_norm=1.0):
        kept = sum(int((y != -100).sum()) for _, y in micro_batches)

        def closure():
            optimizer.zero_grad()
            total = 0.0
            for x, y in micro_batches:
                flat = model(x).flatten(0, 1)
                loss = F.cross_entropy(flat, y.flatten(), reduction="sum") / kept
                loss.backward()
                total += loss.item()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            return total

        return optimizer.step(closure)
    """
)


@pytest.mark.parametrize("style", TRAIN_STEPS)
def test_unusual_steps_are_accepted(style):
    verdict = check_source(TRAIN_STEPS[style])
    assert verdict.status == "passed", verdict.message


def test_a_single_number_is_told_by_its_value():
    verdict = slipped(LOSS, LOSS_CALL, LOSS_CALL + " * 1.5 + 1")
    assert verdict.mistake is None
    assert "is expected" in verdict.message


def test_an_example_leaves_out_the_facts_that_are_right():
    verdict = slipped(STEP, "return loss_sum", "return loss_sum + 1")
    assert [row.label for row in verdict.example.rows] == ["gradient", "loss"]
