"""Chapter 9: the block and MiniGPT."""

import solutions.minigpt as solutions
from autograder.definition import Chapter, Exercise

CHAPTER = Chapter(9, "The block and MiniGPT", "09_minigpt")

TransformerBlock = Exercise(
    solutions.TransformerBlock, inputs={}, hints=["1", "2", "3"]
)
MiniGPT = Exercise(solutions.MiniGPT, inputs={}, hints=["1", "2", "3"])
count_parameters = Exercise(
    solutions.count_parameters, inputs={}, hints=["1", "2", "3"]
)
initialise = Exercise(solutions.initialise, inputs={}, hints=["1", "2", "3"])
