"""Chapter 4: positions."""

import torch

import solutions.positions as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import Draw, normal, size, whole

CHAPTER = Chapter(4, "Positions", "04_positions")


POSITIONS = Draw("T", lambda sizes, generator: torch.arange(sizes[0]) + 3)

sinusoidal_positions = Exercise(
    solutions.sinusoidal_positions,
    inputs={"a table": {"max_seq": 40, "d_model": 12}},
    hints=["1", "2", "3"],
)
LearnedPositions = Exercise(
    solutions.LearnedPositions,
    make={"max_seq": 11, "d_model": "C"},
    inputs={"a batch": {"x": normal("B T C")}},
    refuses={"12 tokens": {"x": normal("B 12 C")}},
    hints=["1", "2", "3"],
)
relative_position_bucket = Exercise(
    solutions.relative_position_bucket,
    inputs={"both ways": {"distance": whole("n m", -150, 150)}},
    hints=["1", "2", "3"],
)
RelativePositionBias = Exercise(
    solutions.RelativePositionBias,
    make={"num_heads": "h"},
    uses=[solutions.relative_position_bucket],
    inputs={"queries and keys": {"n": size("n"), "m": size("m")}},
    hints=["1", "2", "3"],
)
rope_angles = Exercise(
    solutions.rope_angles,
    inputs={"some positions": {"positions": POSITIONS, "d_k": size("d_k")}},
    hints=["1", "2", "3"],
)
apply_rope = Exercise(
    solutions.apply_rope,
    uses=[solutions.rope_angles],
    inputs={"heads": {"x": normal("B h T d_k"), "positions": POSITIONS}},
    hints=["1", "2", "3"],
)
alibi_slopes = Exercise(
    solutions.alibi_slopes,
    inputs={"six heads": {"num_heads": 6}},
    hints=["1", "2", "3"],
)
alibi_bias = Exercise(
    solutions.alibi_bias,
    uses=[solutions.alibi_slopes],
    inputs={"six heads": {"num_heads": 6, "n": size("n")}},
    hints=["1", "2", "3"],
)
scaled_rope_angles = Exercise(
    solutions.scaled_rope_angles,
    optional=True,
    uses=[solutions.rope_angles],
    inputs={"linear": {"positions": POSITIONS, "d_k": size("d_k"), "scale": 4.0}},
    hints=["1", "2", "3"],
)
