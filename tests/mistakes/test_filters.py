"""Chapter 11, filters: slips are caught and named, unusual right answers accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

#: As it is found in many a repository: cumulative sum, shifted mask, scatter.
SHIFTED = """
import torch
import torch.nn.functional as F

def filter_logits(logits, top_k=None, top_p=None):
    logits = logits.clone()
    if top_k is not None:
        top_k = min(top_k, logits.size(-1))
        kth = torch.topk(logits, top_k, dim=-1).values[..., -1, None]
        logits[logits < kth] = float("-inf")
    if top_p is not None:
        sorted_logits, sorted_indices = torch.sort(logits, descending=True, dim=-1)
        cumulative = F.softmax(sorted_logits, dim=-1).cumsum(dim=-1)
        remove = cumulative > top_p
        remove[..., 1:] = remove[..., :-1].clone()
        remove[..., 0] = False
        remove = torch.zeros_like(remove).scatter(-1, sorted_indices, remove)
        logits = logits.masked_fill(remove, float("-inf"))
    return logits
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("[..., -1, None]", "[..., 0, None]", "top-k-threshold-the-largest"),
        ("cumsum(dim=-1)", "cumsum(dim=0)", "top-p-sum-over-the-batch"),
        ('logits[logits < kth] = float("-inf")', "pass", "top-k-ignored"),
        ("min(top_k, logits.size(-1))", "top_k", "top-k-beyond-the-vocabulary"),
        ("logits < kth", "logits <= kth", "top-k-one-too-few"),
        ("logits < kth", "logits > kth", "top-k-excludes-the-largest"),
        ("-1, None]", "-1]", None),
        (
            "top_k, dim=-1).values",
            "top_k, largest=False).values",
            "top-k-threshold-among-the-smallest",
        ),
        (
            "kth = torch.topk(logits, top_k, dim=-1).values[..., -1, None]",
            "kth = torch.topk(logits.flatten(), top_k).values[-1]",
            "top-k-over-the-batch",
        ),
        (
            'logits[logits < kth] = float("-inf")',
            "logits[..., top_k:] = float('-inf')",
            "first-k-tokens-kept",
        ),
        (
            "if top_p is not None",
            "elif top_p is not None",
            "top-p-ignored-beside-top-k",
        ),
        (
            "if top_k is not None",
            "if top_k and not top_p",
            "top-k-ignored-beside-top-p",
        ),
        (
            "        remove[..., 1:] = remove[..., :-1].clone()\n",
            "",
            "top-p-drops-the-crossing-token",
        ),
        (
            "        remove[..., 1:] = remove[..., :-1].clone()\n"
            "        remove[..., 0] = False\n",
            "",
            "top-p-can-keep-none",
        ),
        ("> top_p", "> 1 - top_p", "top-p-complemented"),
        ("> top_p", "< top_p", "top-p-excludes-the-nucleus-but-one"),
        ("descending=True, dim=-1", "dim=-1", "top-p-of-the-least-probable"),
        (
            "torch.zeros_like(remove).scatter(-1, sorted_indices, remove)",
            "remove",
            "mask-in-sorted-order",
        ),
        (
            "torch.zeros_like(remove).scatter(-1, sorted_indices, remove)",
            "remove.gather(-1, sorted_indices)",
            "mask-gathered-not-scattered",
        ),
        ("F.softmax(sorted_logits, dim=-1)", "sorted_logits", "top-p-of-raw-logits"),
        (
            "F.softmax(sorted_logits, dim=-1)",
            "F.softmax(sorted_logits, dim=0)",
            "top-p-softmax-over-the-batch",
        ),
        (
            "cumulative > top_p",
            "cumulative - F.softmax(sorted_logits, -1) > top_p",
            "top-p-one-too-many",
        ),
        (
            "logits.masked_fill(remove,",
            "sorted_logits.masked_fill(remove.gather(-1, sorted_indices),",
            "sorted-by-top-p",
        ),
        ('(remove, float("-inf"))', "(remove, -1e9)", "excluded-low-not-inf"),
        ("    logits = logits.clone()\n", "", "input-changed"),
        ("logits = logits.clone()", "logits = logits.detach().clone()", "no-gradient"),
        ("return logits", "return logits.softmax(-1)", "probabilities-returned"),
        (
            "return logits",
            "return logits.log_softmax(-1)",
            "log-probabilities-returned",
        ),
        ("return logits", "return logits > -torch.inf", "mask-returned"),
        (
            "remove = torch.zeros_like(remove).scatter(-1, sorted_indices, remove)\n"
            '        logits = logits.masked_fill(remove, float("-inf"))',
            'logits[..., sorted_indices[remove]] = float("-inf")',
            "excluded-in-all-rows",
        ),
        ("return logits", "return logits[logits > -torch.inf]", "wrong-shape"),
        ("return logits", "return logits.float()", "wrong-dtype"),
    ],
)
def test_slip_in_filtering_is_named(right, slip, mistake):
    assert slipped(SHIFTED, right, slip).mistake == mistake


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("torch.where({kept}, logits, 0.0)", "excluded-are-zero"),
        ("torch.where({kept}, logits, 1e-10)", "excluded-are-zero"),
        ("logits * {kept}", "excluded-are-zero"),
        ("logits.masked_fill(~({kept}), -1e9)", "excluded-low-not-inf"),
        (
            "logits.masked_fill(~({kept}), torch.finfo(logits.dtype).min)",
            "excluded-at-lowest-number",
        ),
        ("logits.masked_fill(~({kept}), torch.inf)", "excluded-at-plus-infinity"),
        ("logits.masked_fill({kept}, -torch.inf)", "kept-and-excluded-exchanged"),
        (
            "logits.masked_fill(~({kept}), -torch.inf).sort(descending=True).values",
            "result-in-sorted-order",
        ),
    ],
)
def test_slip_in_filling_is_named(body, mistake):
    assert check_source(RANKS.format(body=body.format(kept="kept"))).mistake == mistake


RANKS = """
import torch

def filter_logits(logits, top_k=None, top_p=None):
    order = logits.argsort(-1, descending=True)
    rank = order.argsort(-1)
    kept = torch.ones_like(logits, dtype=torch.bool)
    if top_k is not None:
        kept = rank < top_k
    if top_p is not None:
        p = logits.masked_fill(~kept, -torch.inf).softmax(-1).gather(-1, order)
        before = p.cumsum(-1) - p
        kept = kept & ((before < top_p).gather(-1, rank) | (rank == 0))
    return {body}
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            ".masked_fill(~kept, -torch.inf).softmax",
            ".softmax",
            "top-p-not-renormalised",
        ),
        ("rank < top_k", "rank <= top_k", "top-k-one-too-many"),
        ("rank < top_k", "rank >= logits.shape[-1] - top_k", "top-k-of-the-smallest"),
        (
            "(before < top_p).gather(-1, rank)",
            "(logits.softmax(-1) >= top_p)",
            "top-p-as-least-probability-but-one",
        ),
        (
            "((before < top_p).gather(-1, rank) | (rank == 0))",
            "(logits.softmax(-1) >= top_p * logits.softmax(-1).amax(-1, True))",
            "min-p-instead-of-top-p",
        ),
        ("if top_p is not None", "if False", "top-p-ignored"),
        ("(before < top_p)", "(before > top_p)", "top-p-excludes-the-nucleus-but-one"),
    ],
)
def test_slip_in_ranks_is_named(right, slip, mistake):
    source = RANKS.format(body="torch.where(kept, logits, -torch.inf)")
    assert slipped(source, right, slip).mistake == mistake


RIGHT = named(
    """
# by rank
def filter_logits(logits, top_k=None, top_p=None):
    order = logits.argsort(-1, descending=True)
    rank = order.argsort(-1)
    kept = torch.ones_like(logits, dtype=torch.bool)
    if top_k is not None:
        kept &= rank < top_k
    if top_p is not None:
        p = logits.masked_fill(~kept, -torch.inf).softmax(-1).gather(-1, order)
        before = torch.nn.functional.pad(p.cumsum(-1)[..., :-1], (1, 0))
        kept &= (before < top_p).gather(-1, rank)
    return torch.where(kept, logits, float("-inf"))

# the threshold of the nucleus
def filter_logits(logits, top_k=None, top_p=None):
    if top_k is not None and top_k < logits.shape[-1]:
        least = torch.topk(logits, top_k).values.min(dim=-1, keepdim=True).values
        logits = torch.where(logits >= least, logits, -torch.inf)
    if top_p is not None:
        ordered = logits.sort(dim=-1, descending=True).values
        count = (ordered.softmax(-1).cumsum(-1) < top_p).sum(-1, keepdim=True)
        least = ordered.gather(-1, count.clamp(max=logits.shape[-1] - 1))
        logits = logits.masked_fill(logits < least, -torch.inf)
    return logits

# a sum over all more probable tokens
def filter_logits(logits, top_k=None, top_p=None):
    more = logits.unsqueeze(-2) > logits.unsqueeze(-1)
    if top_k is not None:
        logits = logits.masked_fill(more.sum(-1) >= top_k, -torch.inf)
    if top_p is not None:
        p = logits.softmax(-1)
        ahead = (more * p.unsqueeze(-2)).sum(-1)
        logits = logits.masked_fill((ahead >= top_p) & more.any(-1), -torch.inf)
    return logits

# sorted values scattered into a row of -inf
def filter_logits(logits, top_k=None, top_p=None):
    ordered, order = torch.sort(logits, dim=-1, descending=True)
    k = logits.shape[-1] if top_k is None else min(top_k, logits.shape[-1])
    ordered, order = ordered[..., :k], order[..., :k]
    if top_p is not None:
        p = torch.softmax(ordered, dim=-1)
        ordered = ordered.masked_fill(p.cumsum(-1) - p >= top_p, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter(-1, order, ordered)

# row by row
def filter_logits(logits, top_k=None, top_p=None):
    rows = []
    for row in logits.reshape(-1, logits.shape[-1]):
        kept, total = [], 0.0
        order = row.argsort(descending=True)[:top_k]
        p = row[order].float().softmax(0)
        for i, token in enumerate(order):
            kept.append(token)
            total += p[i].item()
            if top_p is not None and total >= top_p:
                break
        mask = torch.full_like(row, -torch.inf)
        mask[torch.stack(kept)] = 0
        rows.append(row + mask)
    return torch.stack(rows).reshape(logits.shape)

# an additive mask in float32
def filter_logits(logits, top_k=None, top_p=None):
    wide = logits.float()
    if top_k:
        kth = wide.kthvalue(max(wide.size(-1) - top_k + 1, 1), dim=-1, keepdim=True)[0]
        wide = wide.masked_fill(wide < kth, -torch.inf)
    if top_p:
        ordered, order = wide.sort(-1, True)
        p = ordered.softmax(-1)
        out = p.cumsum(-1).roll(1, -1) >= top_p
        out[..., 0] = False
        wide = wide.masked_fill(out.gather(-1, order.argsort(-1)), -torch.inf)
    return wide.to(logits.dtype)
"""
)


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_unusual_right_filter_is_accepted(source):
    verdict = check_source("import torch\n" + source)
    assert verdict.passed, verdict.message


def test_the_usual_filter_is_accepted():
    verdict = check_source(SHIFTED)
    assert verdict.passed, verdict.message
