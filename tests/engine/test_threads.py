"""Judging in several threads at once comes to the same as in one."""

from concurrent.futures import ThreadPoolExecutor

import torch

from autograder.trials import Local


def drawn(x):
    """What an answer that draws at random gives, with others drawing beside it."""
    return torch.cat([torch.rand(50) for _ in range(200)])


def test_random_numbers_are_those_of_one_thread_alone():
    asked = {
        "args": {"x": torch.ones(1)},
        "keywords": [],
        "device": "cpu",
        "grads": False,
        "seed": 0,
        "watch": [],
        "sizes": False,
    }
    alone = Local(drawn, {}).run("call", asked)["out"]
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(Local(drawn, {}).run, "call", asked) for _ in range(40)]
    assert all(torch.equal(run.result()["out"], alone) for run in runs)
