"""A Dask cluster of two workers on this machine grades as the grader itself does."""

import os
import socket
import sys
from pathlib import Path

import pytest

from autograder.classroom import CannotGrade, grade
from autograder.classroom.cluster import Cluster
from tests.grading import here
from tests.grading.handed_in import ATTENTION, PROJECT, SCORES, notebook, script
from tests.grading.pretended import files

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    import dask
    from distributed import LocalCluster

    os.environ.setdefault("PYTHONPATH", str(ROOT))
    dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        local_directory=str(tmp_path_factory.mktemp("dask")),
    ) as cluster:
        with Cluster(cluster.scheduler_address) as workers:
            yield workers


def test_a_cluster_gives_the_same_bytes(cluster, tmp_path):
    folder = tmp_path / "class"
    (folder / "eli").mkdir(parents=True)
    notebook(folder, "ada", "import torch", PROJECT, SCORES)
    script(folder, "ben", SCORES.replace("** 0.5", ""), PROJECT)
    script(folder, "chen", "def attention_scores(Q, K):\n    open('/etc/shadow')")
    script(folder, "dora", "def attention_scores(Q, K):\n    import os; os._exit(1)")
    script(folder / "eli", "one", SCORES)
    script(folder / "eli", "two", ATTENTION)
    (folder / "finn.ipynb").write_text("{", "utf-8")
    assert cluster.threads == 2
    summary = grade([folder], tmp_path / "cluster", workers=cluster)
    assert (summary.submissions, summary.errors, summary.lost) == (6, 1, ())
    here.grade([folder], tmp_path / "here")
    assert files(tmp_path / "cluster") == files(tmp_path / "here")


def test_a_worker_of_the_cluster_that_dies_costs_what_it_was_at(cluster):
    died = cluster.submit(os._exit, 1)
    assert cluster.submit(abs, -1).result() == 1
    assert died.exception() is not None


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch):
    monkeypatch.setattr("autograder.classroom.cluster.CONNECT", 0.5)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and doesn't listen
        address = "tcp://127.0.0.1:{1}".format(*nobody.getsockname())
        with pytest.raises(CannotGrade, match="no Dask scheduler answers") as told:
            Cluster(address)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("address", ["", "nonsense", "tcp://", "http://x", "x:y"])
def test_what_is_no_address_is_told(monkeypatch, address):
    monkeypatch.setattr("autograder.classroom.cluster.CONNECT", 0.5)
    with pytest.raises(CannotGrade, match="no Dask scheduler answers") as told:
        Cluster(address)
    assert "\n" not in str(told.value)


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CannotGrade, match="pip install distributed"):
        Cluster("tcp://127.0.0.1:8786")
