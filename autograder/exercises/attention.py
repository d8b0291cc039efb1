"""Chapter 2 (placeholder while it is being written)."""

import torch

from autograder.definition import Chapter, Exercise, Mistake
from autograder.inputs import normal, some
from solutions import attention

CHAPTER = Chapter(2, "Queries, keys, values", "02_attention")
QKV = {"Q": normal("B h n d_k"), "K": normal("B h m d_k"), "V": normal("B h m d_v")}


def twin(Q, K, V, mask=None, *, power=-0.5, over=-1, flip=False, fill=-torch.inf):
    scores = Q @ K.mT * Q.shape[-1] ** power
    if mask is not None:
        scores = scores.masked_fill((mask == 0) ^ flip, fill)
    weights = scores.softmax(over)
    return weights @ V, weights


scores = Exercise(
    attention.attention_scores,
    inputs={"a": {"Q": normal("... n d_k"), "K": normal("... m d_k")}},
    hints=["a", "b", "c"],
    points=2,
)
att = Exercise(
    attention.scaled_dot_product_attention,
    points=3,
    uses=[attention.attention_scores],
    inputs={"more keys than queries": QKV, "with a mask": QKV | {"mask": some("n m")}},
    twin=twin,
    returns=("output", "weights"),
    forbids=["attention"],
    mistakes=[
        Mistake("unscaled-scores", "The scores are not divided by √d_k.", power=0),
        Mistake("softmax-over-queries", "The softmax runs over the queries.", over=-2),
        Mistake("mask-inverted", "True in the mask means: may attend.", flip=True),
        Mistake("blocked-scores-zero", "A score of 0 still weighs e⁰ = 1.", fill=0.0),
    ],
    hints=["a", "b", "c"],
)
