"""What can be seen of a wrong answer, whether or not its mistake is known."""

from autograder.symptoms.general import general, left_out

__all__ = ["general", "left_out"]
