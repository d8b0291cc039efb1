"""Workers that only pretend to grade: quick, and they can be made to fail."""

from concurrent.futures import Future

from autograder.classroom import Workers, grade
from autograder.classroom.work import finished
from autograder.report import Result
from autograder.verdict import Verdict

EXERCISES = ("project_qkv", "attention_scores")


class Pretended(Workers):
    """Passes everybody in two exercises. `trouble` are a submission's first ends:
    exceptions that its worker raises, one after the other."""

    room = 2

    def __init__(self, **trouble):
        self.trouble = {name: list(ends) for name, ends in trouble.items()}
        self.asked = {}

    def submit(self, fn, /, item):
        self.asked[item.submission] = item.only or "all"
        future = Future()
        if ends := self.trouble.get(item.submission):
            future.set_exception(ends.pop(0))
        else:
            verdicts = [Verdict(name, 2, "passed", 1.0, 1.0) for name in EXERCISES]
            future.set_result(finished(Result(item.submission, verdicts), ["session"]))
        return future


def asked(paths, out, **how):
    """What a grader finds to be done: each submission, all of it or some exercises."""
    workers = Pretended()
    grade(paths, out, workers=workers, **how)
    return workers.asked


def files(folder):
    """Every file below a folder, and its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
