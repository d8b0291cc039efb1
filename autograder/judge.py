"""Judge an answer: try it, compare with the reference, and say what is wrong."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

from torch import Tensor

from autograder import compare, diagnosis, properties
from autograder.compare import Fault
from autograder.definition import Exercise, Mistake
from autograder.expected import expected
from autograder.registry import chapter_of
from autograder.sandbox import Stopped
from autograder.trials import Local, Runner, Trial, trials
from autograder.verdict import Check, Diagnosis, Verdict
from autograder.wire import Packed

#: The stages, in the order in which a mistake is looked for: one at a time.
STAGES = ("values", "gradients", "refusals", "dtypes", "device")

#: How many replies of known mistakes a judge keeps: some kilobytes each.
IMITATIONS = 4096


@dataclass
class Evidence:
    """A trial, what was expected and what came back."""

    trial: Trial
    expected: Mapping[str, Any]
    actual: Mapping[str, Any]
    tol: float
    faults: list[Fault] = field(default_factory=list)
    gradient_faults: list[Fault] = field(default_factory=list)

    def acts_like(self, reply: Mapping[str, Any]) -> bool:
        """Whether what came back is what `reply` shows, such as a known mistake's."""
        asked = self.expected.get("parameters")
        return compare.alike(reply, self.actual, self.tol, asked)


class Judge:
    """Judges answers to one exercise, always on the same inputs."""

    def __init__(self, exercise: Exercise, seed: int = 0) -> None:
        self.exercise = exercise
        self.trials = list(trials(exercise, seed))
        self._requests = Packed([trial.x for trial in self.trials])
        self._expected: dict[int, dict[str, Any]] = {}
        self._imitated: dict[tuple[object, ...], dict[str, Any]] = {}

    def expected(self, trial: Trial) -> dict[str, Any]:
        """What the reference gives in one of this judge's trials."""
        if id(trial) not in self._expected:
            self._expected[id(trial)] = expected(self.exercise, trial)
        return self._expected[id(trial)]

    def imitated(
        self, mistakes: Sequence[Mistake], trial: Trial, grads: bool
    ) -> dict[str, Any]:
        """What comes back from one who made these mistakes; kept, since a class makes
        the same ones again and again."""
        key = (*(one.id for one in mistakes), id(trial), grads)
        if key not in self._imitated:
            if len(self._imitated) >= IMITATIONS:
                self._imitated.clear()
            answer = Local(self.exercise.answer(mistakes), self.exercise.parts)
            asked = trial.x | {"grads": grads, "twice": False, "watch": []}
            self._imitated[key] = answer.run(self.exercise.probe, asked)
        return self._imitated[key]

    def forget(self, mistake: Mistake) -> None:
        """Drop the replies of a mistake that is made anew for each answer."""
        gone = [key for key in self._imitated if key[0] == mistake.id]
        for key in gone:
            del self._imitated[key]

    def look(self, trial: Trial, actual: Mapping[str, Any]) -> Evidence:
        """Note the faults of what came back in one of this judge's trials."""
        return self.weigh(trial, self.expected(trial), actual)

    def weigh(
        self, trial: Trial, wanted: Mapping[str, Any], actual: Mapping[str, Any]
    ) -> Evidence:
        """Note how what came back differs from what was expected."""
        tol = compare.tolerance(trial.dtype, self.exercise.tolerance)
        seen = Evidence(trial, wanted, actual, tol)
        if trial.stage == "refusals":
            seen.faults = [] if compare.refused(actual) else [_unrefused(actual)]
        elif trial.stage == "device":
            seen.faults = _left_behind(seen.expected, actual)
        elif trial.dtype not in compare.HALF or not _unsupported(actual):
            seen.faults = compare.faults(seen.expected, actual, tol)
            if trial.x["grads"] and not seen.faults:
                seen.gradient_faults = compare.gradient_faults(
                    seen.expected, actual, tol
                )
        return seen

    def verdict(self, runner: Runner) -> Verdict:
        """Try everything and say what was found."""
        seen: list[Evidence] = []
        try:
            for one in self._tried(runner):
                seen.append(one)
            held = properties.held(self.exercise, runner, self.trials[0])
            return self._conclude(runner, seen, held)
        except Stopped as stopped:
            found = [Diagnosis(None, stopped.message)]
            return self._say(stopped.status, self.checks(seen, []), found)

    def passes(self, runner: Runner) -> bool:
        """Whether all is right. It ends with the first fault, and so takes less time
        than a verdict on a wrong answer."""
        seen: list[Evidence] = []
        try:
            for one in self._tried(runner):
                if one.faults or one.gradient_faults:
                    return False
                seen.append(one)
            held = properties.held(self.exercise, runner, self.trials[0])
        except Stopped:
            return False
        return all(check.passed for check in self.checks(seen, held))

    def _tried(self, runner: Runner) -> Iterator[Evidence]:
        replies = runner.replies(self.exercise.probe, self._requests)
        for trial, actual in zip(self.trials, replies, strict=True):
            yield self.look(trial, actual)

    def checks(
        self, seen: list[Evidence], held: list[properties.Held]
    ) -> tuple[Check, ...]:
        """What was looked at, by name, whether or not it was reached."""
        done = {id(one.trial): not one.faults for one in seen}
        names: dict[str, bool] = {}

        def note(name: str, passed: bool) -> None:
            names[name] = names.get(name, True) and passed

        for trial in self.trials:
            note(_check_name(trial), done.get(id(trial), False))
        plain = [one for one in seen if one.trial.stage == "values"]
        tensors = any(isinstance(v, Tensor) for v in self.trials[0].x["args"].values())
        if any(trial.x["grads"] for trial in self.trials):
            note("gradients flow", not any(one.gradient_faults for one in plain))
        twice = any(trial.x["twice"] for trial in self.trials)
        if twice and self.exercise.owes("repeatable"):
            note("the same twice", not any(_differs(one) for one in plain))
        if tensors and self.exercise.owes("unchanged"):
            note("inputs left as they were", not any(_changed(one) for one in plain))
        if self.exercise.keeps:
            names_kept = ", ".join(self.exercise.keeps)
            note(f"keeps {names_kept}", not any(_unkept(one) for one in plain))
        if self.exercise.forbids:
            note("your own work", not _called(seen))
        if self.exercise.largest:
            note("small tensors only", not any(self._too_large(one) for one in plain))
        for prop in self.exercise.properties:
            name = properties.name_of(prop)
            note(name, any(one.name == name and not one.fault for one in held))
        return tuple(Check(name, ok and bool(seen)) for name, ok in names.items())

    def _conclude(
        self, runner: Runner, seen: list[Evidence], held: list[properties.Held]
    ) -> Verdict:
        checks = self.checks(seen, held)
        if all(check.passed for check in checks):
            return self._say("passed", checks, [])
        called = _called(seen)
        if called:
            return self._say("forbidden", checks, [diagnosis.forbidden(called)])
        for stage in STAGES:
            wrong = _wrong_in(seen, stage)
            slips = self._slips(seen) if stage == "gradients" else []
            if wrong and not _explained(wrong, slips):
                found, example = diagnosis.diagnose(self, runner, seen, wrong, stage)
                if stage == "values" and _unexplained(found, wrong):
                    found += [one.diagnosis() for one in held if one.fault][:1]
                found += [one for one in slips if one.mistake == "input-changed"]
                verdict = self._say(_status_of(seen, wrong), checks, found)
                return replace(verdict, example=example)
            if slips:
                return self._say("failed", checks, slips)
        found = [one.diagnosis() for one in held if one.fault]
        return self._say("failed", checks, found[:1])

    def _slips(self, seen: list[Evidence]) -> list[Diagnosis]:
        """What is wrong although every result is right."""
        plain = [one for one in seen if one.trial.stage == "values"]
        found = []
        changed = sorted({name for one in plain for name in _changed(one)})
        if changed and self.exercise.owes("unchanged"):
            found.append(diagnosis.changed(changed))
        if any(_differs(one) for one in plain) and self.exercise.owes("repeatable"):
            found.append(diagnosis.differs())
        unkept = [found for one in plain for found in _unkept(one)]
        if unkept:
            found.append(diagnosis.unkept(*unkept[0]))
        large = [one for one in plain if self._too_large(one)]
        if large:
            found.append(diagnosis.too_large(large[0].actual["largest"]))
        return found[:1]

    def _too_large(self, one: Evidence) -> bool:
        if self.exercise.largest is None:
            return False
        made = one.actual.get("largest", 0)
        return not isinstance(made, int) or made > self.exercise.largest(
            one.trial.sizes
        )

    def _say(
        self, status: str, checks: tuple[Check, ...], found: list[Diagnosis]
    ) -> Verdict:
        full = 0.0 if self.exercise.optional else float(self.exercise.points)
        return Verdict(
            self.exercise.id,
            chapter_of(self.exercise),
            status,
            full if status == "passed" else 0.0,
            full,
            checks,
            tuple(found),
        )


def _check_name(trial: Trial) -> str:
    if trial.stage == "refusals":
        return f"refuses {trial.case}"
    if trial.stage == "dtypes":
        return "every float dtype"
    if trial.stage == "device":
        return "stays on its inputs' device"
    return trial.variant or trial.case


def _unrefused(actual: Mapping[str, Any]) -> Fault:
    return Fault("refusal", "error", "ValueError", actual)


def _left_behind(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> list[Fault]:
    """A tensor made on the CPU, whatever device the inputs are on.

    The inputs are on the meta device. Code that looks at values cannot run there; that
    is no fault, so only a complaint about devices and a result elsewhere count.
    """
    error = actual.get("error")
    if isinstance(error, Mapping):
        text = str(error.get("message"))
        mixed = "same device" in text or "devices" in text or "device meta" in text
        return [Fault("device", "error", None, error)] if mixed else []
    return [
        Fault("device", key, value, actual[key])
        for key, value in compare.outputs(expected).items()
        if isinstance(value, Tensor)
        and isinstance(actual.get(key), Tensor)
        and actual[key].device.type != "meta"
    ]


def _unsupported(reply: Mapping[str, Any]) -> bool:
    """Whether torch lacks the operation in half precision: nobody's mistake."""
    error = reply.get("error")
    return isinstance(error, Mapping) and "not implemented for" in str(
        error.get("message")
    )


def _unexplained(found: list[Diagnosis], wrong: list[Evidence]) -> bool:
    """Whether numbers are wrong and nothing could be said of how, or just where."""
    where = found[-1].mistake in (None, "partly-right")
    return where and wrong[0].faults[0].kind == "value"


def _wrong_in(seen: Iterable[Evidence], stage: str) -> list[Evidence]:
    if stage == "gradients":
        return [one for one in seen if one.gradient_faults]
    return [one for one in seen if one.trial.stage == stage and one.faults]


def _status_of(seen: list[Evidence], wrong: list[Evidence]) -> str:
    """`error` where the code raises in every case as it is given."""
    for one in wrong:
        error = one.actual.get("error")
        text = f"{error.get('type')} {error.get('message')}" if error else ""
        if "MemoryError" in text or "can't allocate memory" in text:
            return "out_of_memory"
    plain = [one for one in seen if not one.trial.variant]
    raised = ["error" in one.actual for one in plain if one.trial.stage == "values"]
    return "error" if all(raised) else "failed"


def _changed(one: Evidence) -> list[str]:
    changed = one.actual.get("changed")
    return [str(name) for name in changed] if isinstance(changed, list) else []


def _explained(wrong: Iterable[Evidence], slips: list[Diagnosis]) -> bool:
    """Whether gradients fail because the code writes into its input, or since it gives
    another result when it is called for them, the second time."""
    slip = slips[0].mistake if slips else None
    if slip == "differs-when-repeated":
        return all(map(_differs, wrong))
    return slip == "input-changed" and all(
        "inplace operation" in str(one.actual.get("grad_error")) for one in wrong
    )


def _unkept(one: Evidence) -> list[tuple[str, object, object]]:
    """Attributes that aren't there or hold something else: name, expected, found."""
    wanted, kept = one.expected.get("kept"), one.actual.get("kept")
    if not isinstance(wanted, Mapping) or not isinstance(kept, Mapping):
        return []
    return [
        (name, value, kept.get(name))
        for name, value in wanted.items()
        if kept.get(name) != value
    ]


def _differs(one: Evidence) -> bool:
    return one.actual.get("again") is False


def _called(seen: Iterable[Evidence]) -> list[str]:
    called = {name for one in seen for name in one.actual.get("called") or ()}
    return sorted(str(name) for name in called)


def judge_of(exercise: Exercise, seed: int = 0) -> Judge:
    """The judge of an exercise; with the same seed always the same, inputs and all.

    One with the inputs that all are given is kept for the class, one with inputs of
    somebody's own for what else that submission needs.
    """
    return _of_the_class(exercise) if seed == 0 else _of_one(exercise, seed)


@cache
def _of_the_class(exercise: Exercise) -> Judge:
    return Judge(exercise)


@lru_cache(maxsize=2)
def _of_one(exercise: Exercise, seed: int) -> Judge:
    return Judge(exercise, seed)


def check(
    exercise: Exercise,
    theirs: Callable[..., Any],
    parts: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Verdict:
    """Judge an answer that lives in this process."""
    return judge_of(exercise, seed).verdict(
        Local(theirs, exercise.parts if parts is None else parts)
    )
