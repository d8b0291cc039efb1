"""Run a learner's code where it can do no harm, and get back data.

    with Server() as server:
        with server.worker(job, limits) as worker:
            reply = worker.run("call", {"args": {…}})

A `Server` is a fresh interpreter that holds torch, einops and the probes, and forks a
worker for each exercise. `Stopped` says how a worker ended that gave no answer.
"""

from .host import PLAIN, Server
from .job import Job, Limits, SandboxError, Stopped

__all__ = ["PLAIN", "Job", "Limits", "SandboxError", "Server", "Stopped"]
