"""Chapter 10: tokens and training."""

import solutions.training as solutions
from autograder.definition import Chapter, Exercise

CHAPTER = Chapter(10, "Tokens and training", "10_training")

train_bpe = Exercise(solutions.train_bpe, inputs={}, hints=["1", "2", "3"])
bpe_encode = Exercise(solutions.bpe_encode, inputs={}, hints=["1", "2", "3"])
bpe_decode = Exercise(solutions.bpe_decode, inputs={}, hints=["1", "2", "3"])
get_batch = Exercise(solutions.get_batch, inputs={}, hints=["1", "2", "3"])
next_token_loss = Exercise(solutions.next_token_loss, inputs={}, hints=["1", "2", "3"])
learning_rate = Exercise(solutions.learning_rate, inputs={}, hints=["1", "2", "3"])
parameter_groups = Exercise(
    solutions.parameter_groups, inputs={}, hints=["1", "2", "3"]
)
train_step = Exercise(solutions.train_step, inputs={}, hints=["1", "2", "3"])
