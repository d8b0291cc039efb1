"""Files as they are handed in, made by the tests."""

import json
from pathlib import Path

SCORES = """
def attention_scores(Q, K):
    return Q @ K.mT / Q.shape[-1] ** 0.5
"""

ATTENTION = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = attention_scores(Q, K)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ V, weights
"""

PROJECT = """
def project_qkv(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_k, x @ W_v
"""


def script(folder: Path, name: str, *parts: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text("import torch\n" + "\n".join(parts), "utf-8")
    return path


def notebook(folder: Path, name: str, *cells: str, chapter: int | None = 2) -> Path:
    path = folder / f"{name}.ipynb"
    path.write_text(json.dumps(as_notebook(cells, chapter)), "utf-8")
    return path


def as_notebook(cells, chapter):
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    if chapter is not None:
        metadata["autograder"] = {"chapter": chapter}
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": metadata,
        "cells": [
            {**code, "id": f"c{i}", "source": cell} for i, cell in enumerate(cells)
        ],
    }
