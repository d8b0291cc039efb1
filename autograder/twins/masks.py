"""Square masks with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.definition import Mistake

Form = Callable[[Tensor], Tensor]
Sees = Callable[..., Tensor]  #: of query and key positions, which pairs may attend


def as_bool(mask: Tensor) -> Tensor:
    return mask


def added(mask: Tensor) -> Tensor:
    """A mask to be added to the scores: 0 or -inf."""
    nothing = torch.zeros(mask.shape, device=mask.device)
    return nothing.masked_fill(~mask, -torch.inf)


def pairs(n: int) -> tuple[Tensor, Tensor]:
    """The positions of queries, as a column, and of keys, as a row."""
    at = torch.arange(n)
    return at[:, None], at


def back(i: Tensor, j: Tensor) -> Tensor:
    return j <= i


def causal(n: int, *, sees: Sees = back, form: Form = as_bool) -> Tensor:
    """The twin of causal_mask."""
    return form(sees(*pairs(n)).expand(n, n))


def window_back(i: Tensor, j: Tensor, window: int) -> Tensor:
    return (j <= i) & (j > i - window)


def sliding(
    n: int,
    window: int,
    *,
    sees: Sees = window_back,
    refuse: Callable[[int, int], bool] = lambda n, window: window < 1,
    form: Form = as_bool,
) -> Tensor:
    """The twin of sliding_window_mask."""
    if refuse(n, window):
        raise ValueError("no window")
    return form(sees(*pairs(n), window).expand(n, n))


def prefix_free(i: Tensor, j: Tensor, prefix: int) -> Tensor:
    return (j <= i) | ((i < prefix) & (j < prefix))


def prefixed(
    n: int, prefix: int, *, sees: Sees = prefix_free, form: Form = as_bool
) -> Tensor:
    """The twin of prefix_mask."""
    return form(sees(*pairs(n), prefix).expand(n, n))


#: What goes wrong with what a mask holds, whichever it is.
FORMS = [
    Mistake(
        "mask-of-floats",
        "The mask holds the floats 0 and 1; it should be bool, True = may attend: give "
        "dtype=torch.bool, or end with .bool().",
        form=torch.Tensor.float,
    ),
    Mistake(
        "mask-of-integers",
        "The mask holds the integers 0 and 1; it should be bool, True = may attend: "
        "give dtype=torch.bool, or end with .bool().",
        form=torch.Tensor.long,
    ),
    Mistake(
        "mask-to-be-added",
        "This is an additive mask, 0 where attention is allowed and -inf where not; "
        "the one asked for is boolean, True = may attend.",
        form=added,
    ),
]

#: The same for square masks.
SQUARE: list[Mistake] = [
    *FORMS,
    Mistake(
        "axes-for-batch-and-heads",
        "The mask's shape has axes of its own for batch and heads, (1, 1, n, n); it "
        "should be (n, n), which broadcasts by itself.",
        form=lambda mask: mask[None, None],
    ),
    Mistake(
        "batch-axis",
        "The mask has an axis of its own in front, (1, n, n); it should be (n, n), "
        "which broadcasts by itself.",
        form=lambda mask: mask[None],
    ),
]


def _sees(id: str, message: str, sees: Sees) -> Mistake:
    return Mistake(id, message, sees=sees)


#: How a causal mask goes wrong.
CAUSAL = [
    _sees(
        "mask-inverted",
        "The mask is inverted: True marks the future, which is blocked. Here True "
        "means may attend, so it is True at key j <= query i; the opposite is "
        "nn.MultiheadAttention's convention, as of triu(diagonal=1).",
        lambda i, j: j > i,
    ),
    _sees(
        "triangle-flipped",
        "The triangle is flipped: each position sees itself and what comes after it, "
        "as of triu. Rows are queries, columns are keys: take the lower triangle, "
        "tril.",
        lambda i, j: j >= i,
    ),
    _sees(
        "diagonal-missing",
        "The diagonal is False, so a position doesn't see itself, and the first one "
        "sees nothing at all: True belongs on the diagonal too, j <= i.",
        lambda i, j: j < i,
    ),
    _sees(
        "one-ahead",
        "Each position sees one step ahead, the very token it is to predict: off by "
        "one. The lower triangle ends at the diagonal, j <= i.",
        lambda i, j: j <= i + 1,
    ),
    _sees(
        "everything-allowed",
        "Everything is True, so the future is visible: keep the lower triangle only "
        "(tril), True at key j <= query i.",
        lambda i, j: (i == i) & (j == j),
    ),
    _sees(
        "nothing-but-itself",
        "Only the diagonal is True, so each position sees itself alone: what came "
        "before it belongs to it too, j <= i.",
        lambda i, j: i == j,
    ),
    _sees(
        "nothing-but-the-one-before",
        "Each position sees itself and the one before it only; everything that came "
        "before belongs to it, j <= i.",
        lambda i, j: (j <= i) & (j >= i - 1),
    ),
]

#: How a window goes wrong.
WINDOWS = [
    _sees(
        "window-too-long-by-one",
        "The window is too long by one, off by one: each position sees `window` keys "
        "and itself. Its own counts as one of them: i - window < j.",
        lambda i, j, w: (j <= i) & (j >= i - w),
    ),
    _sees(
        "window-too-short-by-one",
        "The window is too short by one, off by one: each position sees `window` - 1 "
        "keys, its own included. It should see `window`: i - window < j <= i.",
        lambda i, j, w: (j <= i) & (j > i - w + 1),
    ),
    _sees(
        "own-position-missing",
        "A position doesn't see itself: the window holds the `window` keys before it. "
        "Its own counts as the last of them: i - window < j <= i.",
        lambda i, j, w: (j < i) & (j >= i - w),
    ),
    _sees(
        "diagonal-missing",
        "The diagonal is False: a position doesn't see itself, and so one key too few. "
        "Its own belongs to the window: i - window < j <= i.",
        lambda i, j, w: (j < i) & (j > i - w),
    ),
    _sees(
        "window-both-ways",
        "The window reaches forward as far as back, so the future is visible: it is "
        "causal, j <= i, as well.",
        lambda i, j, w: (i - j).abs() < w,
    ),
    _sees(
        "window-both-ways-and-too-long",
        "The window reaches `window` keys back and as many forward: it is causal, "
        "j <= i, and a position's own key counts, i - window < j.",
        lambda i, j, w: (i - j).abs() <= w,
    ),
    _sees(
        "window-centred",
        "The window is centred, half of it before and half after each position, so the "
        "future is visible: it ends at the position itself, i - window < j <= i.",
        lambda i, j, w: (i - j).abs() <= w // 2,
    ),
    _sees(
        "not-causal",
        "The window cuts off the past, but the whole future is visible: it is causal, "
        "j <= i, as well.",
        lambda i, j, w: j > i - w,
    ),
    _sees(
        "window-ahead",
        "The window lies ahead, in the future: each position sees itself and the keys "
        "after it. Rows are queries, columns keys, and it looks back: "
        "i - window < j <= i.",
        lambda i, j, w: (j >= i) & (j < i + w),
    ),
    _sees(
        "looks-ahead-by-the-window",
        "Everything up to `window` - 1 keys ahead is visible, as of tril(window - 1): "
        "tril cuts off the future, triu(1 - window) the far past.",
        lambda i, j, w: j < i + w,
    ),
    _sees(
        "window-ignored",
        "`window` has no effect: this is the plain causal mask. Keys more than "
        "`window` - 1 back are blocked too.",
        lambda i, j, w: j <= i,
    ),
    _sees(
        "window-outside",
        "The keys inside the window are blocked and those before it are visible: the "
        "other way round, i - window < j <= i.",
        lambda i, j, w: j <= i - w,
    ),
    _sees(
        "mask-inverted",
        "The mask is inverted: here True means may attend, so it is True inside the "
        "window, i - window < j <= i.",
        lambda i, j, w: ~window_back(i, j, w),
    ),
    _sees(
        "blocks",
        "The text is cut into blocks of `window` positions, which see their own block "
        "only; the window slides, so each position sees the `window` keys up to its "
        "own.",
        lambda i, j, w: (j <= i) & (i // w == j // w),
    ),
    _sees(
        "diagonal-signs-turned",
        "The triangles of tril and triu hardly meet: the diagonal's sign is turned. "
        "The window begins below the main diagonal, at triu(1 - window).",
        lambda i, j, w: (j <= i) & (j >= i + w - 1),
    ),
    Mistake(
        "small-window-not-refused",
        "A window below 1 should raise a ValueError, since a position sees at least "
        "itself; here it goes on silently.",
        refuse=lambda n, window: False,
    ),
    Mistake(
        "window-of-one-refused",
        "A window of 1 is refused, off by one; there each position sees itself alone. "
        "Raise below 1 only: window < 1.",
        refuse=lambda n, window: window <= 1,
    ),
    Mistake(
        "long-window-refused",
        "A window longer than the text is refused; it is legal, and the mask is the "
        "plain causal one. Raise below 1 only: window < 1.",
        refuse=lambda n, window: not 1 <= window <= n,
    ),
]

#: How a prefix goes wrong.
PREFIXES = [
    _sees(
        "prefix-causal",
        "The prefix is causal like the rest, and `prefix` has no effect: the first "
        "`prefix` positions see each other both ways (bidirectional).",
        lambda i, j, p: j <= i,
    ),
    _sees(
        "prefix-sees-everything",
        "The first `prefix` positions see everything, what comes after the prefix "
        "too: whole rows were set. They see each other only, i < prefix and "
        "j < prefix.",
        lambda i, j, p: (j <= i) | (i < p),
    ),
    _sees(
        "prefix-too-long-by-one",
        "The prefix is too long by one, off by one: position `prefix` belongs to the "
        "rest already, since counting starts at 0: i < prefix and j < prefix.",
        lambda i, j, p: (j <= i) | ((i <= p) & (j <= p)),
    ),
    _sees(
        "prefix-too-short-by-one",
        "The prefix is too short by one, off by one: its last position is left out. "
        "It is i < prefix and j < prefix, counted from 0.",
        lambda i, j, p: (j <= i) | ((i < p - 1) & (j < p - 1)),
    ),
    _sees(
        "rest-sees-nothing",
        "Only the prefix is visible, and only to itself: the rest is causal and looks "
        "back. Join both with `|`, not `&`.",
        lambda i, j, p: (i < p) & (j < p),
    ),
    _sees(
        "both-conditions-at-once",
        "The two conditions are joined by `&`, so that no more is allowed than under a "
        "causal mask: join causal and prefix by `|`, or.",
        lambda i, j, p: (j <= i) & (i < p) & (j < p),
    ),
    _sees(
        "prefix-hidden-from-the-rest",
        "The rest doesn't see the prefix: prefix and rest are cut apart. The rest "
        "looks back over everything before it, the prefix included.",
        lambda i, j, p: ((i < p) & (j < p)) | ((i >= p) & (j >= p) & (j <= i)),
    ),
    _sees(
        "only-the-prefix-seen",
        "All positions see the prefix and nothing else; the rest is causal, so it "
        "looks back over its own kind too: j <= i, or j < prefix.",
        lambda i, j, p: (j < p) & (i == i),
    ),
    _sees(
        "rest-sees-itself-only",
        "After the prefix a position sees itself alone; the rest is causal and looks "
        "back over everything before it: j <= i.",
        lambda i, j, p: ((i < p) & (j < p)) | (i == j),
    ),
    _sees(
        "looks-ahead-by-the-prefix",
        "Every position looks `prefix` keys ahead, as of tril(prefix): it should be "
        "only the first `prefix` positions that see each other.",
        lambda i, j, p: j <= i + p,
    ),
    _sees(
        "looks-ahead-by-the-prefix-less-one",
        "Every position looks `prefix` - 1 keys ahead, as of tril(prefix - 1): it "
        "should be only the first `prefix` positions that see each other.",
        lambda i, j, p: j <= i + p - 1,
    ),
    _sees(
        "prefix-at-the-end",
        "It is the last positions that see each other both ways; the prefix are the "
        "first `prefix` ones.",
        lambda i, j, p: (j <= i) | ((i >= i.shape[0] - p) & (j >= i.shape[0] - p)),
    ),
    _sees(
        "all-but-the-prefix",
        "It is the positions after the prefix that see each other both ways; it should "
        "be the first `prefix` ones.",
        lambda i, j, p: (j <= i) | ((i >= p) & (j >= p)),
    ),
    _sees(
        "everything-allowed",
        "Everything is True, so the future is visible: after the prefix, positions "
        "look back only.",
        lambda i, j, p: (i == i) & (j == j),
    ),
    _sees(
        "diagonal-missing",
        "After the prefix a position doesn't see itself: the diagonal is False. It is "
        "causal, j <= i, or inside the prefix.",
        lambda i, j, p: (j < i) | ((i < p) & (j < p)),
    ),
    _sees(
        "triangle-flipped",
        "The triangle is flipped: after the prefix, positions see themselves and what "
        "comes after. Rows are queries, columns keys: the lower triangle, tril.",
        lambda i, j, p: (j >= i) | ((i < p) & (j < p)),
    ),
    _sees(
        "mask-inverted",
        "The mask is inverted: here True means may attend, so it is True at j <= i and "
        "inside the prefix.",
        lambda i, j, p: ~prefix_free(i, j, p),
    ),
]
