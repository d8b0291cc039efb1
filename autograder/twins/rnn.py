"""The recurrent network once more, with a switch wherever people slip."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.definition import Mistake

Change = Callable[[Tensor], Tensor]
Step = Callable[[Tensor, Tensor, Tensor], Tensor]


def same(x: Tensor) -> Tensor:
    return x


def inside(from_token: Tensor, from_state: Tensor, b: Tensor) -> Tensor:
    return (from_token + from_state + b).tanh()


def read(
    x: Tensor,
    W_x: Tensor,
    W_h: Tensor,
    b: Tensor,
    *,
    tokens: Change = same,
    start: float = 0.0,
    recurrent: Change = same,
    projection: Change = same,
    step: Step = inside,
    carried: Change = same,
    result: Callable[[list[Tensor]], Tensor] = lambda states: torch.stack(states, 1),
    after: Change = same,
) -> Tensor:
    """`rnn_forward`: how the tokens are walked, what a step does, what comes back."""
    states = [x.new_full((x.shape[0], W_h.shape[0]), start)]
    for x_t in tokens(x).unbind(1):
        h = carried(states[-1])
        states.append(step(x_t @ projection(W_x), h @ recurrent(W_h), b))
    return after(result(states[1:]))


def _along_the_batch(x: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    return read(x.transpose(0, 1), W_x, W_h, b).transpose(0, 1)


def _squashed_in_the_end(x: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    return read(x, W_x, W_h, b, step=lambda t, s, b: t + s + b).tanh()


def _with_the_start(x: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    states = read(x, W_x, W_h, b)
    return torch.cat([torch.zeros_like(states[:, :1]), states], dim=1)


def _before_the_step(x: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    return _with_the_start(x, W_x, W_h, b)[:, :-1]


def _added_on(x: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    h = x.new_zeros(x.shape[0], W_h.shape[0])
    states = []
    for x_t in x.unbind(1):
        h = h + torch.tanh(x_t @ W_x + h @ W_h + b)
        states.append(h)
    return torch.stack(states, dim=1)


def _started_in_float32(x: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    h = torch.zeros(x.shape[0], W_h.shape[0], device=x.device)
    states = []
    for x_t in x.unbind(1):
        h = torch.tanh(x_t @ W_x + h @ W_h + b)
        states.append(h)
    return torch.stack(states, dim=1)


READ = [
    Mistake(
        "last-state-only",
        "Only the last hidden state comes back; all of them are asked for, (B, T, H): "
        "keep each in a list and stack them.",
        result=lambda states: states[-1],
    ),
    Mistake(
        "time-first",
        "The states are stacked along a new first axis, (T, B, H); time is the second: "
        "torch.stack(states, dim=1).",
        result=torch.stack,
    ),
    Mistake(
        "stacked-at-the-end",
        "The states are stacked along a new last axis, (B, H, T); time is the second: "
        "torch.stack(states, dim=1).",
        result=lambda states: torch.stack(states, dim=-1),
    ),
    Mistake(
        "states-joined",
        "The states are joined end to end (cat); give them an axis of their own: "
        "torch.stack(states, dim=1).",
        result=lambda states: torch.cat(states, dim=-1),
    ),
    Mistake(
        "state-not-carried",
        "The state isn't carried on, so every token is looked at by itself: set h to 0 "
        "once, before the loop, and add h @ W_h in every step.",
        carried=torch.zeros_like,
    ),
    Mistake(
        "state-cut-off",
        "The state is detached at every step: the values are right, but no gradient "
        "gets past one step.",
        carried=lambda h: h.detach(),
    ),
    Mistake(
        "along-the-batch",
        "The loop walks along the batch, the first axis of x, so sequences mix; it "
        "should walk along time, x[:, t].",
        wrong=_along_the_batch,
    ),
    Mistake(
        "from-the-end",
        "The tokens are read from the last to the first.",
        tokens=lambda x: x.flip(1),
    ),
    Mistake(
        "same-token-again",
        "Every step reads the first token, x[:, 0]; step t reads x[:, t].",
        tokens=lambda x: x[:, :1].expand_as(x),
    ),
    Mistake(
        "states-in-reverse",
        "The states come back in reverse order, the last first.",
        after=lambda states: states.flip(1),
    ),
    Mistake(
        "last-state-everywhere",
        "Every state is the last one: a single tensor is overwritten in place and "
        "appended again and again. Make a new h in each step.",
        result=lambda states: torch.stack([states[-1]] * len(states), 1),
    ),
    Mistake(
        "added-to-the-old-state",
        "The old state is added to the tanh, as in a residual connection; the new "
        "state is the tanh alone.",
        wrong=_added_on,
    ),
    Mistake(
        "start-state-included",
        "The start state h_0 is in the result, T + 1 states; the first to return is "
        "the one after the first token.",
        wrong=_with_the_start,
    ),
    Mistake(
        "state-before-the-token",
        "Each state is kept before its token is read, so the result starts with h_0 "
        "and lacks the last: append h after the step.",
        wrong=_before_the_step,
    ),
    Mistake(
        "started-at-one",
        "The first hidden state is all ones; h_0 is 0.",
        start=1.0,
    ),
    Mistake(
        "no-tanh",
        "The tanh is missing.",
        step=lambda from_token, from_state, b: from_token + from_state + b,
    ),
    Mistake(
        "sigmoid",
        "The step ends in a sigmoid; it should be a tanh.",
        step=lambda from_token, from_state, b: (from_token + from_state + b).sigmoid(),
    ),
    Mistake(
        "relu",
        "The step ends in a ReLU; it should be a tanh.",
        step=lambda from_token, from_state, b: (from_token + from_state + b).relu(),
    ),
    Mistake(
        "tanh-apart",
        "The tanh is taken of the token's part alone, and the state's is added "
        "outside; it goes around the whole sum.",
        step=lambda from_token, from_state, b: (from_token + b).tanh() + from_state,
    ),
    Mistake(
        "two-tanhs",
        "Token and state go through a tanh each; one tanh goes around their sum.",
        step=lambda from_token, from_state, b: (
            (from_token + b).tanh() + from_state.tanh()
        ),
    ),
    Mistake(
        "tanh-in-the-end",
        "The state is handed on without its tanh, which is taken of the result only; "
        "each state goes through it before it is handed on.",
        wrong=_squashed_in_the_end,
    ),
    Mistake(
        "no-bias",
        "The bias b is never added.",
        step=lambda from_token, from_state, b: (from_token + from_state).tanh(),
    ),
    Mistake(
        "bias-outside",
        "The bias is added after the tanh; it belongs inside.",
        step=lambda from_token, from_state, b: (from_token + from_state).tanh() + b,
    ),
    Mistake(
        "bias-twice",
        "The bias is added twice, once with each product; it belongs in once.",
        step=lambda from_token, from_state, b: (from_token + from_state + 2 * b).tanh(),
    ),
    Mistake(
        "recurrent-transposed",
        "W_h is used transposed, as torch.nn.RNN keeps it; here it is h @ W_h.",
        recurrent=lambda W: W.mT,
    ),
    Mistake(
        "projection-transposed",
        "W_x is used transposed, as torch.nn.RNN keeps it; here it is x_t @ W_x.",
        projection=lambda W: W.mT,
    ),
    Mistake(
        "first-token-left-out",
        "The first token is never read, and T - 1 states come back: start at t = 0.",
        tokens=lambda x: x[:, 1:],
    ),
    Mistake(
        "last-token-left-out",
        "The last token is never read, and T - 1 states come back, off by one: "
        "range(T) already ends before T.",
        tokens=lambda x: x[:, :-1],
    ),
    Mistake(
        "started-in-float32",
        "The first state is made in float32, whatever x is: take x's type and device, "
        "x.new_zeros(B, H).",
        wrong=_started_in_float32,
    ),
]
