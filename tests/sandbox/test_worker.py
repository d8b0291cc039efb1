"""An honest learner's code runs in the worker as it would anywhere."""

import random

import numpy as np
import pytest
import torch

from autograder.sandbox import Job, Stopped
from autograder.wire import Packed

PARTS = {
    "double": "def double(x):\n    return 2 * x\n",
    "quadruple": (
        "from autograder.parts import double\n"
        "def quadruple(x):\n    return double(double(x))\n"
    ),
    "hen": "from autograder.parts import egg\nhen = egg\n",
    "egg": "from autograder.parts import hen\negg = hen\n",
    "broken": "1 / 0\n",
    "Base": "class Base:\n    size = 3\n",
}


def test_tensors_go_in_and_come_out(lab):
    source = "def f(x, y):\n    return {'sum': (x + y).T, 'tuple': (x, [y], None)}\n"
    x, y = torch.rand(2, 3), torch.rand(3)
    out = lab.out(source, args={"x": x, "y": y})
    assert torch.equal(out["sum"], (x + y).T)
    assert torch.equal(out["tuple"][1][0], y)


def test_a_class_can_be_the_answer(lab):
    source = "from torch import nn\nclass f(nn.Linear):\n    pass\n"
    job = Job("f", source + "    __str__ = lambda self: 'mine'\n")
    with lab.server.worker(job) as worker:
        assert worker.output == ""


def test_what_it_keeps_stays_between_requests(lab):
    source = "count = 0\ndef f():\n    global count\n    count += 1\n    return count\n"
    assert lab.out(source, calls=3) == 3
    assert lab.out(source) == 1


def test_each_request_finds_the_same_random_numbers(lab):
    source = "import torch\ndef f():\n    return torch.rand(3)\n"
    assert torch.equal(lab.out(source, calls=1), lab.out(source, calls=3))


@pytest.mark.parametrize(
    "source",
    [
        "f = torch.compile(lambda x: 2 * x)\n",
        "@torch.compile\ndef f(x):\n    return 2 * x\n",
        "@torch.compile(mode='max-autotune', dynamic=True)\ndef f(x): return 2 * x\n",
        "def f(x):\n    layer = torch.nn.Identity()\n    layer.compile()\n"
        "    return 2 * layer(x)\n",
    ],
)
def test_what_is_to_be_compiled_runs_as_it_is(lab, source):
    x = torch.rand(2, 3)
    assert torch.equal(lab.out("import torch\n" + source, args={"x": x}), 2 * x)


def test_an_unknown_probe_is_the_graders_mistake(lab):
    with (
        lab.server.worker(Job("f", "def f(): pass")) as worker,
        pytest.raises(KeyError, match=r"no probe 'cal'; there are call, "),
    ):
        worker.run("cal", {})


@pytest.mark.parametrize(
    "decorator",
    ["@exercise", "@exercise()", "@autograder.exercise", "@exercise(points=3)"],
)
def test_the_decorator_changes_nothing(lab, decorator):
    source = f"""
import autograder
from autograder import exercise
{decorator}
def f():
    return 1
"""
    assert lab.out(source) == 1


# --- parts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "from autograder.parts import quadruple\ndef f(x):\n    return quadruple(x)",
        "from autograder import parts\ndef f(x):\n    return parts.quadruple(x)",
        "import autograder.parts\ndef f(x):\n    return autograder.parts.quadruple(x)",
        "from autograder.parts import *\ndef f(x):\n    return quadruple(x)",
    ],
)
def test_parts_can_be_used_and_use_each_other(lab, source):
    parts = {name: PARTS[name] for name in ("double", "quadruple")}
    assert lab.out(source, args={"x": 3}, parts=parts) == 12


def test_a_part_is_the_same_object_everywhere(lab):
    source = """
from autograder.parts import Base
import autograder.parts
class Mine(Base): pass
def f():
    return Base is autograder.parts.Base and Mine().size
"""
    assert lab.out(source, parts=PARTS) == 3


def test_a_part_is_loaded_when_it_is_first_used(lab):
    source = "import autograder.parts\ndef f():\n    return 1\n"
    assert lab.out(source, parts=PARTS) == 1


@pytest.mark.parametrize(
    "use",
    ["other(1)", "other.size", "isinstance(1, other)"],
)
def test_another_part_imports_and_fails_in_use(lab, use):
    source = "from autograder.parts import other\ndef f():\n    return 1\n"
    assert lab.out(source) == 1
    end = lab.end(f"from autograder.parts import other\ndef f():\n    {use}\n")
    assert end.status == "raised"
    assert end.message == (
        "ImportError: other isn't one of the parts that this exercise may use"
    )


def test_a_class_built_on_another_part_says_so(lab):
    end = lab.end("from autograder.parts import Other\nclass f(Other): pass\n")
    assert end.message.startswith("ImportError: Other isn't one of the parts")


def test_parts_that_need_each_other_are_refused(lab):
    end = lab.end("from autograder.parts import hen\n", parts=PARTS)
    assert end.status == "error"
    assert "these parts need each other: hen -> egg -> hen" in end.message


def test_a_broken_part_is_an_error_where_it_is_imported(lab):
    end = lab.end("x = 1\nfrom autograder.parts import broken\n", parts=PARTS)
    assert end.message == (
        "ZeroDivisionError: division by zero "
        "(line 2: from autograder.parts import broken)"
    )


# --- as in a file of their own ----------------------------------------------------


def test_the_source_can_be_read_and_shows_in_tracebacks(lab):
    source = '''
import inspect, traceback
class Mine:
    """Mine."""
def f():
    try:
        1 / 0  # here
    except ZeroDivisionError:
        return inspect.getsource(f), inspect.getsource(Mine), traceback.format_exc()
'''
    function, klass, trace = lab.out(source)
    assert function.startswith("def f():\n    try:")
    assert klass == 'class Mine:\n    """Mine."""\n'
    assert '"answer.py", line 7, in f\n    1 / 0  # here' in trace


def test_it_is_a_module_and_not_the_main_one(lab):
    source = """
import dataclasses, pickle, sys
@dataclasses.dataclass
class Point:
    x: "int"
ran = []
if __name__ == "__main__":
    ran.append(1)
def f():
    copy = pickle.loads(pickle.dumps(Point(3)))
    return ran, copy.x, sys.modules[__name__].f is f
"""
    assert lab.out(source) == ([], 3, True)


def test_torchscript_finds_the_source(lab):
    source = """
import torch
@torch.jit.script
def inner(x: torch.Tensor) -> torch.Tensor:
    return x + 1
def f(x):
    return inner(x)
"""
    assert lab.out(source, args={"x": torch.ones(1)}).item() == 2


def test_gradients_and_optimisers_work(lab):
    source = """
import torch
from torch import nn
def f(x):
    model = nn.Sequential(nn.Linear(4, 64), nn.GELU(), nn.Linear(64, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(5):
        loss = (model(x) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
"""
    losses = lab.out(source, args={"x": torch.rand(512, 4)}, wall=30, cpu=30)
    assert losses[-1] < losses[0]


def test_a_large_product_does_not_hang(lab):
    source = "import torch\ndef f(x):\n    return (x @ x).sum()\n"
    assert lab.out(source, args={"x": torch.ones(512, 512)}, wall=30) == 512**3


def test_the_same_job_gives_the_same_replies(lab):
    source = """
import os, random, numpy, torch
def f():
    return torch.rand(3), random.random(), numpy.random.rand()
"""
    first, second = lab.out(source), lab.out(source)
    assert torch.equal(first[0], second[0])
    assert first[1:] == second[1:]
    seeded = torch.Generator().manual_seed(0)
    assert torch.equal(first[0], torch.rand(3, generator=seeded))
    assert first[1:] == (random.Random(0).random(), np.random.RandomState(0).rand())


def test_hashes_are_the_same_in_every_server(lab):
    source = "import os\ndef f():\n    return os.environ['PYTHONHASHSEED']"
    assert lab.out(source) == "0"


LOADED = "    return 'torch._dynamo.config' in sys.modules\n"


def test_no_optimiser_and_no_other_device_loads_the_compiler(lab):
    source = """
import sys, torch
from torch import nn
def f():
    layer = nn.Linear(2, 2)
    for kind in (torch.optim.SGD, torch.optim.AdamW):
        layer(torch.ones(1, 2)).sum().backward()
        kind(layer.parameters(), lr=0.1).step()
    nn.Linear(2, 2, device="meta")(torch.ones(1, 2, device="meta")).softmax(-1)
"""
    assert lab.out(source + LOADED) is False


def test_whoever_wants_the_compiler_itself_gets_it(lab):
    source = """
import sys
import torch._dynamo.utils
def f():
    torch._dynamo.reset()
"""
    more = {"wall": 90, "cpu": 60, "memory": 1 << 30}  # it takes seconds to load
    assert lab.out(source + LOADED, **more) is True


def test_requests_sent_together_are_answered_in_turn(lab):
    job = Job("f", "seen = []\ndef f(x):\n    seen.append(x)\n    return seen\n")
    with lab.server.worker(job) as worker:
        asked = Packed([{"x": 1}, {"x": 2}, {"x": 3}])
        replies = [reply["out"] for reply in worker.replies("raw", asked)]
        assert replies == [[1], [1, 2], [1, 2, 3]]
        assert worker.run("raw", {"x": 4})["out"] == [1, 2, 3, 4]


def test_what_was_answered_before_its_end_counts(lab):
    job = Job("f", "import os\ndef f(x):\n    return x if x < 3 else os._exit(7)\n")
    answered = []
    with lab.server.worker(job) as worker:
        replies = worker.replies("raw", Packed([{"x": x} for x in range(6)]))
        answered += [next(replies)["out"] for _ in range(3)]
        with pytest.raises(Stopped, match="status 7"):
            next(replies)
    assert answered == [0, 1, 2]


def test_replies_that_fill_the_line_while_many_requests_wait(lab):
    job = Job("f", "def f(x):\n    return x\n")
    large = torch.rand(1 << 18)  # more than a socket holds
    with lab.server.worker(job) as worker:
        replies = worker.replies("raw", Packed([{"x": large}] * 12))
        assert all(torch.equal(reply["out"], large) for reply in replies)
