"""How fast MiniGPT writes: with the cache, without it, and against transformers.

    python -m benchmarks.generation [--tokens 1024]

All three write the same greedy tokens with the same weights. Each is timed as often as
the others, in turns; the best times are compared.
"""

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.gpt2 import as_gpt2
from solutions.generation import generate, generate_with_cache
from solutions.minigpt import MiniGPT, initialise


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generation")
    parser.add_argument("--tokens", type=int, default=1024, help="the whole text's")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    torch.manual_seed(0)
    model = MiniGPT(vocab_size=256, d_model=128, n_layers=4, n_heads=4, max_seq=1024)
    initialise(model, std=0.3)  # unlike logits, so that no rounding changes a choice
    model.eval()
    prompt = torch.randint(256, (1, 8))
    new = options.tokens - prompt.shape[1]
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    ways: dict[str, Callable[[], Tensor]] = {
        "with the cache": lambda: generate_with_cache(model, prompt, new),
        "without": lambda: generate(model, prompt, new, temperature=0),
    }
    try:
        gpt2 = as_gpt2(model).eval()
    except ImportError:
        print("against transformers: not measured, `pip install transformers` first")
    else:
        ways["transformers"] = lambda: gpt2.generate(  # type: ignore[operator]
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=new,
            min_new_tokens=new,
            do_sample=False,
        )
    best, texts = dict.fromkeys(ways, float("inf")), {}
    for _ in range(options.rounds):
        for name, write in ways.items():
            start = time.perf_counter()
            texts[name] = write()
            best[name] = min(best[name], time.perf_counter() - start)
    for name, seconds in best.items():
        same = torch.equal(texts[name], texts["with the cache"])
        ratio = seconds / best["with the cache"]
        print(f"{name:15} {seconds:6.2f} s, {ratio:5.2f} times, same tokens: {same}")


if __name__ == "__main__":
    main()
