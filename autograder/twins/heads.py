"""Cutting, joining and repeating heads, with a switch wherever people slip."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.definition import Mistake

Turn = Callable[[Tensor], Tensor]


def cut(x: Tensor, num_heads: int) -> Tensor:
    B, T, C = x.shape
    return x.reshape(B, T, num_heads, C // num_heads).transpose(1, 2)


def join(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def cut_by_view(x: Tensor, num_heads: int) -> Tensor:
    B, T, C = x.shape
    return x.reshape(B, num_heads, T, C // num_heads)


def cut_dealt_out(x: Tensor, num_heads: int) -> Tensor:
    B, T, C = x.shape
    return x.reshape(B, T, C // num_heads, num_heads).permute(0, 3, 1, 2)


def cut_after_transposing(x: Tensor, num_heads: int) -> Tensor:
    B, T, C = x.shape
    return x.transpose(1, 2).reshape(B, num_heads, T, C // num_heads)


def cut_not_moved(x: Tensor, num_heads: int) -> Tensor:
    B, T, C = x.shape
    return x.reshape(B, T, num_heads, C // num_heads)


def join_by_reshape(x: Tensor) -> Tensor:
    B, h, T, d_k = x.shape
    return x.reshape(B, T, h * d_k)


def join_dealt_out(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1).flatten(2)


def join_wrong_axes(x: Tensor) -> Tensor:
    B, h, T, d_k = x.shape
    return x.transpose(2, 3).reshape(B, T, h * d_k)


def as_they_are(x: Tensor) -> Tensor:
    return x


def split(
    x: Tensor,
    num_heads: int,
    *,
    cut: Callable[[Tensor, int], Tensor] = cut,
    refuse: bool = True,
    then: Callable[[Tensor], Tensor] = as_they_are,
) -> Tensor:
    """The twin of split_heads."""
    if x.shape[-1] % num_heads:
        if refuse:
            raise ValueError("no equal heads")
        x = x[..., : x.shape[-1] // num_heads * num_heads]
    return then(cut(x, num_heads))


def overlapping(x: Tensor, num_heads: int) -> Tensor:
    d_k = x.shape[-1] // num_heads
    return torch.stack([x[..., i : i + d_k] for i in range(num_heads)], dim=1)


def slices_of_num_heads(x: Tensor, num_heads: int) -> Tensor:
    B, T, C = x.shape
    if C % num_heads:
        raise ValueError("no equal heads")
    return x.reshape(B, T, C // num_heads, num_heads).transpose(1, 2)


def merge(x: Tensor, *, join: Callable[[Tensor], Tensor] = join) -> Tensor:
    """The twin of merge_heads."""
    return join(x)


def repeated(
    x: Tensor,
    groups: int,
    *,
    share: Callable[[Tensor, int], Tensor] = lambda x, groups: x.repeat_interleave(
        groups, dim=1
    ),
) -> Tensor:
    """The twin of repeat_kv."""
    return share(x, groups)


def tiled(x: Tensor, groups: int) -> Tensor:
    return x.repeat(1, groups, 1, 1)


def along(dim: int) -> Callable[[Tensor, int], Tensor]:
    return lambda x, groups: x.repeat_interleave(groups, dim=dim)


def with_group_axis(x: Tensor, groups: int) -> Tensor:
    return x[:, :, None].expand(-1, -1, groups, -1, -1)


def view_after_expand(x: Tensor, groups: int) -> Tensor:
    B, kv, T, d = x.shape
    return with_group_axis(x, groups).view(B, kv * groups, T, d)


#: How heads are cut wrongly.
CUTS = [
    Mistake(
        "cut-by-view",
        "The heads are cut by view or reshape alone, (B, T, C) to (B, h, T, d_k): each "
        "head gets whole tokens from a piece of the text. Cut the features first, "
        "(B, T, h, d_k), then exchange axes 1 and 2.",
        cut=cut_by_view,
    ),
    Mistake(
        "features-dealt-out",
        "The features are dealt out like cards: head i gets every h-th one from i on. "
        "It should get the i-th contiguous slice: cut C as (h, d_k), not (d_k, h).",
        cut=cut_dealt_out,
    ),
    Mistake(
        "reshaped-after-transposing",
        "The features are moved before they are cut, and the reshape then mixes them "
        "with positions. Cut first, (B, T, h, d_k), then exchange axes 1 and 2.",
        cut=cut_after_transposing,
    ),
]

#: How heads are joined wrongly.
JOINS = [
    Mistake(
        "joined-by-reshape",
        "The heads are joined by a reshape straight from (B, h, T, d_k), which mixes "
        "tokens. Transpose back to (B, T, h, d_k) first, then reshape.",
        join=join_by_reshape,
    ),
    Mistake(
        "joined-dealt-out",
        "The heads' features are interleaved, one of each head in turn; they should "
        "lie head by head: transpose to (B, T, h, d_k), then reshape.",
        join=join_dealt_out,
    ),
    Mistake(
        "joined-from-wrong-axes",
        "The last two axes are exchanged before the reshape; it is the heads' axis "
        "that must move, behind the positions: transpose(1, 2).",
        join=join_wrong_axes,
    ),
    Mistake(
        "view-after-transpose",
        "After a transpose the numbers don't lie in the order that view needs: take "
        "reshape, or contiguous() before view.",
        join=lambda x: x.transpose(1, 2).view(x.shape[0], x.shape[2], -1),
    ),
]

#: What else goes wrong in split_heads.
SPLITS = [
    Mistake(
        "heads-not-moved",
        "The heads stand behind the positions, (B, T, h, d_k); exchange axes 1 and "
        "2 to get (B, h, T, d_k).",
        cut=cut_not_moved,
    ),
    Mistake(
        "positions-last",
        "Positions and features are swapped: this is (B, h, d_k, T), where "
        "(B, h, T, d_k) is asked for. Transpose the last two axes.",
        then=lambda heads: heads.mT,
    ),
    Mistake(
        "heads-before-batch",
        "The heads stand before the batch, (h, B, T, d_k): stack or move them to "
        "axis 1.",
        then=lambda heads: heads.transpose(0, 1),
    ),
    Mistake(
        "folded-into-batch",
        "The heads are folded into the batch axis, (B*h, T, d_k); they should have "
        "an axis of their own: four axes, (B, h, T, d_k).",
        then=lambda heads: heads.flatten(0, 1),
    ),
    Mistake(
        "slices-of-num-heads",
        "The slices are num_heads features wide, and there are C / num_heads of "
        "them: it should be num_heads slices, each C / num_heads wide.",
        wrong=slices_of_num_heads,
    ),
    Mistake(
        "slices-overlap",
        "The slices overlap: each begins one feature after the one before (i : i + "
        "d_k). Head i begins at i * d_k.",
        cut=overlapping,
    ),
    Mistake(
        "features-dropped",
        "If C is not divisible by num_heads, the features that remain are silently "
        "dropped: raise a ValueError instead.",
        refuse=False,
    ),
]

#: What else goes wrong in merge_heads.
MERGES = [
    Mistake(
        "not-joined",
        "The heads have moved behind the positions, (B, T, h, d_k), but still have "
        "an axis of their own: flatten the last two into one.",
        join=lambda x: x.transpose(1, 2),
    ),
    Mistake(
        "heads-averaged",
        "The heads are averaged; they should be laid side by side, h*d_k features.",
        join=lambda x: x.mean(dim=1),
    ),
    Mistake(
        "heads-added-up",
        "The heads are added up; they should be laid side by side, h*d_k features.",
        join=lambda x: x.sum(dim=1),
    ),
    Mistake(
        "joined-along-positions",
        "The heads are joined along the positions, (B, h*T, d_k); they should be "
        "joined along the features, (B, T, h*d_k).",
        join=lambda x: x.flatten(1, 2),
    ),
]

#: How key/value heads are repeated wrongly.
REPEATS = [
    Mistake(
        "tiled-heads",
        "The heads are tiled, 0 1 2 0 1 2, where each should be repeated on its "
        "own, 0 0 1 1 2 2: repeat_interleave, not repeat.",
        share=tiled,
    ),
    Mistake(
        "not-repeated",
        "The heads come back as they are; each should be repeated, groups copies of it "
        "side by side.",
        share=lambda x, groups: x,
    ),
    Mistake(
        "one-copy-too-many",
        "There are groups + 1 copies of each head, one too many: groups of them are "
        "asked for, the original included.",
        share=lambda x, groups: x.repeat_interleave(groups + 1, dim=1),
    ),
    Mistake(
        "flattened",
        "Without dim, repeat_interleave lays all numbers in one row and repeats each; "
        "it is the heads that should be repeated: dim=1.",
        share=lambda x, groups: x.repeat_interleave(groups),
    ),
    Mistake(
        "positions-repeated",
        "The positions are repeated and the sequence gets longer; it is the heads "
        "that should be repeated: dim=1.",
        share=along(2),
    ),
    Mistake(
        "positions-tiled",
        "The sequence is laid behind itself and gets longer; it is the heads that "
        "should be repeated: axis 1.",
        share=lambda x, groups: x.repeat(1, 1, groups, 1),
    ),
    Mistake(
        "batch-repeated",
        "The batch is repeated; it is the heads that should be: dim=1.",
        share=along(0),
    ),
    Mistake(
        "batch-tiled",
        "The batch is laid behind itself; it is the heads that should be repeated: "
        "axis 1.",
        share=lambda x, groups: x.repeat(groups, 1, 1, 1),
    ),
    Mistake(
        "features-repeated",
        "The features are repeated, so that heads get wider; it is the heads "
        "themselves that should be repeated: dim=1.",
        share=along(3),
    ),
    Mistake(
        "group-axis-left",
        "The copies have an axis of their own, (B, h_kv, groups, T, d): flatten heads "
        "and groups into one axis, (B, h_kv*groups, T, d).",
        share=with_group_axis,
    ),
    Mistake(
        "view-after-expand",
        "An expanded tensor holds its numbers once only, and view can't join the "
        "axes: take reshape.",
        share=view_after_expand,
    ),
]
