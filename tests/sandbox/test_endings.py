"""Each way in which a learner's code can end, or not end, and what is said of it."""

import pytest

HANGS = {
    "a loop": "while True: pass",
    "a sleep": "import time; time.sleep(60)",
    "a call into C that keeps the interpreter": (
        "import re; re.match('(a+)+$', 'a' * 40 + 'b')"
    ),
    "an operation of torch": (
        "import torch; x = torch.rand(2000, 2000)\n    while True: x = x @ x"
    ),
    "signals ignored": (
        "import signal\n"
        "    for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGINT):\n"
        "        signal.signal(number, signal.SIG_IGN)\n"
        "    while True: pass"
    ),
    "every exception swallowed": (
        "\n    while True:\n"
        "        try:\n"
        "            while True: pass\n"
        "        except BaseException: pass"
    ),
    "stopped by itself": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "a thread that holds the end up": (
        "import threading, time\n"
        "    threading.Thread(target=time.sleep, args=[60]).start()\n"
        "    threading.Event().wait()"
    ),
    "a lock taken twice": (
        "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()"
    ),
}


@pytest.mark.parametrize("body", HANGS.values(), ids=HANGS)
def test_a_hang_is_a_timeout(lab, body):
    end = lab.end(f"def f():\n    {body}\n", wall=0.4)
    assert end.status == "timeout"
    assert end.message == "It took longer than 0.4 s."


def test_a_hang_while_loading_is_a_timeout(lab):
    assert lab.end("while True: pass", wall=0.3).status == "timeout"


def test_the_time_counts_for_all_requests_together(lab):
    source = "import time\ndef f():\n    time.sleep(0.2)\n"
    assert lab.end(source, calls=2, wall=1).status is None
    assert lab.end(source, calls=8, wall=1).status == "timeout"


def test_a_worker_that_reads_nothing_is_a_timeout(lab):
    import torch

    source = "import time\ndef f(x):\n    time.sleep(60)\n"
    end = lab.end(source, args={"x": torch.zeros(1 << 20)}, wall=0.4)
    assert end.status == "timeout"


SPIN = "def f():\n    while True: pass\n"
IGNORE = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"


@pytest.mark.parametrize("before", ["", IGNORE], ids=["heeded", "ignored"])
def test_processor_time_is_limited_too(lab, before):
    if before and lab.server.without:
        pytest.skip("takes two seconds, and differs in nothing")
    end = lab.end(before + SPIN, wall=20, cpu=1)
    assert end.status == "timeout"
    assert end.message == "It used more than 1 s of processor time."


DEATHS = {
    "import os; os._exit(0)": "It ended its own process with exit status 0.",
    "import os; os._exit(7)": "It ended its own process with exit status 7.",
    "import os; os.abort()": "It was ended by SIGABRT.",
    "import os; os.kill(os.getpid(), 9)": "It was ended by SIGKILL.",
    "import os, signal; os.kill(os.getpid(), signal.SIGXCPU)": (
        "It was ended by SIGXCPU."
    ),
    "import os; os.kill(0, 9)": "It was ended by SIGKILL.",
    "import ctypes; ctypes.string_at(0)": "It was ended by SIGSEGV.",
    "raise KeyboardInterrupt": "KeyboardInterrupt (line {line}: {body})",
    "raise BaseException('boo')": "BaseException: boo (line {line}: {body})",
    "raise GeneratorExit": "GeneratorExit (line {line}: {body})",
    "import os; os.closerange(0, 64)": "It closed its line to the grader.",
    "import os, time; os.close(3); time.sleep(60)": "It closed its line to the grader.",
    "import os; os.execvp('sleep', ['sleep', '60'])": (
        "It closed its line to the grader."
    ),
}


@pytest.mark.parametrize(("body", "message"), DEATHS.items(), ids=DEATHS)
def test_a_death_in_a_call_is_a_crash(lab, body, message):
    end = lab.end(f"def f():\n    {body}\n")
    assert end.status == "crashed"
    assert end.message == message.format(line=2, body=body)


@pytest.mark.parametrize(("body", "message"), DEATHS.items(), ids=DEATHS)
def test_a_death_while_loading_is_a_crash(lab, body, message):
    end = lab.end(body)
    assert end.status == "crashed"
    assert end.message == message.format(line=1, body=body)


def test_an_exit_while_loading_is_a_crash(lab):
    end = lab.end("import sys; sys.exit(3)")
    assert (end.status, end.message) == ("crashed", "The code called sys.exit(3).")


SHY = "class Shy:\n    def __repr__(self): raise SystemExit(self)\n"


def test_an_exit_with_something_that_cannot_be_shown_is_a_crash(lab):
    end = lab.end(f"import sys\n{SHY}sys.exit(Shy())")
    assert (end.status, end.message) == ("crashed", "The code called sys.exit(…).")
    end = lab.end(f"{SHY}def f():\n    raise SystemExit(Shy())\n")
    assert (end.status, end.message) == ("raised", "SystemExit: ")


def test_after_its_end_a_worker_says_the_same_again(lab):
    from autograder.sandbox import Job, Stopped

    with lab.server.worker(
        Job("f", "def f():\n    import os; os._exit(1)\n")
    ) as worker:
        for _ in range(2):
            with pytest.raises(Stopped, match="exit status 1"):
                worker.run("raw", {})


MEMORY = {
    "lists": "x = []\n    while True: x.append([0] * 100_000)",
    "one string": "return 'x' * (1 << 40)",
    "tensors": "x = []\n    while True: x.append(torch.ones(1 << 20))",
    "one tensor": "return torch.empty(1 << 40)",
}


@pytest.mark.parametrize("body", MEMORY.values(), ids=MEMORY)
def test_too_much_memory_is_said(lab, body):
    end = lab.end(f"import torch\ndef f():\n    {body}\n")
    assert end.status == "out_of_memory"
    assert end.message == "It needs more than 256 MiB of memory."


def test_memory_that_stays_full_is_said_too(lab):
    source = """
kept = []
def f():
    size = 1 << 20
    while size:
        try: kept.append(bytearray(size))
        except MemoryError: size //= 2
    raise MemoryError
"""
    assert lab.end(source).status == "out_of_memory"


@pytest.mark.parametrize("source", ["x = bytearray(1 << 40)", "torch.ones(1 << 40)"])
def test_too_much_memory_while_loading_is_said(lab, source):
    end = lab.end(f"import torch\n{source}\n")
    assert end.status == "out_of_memory"
    assert end.message == "It needs more than 256 MiB of memory."


ERRORS = {
    "1 / 0": "ZeroDivisionError: division by zero (line 1: 1 / 0)",
    "def f(:": "SyntaxError: invalid syntax (answer.py, line 1) (line 1: def f(:)",
    "x = 1": "NameError: the code defines no f",
    "import nothing_like_it": (
        "ModuleNotFoundError: No module named 'nothing_like_it' "
        "(line 1: import nothing_like_it)"
    ),
    "class E(Exception):\n    def __str__(self): raise E\nraise E": (
        "E (line 3: raise E)"
    ),
    "raise ValueError(chr(27))": (
        "ValueError: \N{REPLACEMENT CHARACTER} (line 1: raise ValueError(chr(27)))"
    ),
}


@pytest.mark.parametrize(("source", "message"), ERRORS.items(), ids=range(len(ERRORS)))
def test_an_exception_while_loading_is_an_error(lab, source, message):
    end = lab.end(source)
    assert (end.status, end.message) == ("error", message)


def test_recursion_without_end_is_an_exception(lab):
    end = lab.end("def f():\n    return f()\n")
    assert end.status == "raised"
    assert end.message.startswith("RecursionError: maximum recursion depth exceeded")


def test_recursion_with_its_limit_lifted_ends(lab):
    source = "import sys\nsys.setrecursionlimit(10**9)\ndef f():\n    return f()\n"
    assert lab.end(source, memory=16 << 20, wall=2).status is not None


RESULTS = {
    "object()": "can't send a builtins.object",
    "{1: 2}": "can't send a dict with a key 1",
    "(loop := [], loop.append(loop))[0]": "can't send more than 40 levels",
    "torch.zeros(1 << 19)": "it takes 2,097,152 bytes",
    "torch.zeros(1).expand(1 << 40)": "it takes 4,398,046,511,104 bytes",
}


@pytest.mark.parametrize(("result", "message"), RESULTS.items(), ids=RESULTS)
def test_a_result_that_cannot_be_sent_is_an_error(lab, result, message):
    end = lab.end(f"import torch\ndef f():\n    return {result}\n", reply=1 << 20)
    assert end.status == "error"
    assert message in end.message
