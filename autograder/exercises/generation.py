"""Chapter 11: generation and the KV cache."""

import solutions.generation as solutions
from autograder.definition import Chapter, Exercise

CHAPTER = Chapter(11, "Generation and the KV cache", "11_generation")

filter_logits = Exercise(solutions.filter_logits, inputs={}, hints=["1", "2", "3"])
sample_next = Exercise(solutions.sample_next, inputs={}, hints=["1", "2", "3"])
generate = Exercise(solutions.generate, inputs={}, hints=["1", "2", "3"])
KVCache = Exercise(solutions.KVCache, inputs={}, hints=["1", "2", "3"])
cached_attention = Exercise(
    solutions.cached_attention, inputs={}, hints=["1", "2", "3"]
)
forward_with_cache = Exercise(
    solutions.forward_with_cache, inputs={}, hints=["1", "2", "3"]
)
generate_with_cache = Exercise(
    solutions.generate_with_cache, inputs={}, hints=["1", "2", "3"]
)
kv_cache_bytes = Exercise(solutions.kv_cache_bytes, inputs={}, hints=["1", "2", "3"])
