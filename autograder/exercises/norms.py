"""Chapter 5: residuals and norms."""

import solutions.norms as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import normal

CHAPTER = Chapter(5, "Residuals and norms", "05_norms")


STREAM = {"x": normal("B T C"), "W": normal("C C", scale=0.3), "b": normal("C")}

layer_norm = Exercise(
    solutions.layer_norm,
    forbids=["layer_norm"],
    inputs={
        "tokens": {
            "x": normal("... d", mean=3.0),
            "weight": normal("d"),
            "bias": normal("d"),
        }
    },
    hints=["1", "2", "3"],
)
rms_norm = Exercise(
    solutions.rms_norm,
    forbids=["rms_norm"],
    inputs={"tokens": {"x": normal("... d", mean=3.0), "weight": normal("d")}},
    hints=["1", "2", "3"],
)
pre_norm = Exercise(
    solutions.pre_norm,
    probe="residual",
    inputs={"a batch of sequences": STREAM},
    hints=["1", "2", "3"],
)
post_norm = Exercise(
    solutions.post_norm,
    probe="residual",
    inputs={"a batch of sequences": STREAM},
    hints=["1", "2", "3"],
)
