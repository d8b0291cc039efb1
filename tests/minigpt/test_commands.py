"""The trainer and the generator as a person runs them: in processes of their own."""

import os
import signal
import subprocess
import sys
import time

import click
import pytest
import torch
from click.testing import CliRunner

from autograder import workbook
from minigpt import checkpoint
from minigpt.checkpoint import CheckpointError
from minigpt.generate import generate
from minigpt.train import train
from tests.minigpt.small import TEXT

SHAPE = (
    "--device cpu --tokens chars --d-model 16 --n-layers 2 --n-heads 2 --seq-len 8 "
    "--batch-size 4 --warmup 3"
)


def ran(*words, **more):
    """A finished command: its exit code, what it said, what it complained of."""
    return subprocess.run(
        [sys.executable, "-m", *words],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        **more,
    )


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return str(path)


def training(text, out, steps=12, *more):
    shape = [*SHAPE.split(), "--steps", str(steps)]
    return ["minigpt.train", "--data", text, "--out", str(out), *shape, *more]


def weights(out):
    return checkpoint.load(out / "checkpoint.pt")["model"]


def alike(one, other, **tolerance):
    return all(torch.allclose(one[name], other[name], **tolerance) for name in one)


def test_a_run_is_kept_and_writes(text, tmp_path):
    done = ran(*training(text, tmp_path / "run", 12, "--check-every", "6"))
    assert done.returncode == 0, done.stderr
    assert "step 12: loss" in done.stdout
    said = ran("minigpt.generate", str(tmp_path / "run"), "--prompt", "the cat")
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("the cat")
    assert len(said.stdout) == len("the cat") + 300 + 1  # a character is a token


def test_killed_at_any_moment_it_goes_on_to_the_same_end(text, tmp_path):
    command = training(text, tmp_path / "killed", 60, "--save-every", "1")
    path = tmp_path / "killed" / "checkpoint.pt"
    for after in (3, 20):
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            stdout=subprocess.DEVNULL,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        until = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < until:
            if path.is_file() and checkpoint.load(path)["step"] >= after:
                break
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert checkpoint.load(path)["step"] >= after
    went_on = ran(*command)
    assert "going on at step" in went_on.stdout
    assert ran(*training(text, tmp_path / "whole", 60)).returncode == 0
    assert alike(
        weights(tmp_path / "killed"), weights(tmp_path / "whole"), rtol=0, atol=0
    )


def test_two_processes_train_as_one_does(text, tmp_path):
    torchrun = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    two = ran(*torchrun, *training(text, tmp_path / "two", 6))
    assert two.returncode == 0, two.stderr
    assert two.stdout.count("parameters, on cpu") == 1  # one of them speaks
    assert ran(*training(text, tmp_path / "one", 6)).returncode == 0
    assert alike(weights(tmp_path / "two"), weights(tmp_path / "one"), atol=1e-4)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--data", "nowhere.txt"], "no text at nowhere.txt: give a file's path"),
        (["--n-heads", "3"], "d_model = 16, n_heads = 3: the second must divide"),
        (["--seq-len", "500"], "too few for seq_len = 500: give one of"),
        (["--device", "abacus"], "there is no abacus here, only"),
        (["--save-every", "0"], "0 is not in the range x>=1"),
        (["--warmup", "13"], "give a smaller warmup, or more steps"),
        (["--max-lr", "inf"], "max_lr = inf, min_lr = 0.0001"),
        (["--steps", "0", "--warmup", "0"], "steps = 0, but it is 1 or more"),
        (["--max-lr", "1e-5"], "max_lr = 1e-05, min_lr = 0.0001: the rate falls from"),
    ],
)
def test_a_run_that_cannot_be_is_refused_in_one_line(text, tmp_path, words, said):
    done = ran(*training(text, tmp_path / "run", 12, *words))
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_checkpoint_of_another_shape_is_refused_in_one_line(text, tmp_path):
    ran(*training(text, tmp_path / "run", 4))
    done = ran(*training(text, tmp_path / "run", 4, "--d-model", "32"))
    assert done.returncode == 2
    assert "was trained with d_model = 16, not 32: use the same recipe" in done.stderr


def test_a_folder_that_takes_no_checkpoint_is_refused_before_the_training(text):
    done = ran(*training(text, f"{text}/run", 12, "--check-every", "1"))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "step" not in done.stdout


def test_a_training_that_diverges_says_so_and_keeps_nothing(text, tmp_path):
    done = ran(*training(text, tmp_path / "run", 40, "--max-lr", "1e30"))
    assert done.returncode == 1
    assert "has diverged; give a smaller --max-lr" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run" / "checkpoint.pt").exists()


def test_a_model_that_never_saw_a_new_line_writes_all_the_same(tmp_path):
    path = tmp_path / "line.txt"
    path.write_text(TEXT.replace("\n", " "))
    ran(*training(str(path), tmp_path / "run", 4))
    said = ran("minigpt.generate", str(tmp_path / "run"), "--tokens", "20")
    assert said.returncode == 0, said.stderr
    assert len(said.stdout) == 1 + 20 + 1


def test_a_run_that_is_not_there_cannot_write(tmp_path):
    done = ran("minigpt.generate", str(tmp_path / "run"))
    assert done.returncode == 2
    assert "no checkpoint at" in done.stderr
    assert "--out" not in done.stderr  # an option of the other command
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "content", ["hello world, this is a text. " * 60, "", "\x80\x04"]
)
def test_a_file_that_is_no_checkpoint_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "text.txt"
    path.write_text(content)
    with pytest.raises(CheckpointError, match="train one with `python -m minigpt"):
        checkpoint.load(path)


def test_a_prompt_the_model_cannot_read_is_refused_before_it_writes(text, tmp_path):
    ran(*training(text, tmp_path / "run", 4))
    done = ran("minigpt.generate", str(tmp_path / "run"), "--prompt", "the cat ß")
    assert (done.returncode, done.stdout) == (2, "")
    assert "never seen 'ß'" in done.stderr


def test_help_says_what_each_option_does():
    for command in (train, generate):
        assert CliRunner().invoke(command, ["-h"]).exit_code == 0
        assert all(
            option.help for option in command.params if isinstance(option, click.Option)
        )


RUNS = {"short": 3, "long": 9}  # alike, if no step changes anything

THEIR_RATE = '''\
def learning_rate(step, max_lr, min_lr, warmup, total):
    """The learner's own."""
    return 0.0  # nothing is learned at this rate, so its use shows
'''


def test_the_learners_own_parts_train(text, tmp_path):
    workbook.save_part(tmp_path, "learning_rate", THEIR_RATE)
    for name, steps in RUNS.items():
        command = training(text, tmp_path / name, steps)
        done = ran(*command, "--parts", "mine", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "learning_rate: yours" in done.stdout
        assert "train_step: the reference" in done.stdout
    assert alike(*(weights(tmp_path / name) for name in RUNS), rtol=0, atol=0)
