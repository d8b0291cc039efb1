"""A run learns, stops and goes on as if it had not stopped."""

import math
import pickle

import pytest
import torch
from torch import nn

from minigpt import checkpoint
from minigpt.checkpoint import CheckpointError
from minigpt.corpus import CorpusError
from minigpt.generate import loaded
from minigpt.model import fuse
from minigpt.parts import references
from tests.minigpt.small import RECIPE, TEXT, a_run, trained


def weights(run):
    return {name: value.clone() for name, value in run.model.state_dict().items()}


def same(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


def test_a_run_starts_at_ln_vocab_and_learns():
    run = a_run(RECIPE.but(steps=150, max_lr=1e-2))
    reports = trained(run)
    assert abs(reports[0].loss - math.log(run.tokeniser.vocab_size)) < 0.1
    assert reports[-1].unseen_loss < 1.0


def test_a_run_that_goes_on_equals_one_that_never_stopped(tmp_path):
    recipe = RECIPE.but(dropout=0.1)  # dropout's random numbers go on too
    whole = a_run(recipe)
    losses = [report.loss for report in trained(whole)]
    stopped = a_run(recipe)
    for report in stopped.steps(check_every=4):
        if report.step == 5:
            break
    stopped.save(tmp_path / "checkpoint.pt")
    again = a_run(recipe)
    again.resume(tmp_path / "checkpoint.pt")
    assert [report.loss for report in trained(again)] == losses[5:]
    assert same(weights(again), weights(whole))
    assert again.history == whole.history


def test_looking_at_unseen_text_changes_nothing():
    ended = []
    for check_every in (0, 1):
        run = a_run(RECIPE.but(dropout=0.1))
        for _ in run.steps(check_every):
            pass
        ended.append(weights(run))
    assert same(*ended)


def test_micro_batches_give_the_steps_of_the_whole_batch():
    whole, pieces = a_run(), a_run(RECIPE.but(accumulate=2))
    for one, other in zip(trained(whole), trained(pieces), strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-4)


def test_parts_in_one_kernel_give_what_the_reader_wrote():
    run = a_run(explicit=True)
    tokens = torch.randint(run.tokeniser.vocab_size, (3, 8))
    explicit = run.model(tokens)
    assert fuse(run.model, run.tokeniser.vocab_size) == ["attn", "ff"]
    assert torch.allclose(run.model(tokens), explicit, atol=1e-5)


class Backwards(nn.Module):
    """Somebody's own attention: not the causal one that the kernel knows."""

    def __init__(self, attention):
        super().__init__()
        self.num_heads = attention.num_heads
        self.W_q, self.W_k = attention.W_q, attention.W_k
        self.W_v, self.W_o = attention.W_v, attention.W_o

    def forward(self, x, mask=None):
        return self.W_o(self.W_v(x).flip(1))


class Rectified(nn.Module):
    """Somebody's own network: its layers are named alike, its bend is another."""

    def __init__(self, network):
        super().__init__()
        self.W_1, self.W_2 = network.W_1, network.W_2

    def forward(self, x):
        return self.W_2(self.W_1(x).relu())


class Nameless(nn.Module):
    """Somebody's own part, whose layers the kernel doesn't find."""

    def __init__(self, network):
        super().__init__()
        self.layers = nn.Sequential(network.W_1, nn.GELU(), network.W_2)

    def forward(self, x):
        return self.layers(x)


@pytest.mark.parametrize(
    ("name", "own", "fused"),
    [
        ("attn", Backwards, ["ff"]),
        ("ff", Rectified, ["attn"]),
        ("ff", Nameless, ["attn"]),
    ],
)
def test_a_part_that_means_something_else_stays_as_it_is(name, own, fused):
    run = a_run(explicit=True)
    for block in run.model.blocks:
        setattr(block, name, own(getattr(block, name)))
    tokens = torch.randint(run.tokeniser.vocab_size, (3, 8))
    before = run.model(tokens)
    assert fuse(run.model, run.tokeniser.vocab_size) == fused
    assert torch.allclose(run.model(tokens), before, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_heads": 3}, "d_model = 16, n_heads = 3: the second must divide"),
        ({"accumulate": 3}, "batch_size = 4, accumulate = 3: the second must divide"),
        ({"seq_len": 0}, "seq_len: 0 is not in the range x>=1"),
        ({"dropout": 1.0}, "dropout: 1.0 is not in the range 0<=x<1"),
        ({"beta2": math.nan}, "beta2: nan is no number"),
        ({"warmup": 99}, "warmup = 99, steps = 12: the warm-up can't last longer"),
        ({"tokens": "words"}, "tokens: 'words' is not one of 'chars', 'bytes', 'bpe'"),
    ],
)
def test_an_impossible_recipe_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        RECIPE.but(**changes)


def test_a_text_that_is_too_short_is_refused():
    with pytest.raises(CorpusError, match="20 tokens, too few for seq_len = 8"):
        a_run(text=TEXT[:20])


@pytest.mark.parametrize(
    ("recipe", "text", "words"),
    [
        (RECIPE.but(d_model=32), TEXT, "trained with d_model = 16, not 32"),
        (RECIPE, TEXT + "more", "trained on another text"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(tmp_path, recipe, text, words):
    a_run().save(tmp_path / "checkpoint.pt")
    with pytest.raises(CheckpointError, match=words):
        a_run(recipe, text).resume(tmp_path / "checkpoint.pt")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda kept: kept.pop("tokeniser"), "does not hold the tokeniser"),
        (lambda kept: kept["model"].pop("norm.weight"), "made of other parts"),
    ],
)
def test_a_checkpoint_of_another_model_is_refused(tmp_path, change, words):
    path = tmp_path / "checkpoint.pt"
    a_run().save(path)
    kept = checkpoint.load(path)
    change(kept)
    del kept["version"]
    checkpoint.save(path, kept)
    with pytest.raises(CheckpointError, match=words):
        loaded(path, references(), torch.device("cpu"))
    with pytest.raises(CheckpointError, match=words):
        a_run().resume(path)


@pytest.mark.parametrize(
    ("name", "nonsense"),
    [
        ("optimizer", None),
        ("optimizer", {"state": {}}),
        ("step", "seven"),
        ("step", 13),
        ("generator", torch.zeros(3)),
        ("random", torch.zeros(3)),
    ],
)
def test_a_checkpoint_that_cannot_go_on_is_refused(tmp_path, name, nonsense):
    path = tmp_path / "checkpoint.pt"
    a_run().save(path)
    kept = checkpoint.load(path)
    checkpoint.save(path, kept | {name: nonsense})
    with pytest.raises(CheckpointError, match=f"does not hold the {name} of a train"):
        a_run().resume(path)
    del kept[name]
    checkpoint.save(path, kept)
    with pytest.raises(CheckpointError, match=f"does not hold the {name} of a train"):
        a_run().resume(path)


@pytest.mark.parametrize("name", ["recipe", "tokeniser"])
def test_a_checkpoint_of_nonsense_does_not_write(tmp_path, name):
    path = tmp_path / "checkpoint.pt"
    a_run().save(path)
    checkpoint.save(path, checkpoint.load(path) | {name: {"d_model": 0}})
    with pytest.raises(CheckpointError, match=f"does not hold the {name} of a train"):
        loaded(path, references(), torch.device("cpu"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "damaged|no checkpoint"),
        (b"PK\x03\x04 cut off", "damaged"),
        (b"not a checkpoint at all", "no checkpoint"),
    ],
)
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path, content, words):
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=words):
        checkpoint.load(path)


class Bomb:
    def __reduce__(self):
        return print, ("code was run",)


def test_a_checkpoint_cannot_run_code(tmp_path, capsys):
    torch.save({"version": 1, "model": Bomb()}, tmp_path / "checkpoint.pt")
    with pytest.raises(CheckpointError, match="no checkpoint of MiniGPT"):
        checkpoint.load(tmp_path / "checkpoint.pt")
    assert "code was run" not in capsys.readouterr().out


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "checkpoint.pt"
    checkpoint.save(path, {"recipe": {}, "tokeniser": {}, "model": {}, "step": 1})
    with pytest.raises(
        (AttributeError, pickle.PicklingError), match=r"pickle|serializ"
    ):
        checkpoint.save(path, {"step": lambda: None})
    assert checkpoint.load(path)["step"] == 1
    assert [one.name for one in tmp_path.iterdir()] == ["checkpoint.pt"]
