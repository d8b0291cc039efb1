"""What torch's and Python's exceptions come from, in words for a learner."""

import re

#: What stands in an exception's message, and what it usually comes from.
_CAUSES = {
    r"Boolean value of Tensor with more than one value": (
        "A tensor of several numbers is neither true nor false: ask `is not None` "
        "where that is meant, and take `&`, `|` or torch.where for its numbers."
    ),
    r"must be a 3D tensor": (
        "bmm takes exactly one batch axis; `@` (torch.matmul) takes any number of "
        "leading axes."
    ),
    r"must be a matrix": (
        "mm takes matrices only; `@` (torch.matmul) takes any leading axes."
    ),
    r"t\(\) expects a tensor with <= 2 dimensions": (
        "`.t()` takes matrices only; `.mT` exchanges the last two axes of any tensor."
    ),
    r"number of subscripts .* no ellipsis": (
        "The einsum pattern names a fixed number of axes; leading axes may be none or "
        "several: write `...` in their place."
    ),
    r"view size is not compatible": (
        "After a transpose or an expand the numbers don't lie in the order that view "
        "needs: take reshape, or contiguous() first."
    ),
    r"return_types": (
        "With a dim, max and min return two things, values and indices: take "
        "`.values`, or amax and amin."
    ),
    r"without overflow": (
        "This number doesn't fit into half precision, which ends at 65504: where it "
        "stands for blocked scores, take -torch.inf."
    ),
    r"same dtype|expected scalar type": (
        "Two dtypes meet here: a tensor made anew is float32, whatever the inputs are. "
        "Make it from an input (`new_zeros`, `zeros_like`), or give it dtype=."
    ),
    r"could not infer output dtype": (
        "A mean is taken of floating-point numbers: go to .float() first."
    ),
    r"(cannot|can't|can) be converted to (Python )?[Ss]calar": (
        "Functions of math, float() and .item() take a single number; torch's own "
        "(torch.exp, torch.sqrt) take whole tensors."
    ),
    r"modified by an inplace operation|in-place operation": (
        "A number that the gradient needs is overwritten in place (+=, x[...] =): make "
        "a new tensor instead."
    ),
    r"numpy\(\) on Tensor that requires grad": (
        "Stay in torch: NumPy stops the gradient."
    ),
    r"index out of range in self": (
        "An index is looked up that the embedding's table doesn't have."
    ),
}


def cause(text: str) -> str:
    """A sentence on what an exception with this message usually comes from, or ''."""
    found = (said for pattern, said in _CAUSES.items() if re.search(pattern, text))
    return next(found, "")


def refuses(line: str) -> bool:
    """Whether a line is a check of the learner's own, which raises on purpose."""
    return re.match(r"(raise|assert)\b", line.strip()) is not None
