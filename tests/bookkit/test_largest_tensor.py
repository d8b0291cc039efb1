"""What chapter 12 counts: the largest tensor that a piece of code makes."""

import pytest
import torch

from bookkit.measure import largest_tensor

X = torch.ones(3, 4)


@pytest.mark.parametrize(
    ("run", "numbers"),
    [
        (lambda: X @ X.T, 9),
        (lambda: (X @ X.T).sum(), 9),
        (lambda: X.expand(50, 3, 4), 0),  # a view
        (lambda: X.repeat(5, 1), 60),
        (lambda: X.clone().add_(1), 12),  # in place
    ],
)
def test_the_largest_tensor_is_counted_and_views_are_not(run, numbers):
    assert largest_tensor(run) == numbers
