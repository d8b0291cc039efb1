"""How modules are put together wrongly, a MiniGPT above all: blocks, sizes, head."""

from collections.abc import Callable
from typing import Any

from torch import nn
from torch.nn import functional as F

import solutions.minigpt as solutions
from autograder.definition import Mistake


def built(
    reference: Callable[..., nn.Module], change: Callable[[Any], None]
) -> Callable[..., nn.Module]:
    """A module that is put together in another way than the reference."""

    def make(*given: Any) -> nn.Module:
        model = reference(*given)
        change(model)
        return model

    return make


def tie(model: Any) -> None:
    model.head.weight = model.embed.weight


def add_bias(model: Any) -> None:
    model.head = nn.Linear(model.head.in_features, model.head.out_features)


def drop_embeddings(model: Any) -> None:
    """As nanoGPT's `drop` does."""
    model.embed.register_forward_hook(
        lambda embed, given, x: F.dropout(x, 0.1, embed.training)
    )


def pad_with_0(model: Any) -> None:
    model.embed.padding_idx = 0


def share_a_block(model: Any) -> None:
    model.blocks = nn.ModuleList([model.blocks[0]] * len(model.blocks))


def hide_the_blocks(model: Any) -> None:
    blocks = list(model.blocks)
    del model.blocks
    model.blocks = blocks


def blocks_of(
    count: Callable[[int], int] = lambda n_layers: n_layers,
    heads: Callable[[int], int] = lambda n_heads: n_heads,
    ff_dim: Callable[[int], int] = lambda d_model: 4 * d_model,
) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        C, n_layers = model.embed.embedding_dim, len(model.blocks)
        n_heads = heads(model.blocks[0].attn.num_heads)
        model.blocks = nn.ModuleList(
            solutions.TransformerBlock(C, n_heads, ff_dim(C))
            for _ in range(count(n_layers))
        )

    return change


def listed_wrongly(reference: Callable[..., nn.Module]) -> list[Mistake]:
    """Slips in making the list `blocks` of a model."""
    return [
        Mistake(
            "blocks-in-a-plain-list",
            "The blocks are in a plain Python list, so their parameters are hidden: no "
            "weights are loaded, trained or moved. Put them into an nn.ModuleList.",
            wrong=built(reference, hide_the_blocks),
        ),
        Mistake(
            "one-block-shared",
            "All layers are the same block, repeated: `[block] * n_layers` makes one "
            "block whose weights are shared. Make a new block for each layer.",
            wrong=built(reference, share_a_block),
        ),
    ]


#: How the model is put together.
BUILT = [
    *listed_wrongly(solutions.MiniGPT),
    Mistake(
        "one-block-too-many",
        "There is one block too many: n_layers + 1 instead of n_layers.",
        wrong=built(solutions.MiniGPT, blocks_of(count=lambda n: n + 1)),
    ),
    Mistake(
        "one-block-too-few",
        "There is one block too few: n_layers - 1 instead of n_layers.",
        wrong=built(solutions.MiniGPT, blocks_of(count=lambda n: n - 1)),
    ),
    Mistake(
        "six-blocks-always",
        "There are 6 blocks, the default, whatever n_layers says: the number of layers "
        "is ignored (hard-coded).",
        wrong=built(solutions.MiniGPT, blocks_of(count=lambda n: 6)),
    ),
    Mistake(
        "n_heads-ignored",
        "n_heads is not passed on: every block has 8 heads, the default of "
        "TransformerBlock.",
        wrong=built(solutions.MiniGPT, blocks_of(heads=lambda n_heads: 8)),
    ),
    Mistake(
        "one-head",
        "Every block has one head, whatever n_heads says: pass n_heads on.",
        wrong=built(solutions.MiniGPT, blocks_of(heads=lambda n_heads: 1)),
    ),
    Mistake(
        "ff_dim-default",
        "ff_dim is not passed on: the blocks' feed-forward networks have the default, "
        "2048, where 4 * d_model is asked for.",
        wrong=built(solutions.MiniGPT, blocks_of(ff_dim=lambda C: 2048)),
    ),
    Mistake(
        "ff_dim-d_model",
        "The blocks' feed-forward networks are d_model wide (ff_dim); it should be "
        "4 * d_model.",
        wrong=built(solutions.MiniGPT, blocks_of(ff_dim=lambda C: C)),
    ),
    Mistake(
        "ff_dim-2-d_model",
        "The blocks' feed-forward networks are 2 * d_model wide (ff_dim); it should be "
        "4 * d_model.",
        wrong=built(solutions.MiniGPT, blocks_of(ff_dim=lambda C: 2 * C)),
    ),
    Mistake(
        "head-tied",
        "The head's weight is tied to that of embed; in this model it is not tied: the "
        "head has a weight of its own.",
        wrong=built(solutions.MiniGPT, tie),
    ),
    Mistake(
        "head-with-bias",
        "The head has a bias; it should have none: nn.Linear(d_model, vocab_size, "
        "bias=False).",
        wrong=built(solutions.MiniGPT, add_bias),
    ),
    Mistake(
        "dropout-beside-the-blocks",
        "In training numbers are dropped outside the blocks too, from the embeddings "
        "or behind the last block; in this model there is no dropout but in "
        "TransformerBlock.",
        wrong=built(solutions.MiniGPT, drop_embeddings),
    ),
    Mistake(
        "padding_idx",
        "The values are right, but token 0 never learns: padding_idx keeps its vector "
        "from getting a gradient. Here 0 is a token like others: leave padding_idx "
        "out.",
        wrong=built(solutions.MiniGPT, pad_with_0),
    ),
]
