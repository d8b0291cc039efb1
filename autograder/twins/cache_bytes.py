"""The bytes of a cache, with a switch wherever people slip, and the slips by name."""

from collections.abc import Callable
from math import prod

from autograder.definition import Mistake


def cache_bytes(
    n_layers: int,
    n_kv_heads: int,
    d_head: int,
    seq_len: int,
    batch: int = 1,
    bytes_per_value: int = 2,
    *,
    without: str = "",
    power: tuple[str, int] = ("", 1),
    tensors: int = 2,
    plus: int = 0,
    give: Callable[[int], float] = int,
) -> float:
    """The twin of kv_cache_bytes."""
    sizes = {
        "n_layers": n_layers,
        "n_kv_heads": n_kv_heads,
        "d_head": d_head,
        "seq_len": seq_len,
        "batch": batch,
        "bytes_per_value": bytes_per_value,
    }
    sizes[power[0]] = sizes.get(power[0], 1) ** power[1]
    return give(tensors * prod(v for k, v in sizes.items() if k not in without) + plus)


def _in_float32_by_default(
    n_layers: int,
    n_kv_heads: int,
    d_head: int,
    seq_len: int,
    batch: int = 1,
    bytes_per_value: int = 4,
) -> float:
    return cache_bytes(n_layers, n_kv_heads, d_head, seq_len, batch, bytes_per_value)


def _always_two_bytes(
    n_layers: int,
    n_kv_heads: int,
    d_head: int,
    seq_len: int,
    batch: int = 1,
    bytes_per_value: int = 2,
) -> float:
    return cache_bytes(n_layers, n_kv_heads, d_head, seq_len, batch)


def _forgotten(name: str, why: str) -> Mistake:
    kind = name.replace("_", "-")
    return Mistake(f"{kind}-forgotten", f"{name} has no effect: {why}", without=name)


#: How the count goes wrong.
BYTES = [
    Mistake(
        "keys-alone-counted",
        "Only one tensor a layer is counted; the cache holds two, keys and values: "
        "the factor 2 is missing.",
        tensors=1,
    ),
    Mistake(
        "queries-counted",
        "Three tensors a layer are counted; the queries are not kept, only keys and "
        "values: the factor is 2.",
        tensors=3,
    ),
    Mistake(
        "four-tensors-counted",
        "Four tensors a layer are counted, a factor of 2 too many: keys and values "
        "are two.",
        tensors=4,
    ),
    _forgotten("n_layers", "every layer has keys and values of its own."),
    _forgotten("n_kv_heads", "every key/value head has keys and values of its own."),
    _forgotten("d_head", "a key is a vector of d_head numbers."),
    _forgotten("seq_len", "every token of the sequence has its keys and values."),
    _forgotten("batch", "every sequence of the batch has its own cache."),
    _forgotten(
        "bytes_per_value",
        "this counts numbers; each takes bytes_per_value bytes.",
    ),
    Mistake(
        "in-bits",
        "The result is in bits; it is asked for in bytes.",
        give=lambda count: 8 * count,
    ),
    Mistake(
        "in-kibibytes",
        "The result is divided by 1,024 (KiB); it is asked for in bytes.",
        give=lambda count: count // 1024,
    ),
    Mistake(
        "in-gigabytes",
        "The result is in gigabytes (10^9 bytes); it is asked for in bytes, an int.",
        give=lambda count: count / 1e9,
    ),
    Mistake(
        "in-gibibytes",
        "The result is divided by 1,024^3 (GiB); it is asked for in bytes, an int.",
        give=lambda count: count / 1024**3,
    ),
    Mistake(
        "in-megabytes",
        "The result is in megabytes (10^6 bytes); it is asked for in bytes, an int.",
        give=lambda count: count / 1e6,
    ),
    Mistake(
        "in-mebibytes",
        "The result is divided by 1,024^2 (MiB); it is asked for in bytes, an int.",
        give=lambda count: count / 1024**2,
    ),
    Mistake(
        "sequence-squared",
        "seq_len enters as a square, as in the scores; the cache has one key and one "
        "value a token, so it grows linearly.",
        power=("seq_len", 2),
    ),
    Mistake(
        "float-result",
        "The result is a float; an exact int is asked for: multiply ints, and divide "
        "with // if at all.",
        give=float,
    ),
    Mistake(
        "always-two-bytes",
        "bytes_per_value has no effect: two bytes a value are counted always.",
        wrong=_always_two_bytes,
    ),
    Mistake(
        "float32-by-default",
        "Without bytes_per_value 4 bytes are counted; the default is 2, half "
        "precision.",
        wrong=_in_float32_by_default,
    ),
]
