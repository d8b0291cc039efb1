"""The slips with attention in tiles, by name."""

from autograder.definition import Mistake
from autograder.twins.online import divided_each_time, mean_of_softmaxes, not_shifted
from autograder.twins.online_slips import RESCALING
from autograder.twins.tiles import (
    added_to_queries_shape,
    all_at_once,
    as_wide_as_queries,
    filled_up,
    heads_cut,
    own_block_only,
    up_to_the_diagonal,
    whole,
    whole_blocks_only,
    with_weights,
)

TILED = [
    *RESCALING,
    Mistake(
        "unscaled-scores",
        "The scores are not divided by √d_k.",
        scale=lambda Q, V, block_size: 1.0,
    ),
    Mistake(
        "divided-by-d_k",
        "The scores are divided by d_k, not by its square root.",
        scale=lambda Q, V, block_size: 1 / Q.shape[-1],
    ),
    Mistake(
        "divided-by-root-of-d_v",
        "The scores are divided by √d_v, the length of the values; it should be √d_k, "
        "that of queries and keys.",
        scale=lambda Q, V, block_size: V.shape[-1] ** -0.5,
    ),
    Mistake(
        "mask-in-tile-positions",
        "The causal mask compares positions within a tile: every tile is cut along its "
        "own diagonal. Add the tile's start to the positions of queries and keys.",
        offsets=(False, False),
    ),
    Mistake(
        "key-offset-missing",
        "The causal mask counts a tile's keys from 0: add the tile's start, so that "
        "positions are those in the whole sequence.",
        offsets=(True, False),
    ),
    Mistake(
        "query-offset-missing",
        "The causal mask counts a block's queries from 0: add the block's start, so "
        "that positions are those in the whole sequence.",
        offsets=(False, True),
    ),
    Mistake(
        "key-offset-missing-on-the-diagonal",
        "On the diagonal's tile keys are counted from 0 and queries from the block's "
        "start, so nothing is hidden there: count both in the whole sequence.",
        offsets=(True, False),
        tiles_seen=up_to_the_diagonal,
    ),
    Mistake(
        "earlier-tiles-cut",
        "The causal mask compares positions within a tile, so that tiles of earlier "
        "keys are cut along their diagonal too. Add the tile's start to the positions.",
        offsets=(False, False),
        tiles_seen=up_to_the_diagonal,
    ),
    Mistake(
        "later-tiles-seen",
        "If causal, only the tile on the diagonal is masked; tiles of later keys are "
        "still seen. Skip them.",
        diagonal_only=True,
    ),
    Mistake(
        "diagonal-tile-skipped",
        "If causal, the tile on the diagonal is skipped along with the later ones. It "
        "holds keys up to each query's own: mask it instead.",
        tiles_seen=lambda start, at: at < start,
    ),
    Mistake(
        "blocked-scores-zero",
        "Later keys get a score of 0, which still weighs e⁰ = 1; give them -inf.",
        blocks=lambda scores, hidden: scores.masked_fill(hidden, 0.0),
    ),
    Mistake(
        "blocked-too-low-for-half",
        "What is filled in for later keys, such as -1e9, doesn't fit into half "
        "precision: take -torch.inf.",
        blocks=lambda scores, hidden: scores.masked_fill(hidden, -1e9),
    ),
    Mistake(
        "own-position-hidden",
        "The causal mask hides the query's own position too; a query sees itself: hide "
        "key > query only.",
        hidden=lambda query, key: key >= query,
    ),
    Mistake(
        "one-ahead-seen",
        "The causal mask lets a query see one position ahead: hide every key > query.",
        hidden=lambda query, key: key > query + 1,
    ),
    Mistake(
        "one-ahead-seen-in-its-block",
        "The causal mask lets a query see one position ahead, within its block: hide "
        "every key > query.",
        hidden=lambda query, key: key > query + 1,
        tiles_seen=up_to_the_diagonal,
    ),
    Mistake(
        "past-hidden",
        "The causal mask is upside down: it hides the past instead of the future.",
        hidden=lambda query, key: key < query,
    ),
    Mistake(
        "causal-ignored",
        "causal has no effect: queries see later keys.",
        obeys=lambda causal: False,
    ),
    Mistake(
        "causal-always",
        "The attention is causal although causal is False.",
        obeys=lambda causal: True,
    ),
    Mistake(
        "scores-in-the-block-zero",
        "On the diagonal's tile later keys get a score of 0, which still weighs "
        "e⁰ = 1; give them -inf.",
        blocks=lambda scores, hidden: scores.masked_fill(hidden, 0.0),
        tiles_seen=up_to_the_diagonal,
    ),
    Mistake(
        "last-keys-dropped",
        "The last block of keys is left out where block_size doesn't divide their "
        "number: let the last block be shorter.",
        key_ends=lambda n, m, block_size: whole(m, block_size),
    ),
    Mistake(
        "keys-counted-as-queries",
        "The blocks of keys end where the queries end: go through all of K, which may "
        "be longer than Q.",
        key_ends=lambda n, m, block_size: min(m, -(-n // block_size) * block_size),
    ),
    Mistake(
        "last-queries-dropped",
        "The last block of queries is left out where block_size doesn't divide their "
        "number: let the last block be shorter.",
        query_ends=whole,
    ),
    Mistake(
        "last-blocks-dropped",
        "The last blocks of queries and keys are left out where block_size doesn't "
        "divide their number: let them be shorter.",
        key_ends=lambda n, m, block_size: whole(m, block_size),
        query_ends=whole,
    ),
    Mistake(
        "last-queries-left-zero",
        "Where block_size doesn't divide the number of queries, the rows of the last "
        "block stay 0: let the last block be shorter.",
        query_ends=whole,
        give=filled_up,
    ),
    Mistake(
        "last-blocks-left-out",
        "Where block_size doesn't divide n, the last block of keys is left out, and "
        "the last queries' rows stay 0: let the last blocks be shorter.",
        key_ends=lambda n, m, block_size: whole(m, block_size),
        query_ends=whole,
        give=filled_up,
    ),
    Mistake(
        "padding-weighed",
        "The last block of keys is filled up with zeros, and these are weighed: a "
        "score of 0 still weighs e⁰ = 1. Give padding a score of -inf.",
        padded=True,
    ),
    Mistake(
        "mean-of-blocks",
        "Each block of keys is normalised by itself, and the results are averaged; "
        "there is one softmax over all the keys, with one denominator.",
        combine=mean_of_softmaxes,
    ),
    Mistake(
        "divided-each-time",
        "The sum is divided after every block of keys, and then added to as if it "
        "weren't: divide once, after the last one.",
        combine=divided_each_time,
    ),
    Mistake(
        "not-shifted",
        "e^score overflows: take off the highest score so far before the exponential.",
        combine=not_shifted,
    ),
    Mistake(
        "own-block-only",
        "Each block of queries sees only its own block of keys; it has to go through "
        "all the keys, block after block.",
        wrong=own_block_only,
    ),
    Mistake(
        "whole-blocks-seen",
        "If causal, whole later blocks are hidden, but within its own block a query "
        "sees later keys: the tile on the diagonal needs a mask of its own.",
        hidden=lambda query, key: key < 0,
        tiles_seen=up_to_the_diagonal,
    ),
    Mistake(
        "ragged-block-refused",
        "It raises an error where n is no multiple of block_size: the last block is "
        "then shorter.",
        wrong=whole_blocks_only,
    ),
    Mistake(
        "result-in-the-queries-shape",
        "The result is put into a tensor with the shape of Q; it has the values' "
        "width, V.shape[-1], which may be another.",
        wrong=as_wide_as_queries,
    ),
    Mistake(
        "summed-in-the-queries-shape",
        "The sum starts in the shape of Q; it has the values' width, V.shape[-1], "
        "which may be another.",
        wrong=added_to_queries_shape,
    ),
    Mistake(
        "heads-cut-into-blocks",
        "The blocks are cut from axis 1, the heads; the sequence is axis -2.",
        wrong=heads_cut,
    ),
    Mistake(
        "all-at-once",
        "A tensor of n x n elements is made, the scores (or a mask) of all queries and "
        "keys at once; never hold more than some queries' scores with some keys.",
        wrong=all_at_once,
    ),
    Mistake(
        "weights-returned-too",
        "The weights come back too, n x n of them; return the output alone.",
        wrong=with_weights,
    ),
]
