"""Processes that work together give what they compute, and none of them stays."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import torch

from bookkit.ranks import RankError, Ranks


def summed(rank, x):
    print("a job may print")
    mine = x * (rank + 1)
    dist.all_reduce(mine)  # noqa: F821
    return {"sum": mine, "rank": rank}


def passed_on(rank, x):
    if rank == 0:
        dist.send(x, 1)  # noqa: F821
    else:
        dist.recv(x, 0)  # noqa: F821
    return doubled(x)


def doubled(x):
    return 2 * x


def raises_on_one(rank, x):
    if rank == 1:
        raise ValueError("no data left")
    dist.all_reduce(x)  # noqa: F821


def called_by_one(rank, x):
    if rank == 0:
        dist.all_reduce(x)  # noqa: F821


def killed(rank, x):
    import os
    import signal

    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(x)  # noqa: F821


@pytest.fixture(scope="module")
def ranks():
    made = Ranks(2)
    yield made
    made.end()


def children():
    return [one for one in psutil.Process().children() if "bookkit.rank" in said(one)]


def said(process):
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def test_every_rank_gets_the_sum_and_what_it_sent_is_counted(ranks):
    found = ranks.run(summed, torch.ones(3))
    assert [one["sum"].tolist() for one in found] == [[3, 3, 3], [3, 3, 3]]
    assert [one["rank"] for one in found] == [0, 1]
    assert ranks.traffic == [[("all_reduce", 12)], [("all_reduce", 12)]]


def test_a_rank_sends_and_another_receives_with_functions_of_the_chapter(ranks):
    found = ranks.run(passed_on, torch.arange(2.0), uses=[doubled])
    assert [one.tolist() for one in found] == [[0, 2], [0, 2]]
    assert ranks.traffic == [[("send", 8)], []]


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (
            raises_on_one,
            "rank 1 of 2 raised ValueError: no data left (line 3 of the job)",
        ),
        (
            called_by_one,
            "rank 0 of 2 not done after 3 s: look for a call that the others",
        ),
        (killed, "rank 1 of 2 ended without a word (signal 9)"),
    ],
)
def test_a_rank_that_fails_is_told_of_and_no_process_stays(ranks, job, says):
    ranks.run(summed, torch.ones(1))  # they run
    assert len(children()) == 2
    with pytest.raises(RankError) as caught:
        ranks.run(job, torch.ones(3), timeout=3)
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)
    assert children() == []


ALONE = """
import time
import torch
from bookkit.ranks import Ranks
from tests.bookkit.test_ranks import called_by_one, summed

ranks = Ranks(2)
ranks.run(summed, torch.ones(1))
print(*[one.pid for one in ranks._processes], flush=True)
ranks.run(called_by_one, torch.ones(1))
"""


def test_the_ranks_end_where_their_starter_is_killed():
    starter = subprocess.Popen(
        [sys.executable, "-c", ALONE], stdout=subprocess.PIPE, text=True
    )
    started = [psutil.Process(int(pid)) for pid in starter.stdout.readline().split()]
    assert len(started) == 2
    folder = Path(started[0].cmdline()[-1]).parent
    assert folder.is_dir()
    os.kill(starter.pid, signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    end = time.monotonic() + 20
    while any(map(runs, started)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(runs, started))
    assert not folder.exists()


def runs(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
