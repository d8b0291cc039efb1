"""Chapter 14: looking inside."""

import torch
from einops import rearrange, reduce


def attention_entropy(weights):
    """Measure how widely each head spreads its weight: 0 for a single key.

    weights (B, h, n, m), rows that sum to 1 -> (B, h): the entropy of each query's
    weights, in nats, averaged over the queries. A weight of 0 adds nothing.
    """
    logs = weights.masked_fill(weights == 0, 1.0).log()  # 0 log 0 counts as 0
    entropy = -reduce(weights * logs, "B h n m -> B h n", "sum")
    return reduce(entropy, "B h n -> B h", "mean")


def attention_rollout(layers):
    """Follow attention down through the layers, half of each step by the residual.

    layers, a list of weights (B, h, T, T), the first layer first -> (B, T, T). In each
    layer the heads are averaged, A; the step is 0.5 A + 0.5 I, with its rows scaled to
    sum to 1. The steps' product has the last layer leftmost.

    Abnar and Zuidema 2020, section 3.
    """
    T = layers[0].shape[-1]
    rollout = identity = torch.eye(T).to(layers[0])
    for weights in layers:
        step = 0.5 * reduce(weights, "B h i j -> B i j", "mean") + 0.5 * identity
        rollout = step / reduce(step, "B i j -> B i 1", "sum") @ rollout
    return rollout


def induction_score(weights, period):
    """Measure how much of its weight a head gives to what followed last time.

    weights (B, h, T, T) of sequences that repeat after `period` tokens -> (h,): the
    mean weight from position t to t - period + 1, over the batch and all t >= period.

    Olsson et al. 2022.
    """
    T = weights.shape[-1]
    queries = torch.arange(period, T, device=weights.device)
    followed = weights[..., queries, queries - period + 1]  # (B, h, T - period)
    return reduce(followed, "B h t -> h", "mean")


def logit_lens(model, tokens):
    """Read a MiniGPT's stream at every height as if it were the last.

    tokens (B, T) -> (n_layers + 1, B, T, vocab): the final norm and the head applied
    after the embedding and after each block. Without dropout; the model's mode is
    afterwards as it was.

    nostalgebraist 2020.
    """
    was_training = model.training
    model.eval()
    try:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = model.embed(tokens) + model.pos_embed(positions)  # (B, T, C)
        mask = rearrange(positions, "T -> T 1") >= positions  # (T, T), causal
        stream = [x]
        for block in model.blocks:
            stream.append(block(stream[-1], mask))
        return model.head(model.norm(torch.stack(stream)))
    finally:
        model.train(was_training)
