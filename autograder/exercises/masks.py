"""Chapter 7: masks."""

import solutions.masks as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import normal, size, some, whole

CHAPTER = Chapter(7, "Masks", "07_masks")


causal_mask = Exercise(
    solutions.causal_mask,
    inputs={"a few positions": {"n": size("n")}},
    hints=["1", "2", "3"],
)
padding_mask = Exercise(
    solutions.padding_mask,
    inputs={"sequences": {"lengths": whole("B", 1, 8), "max_len": size("T")}},
    hints=["1", "2", "3"],
)
sliding_window_mask = Exercise(
    solutions.sliding_window_mask,
    uses=[solutions.causal_mask],
    inputs={"a window of three": {"n": size("T"), "window": 3}},
    refuses={"no window": {"n": size("T"), "window": 0}},
    hints=["1", "2", "3"],
)
prefix_mask = Exercise(
    solutions.prefix_mask,
    uses=[solutions.causal_mask],
    inputs={"a prefix of three": {"n": size("T"), "prefix": 3}},
    hints=["1", "2", "3"],
)
masked_softmax = Exercise(
    solutions.masked_softmax,
    inputs={"a mask": {"scores": normal("... n m"), "mask": some("n m")}},
    hints=["1", "2", "3"],
)
