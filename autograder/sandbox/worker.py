"""Inside the worker: a learner's code runs here, so nothing here is to be trusted."""

import os
import random
import resource
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, NoReturn

import einops
import torch
from torch import nn

from .. import wire
from ..probes import run
from ..probes.devices import OneDevice
from ..probes.watch import FAMILIES, Watch
from . import absent, eager, layers, scratch, stand_in
from .job import BROKEN, LINE_LOST, Job, Limits
from .layers import Setup
from .loading import Parts, Siblings, explain, load, tells_lack_of_memory

LINE = 3  # the descriptor of the line to the grader
MODULE = "answer"  # what the learner's module is called; not __main__


def warm_up() -> list[str]:
    """Do once what each worker's first operations would do; files that it must read."""
    torch.set_num_threads(1)  # before any operation, or a forked child hangs
    torch.set_num_interop_threads(1)
    eager.compile_nothing()
    x = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))
    einops.einsum(x, x, "a b, c b -> a c").softmax(-1)
    einops.rearrange(x, "a b -> b a")
    with Watch(FAMILIES, sizes=True):
        nn.Linear(3, 2)(x).softmax(-1)
    with OneDevice():
        nn.Linear(3, 2, device="meta")(x.to("meta")).softmax(-1)
    absent.warm_up()
    torch.manual_seed(0)  # the first time it reads the sources of all who call it
    _seed()  # numpy loads its generators when they are first asked for
    stand_in.forget_project()
    return [file for file in (torch.__file__, einops.__file__, os.__file__) if file]


def try_out(setup: Setup, files: list[str]) -> list[str]:
    """Be confined as a worker and do what one does; the layers that hold."""
    folder = scratch.MOUNTED if setup.has(layers.VIEW) else setup.base
    names = layers.confine(setup, Limits(), folder)
    for file in files:
        Path(file).read_bytes()
    x = torch.ones(2, 2)
    thread = threading.Thread(target=x.matmul, args=[x])
    thread.start()
    thread.join()
    return names


def main(setup: Setup, limits: Limits, folder: str, line: int, out: int) -> NoReturn:
    """Give up everything, take one job from the line, and serve its requests."""
    try:
        _take_descriptors(line, out)
        os.chdir(folder)
        tempfile.tempdir = folder
        sys.argv = [MODULE]
        _seed()
        layers.confine(setup, limits, folder)
        Service(limits).serve()
    except (EOFError, OSError):  # they closed it, or the grader did and has no need
        os._exit(LINE_LOST)
    finally:
        os._exit(BROKEN)  # whatever happens, never go on as a copy of the server


def _take_descriptors(line: int, out: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for source, target in ((null, 0), (out, 1), (out, 2), (line, LINE)):
        os.dup2(source, target)
    os.set_inheritable(LINE, False)
    os.closerange(LINE + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    # What is printed before a sudden end should be seen.
    sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8", errors="replace")
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="replace")
    sys.stdin = os.fdopen(0)


def _seed() -> None:
    random.seed(0)
    torch.default_generator.manual_seed(0)  # the processor's; no other is in use here
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)


class Service:
    """Answers one request after the other, and says what came of each."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.wait = wire.until(None)
        self.pid = os.getpid()
        self.theirs: Any = None
        self.parts = Parts({})
        self.too_much = f"It needs more than {limits.memory >> 20:,} MiB of memory."
        self.filename = ""

    def serve(self) -> NoReturn:
        while True:
            request = wire.receive(LINE, self.wait)
            if "several" not in request:
                self._respond(request)
                continue
            for number, x in enumerate(wire.receive(LINE, self.wait), request["id"]):
                self._respond(request | {"id": number, "x": x})

    def _respond(self, request: dict[str, Any]) -> None:
        last_words = wire.pack(self._stopped(request, MemoryError()))
        try:
            answer = wire.pack(self._answer(request), self.limits.reply)
        except MemoryError:
            answer = last_words
        except BaseException as error:
            answer = wire.pack(self._stopped(request, error))
        if os.getpid() != self.pid:
            os._exit(0)  # a copy that they forked has come back from their code
        wire.send_frame(LINE, answer, self.wait)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            if "job" in request:
                self._load(Job(**request["job"]))
                return {"id": request["id"], "reply": {}}
            _seed()  # each time, as for the known mistakes that it is compared with
            x = request["x"]
            if "watch" in x:  # what is taken away needs none, and it takes time
                x |= {"watch": []}
            reply = run(request["probe"], self.theirs, x, self.parts)
            if tells_lack_of_memory(reply):
                raise MemoryError
            if absent.tried:
                reply["called"] = sorted({*reply.get("called", ()), *absent.tried})
            return {"id": request["id"], "reply": reply}
        except BaseException as error:
            return self._stopped(request, error)

    def _load(self, job: Job) -> None:
        self.filename = job.filename
        self.parts = Parts(job.parts)
        stand_in.install(self.parts)
        sys.meta_path.insert(1, Siblings(job.modules))
        absent.take_away(job.forbids)
        self.theirs = load(job.source, job.name, MODULE, job.filename)

    def _stopped(self, request: dict[str, Any], error: BaseException) -> dict[str, Any]:
        status, message = explain(error, self.filename)
        if status == "out_of_memory":
            message = self.too_much
        return {"id": request["id"], "stopped": (status, message)}
