"""Examine a mended patient: what it does, told in facts, however it was mended.

Weights stay as the answer draws them, so what is asked holds of any right answer with a
wide margin: a game is learned or it isn't, a gradient arrives or it doesn't.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from autograder.probes.facts import kind_of

Parts = Mapping[str, Any]
Facts = dict[str, str]

#: A loss below this counts as learned; guessing gives 1.4 and more.
LEARNED = 0.4

#: How many names are told apart in the game of looking up.
NAMES = 12


def _told(facts: Facts) -> dict[str, Any]:
    return {"kind": "facts"} | {f"out.{name}": fact for name, fact in facts.items()}


def _form(out: Any) -> str:
    return str(tuple(out.shape)) if isinstance(out, Tensor) else kind_of(out)


def decoder(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """Which tokens move a decoder's logits, and whether it learns to count."""
    tokens: Tensor = x["args"]["tokens"]
    vocab = 7
    model = theirs(vocab, 16, 12)
    model.eval()
    with torch.no_grad():
        logits = model(tokens)
        facts = {"shape of the logits": _form(logits)}
        if not isinstance(logits, Tensor) or logits.dim() != 3:
            return _told(facts)
        facts |= _sight(model, tokens, logits, vocab)
        apart = (model(tokens[:1]) - logits[:1]).abs().max()
    facts["logits of a text alone and in a batch"] = _same(apart, logits)
    model.train()
    generator = Generator().manual_seed(0)

    def lesson() -> Tensor:
        first = torch.randint(vocab, (8, 1), generator=generator)
        texts = (first + 2 * torch.arange(9)) % vocab
        return F.cross_entropy(
            model(texts[:, :-1]).flatten(0, 1), texts[:, 1:].flatten()
        )

    facts["counting on in twos, after 60 steps"] = _learned(lesson, model, 60)
    return _told(facts)


def _sight(model: nn.Module, tokens: Tensor, logits: Tensor, vocab: int) -> Facts:
    """Which later tokens a position sees, and which earlier ones it misses."""
    T, size = tokens.shape[1], float(logits.abs().max())
    ahead, missed = set(), set()
    for j in range(T):
        other = tokens.clone()
        other[:, j] = (other[:, j] + 3) % vocab
        moved = (model(other) - logits).abs().amax((0, 2))  # (T,)
        ahead |= {j - i for i in range(j) if float(moved[i]) > 1e-5 * size}
        missed |= {i - j for i in range(j, T) if float(moved[i]) < 1e-7 * size}
    return {
        "later tokens that a position sees": _places(ahead, "ahead"),
        "tokens up to its own that a position doesn't see": _places(missed, "back"),
    }


def _places(steps: set[int], where: str) -> str:
    if not steps:
        return "none"
    listed = " and ".join(map(str, sorted(steps)[:2]))
    return f"those {listed}{' or more' if len(steps) > 2 else ''} {where}"


def _same(apart: Tensor, like: Tensor) -> str:
    return "the same" if float(apart) <= 1e-4 * float(like.abs().max()) else "others"


def _learned(lesson: Callable[[], Tensor], module: nn.Module, most: int) -> str:
    """Whether a module learns from lessons, each a loss; it ends when it has."""
    optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
    losses: list[float] = []
    for _ in range(most):
        loss = lesson()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(float(loss.detach()))
        if len(losses) > 5 and max(losses[-5:]) < LEARNED / 4:
            break
    return "learned" if sum(losses[-5:]) / 5 < LEARNED else "not learned"


class _Lookup(nn.Module):
    """Some names, each with one of four colours, and one name again: which colour?

    An attention layer is all there is to find it with.
    """

    def __init__(self, layer: nn.Module, names: int, width: int) -> None:
        super().__init__()
        self.layer, self.count = layer, names
        self.names, self.colours = nn.Embedding(names, width), nn.Embedding(5, width)
        self.head = nn.Linear(width, 4)

    def lesson(self, generator: Generator) -> Tensor:
        B = 24
        names = torch.rand(B, self.count, generator=generator).argsort(-1)
        worn = torch.randint(4, (B, self.count), generator=generator)
        place = torch.randint(self.count, (B,), generator=generator)
        rows = torch.arange(B)
        names = torch.cat([names, names[rows, place, None]], 1)
        shown = torch.cat([worn, torch.full((B, 1), 4)], 1)
        out, _ = self.layer(self.names(names) + self.colours(shown))
        return F.cross_entropy(self.head(out[:, -1]), worn[rows, place])


def lookup(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """What an attention layer's weights are like, and if it learns to look up."""
    given: Tensor = x["args"]["x"]
    T, C = given.shape[1:]
    layer, mask = theirs(C, 2), torch.ones(T, T).tril()
    with torch.no_grad():
        found = layer(given, mask)
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            return _told({"what comes back": _form(found)})
        out, weights = found
        facts = {
            "what comes back": "output and weights",
            "shape of the output": _form(out),
            "shape of the weights": _form(weights),
        }
        if not isinstance(weights, Tensor) or weights.dim() != 4:
            return _told(facts)
        sums = (weights.sum(-1) - 1).abs().max()
        facts["sums of the weights' rows"] = _same(sums, torch.ones(1))
        blocked = weights.masked_select(mask == 0).abs().max()
        facts["weights where the mask is 0"] = "0" if float(blocked) < 1e-6 else "not 0"
        small = bool((weights < -1e-6).any())
        facts["weights below 0"] = "some" if small else "none"
    game, generator = _Lookup(layer, NAMES, C), Generator().manual_seed(0)
    what = f"looking a name up among {NAMES}, after 250 steps"
    facts[what] = _learned(lambda: game.lesson(generator), game, 250)
    return _told(facts)


def depth(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """How large the gradient is in each block of a deep stack, and at its input."""
    n_layers = x["args"]["n_layers"]
    given: Tensor = x["args"]["x"].clone().requires_grad_()
    model = theirs(given.shape[-1], n_layers)
    out = model(given)
    facts = {"shape of the output": _form(out)}
    blocks = list(getattr(model, "blocks", []))
    facts["number of blocks"] = str(len(blocks))
    if not isinstance(out, Tensor) or out.shape != given.shape or len(blocks) < 2:
        return _told(facts)
    weigh = torch.randn(out.shape, generator=Generator().manual_seed(1))
    (out * weigh).sum().backward()  # type: ignore[no-untyped-call]
    sizes = [_gradient(block.parameters()) for block in blocks]
    facts["blocks that no gradient reaches"] = _none([size == 0 for size in sizes])
    last = max(sizes[-1], 1e-30)
    facts["gradient in the first block, beside the last one's"] = _beside(
        sizes[0] / last
    )
    facts["smallest gradient of a block, beside the last one's"] = _beside(
        min(sizes) / last
    )
    facts["gradient at the input"] = "none" if given.grad is None else "there"
    return _told(facts)


def _gradient(parameters: Any) -> float:
    squares = [float(p.grad.pow(2).sum()) for p in parameters if p.grad is not None]
    return float(sum(squares) ** 0.5)


def _none(found: list[bool]) -> str:
    return f"{sum(found)} of {len(found)}" if any(found) else "none"


def _beside(ratio: float) -> str:
    """How large one gradient is beside another, in words."""
    if ratio >= 0.4:
        return "of about its size" if ratio < 1000 else "over 1,000 times as large"
    for power in (1, 2, 3, 4, 5, 6):
        if ratio >= 0.4 * 10.0**-power:
            return f"about {10**power:,} times smaller"
    return "over a million times smaller"


def rotating(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """What attention with RoPE gives for a text in chunks, with a dict for a cache."""
    args: dict[str, Any] = x["args"]
    given: Tensor = args["x"]
    layer = parts["MultiHeadAttention"](given.shape[-1], args["num_heads"])
    found: list[Tensor] = []
    facts: Facts = {}
    with torch.no_grad():
        for name, W in zip("qkvo", args["weights"], strict=True):
            getattr(layer, f"W_{name}").weight.copy_(W * W.shape[-1] ** -0.5)
            getattr(layer, f"W_{name}").bias.zero_()
        cache: dict[str, Any] = {}
        start = 0
        for size in map(int, args["chunks"].split()):
            out = theirs(layer, given[:, start : start + size].clone(), cache)
            start += size
            facts[f"shape of the result up to token {start}"] = _form(out)
            if not isinstance(out, Tensor) or out.dim() != 3:
                return _told(facts)
            found.append(out)
    whole = torch.cat(found, 1)
    return _told(facts) | {"out": whole}


def placed(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """The result in a given dtype, and how many positions have a vector of another."""
    args: dict[str, Any] = x["args"]
    given = args["x"].to(getattr(torch, args["dtype"]))
    before = given.clone()
    out = theirs(given)
    facts = {"shape of the result": _form(out)}
    if not isinstance(out, Tensor) or out.shape != given.shape:
        return _told(facts)
    facts["dtype of the result"] = str(out.dtype).removeprefix("torch.")
    alone = theirs(torch.zeros_like(given[:1]))[0]
    doubles = len(alone) - len(alone.unique(dim=0))
    facts[f"positions of {len(alone):,} whose vector another has too"] = (
        str(doubles) if doubles else "none"
    )
    facts["the input afterwards"] = (
        "as it was" if torch.equal(before, given) else "changed"
    )
    return _told(facts) | {"out": out.detach().float()}


class _Moves:
    """How far the weights move in each step, looked at when the model runs.

    AdamW moves a weight by about the learning rate, so this tells the rate in use.
    """

    def __init__(self, model: nn.Module) -> None:
        self.sizes: list[float] = []
        self.before = self._weights(model)
        self.hook = model.register_forward_pre_hook(self._look)

    def _weights(self, model: nn.Module) -> Tensor:
        return torch.cat([p.detach().flatten().clone() for p in model.parameters()])

    def _look(self, model: nn.Module, inputs: Any) -> None:
        now = self._weights(model)
        if not torch.equal(now, self.before):
            self.sizes.append(float((now - self.before).abs().max()))
        self.before = now

    def told(self, rate: float) -> Facts:
        self.hook.remove()
        first, most = (self.sizes or [0.0])[0], max(self.sizes, default=0.0)
        return {
            "the first step": "large, without a warm-up"
            if first > 0.1 * rate
            else "small, as a warm-up begins",
            "the largest step": "far longer than max_lr"
            if most > 5 * rate
            else "about as long as max_lr",
        }


def taught(
    theirs: Callable[..., Any], x: dict[str, Any], parts: Parts
) -> dict[str, Any]:
    """What a training loop returns, and what the model has learned from it."""
    args: dict[str, Any] = x["args"]
    vocab, epochs = 9, args["epochs"]
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(vocab, 16), nn.Linear(16, vocab))
    texts: Tensor = args["texts"]
    batches = [(one, (2 * one + 1) % vocab) for one in texts]
    moves = _Moves(model)
    losses = theirs(model, batches, epochs)
    facts = {"what comes back": kind_of(losses)}
    if isinstance(losses, (list, tuple)) and losses:
        facts["number of losses"] = str(len(losses))
        facts["what a loss is"] = kind_of(losses[0])
        first, last = (float(torch.as_tensor(losses[i]).detach()) for i in (0, -1))
        facts["the first loss"] = "that of a model that guesses"
        if not 1.5 < first < 4:
            facts["the first loss"] = f"{first:.2f}"
        facts["the last loss"] = "low" if last < LEARNED else "hardly lower"
    facts |= moves.told(0.01)
    with torch.no_grad():
        inputs, targets = batches[0]
        after = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    facts["what the model has learned"] = (
        "the task" if float(after) < LEARNED else "little: its loss stays high"
    )
    return _told(facts)
