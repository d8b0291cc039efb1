"""BERT's corruption with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from autograder.definition import Mistake


def each_by_itself(
    shape: torch.Size, probability: float, generator: Generator | None
) -> Tensor:
    return torch.rand(shape, generator=generator) < probability


def count_a_row(
    shape: torch.Size, probability: float, generator: Generator | None
) -> Tensor:
    """As many in every row as are expected."""
    order = torch.rand(shape, generator=generator).argsort(-1)
    return order < round(probability * shape[-1])


def count_in_all(
    shape: torch.Size, probability: float, generator: Generator | None
) -> Tensor:
    order = torch.rand(shape, generator=generator).flatten().argsort()
    return (order < round(probability * order.numel())).view(shape)


def whole_rows(
    shape: torch.Size, probability: float, generator: Generator | None
) -> Tensor:
    rows = torch.rand(shape[0], 1, generator=generator) < probability
    return rows.expand(shape)


def same_in_all_rows(
    shape: torch.Size, probability: float, generator: Generator | None
) -> Tensor:
    return (torch.rand(shape[1], generator=generator) < probability).expand(shape)


def whole_vocabulary(
    tokens: Tensor, mask_id: int, vocab_size: int, generator: Generator | None
) -> Tensor:
    return torch.randint(vocab_size, tokens.shape, generator=generator)


def without_mask_id(
    tokens: Tensor, mask_id: int, vocab_size: int, generator: Generator | None
) -> Tensor:
    drawn = torch.randint(vocab_size - 1, tokens.shape, generator=generator)
    return drawn + (drawn >= mask_id)


def never_itself(
    tokens: Tensor, mask_id: int, vocab_size: int, generator: Generator | None
) -> Tensor:
    steps = torch.randint(1, vocab_size, tokens.shape, generator=generator)
    return (tokens + steps) % vocab_size


def from_the_text(
    tokens: Tensor, mask_id: int, vocab_size: int, generator: Generator | None
) -> Tensor:
    places = torch.randint(tokens.numel(), tokens.shape, generator=generator)
    return tokens.flatten()[places]


Fate = Callable[[Tensor, Tensor], Tensor]


def corrupted(
    tokens: Tensor,
    mask_id: int,
    vocab_size: int,
    probability: float,
    generator: Generator | None,
    *,
    source: Callable[[Any], Any] = lambda generator: generator,
    rate: Callable[[float], float] = lambda probability: probability,
    choose: Callable[..., Tensor] = each_by_itself,
    shares: tuple[float, float] = (0.8, 0.9),
    fated: Callable[..., Tensor] = lambda chosen, generator: torch.rand(
        chosen.shape, generator=generator
    ),
    draw: Callable[..., Tensor] = whole_vocabulary,
    masks: Fate = lambda chosen, masked: chosen & masked,
    swaps: Fate = lambda chosen, random: chosen & random,
    asked: Callable[..., Tensor] = lambda chosen, fate: chosen,
    answer: Callable[[Tensor, Tensor], Tensor] = lambda tokens, inputs: tokens,
    blank: Callable[[int], int] = lambda mask_id: -100,
    gives: Callable[..., Any] = lambda inputs, targets: (inputs, targets),
) -> Any:
    """The twin of mask_tokens.

    A fate below the first share means mask_id, below the second a random token.
    """
    generator = source(generator)
    chosen = choose(tokens.shape, rate(probability), generator)
    fate = fated(chosen, generator)
    random = draw(tokens, mask_id, vocab_size, generator)
    to_mask, to_random = shares
    inputs = tokens.masked_fill(masks(chosen, fate < to_mask), mask_id)
    swapped = swaps(chosen, (fate >= to_mask) & (fate < to_random))
    inputs = torch.where(swapped, random, inputs)
    hidden = ~asked(chosen, fate)
    targets = answer(tokens, inputs).masked_fill(hidden, blank(mask_id))
    return gives(inputs, targets)


def drawn_twice(
    tokens: Tensor,
    mask_id: int,
    vocab_size: int,
    probability: float,
    generator: Generator,
    share: float = 0.5,
) -> tuple[Tensor, Tensor]:
    """The random tokens are chosen among all chosen, and take masked ones over."""
    shape = tokens.shape
    chosen = torch.rand(shape, generator=generator) < probability
    masked = chosen & (torch.rand(shape, generator=generator) < 0.8)
    swapped = chosen & (torch.rand(shape, generator=generator) < share)
    random = torch.randint(vocab_size, shape, generator=generator)
    inputs = torch.where(swapped, random, tokens.masked_fill(masked, mask_id))
    return inputs, tokens.masked_fill(~chosen, -100)


def reused(
    tokens: Tensor,
    mask_id: int,
    vocab_size: int,
    probability: float,
    generator: Generator,
) -> tuple[Tensor, Tensor]:
    """One draw chooses a token and decides what becomes of it."""
    draw = torch.rand(tokens.shape, generator=generator)
    chosen = draw < probability
    random = torch.randint(vocab_size, tokens.shape, generator=generator)
    inputs = tokens.masked_fill(chosen & (draw < 0.8), mask_id)
    inputs = torch.where(chosen & (draw >= 0.8) & (draw < 0.9), random, inputs)
    return inputs, tokens.masked_fill(~chosen, -100)


def told_by_comparison(
    tokens: Tensor,
    mask_id: int,
    vocab_size: int,
    probability: float,
    generator: Generator,
    *,
    asked: Callable[[Tensor, Tensor, int], Tensor],
) -> tuple[Tensor, Tensor]:
    """Which tokens have a target is read from the inputs, not kept."""
    inputs, _ = corrupted(tokens, mask_id, vocab_size, probability, generator)
    return inputs, tokens.masked_fill(~asked(tokens, inputs, mask_id), -100)


def in_order(chosen: Tensor, generator: Generator) -> Tensor:
    """Fates by place: the first 80% of the chosen, the next 10%, the last."""
    places = (chosen.flatten().cumsum(0) - 1) / chosen.sum().clamp(min=1)
    return places.view(chosen.shape)


def cut_from_0(chosen: Tensor, generator: Generator) -> Tensor:
    """Fates below 0.1 make a random token, the others below 0.8 mask_id."""
    fate = torch.rand(chosen.shape, generator=generator)
    return fate.where(fate < 0.8, 0.95).where(fate >= 0.1, 0.85)


def _slip(id: str, message: str, **switches: Any) -> Mistake:
    """A row of its own: pairs of chances would take too long to tell apart."""
    return Mistake(id, message, wrong=partial(corrupted, **switches))


_SHARES = "Of the chosen, 80% become mask_id, 10% a random token, 10% stay."

#: How the corruption goes wrong.
CORRUPTIONS = [
    _slip(
        "all-masked",
        f"All chosen tokens become mask_id. {_SHARES}",
        shares=(1.0, 1.0),
    ),
    _slip(
        "none-random",
        f"80% of the chosen become mask_id and 20% stay; no random tokens. {_SHARES}",
        shares=(0.8, 0.8),
    ),
    _slip(
        "none-stay",
        "80% of the chosen become mask_id and 20% a random token; none is kept "
        f"unchanged. {_SHARES}",
        shares=(0.8, 1.0),
    ),
    _slip(
        "none-stay-90-10",
        "90% of the chosen become mask_id and 10% a random token; none is kept "
        f"unchanged. {_SHARES}",
        shares=(0.9, 1.0),
    ),
    _slip(
        "none-random-90-10",
        f"90% of the chosen become mask_id and 10% stay; no random tokens. {_SHARES}",
        shares=(0.9, 0.9),
    ),
    _slip(
        "none-masked",
        f"No chosen token becomes mask_id. {_SHARES}",
        shares=(0.0, 0.1),
    ),
    _slip(
        "shares-exchanged",
        "10% of the chosen become mask_id and 80% a random token: the shares are "
        f"swapped. {_SHARES}",
        shares=(0.1, 0.9),
    ),
    _slip(
        "random-share-of-the-rest",
        "The random tokens are 10% of what the masking left, 2% of the chosen, and 18% "
        "stay: of what is left it should be half, 10% of the chosen.",
        shares=(0.8, 0.82),
    ),
    Mistake(
        "random-over-masked",
        "Half of all chosen tokens become random, masked ones too, so only 40% remain "
        "mask_id: draw the random ones among those that aren't masked.",
        wrong=drawn_twice,
    ),
    Mistake(
        "random-over-masked-a-tenth",
        "The random tokens are drawn among all chosen, masked ones too, so 72% remain "
        "mask_id and 18% stay: the three fates exclude each other. Draw once and cut "
        "at 0.8 and 0.9.",
        wrong=partial(drawn_twice, share=0.1),
    ),
    _slip(
        "random-below-0.1",
        "A draw below 0.1 makes a random token, but that is below 0.8 as well: random "
        "tokens take masked ones over, so 70% remain mask_id and 20% stay. The three "
        "fates exclude each other: cut one draw at 0.8 and 0.9.",
        fated=cut_from_0,
    ),
    Mistake(
        "draw-reused",
        "The draw that chooses a token also decides what becomes of it: whatever is "
        "below a small probability is below 0.8 too, so all become mask_id. Draw anew.",
        wrong=reused,
    ),
    _slip(
        "fate-by-place",
        "What becomes of a chosen token hangs on where it stands, as if a row shared "
        "one fate, or the first 80% were masked and the last kept: draw it for each "
        "token by itself.",
        fated=in_order,
    ),
    _slip(
        "masked-anywhere",
        "Tokens that aren't chosen are masked too: 80% of all tokens become mask_id. "
        "It should be 80% of the chosen: join the two conditions with &.",
        masks=lambda chosen, masked: masked,
    ),
    _slip(
        "random-anywhere",
        "Tokens that aren't chosen become random too: 10% of all. It should be 10% of "
        "the chosen: join the two conditions with &.",
        swaps=lambda chosen, random: random,
    ),
    _slip(
        "targets-everywhere",
        "The targets hold every token, so the loss counts those too that weren't "
        "chosen: put -100 there.",
        asked=lambda chosen, fate: torch.ones_like(chosen),
    ),
    _slip(
        "targets-inverted",
        "The targets are inverted: -100 stands where tokens were chosen. It should "
        "stand everywhere else.",
        asked=lambda chosen, fate: ~chosen,
    ),
    _slip(
        "targets-from-the-inputs",
        "The targets hold what the inputs became, mask_id mostly; they should hold the "
        "original tokens.",
        answer=lambda tokens, inputs: inputs,
    ),
    _slip(
        "targets-of-masked-only",
        "Only tokens that became mask_id have a target; every chosen one has, also "
        "those that became random or stay.",
        asked=lambda chosen, fate: chosen & (fate < 0.8),
    ),
    _slip(
        "targets-of-changed-only",
        "Chosen tokens that stay have no target; every chosen one has, since the model "
        "can't tell which those are.",
        asked=lambda chosen, fate: chosen & (fate < 0.9),
    ),
    Mistake(
        "targets-where-inputs-differ",
        "Targets are given where the inputs differ from the tokens, so those chosen "
        "ones that stay have none: keep which were chosen, and give each a target.",
        wrong=partial(
            told_by_comparison, asked=lambda tokens, inputs, mask_id: inputs != tokens
        ),
    ),
    Mistake(
        "targets-where-mask-id-stands",
        "Targets are given where mask_id stands in the inputs, so chosen tokens that "
        "became random or stay have none: keep which were chosen, and give each a "
        "target.",
        wrong=partial(
            told_by_comparison, asked=lambda tokens, inputs, mask_id: inputs == mask_id
        ),
    ),
    _slip(
        "zero-for-no-target",
        "The targets are 0 where nothing was chosen, and 0 is a token: it should be "
        "-100, which the loss ignores.",
        blank=lambda mask_id: 0,
    ),
    _slip(
        "minus-one-for-no-target",
        "The targets are -1 where nothing was chosen; it should be -100, which the "
        "loss ignores.",
        blank=lambda mask_id: -1,
    ),
    _slip(
        "mask-id-for-no-target",
        "The targets are mask_id where nothing was chosen; it should be -100, which "
        "the loss ignores.",
        blank=lambda mask_id: mask_id,
    ),
    _slip(
        "results-exchanged",
        "The results are swapped: return the inputs first, then the targets.",
        gives=lambda inputs, targets: (targets, inputs),
    ),
    _slip(
        "inputs-and-targets-one-tensor",
        "Inputs and targets are one and the same tensor, so what is written into one "
        "stands in the other too: make a copy for each, tokens.clone().",
        gives=lambda inputs, targets: (
            (torch.where(targets == -100, targets, inputs),) * 2
        ),
    ),
    _slip(
        "probability-ignored",
        "`probability` has no effect: 15% of the tokens are chosen whatever it is.",
        rate=lambda probability: 0.15,
    ),
    _slip(
        "probability-inverted",
        "Tokens are chosen with 1 - probability: a draw below the probability should "
        "choose, rand < probability.",
        rate=lambda probability: 1 - probability,
    ),
    _slip(
        "count-fixed-a-row",
        "Each row has the same number of chosen tokens; every token is chosen by "
        "itself (independently), so the number varies.",
        choose=count_a_row,
    ),
    _slip(
        "count-fixed-in-all",
        "The number of chosen tokens is always the same; every token is chosen by "
        "itself (independently), so the number varies from call to call.",
        choose=count_in_all,
    ),
    _slip(
        "whole-rows-chosen",
        "Whole rows are chosen; every token is chosen by itself (independently): draw "
        "a number for each.",
        choose=whole_rows,
    ),
    _slip(
        "same-places-in-all-rows",
        "The same places are chosen in every row; every token is chosen by itself "
        "(independently): draw numbers of the tokens' whole shape, (B, T).",
        choose=same_in_all_rows,
    ),
    _slip(
        "generator-ignored",
        "The generator isn't used, or not in every draw, so that the same seed gives "
        "another result: give generator=generator to each of them.",
        source=lambda generator: None,
    ),
    _slip(
        "seeded-anew",
        "Every call draws the same numbers: a seed is set inside. Draw from the "
        "generator as it comes.",
        source=lambda generator: Generator().manual_seed(0),
    ),
    _slip(
        "one-random-token",
        "All random tokens are the same one: draw one for each place, of the tokens' "
        "shape.",
        draw=lambda tokens, mask_id, vocab_size, generator: torch.randint(
            vocab_size, (1,), generator=generator
        ).expand(tokens.shape),
    ),
    _slip(
        "random-without-mask-id",
        "The random tokens are never mask_id; they are drawn uniformly from the whole "
        "vocabulary, mask_id included.",
        draw=without_mask_id,
    ),
    _slip(
        "random-never-itself",
        "A random token is never the one it replaces; it is drawn uniformly from the "
        "whole vocabulary, that one included.",
        draw=never_itself,
    ),
    _slip(
        "random-without-the-last",
        "The last token of the vocabulary is never drawn: torch.randint(high) leaves "
        "out `high` itself, so it is vocab_size, not vocab_size - 1.",
        draw=lambda tokens, mask_id, vocab_size, generator: torch.randint(
            vocab_size - 1, tokens.shape, generator=generator
        ),
    ),
    _slip(
        "random-without-the-first",
        "Token 0 is never drawn; the random tokens come from the whole vocabulary, "
        "0 to vocab_size - 1.",
        draw=lambda tokens, mask_id, vocab_size, generator: torch.randint(
            1, vocab_size, tokens.shape, generator=generator
        ),
    ),
    _slip(
        "random-beyond-the-vocabulary",
        "The random tokens may be vocab_size, which is one beyond the vocabulary's "
        "last, vocab_size - 1.",
        draw=lambda tokens, mask_id, vocab_size, generator: torch.randint(
            vocab_size + 1, tokens.shape, generator=generator
        ),
    ),
    _slip(
        "random-below-mask-id",
        "The random tokens are drawn below mask_id only; they come from the whole "
        "vocabulary, 0 to vocab_size - 1.",
        draw=lambda tokens, mask_id, vocab_size, generator: torch.randint(
            mask_id, tokens.shape, generator=generator
        ),
    ),
    _slip(
        "random-from-the-text",
        "The random tokens are taken from the text itself; they are drawn uniformly "
        "from the whole vocabulary.",
        draw=from_the_text,
    ),
]
