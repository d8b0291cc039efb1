"""Chapter 10: tokens and training."""

import math
from collections import Counter
from itertools import pairwise

import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F


def train_bpe(text, num_merges):
    """Learn which neighbours to merge: again and again the most frequent pair.

    text, a str; num_merges, an int -> list of pairs of ids, in the order in which they
    were merged. Ids 0 to 255 are bytes, the first merge makes 256. Every pair of
    neighbours counts, overlaps included; among the most frequent the one that comes
    first wins. Stops early when no pair occurs twice.

    Sennrich et al. 2016, section 3.2, on bytes as in Radford et al. 2019, section 2.2.
    """
    ids, merges = list(text.encode()), []
    while len(merges) < num_merges:
        counts = Counter(pairwise(ids))  # in the order of their first occurrence
        pair, count = max(counts.items(), key=lambda item: item[1], default=(None, 0))
        if count < 2:
            break
        ids = merge(ids, pair, 256 + len(merges))
        merges.append(pair)
    return merges


def merge(ids, pair, new_id):
    """Replace each occurrence of a pair by one id, from left to right."""
    merged = []
    for one in ids:
        if merged and (merged[-1], one) == pair:
            merged[-1] = new_id
        else:
            merged.append(one)
    return merged


def bpe_encode(text, merges):
    """Turn text into ids by the merges that were learned, in their order.

    text, a str; merges, a list of pairs -> list of ids.

    Sennrich et al. 2016, section 3.2.
    """
    ids = list(text.encode())
    for new_id, pair in enumerate(merges, start=256):
        ids = merge(ids, tuple(pair), new_id)
    return ids


def bpe_decode(ids, merges):
    """Turn ids back into text.

    ids, a list; merges, a list of pairs -> str. Bytes that are no UTF-8 become U+FFFD.
    """
    pieces = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    # A character's bytes may be spread over several ids: join first, then decode.
    return b"".join(pieces[one] for one in ids).decode(errors="replace")


def get_batch(data, batch_size, seq_len, generator):
    """Cut pieces out of a long text, and the same pieces one token later.

    data (N,), ints -> inputs (B, T), targets (B, T), of data's dtype: starts are drawn
    uniformly from 0…N - T - 1, with replacement, by the generator.
    Raises ValueError if N < seq_len + 1.
    """
    N = len(data)
    if N < seq_len + 1:
        raise ValueError(f"{N} tokens hold no piece of {seq_len} with its next token")
    starts = torch.randint(N - seq_len, (batch_size,), generator=generator)
    offsets = torch.arange(seq_len + 1)
    pieces = data[(rearrange(starts, "B -> B 1") + offsets).to(data.device)]
    return pieces[:, :-1], pieces[:, 1:]


def next_token_loss(logits, targets, ignore_index=-100):
    """Measure the surprise at the right next tokens: mean cross-entropy, in nats.

    logits (..., V), targets (...), ints, already shifted -> scalar, the mean over the
    targets that are not ignore_index.
    """
    logits, targets = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    return F.cross_entropy(logits, targets.long(), ignore_index=ignore_index)


def learning_rate(step, max_lr, min_lr, warmup, total):
    """Say how large a step to take: a linear warm-up, then half a cosine down.

    step, from 0 -> float: max_lr * (step + 1) / warmup during warm-up; max_lr at step
    warmup, min_lr at total and after.

    Loshchilov and Hutter 2017, equation 5, with the warm-up of Goyal et al. 2017.
    """
    if step < warmup:
        return max_lr * (step + 1) / warmup
    if step >= total:
        return min_lr
    progress = (step - warmup) / (total - warmup)  # from 0 to 1
    return min_lr + (max_lr - min_lr) * (1 + math.cos(math.pi * progress)) / 2


def parameter_groups(model, weight_decay):
    """Let matrices decay, and leave biases and gains alone.

    -> two groups for AdamW: tensors of two and more dimensions with weight_decay, the
    others with 0. A tied tensor stands in its group once.

    Loshchilov and Hutter 2019, on which tensors to decay as in Radford et al. 2018.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    matrices = [p for p in parameters if p.dim() >= 2]
    others = [p for p in parameters if p.dim() < 2]
    return [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]


def train_step(model, optimizer, micro_batches, max_norm=1.0):
    """Take one step of the optimiser on a batch that comes in pieces.

    micro_batches, a list of (inputs (B, T), targets (B, T)) -> float, the mean loss
    over all kept targets (not -100) of all pieces, which is also what is minimised.
    Gradients are cleared first and clipped to a global norm of max_norm.

    Pascanu et al. 2013, section 3.2 (clipping).
    """
    optimizer.zero_grad()
    counts = [int((targets != -100).sum()) for _, targets in micro_batches]
    total = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        if count == 0:
            continue  # the mean of nothing is NaN
        # Each piece weighs as much as it has targets.
        loss = next_token_loss(model(inputs), targets) * count / sum(counts)
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return total
