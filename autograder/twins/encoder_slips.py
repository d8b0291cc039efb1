"""How the published encoder goes wrong, by name."""

import torch
from torch.nn import functional as F

import solutions.modern as solutions
from autograder.definition import Mistake
from autograder.twins.attention import MASKS, SCORES
from autograder.twins.blocks import INSIDE, on_branch, pre
from autograder.twins.built import built, listed_wrongly
from autograder.twins.encoder import (
    in_order,
    norm_early,
    of_type_0,
    one_type,
    real_ones_counted,
    skipless,
    twelve_heads,
    types_from_mask,
    zeroed_first,
    zeroed_last,
)
from autograder.twins.minigpt import at, counted
from autograder.twins.multihead import EXCHANGED, LAYER
from autograder.twins.rows import chosen
from autograder.twins.wirings import ENCODER

_SUM = "norm(embed + pos_embed(0…T-1) + type_embed(0))"

ENCODED = [
    Mistake(
        "type-embedding-missing",
        "type_embed is never added: although there is one kind of segment only, its "
        f"row 0 is part of every token's vector: {_SUM}.",
        kind=lambda model: 0.0,
    ),
    Mistake(
        "type-embedding-of-row-1",
        "Row 1 of type_embed is added, which stands for a second segment; all tokens "
        "here are of type 0.",
        kind=lambda model: model.type_embed.weight[1],
    ),
    Mistake(
        "types-from-the-mask",
        "The mask is taken for the tokens' types, so real ones get row 1 of "
        "type_embed; all tokens are of type 0.",
        wrong=built(solutions.MiniLMEncoder, types_from_mask),
    ),
    Mistake(
        "positions-missing",
        f"pos_embed is never added, so the order of the tokens has no effect: {_SUM}.",
        placed=lambda model, tokens: torch.zeros(
            (), dtype=model.embed.weight.dtype, device=tokens.device
        ),
    ),
    Mistake(
        "positions-from-1",
        "The positions start at 1; they are 0 to T - 1, torch.arange(T).",
        placed=at(lambda tokens: counted(tokens) + 1),
    ),
    Mistake(
        "positions-from-2",
        "The positions start at 2, as in RoBERTa; BERT's are 0 to T - 1, "
        "torch.arange(T).",
        placed=at(lambda tokens: counted(tokens) + 2),
    ),
    Mistake(
        "positions-of-real-tokens",
        "The positions are counted over the real tokens alone (a cumsum of the mask, "
        "as in RoBERTa); BERT counts all places, 0 to T - 1: torch.arange(T).",
        wrong=built(solutions.MiniLMEncoder, real_ones_counted),
    ),
    Mistake(
        "positions-of-the-batch",
        "The positions are counted along the batch; they are a token's place in its "
        "text, 0 to T - 1: torch.arange(tokens.shape[1]).",
        placed=at(
            lambda tokens: torch.arange(len(tokens), device=tokens.device)[:, None]
        ),
    ),
    Mistake(
        "embeddings-scaled",
        "The token embeddings are multiplied by √d_model, as in the paper of 2017; "
        "BERT has no such scaling (factor).",
        scale=lambda model: float(model.embed.embedding_dim**0.5),
    ),
    Mistake(
        "norm-of-the-embeddings-missing",
        "`norm` is never applied: the sum of the three embeddings is normed before the "
        f"first block, {_SUM}.",
        start=lambda model, x, normed: x,
    ),
    Mistake(
        "norm-at-the-end",
        "`norm` stands at the end, as in MiniGPT; here it norms the embeddings, before "
        f"the first block: {_SUM}.",
        start=lambda model, x, normed: x,
        end=lambda model, x: model.norm(x),
    ),
    Mistake(
        "norm-at-the-end-too",
        "`norm` is applied once more at the end; it norms the embeddings only, since "
        "each block ends with a norm of its own.",
        end=lambda model, x: model.norm(x),
    ),
    Mistake(
        "normed-before-positions",
        "Only the token embeddings are normed, before positions and type are added; "
        f"the sum of the three is normed: {_SUM}.",
        wrong=built(solutions.MiniLMEncoder, norm_early),
    ),
    Mistake(
        "normed-before-type",
        "type_embed is added after the norm; the sum of all three embeddings is "
        f"normed: {_SUM}.",
        kind=lambda model: 0.0,
        start=lambda model, x, normed: normed(model.norm, x) + of_type_0(model),
    ),
    Mistake(
        "pre-norm",
        "The blocks are pre-norm, x + sublayer(norm(x)), as in chapter 9; BERT is "
        "post-norm: norm1(x + attn(x, mask)), then norm2(x + ff(x)).",
        place_a=pre,
        place_f=pre,
    ),
    Mistake(
        "norm-on-the-branch",
        "The norms stand on the branch, x + norm(sublayer(x)); BERT norms the sum: "
        "norm1(x + attn(x, mask)), then norm2(x + ff(x)).",
        place_a=on_branch,
        place_f=on_branch,
    ),
    Mistake(
        "no-residual",
        "The residual connections are missing: it is norm1(x + attn(x, mask)), then "
        "norm2(x + ff(x)).",
        place_a=skipless,
        place_f=skipless,
    ),
    Mistake(
        "no-residual-attention",
        "The residual connection around the attention is missing: it is norm1(x + "
        "attn(x, mask)), and x is part of the sum.",
        place_a=skipless,
    ),
    Mistake(
        "no-residual-feed-forward",
        "The residual connection around the feed-forward network is missing: it is "
        "norm2(x + ff(x)), and x is part of the sum.",
        place_f=skipless,
    ),
    Mistake(
        "pre-norm-feed-forward",
        "The attention is post-norm, as it should be, but the feed-forward network is "
        "pre-norm, x + ff(norm2(x)); here too the sum is normed: norm2(x + ff(x)).",
        place_f=pre,
    ),
    Mistake(
        "residual-from-the-block's-input",
        "The second residual connection starts from the block's input; it starts from "
        "what norm1 gave: x = norm1(x + attn(x, mask)), then norm2(x + ff(x)) with "
        "this new x.",
        place_f=lambda x, sublayer, norm, start: norm(start + sublayer(x)),
    ),
    *chosen(ENCODER, "norms-exchanged"),
    Mistake(
        "norm1-twice",
        "norm1 stands behind the feed-forward network too; that is norm2's place: look "
        "for copy and paste.",
        norm_f=1,
    ),
    Mistake(
        "eps-1e-5",
        "The norms' eps is 1e-5, what nn.LayerNorm takes by itself; the published "
        "weights were trained with 1e-12: nn.LayerNorm(d_model, eps=1e-12).",
        eps=1e-5,
        eps_start=1e-5,
    ),
    Mistake(
        "eps-1e-5-in-the-blocks",
        "The blocks' norms have an eps of 1e-5, what nn.LayerNorm takes by itself; "
        "every norm has 1e-12, theirs too: nn.LayerNorm(d_model, eps=1e-12).",
        eps=1e-5,
    ),
    Mistake(
        "eps-1e-5-of-the-embeddings",
        "The norm of the embeddings has an eps of 1e-5, what nn.LayerNorm takes by "
        "itself; every norm has 1e-12: nn.LayerNorm(d_model, eps=1e-12).",
        eps_start=1e-5,
    ),
    Mistake(
        "tanh-gelu",
        "The feed-forward network bends with GELU's tanh form; the published weights "
        "were trained with the exact one, as in FeedForward.",
        bend=lambda x: F.gelu(x, approximate="tanh"),
    ),
    *chosen(INSIDE, "relu-for-gelu", "no-activation"),
    Mistake(
        "sigmoid-approximation",
        "The feed-forward network bends with x * sigmoid(1.702 x), the sigmoid "
        "approximation of GELU; it should be the exact GELU.",
        bend=lambda x: x * torch.sigmoid(1.702 * x),
    ),
    Mistake(
        "padding-attended",
        "The mask has no effect: real tokens attend to the padding. Give every block "
        "mask[:, None, None, :].",
        sees=lambda mask: None,
    ),
    Mistake(
        "mask-inverted",
        "The mask is inverted: tokens attend to the padding and not to the real "
        "tokens. An additive mask, of 0 and -10000, is read so too. True means real, "
        "may attend.",
        sees=lambda mask: (mask == 0)[:, None, None, :],
    ),
    Mistake(
        "mask-on-the-queries",
        "The mask hides queries, mask[:, None, :, None], instead of keys or along with "
        "them: a query that may see nothing gives NaN. Hide the keys alone, the last "
        "axis: mask[:, None, None, :].",
        sees=lambda mask: mask[:, None, :, None],
    ),
    Mistake(
        "padding-zeroed-first",
        "The vectors at the padding are set to 0 before the blocks; they stay as they "
        "are, since the mask hides them: nothing is multiplied by it.",
        wrong=built(solutions.MiniLMEncoder, zeroed_first),
    ),
    Mistake(
        "padding-zeroed-last",
        "The vectors at the padding are set to 0 in the end; they come back as the "
        "last block leaves them, and mean_pool passes them over.",
        wrong=built(solutions.MiniLMEncoder, zeroed_last),
    ),
    Mistake(
        "causal-encoder",
        "The attention is causal: tokens see no later ones. An encoder is "
        "bidirectional: every real token is seen by all.",
        causal=True,
    ),
    Mistake(
        "dropout-left-in",
        "A dropout is at work on the sublayers' results; this encoder has none.",
        drop=0.1,
    ),
    Mistake(
        "first-block-only",
        "Only the first of two blocks runs: `return` stands in the loop, the loop is "
        "missing, or it leaves the last block out. All n_layers follow one another.",
        run=lambda model, x, run: in_order(model, x, run, 1),
    ),
    Mistake(
        "last-block-only",
        "Every block reads the embeddings instead of what the block before it left: "
        "x = block(x, mask).",
        run=lambda model, x, run: run(model.blocks[-1], x),
    ),
    Mistake(
        "one-vector-a-text",
        "One vector a text comes back; the encoder gives one a token, (B, T, C), and "
        "mean_pool comes after it.",
        end=lambda model, x: x[:, 0],
    ),
    Mistake(
        "normalised",
        "The vectors are scaled to length 1; the encoder returns them as the last "
        "block leaves them, and mean_pool scales its mean.",
        end=lambda model, x: F.normalize(x, dim=-1),
    ),
    *chosen(EXCHANGED, "k-and-v-exchanged"),
    *chosen(LAYER, "no-output-projection"),
    *chosen(SCORES, "unscaled-scores"),
    *chosen(MASKS, "blocked-scores-zero", "mask-added", "mask-after-softmax"),
    *listed_wrongly(solutions.MiniLMEncoder),
    Mistake(
        "twelve-heads-always",
        "Every block has 12 heads, whatever num_heads says: pass num_heads on.",
        wrong=built(solutions.MiniLMEncoder, twelve_heads),
    ),
    Mistake(
        "one-type",
        "type_embed has one row; it has 2, as published, though only row 0 is used "
        "here.",
        wrong=built(solutions.MiniLMEncoder, one_type),
    ),
]
