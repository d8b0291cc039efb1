"""The gradient's reach once more, with a switch wherever people slip."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.definition import Mistake
from autograder.twins.rnn import read

Change = Callable[[Tensor], Tensor]


def _last(states: Tensor) -> Tensor:
    return states[:, -1].sum()


def _size(gradient: Tensor) -> Tensor:
    size: Tensor = gradient.norm(dim=(0, 2))
    return size


def reach(
    x: Tensor,
    W_x: Tensor,
    W_h: Tensor,
    b: Tensor,
    *,
    of: Change = _last,
    size: Change = _size,
    anywhere: bool = True,
    backward: bool = False,
    own: bool = True,
    attached: bool = False,
    measured_inside: bool = True,
) -> Tensor:
    """`gradient_reach`: what is differentiated, how it is measured, what it leaves."""
    with torch.set_grad_enabled(anywhere or torch.is_grad_enabled()):
        leaf = x.detach().clone().requires_grad_() if own else x.requires_grad_()
        loss = of(read(leaf, W_x, W_h, b))
        if backward:
            loss.backward()  # type: ignore[no-untyped-call]
            assert leaf.grad is not None
            return size(leaf.grad)
        (gradient,) = torch.autograd.grad(loss, leaf, create_graph=attached)
        found = size(gradient)
    return found if measured_inside else size(gradient)


def _own_state(x: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    found = []
    for t in range(x.shape[1]):
        leaf = x.detach().clone().requires_grad_()
        with torch.enable_grad():
            loss = read(leaf, W_x, W_h, b)[:, t].sum()
            (gradient,) = torch.autograd.grad(loss, leaf)
        found.append(gradient[:, t].norm())
    return torch.stack(found)


def _by_hand(
    turned: Change = lambda W_h: W_h.mT,
    slope: Change = lambda h: 1 - h * h,
) -> Callable[..., Tensor]:
    """The gradients by the chain rule, from the last state back."""

    @torch.no_grad()
    def reached(x: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
        states = read(x, W_x, W_h, b)
        gradient = torch.ones_like(states[:, -1])
        found = []
        for h in reversed(states.unbind(1)):
            delta = gradient * slope(h)
            found.append((delta @ W_x.mT).norm())
            gradient = delta @ turned(W_h)
        return torch.stack(found[::-1])

    return reached


def _to_the_states(x: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    with torch.no_grad():
        states = read(x, W_x, W_h, b)
        gradient = torch.ones_like(states[:, -1])
        found = [gradient.norm()]
        for h in reversed(states[:, 1:].unbind(1)):
            gradient = gradient * (1 - h * h) @ W_h.mT
            found.append(gradient.norm())
    return torch.stack(found[::-1])


REACH = [
    Mistake(
        "all-states",
        "The sum of all hidden states is differentiated; only the last one is asked "
        "for: states[:, -1].",
        of=torch.sum,
    ),
    Mistake(
        "last-of-the-batch",
        "The last sequence of the batch is differentiated, states[-1]; the last state "
        "in time is states[:, -1].",
        of=lambda states: states[-1].sum(),
    ),
    Mistake(
        "first-state",
        "The first hidden state is differentiated, which later tokens can't reach; the "
        "last one is states[:, -1].",
        of=lambda states: states[:, 0].sum(),
    ),
    Mistake(
        "mean-of-the-last",
        "The mean of the last state is differentiated; its sum is asked for.",
        of=lambda states: states[:, -1].mean(),
    ),
    Mistake(
        "squares-of-the-last",
        "The squares of the last state are summed before differentiating; its plain "
        "sum is asked for.",
        of=lambda states: states[:, -1].square().sum(),
    ),
    Mistake(
        "length-of-the-last",
        "The length of the last state is differentiated; its sum is asked for.",
        of=lambda states: states[:, -1].norm(),
    ),
    Mistake(
        "averaged-over-the-batch",
        "A norm per sample is taken and averaged; it should be one norm over batch and "
        "features together.",
        size=lambda gradient: gradient.norm(dim=-1).mean(dim=0),
    ),
    Mistake(
        "added-over-the-batch",
        "A norm per sample is taken and these are added; it should be one norm over "
        "batch and features together.",
        size=lambda gradient: gradient.norm(dim=-1).sum(dim=0),
    ),
    Mistake(
        "batch-kept",
        "There is a norm per sample and token, (B, T); the norm runs over the batch "
        "too: dim=(0, 2).",
        size=lambda gradient: gradient.norm(dim=-1),
    ),
    Mistake(
        "summed-before-the-norm",
        "The gradients are summed over the batch before the norm, so they cancel; "
        "the norm runs over batch and features together.",
        size=lambda gradient: gradient.sum(dim=0).norm(dim=-1),
    ),
    Mistake(
        "averaged-before-the-norm",
        "The gradients are averaged over the batch before the norm, so they cancel; "
        "the norm runs over batch and features together.",
        size=lambda gradient: gradient.mean(dim=0).norm(dim=-1),
    ),
    Mistake(
        "root-missing",
        "These are the sums of squares; a norm is the square root of that.",
        size=lambda gradient: gradient.square().sum(dim=(0, 2)),
    ),
    Mistake(
        "root-mean-square",
        "The squares are averaged before the root; a norm adds them up.",
        size=lambda gradient: gradient.square().mean(dim=(0, 2)).sqrt(),
    ),
    Mistake(
        "magnitudes-added",
        "The magnitudes are added up; the norm adds squares and takes the root.",
        size=lambda gradient: gradient.abs().sum(dim=(0, 2)),
    ),
    Mistake(
        "magnitudes-averaged",
        "The magnitudes are averaged; the norm adds squares and takes the root.",
        size=lambda gradient: gradient.abs().mean(dim=(0, 2)),
    ),
    Mistake(
        "largest-only",
        "The largest magnitude is taken; the norm adds squares and takes the root.",
        size=lambda gradient: gradient.abs().amax(dim=(0, 2)),
    ),
    Mistake(
        "signed-sum",
        "The gradient's numbers are added with their signs, so they cancel; the norm "
        "adds squares and takes the root.",
        size=lambda gradient: gradient.sum(dim=(0, 2)),
    ),
    Mistake(
        "one-number",
        "There is one norm for the whole sequence; each token has its own: "
        "dim=(0, 2) leaves the time axis.",
        size=torch.norm,
    ),
    Mistake(
        "by-distance",
        "The reaches stand by distance, the last token first; they should stand in the "
        "order of the tokens.",
        size=lambda gradient: _size(gradient).flip(0),
    ),
    Mistake(
        "share-of-the-largest",
        "The reaches are divided by the largest of them; leave them as they are.",
        size=lambda gradient: _size(gradient) / _size(gradient).amax(),
    ),
    Mistake(
        "first-sample-only",
        "Only the first sample's gradient is measured; the norm runs over the batch "
        "too: dim=(0, 2).",
        size=lambda gradient: gradient[0].norm(dim=-1),
    ),
    Mistake(
        "fails-under-no-grad",
        "Inside torch.no_grad() this raises, since nothing is recorded there: do the "
        "work under `with torch.enable_grad():`.",
        anywhere=False,
    ),
    Mistake(
        "gradients-left-behind",
        ".backward() adds to the `.grad` of every parameter that is being trained; "
        "torch.autograd.grad(loss, x) returns the gradient and touches none.",
        backward=True,
    ),
    Mistake(
        "gradient-in-the-callers-x",
        "The gradient is read from x.grad of the caller's own x, where one may be "
        "already and where it now stays; use torch.autograd.grad(loss, x) on a "
        "detached x.",
        wrong=lambda x, W_x, W_h, b: reach(x, W_x, W_h, b, own=False, backward=True),
    ),
    Mistake(
        "attached",
        "The result still hangs on a graph: leave out create_graph, or detach it.",
        attached=True,
    ),
    Mistake(
        "attached-unless-under-no-grad",
        "The result still hangs on a graph: leave out create_graph, or detach it.",
        attached=True,
        measured_inside=False,
    ),
    Mistake(
        "own-state",
        "Each token's reach into its own state is measured; it is the last hidden "
        "state that is to be differentiated, for every token.",
        wrong=_own_state,
    ),
    Mistake(
        "to-the-states",
        "The gradient is taken with respect to the hidden states h_t; asked for is "
        "that with respect to the inputs x_t.",
        wrong=_to_the_states,
    ),
    Mistake(
        "way-back-not-transposed",
        "Going back a step, the gradient is multiplied by W_h; on the way back it is "
        "W_h transposed.",
        wrong=_by_hand(turned=lambda W_h: W_h),
    ),
    Mistake(
        "slope-forgotten",
        "The slope of the tanh is missing: going back through it multiplies the "
        "gradient by its derivative, 1 - h².",
        wrong=_by_hand(slope=torch.ones_like),
    ),
]
