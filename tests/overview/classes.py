"""Classes as `results.json` records them, made without grading anything."""

import json
import random

from autograder.registry import EXERCISES, of_chapter

UNUSED_PART = (
    "With the reference in the place of your `attention_scores`, this exercise is "
    "right: the mistake comes from there."
)


def exercise(name, status="passed", mistake=None, message="", chapter=2, points=2.0):
    """One exercise of a submission."""
    found = []
    if status not in ("passed", "missing", "not_attempted"):
        found = [{"mistake": mistake, "message": message or "It is wrong."}]
    return {
        "id": name,
        "chapter": chapter,
        "status": status,
        "points": points if status == "passed" else 0.0,
        "max_points": points,
        "checks": [],
        "diagnosis": found,
    }


def submission(name, *exercises, error=None):
    entry = {
        "submission": name,
        "points": sum(one["points"] for one in exercises),
        "max_points": sum(one["max_points"] for one in exercises),
        "exercises": list(exercises),
    }
    return entry if error is None else entry | {"error": error}


def blamed(one):
    """The exercise, its mistake found in an earlier part."""
    part = {"mistake": "from-an-earlier-part", "message": UNUSED_PART}
    return one | {"diagnosis": [*one["diagnosis"], part]}


def write(folder, *submissions):
    """The folder, with these in its `results.json`."""
    head = {"version": 1, "isolation": [], "inputs": "fixed, seed 0"}
    text = json.dumps(head | {"submissions": submissions}, ensure_ascii=False)
    (folder / "results.json").write_text(text, "utf-8")
    return folder


def a_class(size, chapters=(2, 3), seed=0):
    """Submissions as a class might hand them in: most right, slips of all kinds."""
    draw = random.Random(seed)
    asked = [one for number in chapters for one in of_chapter(number)]
    return [_one(draw, number, asked, chapters) for number in range(size)]


def _one(draw, number, asked, chapters):
    name = f"student-{number:04}"
    if draw.random() < 0.03:
        text = "the notebook breaks off at line 7; save it again in Jupyter"
        return submission(name, error=text)
    skill = draw.random()
    return submission(name, *(_answer(draw, one, skill) for one in asked))


def _answer(draw, one, skill):
    chapter = next(n for n in range(20) if one in of_chapter(n))
    how = {"chapter": chapter, "points": float(one.points)}
    luck = draw.random() * 0.7 + skill * 0.6
    if luck < 0.12:
        return exercise(one.id, "not_attempted", **how)
    if luck > 0.5:
        return exercise(one.id, **how)
    odd = draw.random()
    if odd < 0.05:
        status = draw.choice(["timeout", "crashed", "forbidden", "out_of_memory"])
        return exercise(one.id, status, None, "The process ended.", **how)
    if odd < 0.15:
        text = f"`NameError: name '{draw.choice('QKV')}' is not defined` at line 3."
        return exercise(one.id, "error", None, text, **how)
    uses = [part.__name__ for part in one.uses if part.__name__ in EXERCISES]
    mistakes = list(one.mistakes)
    slip = mistakes[min(int(draw.expovariate(0.8)), len(mistakes) - 1)]
    made = exercise(one.id, "failed", slip.id, slip.message, **how)
    return blamed(made) if "attention_scores" in uses and odd > 0.7 else made
