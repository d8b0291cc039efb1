"""Grade submissions: each exercise in a worker of its own, judged here."""

from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from autograder import diagnosis
from autograder.borrowing import handed_in_as_parts, hands_in_the_part
from autograder.cutting import cut_out
from autograder.definition import Exercise
from autograder.judge import Judge, judge_of
from autograder.registry import EXERCISES, chapter_of, of_chapter, used_by
from autograder.sandbox import Job, Limits, SandboxError, Server, Stopped
from autograder.sandbox.rpc import Worker
from autograder.source import (
    BrokenCell,
    Slice,
    SourceFile,
    Submission,
    defined_names,
    forget_programs,
    slice_for,
)
from autograder.trials import seed_of
from autograder.untouched import untouched
from autograder.verdict import Diagnosis, Verdict

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Options:
    """How a submission is graded: the key of the hidden inputs, shares, limits."""

    key: bytes | None = field(default=None, repr=False)
    partial: bool = False
    limits: Limits = field(default_factory=Limits)

    def seed(self, submission: str, exercise: str) -> int:
        """The seed of an exercise's inputs; without a key a fixed, known one."""
        if self.key is None:
            return 0
        return seed_of(self.key.hex(), submission, exercise)


def grade_submission(
    server: Server, submission: Submission, options: Options, only: str | None = None
) -> list[Verdict]:
    """A verdict for every exercise that the submission is graded for."""
    try:
        return [
            Grading(server, submission, EXERCISES[name], options).verdict()
            for name in asked_for(submission)
            if only in (None, name)
        ]
    finally:
        forget_programs()


def asked_for(submission: Submission) -> list[str]:
    """The ids a submission is graded for, in the book's order.

    A notebook that knows its chapter: that chapter's exercises. Another file: every
    exercise that it defines.
    """
    wanted: set[str] = set()
    for file in submission.files:
        if file.chapter is not None and of_chapter(file.chapter):
            wanted |= {one.id for one in of_chapter(file.chapter)}
        else:
            wanted |= set(defined_names(file.cells)) & EXERCISES.keys()
            wanted |= {name for name in EXERCISES if _in_broken_cell(file, name)}
            wanted |= handed_in_as_parts(file)
    return [name for name in EXERCISES if name in wanted]


def _in_broken_cell(file: SourceFile, name: str) -> bool:
    try:
        slice_for(file.cells, name)
    except BrokenCell:
        return True
    return False


class Grading:
    """One exercise of one submission."""

    def __init__(
        self,
        server: Server,
        submission: Submission,
        exercise: Exercise,
        options: Options,
    ) -> None:
        self.server, self.submission = server, submission
        self.exercise, self.options = exercise, options
        self._files = submission.files

    def verdict(self) -> Verdict:
        """Find the answer, run it apart, judge it; say so where the grader fails."""
        try:
            return self._verdict()
        except SandboxError:
            raise
        except Exception as error:
            return self._say("error", diagnosis.grader_fault(error))

    def _verdict(self) -> Verdict:
        name = self.exercise.id
        try:
            file = self._file(name)
            if file is None:
                if any(name in handed_in_as_parts(one) for one in self._files):
                    return self._say("forbidden", diagnosis.part_handed_in(name))
                return self._say("missing")
            if untouched(file.cells, name):
                return self._say("not_attempted")
            cut = self._slice(file)
        except BrokenCell as error:
            found = Diagnosis("cannot-be-read", f"The cell can't be read: {error}")
            return self._say("error", found)
        if hands_in_the_part(cut.source, name):
            return self._say("forbidden", diagnosis.part_handed_in(name))
        verdict = self._judged(file, cut)
        if verdict.status not in ("passed", "forbidden"):
            verdict = self._with_blame(file, verdict)
        if self.options.partial and verdict.status != "forbidden" and verdict.checks:
            share = sum(one.passed for one in verdict.checks) / len(verdict.checks)
            points = round(verdict.max_points * share, 2)
            verdict = replace(verdict, points=max(verdict.points, points))
        return verdict

    def _file(self, name: str) -> SourceFile | None:
        """The file that defines an exercise: the last that was written in."""
        found = None
        for file in self._files:
            try:
                defines = name in defined_names(file.cells)
            except BrokenCell:
                defines = False
            if defines or _in_broken_cell(file, name):
                if found is None or not untouched(file.cells, name):
                    found = file
        return found

    def _slice(self, file: SourceFile, without: frozenset[str] = frozenset()) -> Slice:
        """What the answer needs of its file.

        Parts stand for stubs that it uses, and for what another file answers.
        """
        used = {one.__name__ for one in used_by(self.exercise)}
        missing = used - set(defined_names(file.cells))
        elsewhere = {name for name in missing if self._own_part(name)}
        cut = cut_out(file.cells, self.exercise.id, without | elsewhere)
        assert cut is not None
        return cut

    def _judged(
        self, file: SourceFile, cut: Slice, not_own: frozenset[str] = frozenset()
    ) -> Verdict:
        try:
            with self._worker(file, cut, not_own) as worker:
                return self._judge().verdict(worker)
        except Stopped as stopped:
            return self._say(stopped.status, Diagnosis(None, stopped.message))

    def _judge(self) -> Judge:
        seed = self.options.seed(self.submission.name, self.exercise.id)
        return judge_of(self.exercise, seed)

    def _worker(
        self, file: SourceFile, cut: Slice, not_own: frozenset[str]
    ) -> AbstractContextManager[Worker]:
        parts, others = self._parts(not_own), self._others(file)
        name, forbids = file.path.name, tuple(self.exercise.forbids)
        job = Job(self.exercise.id, cut.source, parts, name, others, forbids)
        return self.server.worker(job, self.options.limits)

    def _parts(self, not_own: frozenset[str]) -> dict[str, str]:
        """The sources of what the answer may build on: theirs, else the reference's."""
        names = [one.__name__ for one in used_by(self.exercise)]
        return {
            name: (None if name in not_own else self._own_part(name))
            or reference_source(name)
            for name in names
        }

    def _others(self, file: SourceFile) -> dict[str, str]:
        """The other `.py` files of the submission, which this one may import."""
        return {
            one.path.stem: one.cells[0]
            for one in self._files
            if one is not file and one.path.suffix == ".py" and one.cells
        }

    def _own_part(self, name: str) -> str | None:
        for file in reversed(self._files):
            try:
                if name not in defined_names(file.cells) or untouched(file.cells, name):
                    continue
                cut = slice_for(file.cells, name)
            except BrokenCell:
                continue
            if cut is not None and not hands_in_the_part(cut.source, name):
                return cut.source
        return None

    def _with_blame(self, file: SourceFile, verdict: Verdict) -> Verdict:
        """Say so where the mistake is in an earlier exercise that this builds on."""
        used = {one.__name__ for one in used_by(self.exercise)}
        own = {name for name in used if self._own_part(name)}
        if not own:
            return verdict
        if not self._passes_without(file, frozenset(own)):
            return verdict  # so it is wrong whosever parts it has
        alone = (frozenset({name}) for name in sorted(own) if len(own) > 1)
        guilty = next((one for one in alone if self._passes_without(file, one)), own)
        if verdict.status in ("timeout", "out_of_memory", "crashed"):
            return self._spared(file, guilty)
        names = " and ".join(f"`{name}`" for name in sorted(guilty))
        message = (
            f"With the reference in the place of your {names}, this exercise is right: "
            "the mistake comes from there."
        )
        there = self._known_there(verdict, guilty)
        blame = Diagnosis("from-an-earlier-part", message)
        return replace(verdict, diagnosis=(*verdict.diagnosis, *there, blame))

    def _known_there(
        self, verdict: Verdict, guilty: Collection[str]
    ) -> list[Diagnosis]:
        """The mistake in the part that is to blame, where it has no name here."""
        here = {one.id for one in self.exercise.mistakes}
        if len(guilty) != 1 or here & {one.mistake for one in verdict.diagnosis}:
            return []
        (name,) = guilty
        part = Grading(self.server, self.submission, EXERCISES[name], self.options)
        there = {one.id for one in EXERCISES[name].mistakes}
        return [
            Diagnosis(one.mistake, f"In your `{name}`: {one.message}")
            for one in part.verdict().diagnosis
            if one.mistake in there
        ]

    def _spared(self, file: SourceFile, guilty: Collection[str]) -> Verdict:
        """The verdict with the references in the place of parts that end the process:
        they cost their own exercises, not this one."""
        instead = frozenset(guilty)
        cut = self._slice(file, instead & set(defined_names(file.cells)))
        names = " and ".join(f"`{name}`" for name in sorted(guilty))
        note = f"Judged with the reference in the place of your {names}."
        return replace(self._judged(file, cut, instead), notes=(note,))

    def _passes_without(self, file: SourceFile, names: frozenset[str]) -> bool:
        """Whether it is right with the references in the place of these own parts."""
        cut = self._slice(file, names & set(defined_names(file.cells)))
        if self._stands_alone(cut) and cut.source == self._slice(file).source:
            return False  # it uses none of them
        try:
            with self._worker(file, cut, names) as worker:
                return self._judge().passes(worker)
        except Stopped:
            return False

    def _stands_alone(self, cut: Slice) -> bool:
        """Whether neither the code nor its probe can ask for a part by name."""
        rest = cut.source.replace("from autograder import exercise\n", "")
        asks = any(word in rest for word in ("autograder", "parts", "reference"))
        return self.exercise.probe in ("call", "build") and not asks

    def _say(self, status: str, *found: Diagnosis) -> Verdict:
        one = self.exercise
        full = 0.0 if one.optional else float(one.points)
        return Verdict(one.id, chapter_of(one), status, 0.0, full, diagnosis=found)


@cache
def reference_source(name: str) -> str:
    """A reference's source with what it needs, parts imported as a learner's are."""
    module = EXERCISES[name].reference.__module__
    text = (ROOT / (module.replace(".", "/") + ".py")).read_text("utf-8")
    cut = slice_for([text], name)
    assert cut is not None, f"{name} stands in {module}"
    return _as_parts(cut.source)


def _as_parts(source: str) -> str:
    """`from solutions.x import y` as a learner would write it: from the parts."""
    lines = [
        "from autograder.parts import " + line.split(" import ", 1)[1]
        if line.startswith("from solutions.")
        else line
        for line in source.splitlines()
    ]
    return "\n".join(lines) + "\n"
