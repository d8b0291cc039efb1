"""Chapter 6: feed-forward networks."""

import solutions.feed_forward as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import normal

CHAPTER = Chapter(6, "Feed-forward networks", "06_feed_forward")


gelu = Exercise(
    solutions.gelu,
    forbids=["gelu"],
    tolerance=3e-6,
    inputs={"numbers": {"x": normal("... d")}},
    hints=["1", "2", "3"],
)
FeedForward = Exercise(
    solutions.FeedForward,
    make={"d_model": "d", "ff_dim": 30},
    uses=[solutions.gelu],
    inputs={"tokens": {"x": normal("... d")}},
    hints=["1", "2", "3"],
)
SwiGLU = Exercise(
    solutions.SwiGLU,
    make={"d_model": "d", "ff_dim": 30},
    inputs={"tokens": {"x": normal("... d")}},
    hints=["1", "2", "3"],
)
swiglu_dim = Exercise(
    solutions.swiglu_dim,
    inputs={"Llama": {"d_model": 4096}},
    hints=["1", "2", "3"],
)
feed_forward_share = Exercise(
    solutions.feed_forward_share,
    inputs={"a block": {"d_model": 60, "ff_dim": 100}},
    hints=["1", "2", "3"],
)
