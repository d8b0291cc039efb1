"""The two residual connections once more, with a switch wherever people slip."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.definition import Mistake

Function = Callable[[Tensor], Tensor]


def same(x: Tensor) -> Tensor:
    return x


def pre(
    x: Tensor,
    sublayer: Function,
    norm: Function,
    *,
    skip: Callable[[Tensor, Tensor], Tensor] = lambda x, normed: x,
    branch_input: Callable[[Tensor, Tensor], Tensor] = lambda x, normed: normed,
    branch: Function = same,
    join: Callable[[Tensor, Tensor], Tensor] = torch.add,
    norm_runs: int = 1,
    sublayer_runs: int = 1,
) -> Tensor:
    """The twin of pre_norm."""
    normed = [norm(x) for _ in range(norm_runs)][-1]
    given = branch_input(x, normed)
    reworked = [sublayer(given) for _ in range(sublayer_runs)][-1]
    return join(skip(x, normed), branch(reworked))


def post(
    x: Tensor,
    sublayer: Function,
    norm: Function,
    *,
    skip: Function = same,
    branch: Function = same,
    join: Callable[[Tensor, Tensor], Tensor] = torch.add,
    norm_runs: int = 1,
    sublayer_runs: int = 1,
) -> Tensor:
    """The twin of post_norm."""
    reworked = [sublayer(x) for _ in range(sublayer_runs)][-1]
    total = join(skip(x), branch(reworked))
    return [norm(total) for _ in range(norm_runs)][-1]


def _norm_unused(x: Tensor, sublayer: Function, norm: Function) -> Tensor:
    total = x + sublayer(x)
    norm(total)
    return total


#: How the sum, the skip and the calls go wrong in both.
SHARED = [
    Mistake(
        "branch-subtracted",
        "The sublayer's result is subtracted; it is added to x.",
        join=torch.sub,
    ),
    Mistake(
        "multiplied",
        "x and the sublayer's result are multiplied; a residual connection adds them.",
        join=torch.mul,
    ),
    Mistake(
        "averaged",
        "The sum is halved, an average of x and the sublayer's result; a residual "
        "connection adds them without a scale.",
        join=lambda x, y: (x + y) / 2,
    ),
    Mistake(
        "sum-over-root-two",
        "The sum is divided by √2; a residual connection adds without a scale.",
        join=lambda x, y: (x + y) / 2**0.5,
    ),
    Mistake(
        "branch-halved",
        "The sublayer's result is scaled by 0.5; it is added as it is.",
        branch=lambda y: y / 2,
    ),
    Mistake(
        "branch-detached",
        "The sublayer's result is detached (detach, no_grad, .data), so the "
        "gradients are wrong: no gradient reaches the sublayer.",
        branch=lambda y: y.detach(),
    ),
    Mistake(
        "norm-runs-twice",
        "The norm is called twice; each function runs once: keep its result in a "
        "variable.",
        norm_runs=2,
    ),
    Mistake(
        "sublayer-runs-twice",
        "The sublayer is called twice; each function runs once: keep its result in a "
        "variable.",
        sublayer_runs=2,
    ),
]

#: How pre_norm goes wrong.
PRE = [
    Mistake(
        "skip-from-the-normed",
        "The skip starts at the normed input: norm(x) + sublayer(norm(x)). The stream "
        "itself is never normed, so it should be x + sublayer(norm(x)): don't "
        "overwrite x.",
        skip=lambda x, normed: normed,
    ),
    Mistake(
        "skip-missing",
        "The residual connection is missing: this is the sublayer's result alone. It "
        "should be x + sublayer(norm(x)).",
        join=lambda x, y: y,
    ),
    Mistake(
        "post-norm-instead",
        "This is post-norm, norm(x + sublayer(x)); pre-norm gives the sublayer the "
        "normed input and leaves the sum alone: x + sublayer(norm(x)).",
        wrong=lambda x, sublayer, norm: norm(x + sublayer(x)),
    ),
    Mistake(
        "norm-on-the-branch",
        "The norm is applied to the sublayer's output, x + norm(sublayer(x)); it is "
        "the other order, norm first: x + sublayer(norm(x)).",
        wrong=lambda x, sublayer, norm: x + norm(sublayer(x)),
    ),
    Mistake(
        "norm-missing",
        "The norm is never applied: this is x + sublayer(x). It should be x + "
        "sublayer(norm(x)).",
        wrong=lambda x, sublayer, norm: x + sublayer(x),
    ),
    Mistake(
        "norm-unused",
        "The norm runs, but the sublayer is given x itself: x + sublayer(x). It should "
        "be given the normed x: x + sublayer(norm(x)).",
        branch_input=lambda x, normed: x,
    ),
    Mistake(
        "sublayer-missing",
        "The sublayer is never used: this is x + norm(x). It should be x + "
        "sublayer(norm(x)).",
        wrong=lambda x, sublayer, norm: x + norm(x),
    ),
    Mistake(
        "norm-alone",
        "This is norm(x) alone: sublayer and skip are missing, x + sublayer(norm(x)).",
        wrong=lambda x, sublayer, norm: norm(x),
    ),
    Mistake(
        "normed-plus-sublayer-of-x",
        "Norm and sublayer stand side by side, norm(x) + sublayer(x); the sublayer "
        "works on the normed input and the skip is x: x + sublayer(norm(x)).",
        wrong=lambda x, sublayer, norm: norm(x) + sublayer(x),
    ),
    Mistake(
        "normed-before-and-after",
        "The norm is called twice, once before the sublayer and once on the sum, as in "
        "post-norm; pre-norm leaves the sum alone: x + sublayer(norm(x)).",
        wrong=lambda x, sublayer, norm: norm(x + sublayer(norm(x))),
    ),
    Mistake(
        "normed-on-both-sides",
        "The norm is called twice, before and after the sublayer (a sandwich); "
        "pre-norm norms its input only: x + sublayer(norm(x)).",
        wrong=lambda x, sublayer, norm: x + norm(sublayer(norm(x))),
    ),
    Mistake(
        "normed-twice",
        "The input is normed twice in a row, norm(norm(x)); once is enough: x + "
        "sublayer(norm(x)).",
        wrong=lambda x, sublayer, norm: x + sublayer(norm(norm(x))),
    ),
    Mistake(
        "sublayer-twice-in-a-row",
        "The sublayer is applied twice in a row, sublayer(sublayer(…)); it runs once: "
        "x + sublayer(norm(x)).",
        wrong=lambda x, sublayer, norm: x + sublayer(sublayer(norm(x))),
    ),
    Mistake(
        "order-exchanged",
        "The order is swapped and the skip is missing, norm(sublayer(x)); it should be "
        "x + sublayer(norm(x)).",
        wrong=lambda x, sublayer, norm: norm(sublayer(x)),
    ),
    Mistake(
        "skip-inside-the-sublayer",
        "The skip is added before the sublayer, sublayer(x + norm(x)); it goes around "
        "norm and sublayer together: x + sublayer(norm(x)).",
        wrong=lambda x, sublayer, norm: sublayer(x + norm(x)),
    ),
    Mistake(
        "skip-twice",
        "x is added twice, 2x + sublayer(norm(x)); the skip is x itself, without a "
        "scale.",
        skip=lambda x, normed: 2 * x,
    ),
    Mistake(
        "skip-halved",
        "The skip is scaled by 0.5; x is added as it is: x + sublayer(norm(x)).",
        skip=lambda x, normed: x / 2,
    ),
    Mistake(
        "skip-detached",
        "The skip is detached (detach, no_grad, .data), so the gradients are wrong: "
        "the gradient's straight way past the sublayer is the point of it.",
        skip=lambda x, normed: x.detach(),
    ),
    Mistake(
        "norm-detached",
        "The normed input is detached (detach, no_grad, .data), so the gradients are "
        "wrong: no gradient flows back through the norm.",
        branch_input=lambda x, normed: normed.detach(),
    ),
    Mistake(
        "norm-input-detached",
        "The norm's input is detached (detach, no_grad, .data), so the gradients are "
        "wrong: no gradient flows back through norm and sublayer.",
        wrong=lambda x, sublayer, norm: x + sublayer(norm(x.detach())),
    ),
    *SHARED,
]

#: How post_norm goes wrong.
POST = [
    Mistake(
        "pre-norm-instead",
        "This is pre-norm, x + sublayer(norm(x)); post-norm norms the sum, after the "
        "addition: norm(x + sublayer(x)).",
        wrong=lambda x, sublayer, norm: x + sublayer(norm(x)),
    ),
    Mistake(
        "norm-on-the-branch",
        "Only the sublayer's output is normed, x + norm(sublayer(x)); the norm comes "
        "after the addition, around the whole sum: norm(x + sublayer(x)).",
        wrong=lambda x, sublayer, norm: x + norm(sublayer(x)),
    ),
    Mistake(
        "skip-missing",
        "The residual connection is missing: this is norm(sublayer(x)). It should be "
        "norm(x + sublayer(x)).",
        join=lambda x, y: y,
    ),
    Mistake(
        "norm-missing",
        "The norm is never applied: this is x + sublayer(x). It should be norm(x + "
        "sublayer(x)).",
        wrong=lambda x, sublayer, norm: x + sublayer(x),
    ),
    Mistake(
        "norm-unused",
        "The norm runs, but the sum comes back without it: return norm(x + "
        "sublayer(x)).",
        wrong=_norm_unused,
    ),
    Mistake(
        "sublayer-missing",
        "The sublayer is never used: this is norm(x). It should be norm(x + "
        "sublayer(x)).",
        wrong=lambda x, sublayer, norm: norm(x),
    ),
    Mistake(
        "skip-after-the-norm",
        "x is added once more after the norm, x + norm(x + sublayer(x)); in post-norm "
        "the norm comes last: norm(x + sublayer(x)).",
        wrong=lambda x, sublayer, norm: x + norm(x + sublayer(x)),
    ),
    Mistake(
        "normed-before-and-after",
        "The norm is called twice, before the sublayer (as in pre-norm) and on the "
        "sum; post-norm norms the sum only: norm(x + sublayer(x)).",
        wrong=lambda x, sublayer, norm: norm(x + sublayer(norm(x))),
    ),
    Mistake(
        "branch-normed-too",
        "The norm is called twice, on the sublayer's output and on the sum; post-norm "
        "norms the sum only: norm(x + sublayer(x)).",
        wrong=lambda x, sublayer, norm: norm(x + norm(sublayer(x))),
    ),
    Mistake(
        "normed-twice",
        "The sum is normed twice in a row, norm(norm(…)); once is enough: norm(x + "
        "sublayer(x)).",
        wrong=lambda x, sublayer, norm: norm(norm(x + sublayer(x))),
    ),
    Mistake(
        "skip-and-branch-normed-apart",
        "The norm is called twice, on x and on the sublayer's output; it is called "
        "once, on their sum: norm(x + sublayer(x)).",
        wrong=lambda x, sublayer, norm: norm(x) + norm(sublayer(x)),
    ),
    Mistake(
        "normed-plus-sublayer",
        "The skip is normed and the sublayer's result added afterwards, norm(x) + "
        "sublayer(x); the norm goes around the sum: norm(x + sublayer(x)).",
        wrong=lambda x, sublayer, norm: norm(x) + sublayer(x),
    ),
    Mistake(
        "skip-from-the-normed",
        "x is normed first and then used twice, norm(x) + sublayer(norm(x)); post-norm "
        "norms the sum, last: norm(x + sublayer(x)).",
        wrong=lambda x, sublayer, norm: (lambda h: h + sublayer(h))(norm(x)),
    ),
    Mistake(
        "order-exchanged",
        "The order is swapped and the skip is missing, sublayer(norm(x)); it should be "
        "norm(x + sublayer(x)).",
        wrong=lambda x, sublayer, norm: sublayer(norm(x)),
    ),
    Mistake(
        "sublayer-twice-in-a-row",
        "The sublayer is applied twice in a row, sublayer(sublayer(x)); it runs once: "
        "norm(x + sublayer(x)).",
        wrong=lambda x, sublayer, norm: norm(x + sublayer(sublayer(x))),
    ),
    Mistake(
        "skip-twice",
        "x is added twice, norm(2x + sublayer(x)); the skip is x itself, without a "
        "scale.",
        skip=lambda x: 2 * x,
    ),
    Mistake(
        "skip-halved",
        "The skip is scaled by 0.5; x is added as it is: norm(x + sublayer(x)).",
        skip=lambda x: x / 2,
    ),
    Mistake(
        "skip-detached",
        "The skip is detached (detach, no_grad, .data), so the gradients are wrong: "
        "the gradient's straight way past the sublayer is the point of it.",
        skip=lambda x: x.detach(),
    ),
    Mistake(
        "sublayer-input-detached",
        "The sublayer's input is detached (detach, no_grad, .data), so the gradients "
        "are wrong: no gradient flows back through the sublayer.",
        wrong=lambda x, sublayer, norm: norm(x + sublayer(x.detach())),
    ),
    *SHARED,
]
