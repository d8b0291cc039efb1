"""Chapter 10: tokens and training."""

import math
from collections.abc import Callable
from typing import Any

import torch

import solutions.training as solutions
from autograder.definition import Chapter, Exercise, Mistake
from autograder.inputs import Sizes, normal, whole
from autograder.properties import same
from autograder.twins.batches import BATCHES, batch
from autograder.twins.bpe import learned
from autograder.twins.bpe_slips import LEARNING
from autograder.twins.coding import DECODING, ENCODING, decoded, encoded
from autograder.twins.groups import GROUPS, split
from autograder.twins.losses import LOSSES, surprise
from autograder.twins.schedules import RATES, scheduled
from autograder.twins.steps import STEPS, stepped

CHAPTER = Chapter(10, "Tokens and training", "10_training")

Theirs = Callable[..., Any]
Inputs = dict[str, Any]


def prose(words: int) -> Callable[[Sizes, torch.Generator], str]:
    """A text of a few syllables again and again, so that pairs and ties are many."""
    syllables = ("ba", "na", "nan", "ab", "b", " ", " a", ". ")

    def make(sizes: Sizes, generator: torch.Generator) -> str:
        drawn = torch.randint(len(syllables), (words,), generator=generator)
        return "".join(syllables[one] for one in drawn.tolist())

    return make


train_bpe = Exercise(
    solutions.train_bpe,
    points=3,
    minutes=20,
    difficulty=3,
    probe="listed",
    inputs={
        "one merge": {"text": "xbabab", "num_merges": 1},
        "a run of the same": {"text": "aaaabcbcbc", "num_merges": 1},
        "a run of the same, more merges": {"text": "aaaabcbcbc", "num_merges": 3},
        "a tie": {"text": "mnmnzyzyabab", "num_merges": 1},
        "another tie": {"text": "mnmnababzyzy", "num_merges": 3},
        "merges of merges": {"text": "lower lowest low", "num_merges": 4},
        "no pair occurs twice": {"text": "abcd", "num_merges": 3},
        "once, and from the end to the start": {"text": "bxaby a", "num_merges": 1},
        "a pair from the end to the start": {"text": "babxabyabxa", "num_merges": 3},
        "fewer pairs than merges": {"text": "ababab", "num_merges": 10},
        "runs of odd length": {"text": "aaaaabaaaaab", "num_merges": 4},
        "a pair at the end": {"text": "xyzxy zxyzx", "num_merges": 6},
        "words and spaces": {"text": " a b a b a b Ab Ab", "num_merges": 4},
        "spaces at the ends": {"text": "x  x  ", "num_merges": 2},
        "characters of several bytes": {"text": "été né, pâté né", "num_merges": 5},
        "a longer text": {"text": prose(150), "num_merges": 20},
        "no text": {"text": "", "num_merges": 3},
        "one byte": {"text": "a", "num_merges": 3},
        "no merges": {"text": "ababab", "num_merges": 0},
    },
    twin=learned,
    mistakes=LEARNING,
    hints=[
        "Do the first merge of `aaaabcbcbc` by hand: which pairs of neighbours are "
        "there, and how often does each occur?",
        "Each round: count all neighbours (`zip(ids, ids[1:])`), take the most "
        "frequent, put a new id, 256 plus the number of merges so far, in its place, "
        "and go on with the new ids. Counter keeps the order of first occurrence.",
        "`counts = Counter(zip(ids, ids[1:]))`; `pair = max(counts, key=counts.get)`; "
        "stop if there are none or `counts[pair] < 2`. Replace from left to right: "
        "where the pair stands append the new id and skip two ids, else append the id.",
    ],
)


def taught(text: str, num_merges: int) -> list[tuple[int, int]]:
    """Merges as train_bpe finds them."""
    return list(solutions.train_bpe(text, num_merges))


CHAIN = [(97, 98), (256, 99), (257, 257)]

bpe_encode = Exercise(
    solutions.bpe_encode,
    points=2,
    minutes=10,
    difficulty=2,
    probe="listed",
    inputs={
        "a merge of a merge": {"text": "abcab", "merges": CHAIN},
        "a pair that another merge took": {
            "text": "abcxabc",
            "merges": [(98, 99), (97, 98)],
        },
        "two merges for one byte": {"text": "abc", "merges": [(97, 98), (98, 99)]},
        "a longer token that no merge order gives": {
            "text": "abcd",
            "merges": [(97, 98), (98, 99), (97, 257)],
        },
        "the right half first": {
            "text": "abcdabd",
            "merges": [(99, 100), (97, 98), (257, 256), (98, 256)],
        },
        "a text from before, other merges": {"text": "abcab", "merges": [(98, 99)]},
        "merges of merges": {"text": "xabcabcabcabab", "merges": CHAIN},
        "a run of odd length": {"text": "aaaaa", "merges": [(97, 97), (256, 97)]},
        "another text's merges": {
            "text": "a slow snow owl",
            "merges": taught("lower lowest low slower snow", 8),
        },
        "characters of several bytes": {
            "text": "né été",
            "merges": [(195, 169), (256, 116), (233, 116)],
        },
        "spaces and capitals": {
            "text": " Ab ab ",
            "merges": [(97, 98), (256, 32), (32, 257)],
        },
        "a longer text": {
            "text": prose(150),
            "merges": taught("banana nan ab banan. a ban. anab bananab a nab", 16),
        },
        "no text": {"text": "", "merges": CHAIN},
        "one byte": {"text": "a", "merges": CHAIN},
        "no merges at all": {"text": "abé", "merges": []},
    },
    twin=encoded,
    mistakes=ENCODING,
    hints=[
        "Which merge was learned first? What does it make of the whole text?",
        "Start with the text's bytes. Go through the merges in order; merge number i "
        "puts the id 256 + i in place of its pair, from left to right, in all ids.",
        "`ids = list(text.encode())`; `for new_id, pair in enumerate(merges, 256)`: "
        "walk along ids with an index; where `(ids[i], ids[i + 1]) == pair` append "
        "new_id and step by two, else append ids[i] and step by one.",
    ],
)


bpe_decode = Exercise(
    solutions.bpe_decode,
    points=2,
    minutes=8,
    difficulty=2,
    probe="listed",
    inputs={
        "a merged pair": {"ids": [256, 99, 256], "merges": [(97, 98)]},
        "the same ids, another merge": {"ids": [256, 99, 256], "merges": [(98, 120)]},
        "bytes only": {"ids": [84, 111, 32], "merges": CHAIN},
        "merges of merges": {"ids": [258, 32, 257, 120, 256], "merges": CHAIN},
        "a character in two ids": {"ids": [110, 195, 169], "merges": []},
        "a character in two merges": {
            "ids": [256, 257, 116],
            "merges": [(110, 195), (169, 116)],
        },
        "a longer text": {
            "ids": solutions.bpe_encode(
                "été, pâté € née € été", taught("née € été, pâté € pâté", 8)
            ),
            "merges": taught("née € été, pâté € pâté", 8),
        },
        "half a character": {"ids": [97, 195], "merges": [(97, 98)]},
        "bytes that are no UTF-8": {"ids": [255, 98, 128, 97], "merges": []},
        "spaces at the ends": {"ids": [32, 256, 32], "merges": [(97, 32)]},
        "the empty text": {"ids": [], "merges": CHAIN},
    },
    twin=decoded,
    mistakes=DECODING,
    hints=[
        "Which bytes does the id 256 stand for? And an id whose pair holds 256?",
        "Make a table of the bytes of every id: the first 256 are single bytes, and "
        "each merge appends its two halves' bytes, joined. Then look up all ids before "
        "you decode anything: one character may be spread over two ids.",
        "`pieces = [bytes([i]) for i in range(256)]`; `pieces.append(pieces[a] + "
        "pieces[b])` for each merge; `b''.join(...).decode(errors='replace')`.",
    ],
)


def distinct(count: int, dtype: torch.dtype) -> Callable[[Sizes, torch.Generator], Any]:
    """A text in which no token occurs twice, so that a piece shows where it is from."""
    return lambda sizes, generator: (
        torch.randperm(100, generator=generator)[:count] + 20
    ).to(dtype)


get_batch = Exercise(
    solutions.get_batch,
    points=2,
    minutes=10,
    difficulty=2,
    probe="cutting",
    returns=("inputs", "targets"),
    inputs={
        "a batch": {
            "data": distinct(40, torch.int64),
            "batch_size": 6,
            "seq_len": 8,
        },
        "many pieces": {
            "data": distinct(40, torch.int64),
            "batch_size": 6000,
            "seq_len": 8,
        },
        "bytes": {"data": distinct(50, torch.uint8), "batch_size": 5, "seq_len": 7},
        "int32": {"data": distinct(30, torch.int32), "batch_size": 3, "seq_len": 4},
        "a single piece": {
            "data": distinct(40, torch.int64),
            "batch_size": 1,
            "seq_len": 8,
        },
        "pieces of one token": {
            "data": distinct(40, torch.int64),
            "batch_size": 4,
            "seq_len": 1,
        },
        "the shortest text": {
            "data": distinct(9, torch.int64),
            "batch_size": 5,
            "seq_len": 8,
        },
    },
    refuses={
        "a text of seq_len tokens": {
            "data": distinct(8, torch.int64),
            "batch_size": 3,
            "seq_len": 8,
        },
        "a much shorter text": {
            "data": distinct(3, torch.int64),
            "batch_size": 3,
            "seq_len": 8,
        },
        "no text": {
            "data": distinct(0, torch.int64),
            "batch_size": 3,
            "seq_len": 8,
        },
    },
    twin=batch,
    mistakes=BATCHES,
    hints=[
        "A piece at start i needs seq_len tokens and one more for its last target. "
        "What is the largest i?",
        "`torch.randint(high, (batch_size,), generator=generator)` draws from 0 to "
        "high - 1. Cut `data[i : i + seq_len]` at each start, and again one later.",
        "`starts = torch.randint(len(data) - seq_len, (batch_size,), "
        "generator=generator)`; stack `data[i : i + seq_len]` for the inputs and "
        "`data[i + 1 : i + 1 + seq_len]` for the targets; refuse fewer than "
        "seq_len + 1 tokens first.",
    ],
)


def tokens(
    shape: str, ignored: int | None = None
) -> Callable[[Sizes, torch.Generator], torch.Tensor]:
    """Targets below V; in each row another share is ignored, one is always kept."""

    def make(sizes: Sizes, generator: torch.Generator) -> torch.Tensor:
        dims = sizes.shape(shape)
        targets = torch.randint(sizes["V"], dims, generator=generator)
        if ignored is None:
            return targets
        if ignored >= 0:
            targets = torch.where(targets == ignored, (ignored + 1) % dims[-1], targets)
        row = torch.arange(targets[..., 0].numel()).view(targets[..., :1].shape)
        share = 0.25 + 0.5 * (row % 3) / 2
        hidden = torch.rand(dims, generator=generator) < share
        hidden[..., 0] = False
        return targets.masked_fill(hidden, ignored)

    return make


def certain(theirs: Theirs, x: Inputs) -> bool:
    """logits that are sure of the right tokens give a loss of 0"""
    hot = torch.nn.functional.one_hot(x["targets"], x["logits"].shape[-1])
    found = theirs(logits=40.0 * hot, targets=x["targets"])
    return abs(float(found)) < 1e-4


def no_ceiling(theirs: Theirs, x: Inputs) -> bool | Mistake:
    """a token thought impossible costs as much as its logit says"""
    logits, targets = torch.zeros(2, 3), torch.tensor([0, 0])
    logits[:, 0] = -60.0
    found = float(theirs(logits=logits, targets=targets))
    if 5.0 < found < 50.0 and found == float(
        theirs(logits=2 * logits, targets=targets)
    ):
        return Mistake(
            "floor-in-the-log",
            f"The loss stops at {found:.3g} where a token is thought impossible: a "
            "small number inside the log, such as log(p + 1e-9) or a clamp, hides how "
            "wrong the model is, and its gradient. Take log_softmax, or "
            "F.cross_entropy.",
            wrong=solutions.next_token_loss,
        )
    return same(torch.tensor(found), torch.tensor(60.0 + math.log(2)), 1e-3)


def any_height(theirs: Theirs, x: Inputs) -> bool:
    """a number added to all logits of a position changes nothing"""
    more = theirs(logits=x["logits"] + 5, targets=x["targets"])
    return same(more, theirs(**x), 1e-3)


LOGITS = {"logits": normal("B T V", scale=2.0), "targets": tokens("B T")}

next_token_loss = Exercise(
    solutions.next_token_loss,
    points=2,
    minutes=8,
    difficulty=2,
    probe="loss",
    without=["edges"],
    words={"V": ("token in the vocabulary", "tokens in the vocabulary")},
    inputs={
        "a batch of sequences": LOGITS,
        "ignored targets": LOGITS | {"targets": tokens("B T", -100)},
        "another number is ignored": LOGITS
        | {"targets": tokens("B T", 3), "ignore_index": 3},
        "-1 is ignored": LOGITS | {"targets": tokens("B T", -1), "ignore_index": -1},
        "one leading axis": {
            "logits": normal("n V", scale=2.0),
            "targets": tokens("n", -100),
        },
        "three leading axes": {
            "logits": normal("B L T V", scale=2.0),
            "targets": tokens("B L T", -100),
        },
        "a batch of one": {
            "logits": normal("1 T V", scale=2.0),
            "targets": tokens("1 T"),
        },
        "a sequence of one": {
            "logits": normal("B 1 V", scale=2.0),
            "targets": tokens("B 1"),
        },
        "as many tokens as positions": {
            "logits": normal("T T T", scale=2.0),
            "targets": whole("T T", 0, 8),
        },
        "logits far apart": {
            "logits": normal("B T V", scale=40.0),
            "targets": tokens("B T"),
        },
    },
    properties=[certain, any_height, no_ceiling],
    twin=surprise,
    mistakes=LOSSES,
    hints=[
        "What is the surprise at one token, if its probability is p? What becomes of "
        "all the axes before the vocabulary's?",
        "`F.cross_entropy` wants logits (N, V) and targets (N,), and takes the softmax "
        "itself: flatten all leading axes into one.",
        "`F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), "
        "ignore_index=ignore_index)`.",
    ],
)


def at(step: int, warmup: int = 5, total: int = 20) -> dict[str, Any]:
    """Where the schedule is looked at."""
    return {
        "step": step,
        "max_lr": 3.0,
        "min_lr": 0.3,
        "warmup": warmup,
        "total": total,
    }


learning_rate = Exercise(
    solutions.learning_rate,
    points=2,
    minutes=10,
    difficulty=2,
    probe="rate",
    inputs={
        "the first step": at(0),
        "during warm-up": at(2),
        "the last step of warm-up": at(4),
        "the first step after warm-up": at(5),
        "early in the decay": at(8),
        "late in the decay": at(15),
        "the last step but one": at(18),
        "the last step of the decay": at(19),
        "step total": at(20),
        "after total": at(27),
        "a long warm-up, the first step": at(0, warmup=15),
        "no warm-up, step 0": at(0, warmup=0),
        "no warm-up, in the decay": at(7, warmup=0),
        "no warm-up, step total": at(20, warmup=0),
        "a warm-up of one": at(0, warmup=1),
        "warm-up to the end, before it": at(7, warmup=8, total=8),
        "warm-up to the end, at it": at(8, warmup=8, total=8),
        "warm-up to the end, after it": at(11, warmup=8, total=8),
    },
    twin=scheduled,
    mistakes=RATES,
    hints=[
        "Draw it: the steps across, the rate up. At which steps does it reach max_lr, "
        "and at which min_lr?",
        "Three cases: below warmup; from total on; and between. Between, the part done "
        "goes from 0 at step warmup to 1 at total. In which case do warmup 0 and "
        "warmup = total divide by 0?",
        "`part = (step - warmup) / (total - warmup)`; the rate is `min_lr + (max_lr - "
        "min_lr) * (1 + math.cos(math.pi * part)) / 2`. Ask for `step >= total` first.",
    ],
)


parameter_groups = Exercise(
    solutions.parameter_groups,
    points=2,
    minutes=8,
    difficulty=2,
    probe="grouped",
    inputs={
        name: {"model": name, "weight_decay": decay}
        for name, decay in {
            "a linear layer": 0.3,
            "two layers with a norm between": 0.05,
            "an embedding that is also the output layer": 0.2,
            "names that don't tell": 0.4,
        }.items()
    },
    twin=split,
    mistakes=GROUPS,
    hints=[
        "What would weight decay do to the gain of a LayerNorm, which starts at 1?",
        "`model.parameters()` gives each tensor once, tied ones too. How do you see of "
        "a tensor whether it is a matrix?",
        '`[{"params": [those with p.dim() >= 2], "weight_decay": weight_decay}, '
        '{"params": [the others], "weight_decay": 0.0}]`.',
    ],
)


VOCAB, WIDTH = 6, 4


def ragged(pieces: int) -> Callable[[Sizes, torch.Generator], torch.Tensor]:
    """Targets of micro-batches that keep 16, 3, 9 … of their 18 tokens."""

    def make(sizes: Sizes, generator: torch.Generator) -> torch.Tensor:
        targets = torch.randint(VOCAB, (pieces, 3, 6), generator=generator)
        for piece, hidden in zip(targets, (2, 15, 9), strict=False):
            order = torch.randperm(18, generator=generator)[:hidden]
            piece.view(-1)[order] = -100
        return targets

    return make


def training(
    *max_norm: float,
    pieces: int = 3,
    mode: bool = True,
    stale: float = 0.1,
) -> dict[str, Any]:
    """What a training step is made of."""
    return {
        "weights": normal(str(2 * VOCAB * WIDTH + VOCAB)),
        "inputs": whole(f"{pieces} 3 6", 0, VOCAB),
        "targets": ragged(pieces),
        "sizes": (VOCAB, WIDTH),
        "lr": 2.0,
        "stale": stale,
        "training": mode,
        "max_norm": max_norm,
    }


def surprised(sizes: Sizes, generator: torch.Generator) -> torch.Tensor:
    """Weights of a model that thinks token 0 impossible: its bias is -9."""
    weights = 2 * torch.randn(2 * VOCAB * WIDTH + VOCAB, generator=generator)
    weights[-VOCAB] = -9.0
    return weights


def one_token(sizes: Sizes, generator: torch.Generator) -> torch.Tensor:
    """Targets that are all token 0, so that the gradient's norm is over 1."""
    return ragged(3)(sizes, generator).clamp(max=0)


train_step = Exercise(
    solutions.train_step,
    points=3,
    minutes=20,
    difficulty=4,
    probe="step",
    uses=[solutions.next_token_loss],
    without=["dtypes", "device", "gradients", "unchanged"],
    returns=(
        "steps",
        "mode",
        "mode afterwards",
        "returned",
        "new weights",
        "gradient",
        "loss",
    ),
    inputs={
        "nothing to clip": training(100.0),
        "clipped": training(0.1),
        "a single micro-batch": training(100.0, pieces=1),
        "two micro-batches": training(0.15, pieces=2),
        "clipped to 1, the default": training(stale=1.0)
        | {"weights": surprised, "targets": one_token},
        "in evaluation mode": training(100.0, mode=False),
    },
    twin=stepped,
    mistakes=STEPS,
    hints=[
        "One micro-batch keeps 16 targets, another 3. How much should a target of the "
        "second weigh against one of the first? And a mean of the two means?",
        "Count all kept targets first. Clear the gradients once, run backward for "
        "every micro-batch on its share of the mean, and clip and step once, after "
        "the loop.",
        "`loss = next_token_loss(model(inputs), targets) * kept / all_kept`; "
        "`loss.backward()`; `total += loss.item()`. After the loop "
        "`nn.utils.clip_grad_norm_(model.parameters(), max_norm)` and "
        "`optimizer.step()`.",
    ],
)
