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

import solutions.generation as generation_solutions
import solutions.training as training_solutions
from autograder import workbook
from minigpt import checkpoint
from minigpt.checkpoint import CheckpointError, room
from minigpt.generate import generate
from minigpt.oneline import one_line
from minigpt.train import train
from minigpt.trainer import Run
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


@pytest.fixture(scope="module")
def kept_run(tmp_path_factory):
    """The folder of a training that ended."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "text.txt").write_text(TEXT)
    command = training(str(folder / "text.txt"), folder / "run", 4)[1:]
    assert CliRunner().invoke(train, command).exit_code == 0
    return folder / "run"


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


@pytest.fixture
def complaint(monkeypatch, capsys):
    """Run a command in this process; its exit code and what it complained of."""

    def ended(command, *words):
        monkeypatch.setattr(sys, "argv", ["command", *words])
        with pytest.raises(SystemExit) as ending:
            one_line(command, "minigpt")
        return ending.value.code, capsys.readouterr().err

    return ended


def test_wrong_usage_is_one_line_without_a_traceback(text, tmp_path):
    done = ran(*training(text, tmp_path / "run", 12, "--n-heads", "3"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "d_model = 16, n_heads = 3: the second must divide" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--data nowhere.txt", "no text at nowhere.txt: give a file's path"),
        ("--data .", "no text at .: give a file's path"),
        ("--seq-len 500", "too few for seq_len = 500: give one of"),
        ("--device abacus", "there is no 'abacus' here, only"),
        ("--device cpu:abc", "there is no 'cpu:abc' here, only"),
        ("--device cpu:7", "there is no 'cpu:7' here, only"),
        ("--save-every 0", "0 is not in the range x>=1"),
        ("--warmup 13", "give a smaller warmup, or more steps"),
        ("--max-lr inf", "'--max-lr': inf is not in the range 0<=x<inf"),
        ("--max-lr nan", "'--max-lr': nan is no number"),
        ("--max-lr 1e-5", "max_lr = 1e-05, min_lr = 0.0001: the rate falls from"),
        ("--steps 0 --warmup 0", "'--steps': 0 is not in the range x>=1"),
        ("--merges -5", "'--merges': -5 is not in the range x>=0"),
        ("--batch-size -1", "'--batch-size': -1 is not in the range x>=1"),
        ("--seed 99999999999999999999", "is not in the range 0<=x<=4294967295"),
        ("--d-model 1000000000", "give a smaller --d-model, --n-layers or --batch"),
        ("--n-layers 100000000", "give a smaller --d-model, --n-layers or --batch"),
        ("--batch-size 1000000000", "give a smaller --d-model, --n-layers or --batch"),
    ],
)
def test_a_run_that_cannot_be_is_refused_and_leaves_nothing(
    text, tmp_path, complaint, words, said
):
    command = training(text, tmp_path / "new" / "run", 12, *words.split())
    code, error = complaint(train, *command[1:])
    assert (code, error.count("\n")) == (2, 1)
    assert said in error
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--top-p nan", "'--top-p': nan is no number"),
        ("--temperature nan", "'--temperature': nan is no number"),
        ("--temperature inf", "'--temperature': inf is not in the range 0<=x<inf"),
        ("--seed -1", "'--seed': -1 is not in the range 0<=x<=4294967295"),
        ("--tokens 0", "'--tokens': 0 is not in the range x>=1"),
        ("--device cuda:99", "there is no 'cuda:99' here, only"),
    ],
)
def test_numbers_that_draw_nothing_are_refused(
    tmp_path, complaint, kept_run, words, said
):
    code, error = complaint(generate, str(kept_run), *words.split())
    assert (code, error.count("\n")) == (2, 1)
    assert said in error


def test_a_model_too_large_to_write_with_is_refused(kept_run, complaint, monkeypatch):
    monkeypatch.setattr("minigpt.memory.weights", lambda *_: 1 << 60)
    code, error = complaint(generate, str(kept_run))
    assert (code, error.count("\n")) == (2, 1)
    assert "name a smaller model, or another --device" in error


def test_memory_that_runs_out_is_said_in_one_line(
    text, tmp_path, complaint, monkeypatch
):
    def greedy(*_):
        return torch.empty(1 << 60)

    monkeypatch.setattr(training_solutions, "get_batch", greedy)
    code, error = complaint(train, *training(text, tmp_path / "run")[1:])
    assert (code, error.count("\n")) == (1, 1)
    assert "the memory ran out: a smaller model or batch takes less" in error


def test_two_trainings_do_not_share_a_folder(text, tmp_path, complaint):
    command = training(text, tmp_path / "run")[1:]
    with room(tmp_path / "run" / "checkpoint.pt"):
        code, error = complaint(train, *command)
        assert (tmp_path / "run").exists()
    assert (code, error.count("\n")) == (2, 1)
    assert "another training is at work in" in error
    assert not (tmp_path / "run").exists()
    assert complaint(train, *command)[0] == 0


@pytest.fixture
def ctrl_c(monkeypatch):
    """Press Ctrl-C in the middle of a step, by its number; so often."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def pressed(step, times=1):
        real = Run._step

        def interrupted(run):
            if run.step + 1 == step:
                for _ in range(times):
                    signal.raise_signal(signal.SIGINT)
            return real(run)

        monkeypatch.setattr(Run, "_step", interrupted)

    yield pressed
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_keeps_the_step_and_says_how_to_go_on(text, tmp_path, complaint, ctrl_c):
    whole = training(text, tmp_path / "whole")[1:]
    assert complaint(train, *whole)[0] == 0
    ctrl_c(5)
    command = training(text, tmp_path / "run")[1:]
    code, error = complaint(train, *command)
    assert (code, error.count("\n")) == (130, 1)
    assert "stopped at step 5; the same command goes on at step 5" in error
    assert complaint(train, *command)[0] == 0
    assert alike(weights(tmp_path / "run"), weights(tmp_path / "whole"), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("every", "said"),
    [
        ("2", "the same command goes on at step 4"),
        ("9", "the same command begins anew"),
    ],
)
def test_ctrl_c_twice_stops_at_once(text, tmp_path, complaint, ctrl_c, every, said):
    ctrl_c(6, times=2)
    out = tmp_path / "run"
    code, error = complaint(train, *training(text, out, 12, "--save-every", every)[1:])
    assert (code, error.count("\n")) == (130, 1)
    assert f"stopped at step 5; {said}" in error
    assert out.exists() == (every == "2")


def test_ctrl_c_stops_the_writing_quietly(kept_run, complaint, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(generation_solutions, "sample_next", interrupted)
    code, error = complaint(generate, str(kept_run))
    assert (code, error.strip()) == (130, "minigpt: stopped")


def test_names_and_samples_are_shown_as_they_are(text, tmp_path, monkeypatch):
    monkeypatch.setattr("minigpt.train.sample", lambda run: "a[b] [red]c :cat:")
    out = tmp_path / "[red]a" / ":cat:" / ("long" * 20)
    said = CliRunner().invoke(train, training(text, out, 4)[1:]).output.splitlines()
    assert "a[b] [red]c :cat:" in said
    path = out / "checkpoint.pt"
    assert said[-1] == f"kept in {path}; read: python -m minigpt.generate {path}"


def test_a_prompt_is_read_whole_where_it_fits(kept_run, monkeypatch):
    real, seen = generation_solutions.forward_with_cache, []

    def watched(model, tokens, caches):
        seen.append(tokens.shape[1])
        return real(model, tokens, caches)

    monkeypatch.setattr(generation_solutions, "forward_with_cache", watched)
    words = [str(kept_run), "--prompt", "the cat", "--tokens", "4"]
    assert CliRunner().invoke(generate, words).exit_code == 0
    assert seen == [7, 1, 4, 1]  # the context holds 8; then it goes on with half of it


def test_a_checkpoint_of_another_shape_is_refused_in_one_line(
    text, tmp_path, complaint
):
    complaint(train, *training(text, tmp_path / "run", 4)[1:])
    other = training(text, tmp_path / "run", 4, "--d-model", "32")[1:]
    code, error = complaint(train, *other)
    assert (code, error.count("\n")) == (2, 1)
    assert "was trained with d_model = 16, not 32: use the same recipe" in error


def test_a_folder_that_takes_no_checkpoint_is_refused_before_the_training(
    text, complaint, monkeypatch
):
    monkeypatch.setattr(Run, "_step", None)  # no step is made
    code, error = complaint(train, *training(text, f"{text}/run")[1:])
    assert (code, error.count("\n")) == (1, 1)
    assert "Not a directory" in error


def test_a_training_that_diverges_says_so_and_keeps_nothing(text, tmp_path, complaint):
    command = training(text, tmp_path / "run", 40, "--max-lr", "1e30")[1:]
    code, error = complaint(train, *command)
    assert (code, error.count("\n")) == (1, 1)
    assert "has diverged; give a smaller --max-lr" in error
    assert not (tmp_path / "run").exists()


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
