"""Show what an answer would be told, without keeping it."""

from collections.abc import Callable
from typing import Any

from autograder import render
from autograder.judge import check
from autograder.notebook import show
from autograder.registry import EXERCISES


def show_verdict(name: str, answer: Callable[..., Any]) -> None:
    """Judge an answer to the exercise `name`, and show the verdict."""
    hints = EXERCISES[name].hints
    verdict = check(EXERCISES[name], answer)
    show(render.as_text(verdict, hints), render.as_html(verdict, hints))
