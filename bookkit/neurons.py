"""Read a feed-forward network's neurons: what each fires on, and what it writes."""

from collections import Counter
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from bookkit.gates import BEFORE, Reader


class Watch:
    """Looks on as a network's neurons reach W_2, and can silence some of them.

    `hidden` holds the activations (B, ff_dim) of the last forward pass; those of the
    neurons in `silenced` are set to 0 on their way.
    """

    def __init__(self, feed_forward: nn.Module) -> None:
        self.hidden = torch.empty(0)
        self.silenced: list[int] = []
        W_2 = feed_forward.get_submodule("W_2")
        W_2.register_forward_pre_hook(self._pass)

    def _pass(self, _: nn.Module, entering: tuple[Tensor]) -> tuple[Tensor]:
        (hidden,) = entering
        if self.silenced:
            kept = torch.ones(hidden.shape[-1])
            kept[self.silenced] = 0
            hidden = hidden * kept
        self.hidden = hidden
        return (hidden,)

    def price(self, of_one: float) -> Callable[[], Tensor]:
        """A cost for `train`: it asks for few neurons to fire at a time."""
        return lambda: of_one * self.hidden.abs().mean()


@torch.no_grad()
def log_p(reader: Reader, windows: Tensor) -> Tensor:
    """What the reader expects after windows (B, BEFORE): (B, characters)."""
    expected: Tensor = reader(windows).log_softmax(dim=-1)
    return expected


@torch.no_grad()
def votes(reader: Reader) -> Tensor:
    """What each neuron's value adds to the characters' logits: (ff_dim, characters).

    A value is a column of W_2.weight (nn.Linear keeps the matrix transposed). It takes
    the way of the stream that it is added to: centred, times the last norm's weights,
    through the unembedding. How much the norm shrinks it is left out, and so is what
    it adds to all characters alike.
    """
    values = reader.block.get_submodule("W_2").get_parameter("weight").T
    values = values - values.mean(dim=-1, keepdim=True)  # (ff_dim, C)
    added = (values * reader.last_norm.weight) @ reader.unembed.weight.T
    return added - added.mean(dim=-1, keepdim=True)


@torch.no_grad()
def key_of(reader: Reader, neuron: int) -> Tensor:
    """How well each character fits a neuron's key at each place: (BEFORE, characters).

    Per place, relative to its mean; how much the norm shrinks a sum is left out.
    """
    key = reader.block.get_submodule("W_1").get_parameter("weight")[neuron]
    embedded = reader.embed.weight - reader.embed.weight.mean(dim=-1, keepdim=True)
    fits = (embedded @ (reader.norm.weight * key)).view(BEFORE, -1)
    return fits - fits.mean(dim=-1, keepdim=True)


def strongest(activation: Tensor, windows: Tensor, count: int = 20) -> Tensor:
    """The places (count,) where a neuron fires most, no two after the same six
    characters: a phrase said often counts once.

    activation (P,), windows (P, BEFORE).
    """
    taken: dict[tuple[int, ...], int] = {}
    for place in activation.argsort(descending=True, stable=True).tolist():
        taken.setdefault(tuple(windows[place, -6:].tolist()), place)
        if len(taken) == count:
            break
    return torch.tensor(list(taken.values()))


def shared_ending(contexts: Sequence[str], enough: int) -> str:
    """The longest ending that at least `enough` contexts share; "" if there is none."""
    for length in range(min(map(len, contexts)), 0, -1):
        endings = Counter(context[-length:] for context in contexts)
        ending, count = endings.most_common(1)[0]
        if count >= enough:
            return ending
    return ""
