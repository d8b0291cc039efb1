"""Name the mistake: known ones first, alone and in pairs, then what can be seen.

A known mistake is named when it gives exactly the learner's results in every trial of
the stage, so "apart from that, your result is right" is shown, not guessed. Where it
matches one failing trial only, the message says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from torch import Tensor

from autograder import compare, symptoms
from autograder.definition import Mistake
from autograder.example import smallest
from autograder.faults import place_of
from autograder.pairs import LIKELIEST, Named, likeliest, plausible
from autograder.symptoms.form import some
from autograder.trials import Runner
from autograder.verdict import Diagnosis, Example

if TYPE_CHECKING:
    from autograder.judge import Evidence, Judge

#: The mistake that is nobody's but the grader's.
GRADER_FAULT = "grader-fault"


def diagnose(
    judge: Judge,
    runner: Runner,
    seen: list[Evidence],
    wrong: list[Evidence],
    stage: str,
) -> tuple[list[Diagnosis], Example | None]:
    """What is wrong in a stage, and the smallest input that shows it."""
    trials = [one for one in seen if one.trial.stage == wrong[0].trial.stage]
    if stage == "refusals":
        trials = wrong
    first = wrong[0]
    if stage == "device":  # there are no numbers there to compare
        return [symptoms.general(judge, runner, seen, wrong, stage)], None
    named = known(judge, trials, wrong, stage) or of_eps(judge, trials, wrong, stage)
    if named:
        example = smallest(judge, runner, first, named) if stage == "values" else None
        whole = stage in ("values", "gradients")
        return _said(named, whole and not _more(seen, stage)), example
    telling = len(wrong) > 1 and _telling(first)
    near = known(judge, _around(seen, first), wrong[:1], stage) if telling else ()
    if len(near) > 1 and ("error" in first.actual or not _real(first)):
        near = ()  # where one of two raises, nothing shows the other
    if near and _by_chance(judge, near, seen, wrong, stage):
        near = ()
    if near:
        what = "gradients are" if stage == "gradients" else "result is"
        text = " ".join(one.message for one in near)
        message = f"In the case “{first.trial.name}” your {what} just what this gives: "
        text += " " + symptoms.left_out(judge.exercise, seen, wrong)
        found = [Diagnosis(near[0].id, (message + text).strip())]
        more = symptoms.general(judge, runner, seen, wrong, stage)
        if more.mistake is not None:
            found.append(more)
        return found, smallest(judge, runner, first, near)
    found = [symptoms.general(judge, runner, seen, wrong, stage)]
    return found, smallest(judge, runner, first, ()) if stage == "values" else None


def _around(seen: Sequence[Evidence], first: Evidence) -> list[Evidence]:
    """The first wrong trial; in half precision with the same case in float32, where
    the answer is right, so a mistake that is wrong there can't be the cause."""
    if first.trial.stage != "dtypes":
        return [first]
    return [
        one
        for one in seen
        if one is first
        or (one.trial.stage == "values" and one.trial.case == first.trial.case)
    ]


def _telling(one: Evidence) -> bool:
    """Whether one trial tells mistakes apart; a lone number agrees by chance."""
    return "error" in one.actual or any(
        isinstance(value, Tensor) for value in compare.outputs(one.expected).values()
    )


def _real(one: Evidence) -> bool:
    """Whether several real numbers are expected: of a few whole ones, of True and
    False, or of a lone number, two mistakes together can make nearly anything."""
    return any(
        isinstance(value, Tensor) and value.is_floating_point() and value.numel() > 1
        for value in compare.outputs(one.expected).values()
    )


def _by_chance(
    judge: Judge,
    named: Named,
    seen: list[Evidence],
    wrong: list[Evidence],
    stage: str,
) -> bool:
    """Whether a mistake explains a few whole numbers, as many a wrong formula does,
    and not the largest result that is wrong; or where it is a default that is wrong."""
    first, largest = wrong[0], max(wrong, key=_numel)
    if not _real(first) and symptoms.left_out(judge.exercise, seen, wrong):
        return True
    few = not _real(first) and "error" not in first.actual and _numel(first) < 16
    if not few or largest is first:
        return False
    return not _matches(judge, named, [largest], [largest], stage)


def _numel(one: Evidence) -> int:
    """How many numbers are expected."""
    values = compare.outputs(one.expected).values()
    return sum(value.numel() for value in values if isinstance(value, Tensor))


def known(
    judge: Judge, trials: Sequence[Evidence], wrong: Sequence[Evidence], stage: str
) -> Named:
    """The known mistakes, one or two, that behave as the learner's answer does."""
    for one in judge.exercise.mistakes:
        if _matches(judge, (one,), trials, wrong, stage):
            return (one,)
    likely = plausible(judge, wrong[0], stage)
    if _telling(wrong[0]):
        # What one alone explains in the first wrong trial is no pair of two others.
        first, around = wrong[:1], _around(trials, wrong[0])
        near = {
            one.id
            for one in judge.exercise.mistakes
            if _matches(judge, (one,), around, first, stage)
        }
        if near:
            likely = [pair for pair in likely if near & {one.id for one in pair}]
    if len(likely) > LIKELIEST:
        likely = likeliest(judge, likely, wrong[0], stage)
    matching = (pair for pair in likely if _matches(judge, pair, trials, wrong, stage))
    return next(matching, ())


def of_eps(
    judge: Judge, trials: Sequence[Evidence], wrong: Sequence[Evidence], stage: str
) -> Named:
    """Norms whose eps is another, as they say themselves, where that is all: some of
    them, or with a number that no known mistake has."""
    asked, has = (reply.get("eps") for reply in (wrong[0].expected, wrong[0].actual))
    if stage == "refusals" or not isinstance(asked, dict) or not isinstance(has, dict):
        return ()
    other = {
        name: has[name] for name in asked if has.get(name, asked[name]) != asked[name]
    }
    if not other:
        return ()
    told = some(f"`{name}.eps` is {eps:g}" for name, eps in other.items())
    right = " and ".join(sorted({f"{asked[name]:g}" for name in other}))
    found = Mistake(
        "another-eps",
        f"{told}; it should be {right}.",
        wrong=partial(_with_eps, judge.exercise.reference, other),
    )
    judge.forget(found)
    return (found,) if _matches(judge, (found,), trials, wrong, stage) else ()


def _with_eps(
    reference: Callable[..., Any], other: Mapping[str, float], *args: Any
) -> Any:
    """The reference, its norms' eps changed."""
    made = reference(*args)
    for name, eps in other.items():
        made.get_submodule(name).eps = eps
    return made


def _matches(
    judge: Judge,
    mistakes: Named,
    trials: Sequence[Evidence],
    wrong: Sequence[Evidence],
    stage: str,
) -> bool:
    # Failing trials first: most candidates are ruled out by the first of them.
    ids = {id(one) for one in wrong}
    ordered = [*wrong, *(one for one in trials if id(one) not in ids)]
    told_apart = False
    for one in ordered:
        grads = stage == "gradients" and one.trial.x["grads"]
        reply = judge.imitated(mistakes, one.trial, grads)
        if stage == "refusals":
            if compare.refused(reply) or not one.acts_like(reply):
                return False
            told_apart = True
            continue
        if not one.acts_like(reply):
            return False
        if stage == "gradients":
            if not compare.alike_gradients(reply, one.actual, one.tol):
                return False
            told_apart = True
        told_apart = told_apart or bool(compare.faults(one.expected, reply, one.tol))
    return told_apart


def _more(seen: list[Evidence], stage: str) -> bool:
    """Whether a later stage has faults of its own."""
    later = {"values": ("refusals",), "gradients": ("refusals",)}.get(stage, ())
    return any(one.faults for one in seen if one.trial.stage in later)


def _said(named: Named, whole: bool) -> list[Diagnosis]:
    found = [Diagnosis(one.id, one.message) for one in named]
    if whole:
        rest = "Apart from that, your result is right."
        if len(named) > 1:
            rest = "Apart from these two, your result is right."
        last = found[-1]
        found[-1] = Diagnosis(last.mistake, f"{last.message} {rest}")
    return found


def forbidden(called: list[str]) -> Diagnosis:
    from autograder.probes.watch import FAMILIES

    names = " and ".join(
        FAMILIES[name].spelled if name in FAMILIES else "a built-in" for name in called
    )
    return Diagnosis(
        "forbidden-built-in",
        f"This uses {names}, a built-in that is forbidden here: it is what the "
        "exercise asks you to write yourself.",
    )


def grader_fault(error: Exception) -> Diagnosis:
    """What a verdict says where the grader itself has failed."""
    return Diagnosis(
        GRADER_FAULT,
        "The grader itself failed while it judged this, so nothing is said about the "
        f"answer ({place_of(error)}).",
    )


def part_handed_in(name: str) -> Diagnosis:
    return Diagnosis(
        "part-handed-in",
        f"This hands in the reference as the answer: `{name}` comes from the parts or "
        "the solutions. Write it yourself; parts are for exercises that build on it.",
    )


def changed(names: list[str]) -> Diagnosis:
    listed = " and ".join(f"`{name}`" for name in names)
    return Diagnosis(
        "input-changed",
        f"The result is right, but your code writes into its input {listed}. Whoever "
        "calls it will find other numbers there afterwards: make a new tensor instead "
        "of changing one in place (`x = x * 2`, not `x *= 2`).",
    )


def unkept(name: str, expected: object, found: object) -> Diagnosis:
    has = "there is none" if found is None else f"it is {found}"
    return Diagnosis(
        "attribute-not-kept",
        f"The results are right, but the module should keep `{name}` under this name, "
        f"here {expected}; {has}. Later exercises read `self.{name}`.",
    )


def differs() -> Diagnosis:
    return Diagnosis(
        "differs-when-repeated",
        "Called a second time with the same input, your code gives another result. "
        "Something is kept between calls, or drawn at random.",
    )


def too_large(made: object) -> Diagnosis:
    return Diagnosis(
        "tensor-too-large",
        f"The result is right, but on the way a tensor of {made} numbers is made, more "
        "than this exercise allows.",
    )
