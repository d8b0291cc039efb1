"""Whether a model fits into the memory of its device, before any of it is taken."""

import psutil  # type: ignore[import-untyped]
import torch

from minigpt.recipes import Recipe

FLOAT32, BFLOAT16 = 4, 2  # bytes


def weights(recipe: Recipe, vocab_size: int) -> int:
    """Bytes of the weights; the norms' and the biases' are too few to count."""
    blocks = 12 * recipe.n_layers * recipe.d_model**2
    return FLOAT32 * (blocks + (vocab_size + recipe.seq_len) * recipe.d_model)


def training(recipe: Recipe, vocab_size: int, rows: int) -> int:
    """Bytes that a step takes at the least, if it sees so many sequences at once.

    Weights, gradients and AdamW's two means; for each token the logits, and what every
    block keeps for its backward pass: 14 times d_model, the wide layer's included.
    """
    kept = BFLOAT16 * 14 * recipe.n_layers * recipe.d_model
    tokens = rows * recipe.seq_len
    return 4 * weights(recipe, vocab_size) + tokens * (kept + FLOAT32 * vocab_size)


def see_that_it_fits(needed: int, device: torch.device, advice: str) -> None:
    """Raise ValueError where so many bytes are more than the device has in all."""
    if device.type == "cuda":
        there = torch.cuda.get_device_properties(device).total_memory
    else:
        there = psutil.virtual_memory().total
    if needed > there:
        raise ValueError(
            f"this takes {needed / 1e9:,.1f} GB of memory or more, and {device} has "
            f"{there / 1e9:,.1f}: {advice}"
        )


def ran_out(error: BaseException) -> bool:
    """Whether an error says that no more memory could be had."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error)
    )
