"""The training loop: batches, steps, checks on unseen text, checkpoints.

The model and the functions that train it are `parts`: the references, or the learner's.
"""

import hashlib
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from click import IntRange

from minigpt import checkpoint, memory
from minigpt.checkpoint import CheckpointError, understood
from minigpt.corpus import CorpusError
from minigpt.model import build, fuse, speed_up
from minigpt.ranks import Ranks
from minigpt.recipes import Recipe
from minigpt.tokens import Tokeniser, learned

#: The part of a text that is kept back, at its end, to see what the model never saw.
UNSEEN = 0.1


class Diverged(Exception):
    """The loss is no longer a number; the message says what to do."""


@dataclass(frozen=True)
class Report:
    """How a run stands after a step."""

    step: int  # steps done
    loss: float  # of the step's batch, in nats a token
    tokens_per_second: float
    unseen_loss: float | None = None  # on text kept back, now and then


@dataclass
class Run:
    """A training run: all that it takes to go on with it."""

    recipe: Recipe
    text: str
    parts: Any
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    ranks: Ranks = field(default_factory=Ranks)
    compiled: bool = False
    explicit: bool = False  # every part as it is written, none in one kernel

    def __post_init__(self) -> None:
        recipe = self.recipe
        if recipe.batch_size % (recipe.accumulate * self.ranks.world):
            sizes = f"batch_size = {recipe.batch_size}"
            if recipe.accumulate > 1:
                sizes += f" in {recipe.accumulate} micro-batches"
            raise ValueError(f"{sizes} can't be dealt out to {self.ranks.world} ranks")
        torch.manual_seed(recipe.seed)
        self.tokeniser: Tokeniser = learned(
            recipe.tokens, recipe.merges, self.text, self.parts
        )
        ids = torch.tensor(self.tokeniser.encode(self.text))
        cut = int(len(ids) * (1 - UNSEEN))
        self.seen, self.unseen = ids[:cut], ids[cut:]
        if len(self.unseen) < recipe.seq_len + 1:
            least = int((recipe.seq_len + 1) / UNSEEN) + 1
            raise CorpusError(
                f"the text has {len(ids)} tokens, too few for seq_len = "
                f"{recipe.seq_len}: give one of {least} or more, or a smaller seq_len"
            )
        rows = recipe.batch_size // (recipe.accumulate * self.ranks.world)
        needed = memory.training(recipe, self.tokeniser.vocab_size, rows)
        advice = "give a smaller --d-model, --n-layers or --batch-size"
        memory.see_that_it_fits(needed, self.device, advice)
        self.model = build(recipe, self.tokeniser.vocab_size, self.parts)
        self.model.to(self.device)
        self.fused: list[str] = []
        if not self.explicit:
            self.fused = fuse(self.model, self.tokeniser.vocab_size)
        fast = speed_up(self.model, self.device, self.compiled)
        self.trained = self.ranks.wrapped(fast)
        groups = self.parts.parameter_groups(self.model, recipe.weight_decay)
        self.optimizer = torch.optim.AdamW(
            groups, lr=recipe.max_lr, betas=(0.9, recipe.beta2), fused=True
        )
        self.generator = torch.Generator().manual_seed(recipe.seed)
        torch.manual_seed(recipe.seed + self.ranks.rank)  # each rank its own dropout
        self.step = 0
        self.history: list[tuple[int, float, float]] = []  # step, loss, unseen loss

    def steps(self, check_every: int = 0) -> Iterator[Report]:
        """Train to the recipe's end, a report after each step.

        Raises Diverged where the loss is no longer a number.
        """
        self.trained.train()
        tokens = self.recipe.batch_size * self.recipe.seq_len
        while self.step < self.recipe.steps:
            start = time.perf_counter()
            loss = self._step()
            spent = time.perf_counter() - start
            self.step += 1
            if not math.isfinite(loss):
                raise Diverged(
                    f"the loss at step {self.step} is {loss}: the training has "
                    "diverged; give a smaller --max-lr, and another --out"
                )
            unseen = None
            last = self.step == self.recipe.steps
            if check_every and (self.step % check_every == 0 or last):
                unseen = self.loss_on_unseen()
                self.history.append((self.step, loss, unseen))
            yield Report(self.step, loss, tokens / spent, unseen)

    def loss_on_unseen(self, batches: int = 20) -> float:
        """The mean loss on text that was kept back, the same pieces every time."""
        recipe, generator = self.recipe, torch.Generator().manual_seed(1)
        model, total = self.model, 0.0
        was_training = model.training
        model.eval()
        with torch.no_grad():
            for _ in range(batches):
                inputs, targets = self.parts.get_batch(
                    self.unseen, recipe.batch_size, recipe.seq_len, generator
                )
                logits = model(inputs.to(self.device))
                loss = self.parts.next_token_loss(logits, targets.to(self.device))
                total += float(loss)
        model.train(was_training)
        return total / batches

    def _step(self) -> float:
        recipe = self.recipe
        rate = self.parts.learning_rate(
            self.step, recipe.max_lr, recipe.min_lr, recipe.warmup, recipe.steps
        )
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        batch = self.parts.get_batch(
            self.seen, recipe.batch_size, recipe.seq_len, self.generator
        )
        inputs, targets = (self.ranks.share(one).to(self.device) for one in batch)
        micro_batches = list(
            zip(
                inputs.chunk(recipe.accumulate),
                targets.chunk(recipe.accumulate),
                strict=True,
            )
        )
        loss = self.parts.train_step(
            self.trained, self.optimizer, micro_batches, recipe.max_norm
        )
        return self.ranks.mean(loss, self.device)

    def save(self, path: Path) -> None:
        """Keep all that the run needs to go on as if nothing had been."""
        state = {
            "recipe": asdict(self.recipe),
            "tokeniser": self.tokeniser.kept(),
            "text": text_hash(self.text),
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "history": self.history,
            "generator": self.generator.get_state(),
            "random": torch.get_rng_state(),
        }
        if self.device.type == "cuda":
            state["random_cuda"] = torch.cuda.get_rng_state(self.device)
        if self.ranks.first:
            checkpoint.save(path, state)
        self.ranks.wait()

    def resume(self, path: Path) -> None:
        """Go on where a checkpoint left off.

        Raises CheckpointError for one of another recipe or text, or one that lacks
        what it takes.
        """
        state = checkpoint.load(path, checkpoint.GOES_ON)
        kept, wanted = state["recipe"], asdict(self.recipe)
        differ = [name for name in wanted if kept.get(name) != wanted[name]]
        if differ:
            name = differ[0]
            raise CheckpointError(
                f"{path} was trained with {name} = {kept.get(name)}, not "
                f"{wanted[name]}: use the same recipe, or another --out"
            )
        if state["text"] != text_hash(self.text):
            raise CheckpointError(
                f"{path} was trained on another text: use the same --data, or another "
                "--out"
            )
        checkpoint.fill(self.model, state, path)
        with understood(path, "step"):
            steps = IntRange(0, self.recipe.steps)
            self.step = steps.convert(state["step"], None, None)
        self.history = state["history"]
        with understood(path, "optimizer"):
            self.optimizer.load_state_dict(state["optimizer"])
        with understood(path, "generator"):
            self.generator.set_state(state["generator"])
        if self.ranks.first:
            with understood(path, "random"):
                torch.set_rng_state(state["random"])
        else:  # the first rank's alone is kept, and each has its own dropout
            torch.manual_seed(self.recipe.seed + self.ranks.rank + self.step)
        if self.device.type == "cuda" and "random_cuda" in state:
            torch.cuda.set_rng_state(state["random_cuda"], self.device)


def text_hash(text: str) -> str:
    """What tells one text from another."""
    return hashlib.sha256(text.encode()).hexdigest()
