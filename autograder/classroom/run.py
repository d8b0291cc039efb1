"""One run of the grader: who grades what needs it, and what comes of it."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path

from autograder import overview
from autograder.classroom.plan import Plan, Record, Task
from autograder.classroom.processes import Processes
from autograder.classroom.records import Records, opened, temporary, writing
from autograder.classroom.results import Tally, write_results
from autograder.classroom.work import Graded, graded, lost
from autograder.classroom.workers import CannotGrade, Workers
from autograder.grading import Options
from autograder.source import find

Progress = Callable[[int, int], None]
WORTH_A_START = 8  # so many are graded in the seconds that a process takes to start
TRIES = 2  # a worker may die for reasons of its own


@dataclass(frozen=True)
class Summary:
    """What a run came to: submissions in all, those kept from before, those without a
    grade; a line for each of these that may get one when the command is run again; and
    the layers of isolation that all had.
    """

    submissions: int
    kept: int
    errors: int
    lost: tuple[str, ...] = ()
    isolation: tuple[str, ...] = ()


def grade(
    paths: Iterable[str | Path],
    out: Path,
    jobs: int | None = None,
    options: Options | None = None,
    progress: Progress = lambda done, total: None,
    regrade: Collection[str] = (),
    workers: Workers | None = None,
) -> Summary:
    """Grade every submission that isn't graded yet, and write the results to `out`.

    `regrade` names exercises and submissions to grade anew; the rest is kept, even if
    another version of the grader did it. `workers` are processes of this machine, as
    many as `jobs` or as `jobs_for` says, unless others are given; these stay open.

    Raises UsageError where a path, the folder or a name can't be used, CannotWrite
    where the folder takes no more, CannotGrade where the workers can't grade at all.
    """
    plan = Plan(find(paths), out, options or Options(), regrade)
    with opened(out) as records, temporary(records) as folder:
        run = Run(plan, records, progress)
        waiting = run.look_through()
        if waiting and workers is None:
            jobs = min(jobs or jobs_for(len(waiting)), len(waiting))
            with Processes(jobs, folder) as own:
                run.grade(waiting, own)
        elif waiting and workers is not None:
            run.grade(waiting, workers)
        run.finish()
    return Summary(
        len(plan),
        len(plan) - len(waiting),
        run.tally.errors,
        tuple(run.lost),
        tuple(run.tally.isolation or ()),
    )


def jobs_for(submissions: int) -> int:
    """How many processes to grade with: one a processor, but fewer for a few, which
    are graded sooner than another process has started."""
    return min(os.cpu_count() or 1, 1 + submissions // WORTH_A_START)


class Run:
    """Goes through a plan's submissions and keeps what comes of each."""

    def __init__(self, plan: Plan, records: Records, progress: Progress) -> None:
        self.plan, self.records, self.progress = plan, records, progress
        self.tally = Tally()
        self.lost: list[str] = []
        self.done = 0

    def look_through(self) -> list[int]:
        """The numbers of the submissions that have no good record."""
        waiting = []
        for number, file in enumerate(self.plan.files):
            record = self.records.read(file)
            if record is None or self.plan.task(number, record) is not None:
                waiting.append(number)
            else:
                self.tally.add(record)
        self.done = len(self.plan) - len(waiting)
        self.progress(self.done, len(self.plan))
        return waiting

    def grade(self, waiting: Iterable[int], workers: Workers) -> None:
        """Have these graded, no more at a time than the workers have room for."""
        running: dict[Future[Graded], tuple[Task, int]] = {}
        try:
            for number in waiting:
                record = self.records.read(self.plan.files[number])
                task = self.plan.task(number, record)
                if task is None:  # it is as it was again
                    assert record is not None
                    self._count(record)
                    continue
                running[workers.submit(graded, task.item)] = task, 1
                while len(running) >= workers.room:
                    self._take(running, workers)
            while running:
                self._take(running, workers)
        finally:
            for future in running:
                future.cancel()

    def _take(
        self, running: dict[Future[Graded], tuple[Task, int]], workers: Workers
    ) -> None:
        """Wait until one is graded, and keep it."""
        done = wait(running, return_when=FIRST_COMPLETED).done
        for future in sorted(done, key=lambda one: running[one][0].number):
            task, tries = running.pop(future)
            try:
                outcome = future.result()
            except CannotGrade:
                raise
            except Exception as error:  # a worker died: nobody else's result is lost
                why = f"the process that graded it ended: {error}"
                outcome = lost(task.item.submission, why)
            if outcome.lost is not None and tries < TRIES:
                running[workers.submit(graded, task.item)] = task, tries + 1
            else:
                self._keep(task, outcome)

    def _keep(self, task: Task, outcome: Graded) -> None:
        file = self.plan.files[task.number]
        if outcome.lost is not None:
            self.lost.append(f"{task.item.submission}: {outcome.lost}")
        if outcome.lost is not None and task.old is not None:
            self._count(task.old)
            return
        # A lost one is made from nothing, so that the next run tries again.
        made_from = {} if outcome.lost is not None else task.made_from
        record = outcome.record | {"made_from": made_from}
        self.records.write(file, record, outcome.page)
        self._count(record)

    def _count(self, record: Record) -> None:
        self.tally.add(record)
        self.done += 1
        self.progress(self.done, len(self.plan))

    def finish(self) -> None:
        """Put together what is handed on, from the records."""
        with writing(self.records.out):
            write_results(self.records.out, self._in_order(), self.tally, self.plan.key)
            overview.write(self.records.out)

    def _in_order(self) -> Iterator[Record]:
        for file in self.plan.files:
            record = self.records.read(file)
            if record is None:
                raise CannotGrade(
                    f"the record {self.records.folder / file}.json is gone or damaged; "
                    "run the same command again"
                )
            yield record
