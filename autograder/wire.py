"""What crosses the pipe between grader and worker: a JSON head and raw buffers.

A frame is 4 bytes of magic, the length of the head (u32) and of the buffers (u64),
the head, and the tensors' bytes in the order in which the head names them. Nothing is
unpickled, so a frame can hold wrong numbers but never code.

In the head plain values stand for themselves; a list is a list, and what JSON lacks is
a dictionary with one key: {"tuple": […]}, {"dict": {…}}, {"tensor": {…}}.
"""

import json
import math
import os
import select
import struct
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

import torch

MAGIC = b"TbH1"
PREFIX = struct.Struct("<4sIQ")
HEAD_LIMIT = 4 << 20  # bytes; parsing can take twenty times as many
FRAME_LIMIT = 256 << 20  # bytes, head and buffers together
DEPTH_LIMIT = 40  # containers within containers
AXES_LIMIT = 64
BITS_LIMIT = 1023  # of a whole number: each of these fits into a float
NUMEL_LIMIT = 1 << 62  # torch counts elements and strides in signed 64 bits

NAMES = """bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16
float32 float64 complex64 complex128 float8_e4m3fn float8_e5m2
float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu""".split()
DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name) for name in NAMES if hasattr(torch, name)
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}

Wait = Callable[[int, int], None]
"""`wait(fd, event)` returns when the descriptor is ready; TimeoutError if never."""


class WireError(Exception):
    """A value that can't be sent, or bytes that are no frame."""


class TooLarge(WireError):
    """A frame that is larger than the receiver, or the sender, allows."""


# --- values to bytes --------------------------------------------------------------


def pack(value: Any, limit: int = FRAME_LIMIT) -> bytes:
    """A frame that holds the value. Raises WireError where it can't."""
    body = _Body(limit)
    head = json.dumps(_encode(value, body, 0), separators=(",", ":")).encode()
    _check_lengths(len(head), body.size, limit)
    prefix = PREFIX.pack(MAGIC, len(head), body.size)
    return b"".join([prefix, head, *body.buffers])


class Packed:
    """A value and its frame, which is made once and can be sent again and again."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @cached_property
    def frame(self) -> bytes:
        return pack(self.value)


class _Body:
    """The bytes of the tensors met so far."""

    def __init__(self, limit: int) -> None:
        self.limit, self.size = limit, 0
        self.buffers: list[memoryview] = []

    def add(self, tensor: torch.Tensor) -> None:
        """Raises TooLarge before it copies: a view can be larger than all memory."""
        self.size += tensor.numel() * tensor.dtype.itemsize
        _check_lengths(0, self.size, self.limit)
        flat = tensor.detach().resolve_conj().resolve_neg().cpu().reshape(-1)
        # One number is contiguous whatever its stride is; a view as bytes needs 1.
        flat = flat.contiguous().as_strided(flat.shape, (1,))
        self.buffers.append(flat.view(torch.uint8).numpy().data)


def _encode(value: Any, body: _Body, depth: int) -> Any:
    if depth > DEPTH_LIMIT:
        raise WireError(f"can't send more than {DEPTH_LIMIT} levels of containers")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > BITS_LIMIT:
            raise WireError(f"can't send a whole number of {value.bit_length():,} bits")
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, torch.Tensor):
        return {"tensor": _encode_tensor(value, body)}
    if isinstance(value, (list, tuple)):
        items = [_encode(item, body, depth + 1) for item in value]
        return {"tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise WireError(f"can't send a dict with a key {key!r:.80}: no str")
        return {"dict": {k: _encode(v, body, depth + 1) for k, v in value.items()}}
    raise WireError(f"can't send a {type(value).__module__}.{type(value).__qualname__}")


def _encode_tensor(tensor: torch.Tensor, body: _Body) -> dict[str, Any]:
    if tensor.dtype not in DTYPE_NAMES or tensor.layout is not torch.strided:
        raise WireError(f"can't send a {tensor.layout} tensor of {tensor.dtype}")
    if tensor.dim() > AXES_LIMIT:
        raise WireError(f"can't send a tensor with more than {AXES_LIMIT} axes")
    try:
        entry = {"dtype": DTYPE_NAMES[tensor.dtype], "shape": list(tensor.shape)}
        if tensor.device.type == "meta":
            return entry | {"meta": True}
        if tensor.numel():
            body.add(tensor)
    except RuntimeError as error:  # nested, without storage, of a class of its own
        raise WireError(
            f"can't send a tensor that holds no plain numbers ({error!s:.300})"
        ) from error
    return entry


# --- bytes to values --------------------------------------------------------------


def unpack(frame: bytes | bytearray, limit: int = FRAME_LIMIT) -> Any:
    """The value that a whole frame holds. Raises WireError if it is none."""
    if len(frame) < PREFIX.size:
        raise WireError("the frame ends early")
    head_length, body_length = _lengths(frame[: PREFIX.size], limit)
    if len(frame) != PREFIX.size + head_length + body_length:
        raise WireError("the frame's length isn't the one it states")
    view = memoryview(bytearray(frame))[PREFIX.size :]  # torch wants it writable
    return _decode_frame(bytes(view[:head_length]), view[head_length:])


def _lengths(prefix: bytes | bytearray, limit: int) -> tuple[int, int]:
    magic, head_length, body_length = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise WireError("no frame begins here")
    _check_lengths(head_length, body_length, limit)
    return head_length, body_length


def _check_lengths(head: int, body: int, limit: int) -> None:
    if head > HEAD_LIMIT or head + body > limit:
        raise TooLarge(
            f"it takes {head + body:,} bytes, of which {head:,} hold no tensors; "
            f"{limit:,} and {HEAD_LIMIT:,} are allowed"
        )


def _decode_frame(head: bytes, body: memoryview) -> Any:
    buffers = _Buffers(body)
    try:
        value = _decode(json.loads(head), buffers, 0)
    except (ValueError, RecursionError, RuntimeError, OverflowError) as error:
        raise WireError(f"the frame's head is malformed: {error!s:.200}") from error
    buffers.finish()
    return value


class _Buffers:
    """Hands out the frame's buffers in order, and notices when they don't add up."""

    def __init__(self, body: memoryview) -> None:
        self.body = body
        self.taken = 0

    def take(self, size: int) -> memoryview:
        if size > len(self.body) - self.taken:
            raise WireError("a tensor is larger than the bytes that came with it")
        self.taken += size
        return self.body[self.taken - size : self.taken]

    def finish(self) -> None:
        if self.taken != len(self.body):
            raise WireError("bytes are left over that belong to no tensor")


def _decode(node: Any, buffers: _Buffers, depth: int) -> Any:
    if depth > DEPTH_LIMIT:
        raise WireError(f"more than {DEPTH_LIMIT} levels of containers")
    if isinstance(node, list):
        return [_decode(item, buffers, depth + 1) for item in node]
    if isinstance(node, int) and node.bit_length() > BITS_LIMIT:
        raise WireError("the head holds a number larger than any that is sent")
    if not isinstance(node, dict):
        return node
    if len(node) != 1:
        raise WireError("a dictionary in the head has other than one key")
    ((kind, content),) = node.items()
    if kind == "tensor" and isinstance(content, dict):
        return _decode_tensor(content, buffers)
    if kind == "tuple" and isinstance(content, list):
        return tuple(_decode(item, buffers, depth + 1) for item in content)
    if kind == "dict" and isinstance(content, dict):
        return {k: _decode(v, buffers, depth + 1) for k, v in content.items()}
    raise WireError(f"the head holds a {kind!r:.40} that isn't one")


def _decode_tensor(entry: dict[str, Any], buffers: _Buffers) -> torch.Tensor:
    dtype, shape = DTYPES.get(str(entry.get("dtype"))), entry.get("shape")
    if dtype is None or not isinstance(shape, list) or len(shape) > AXES_LIMIT:
        raise WireError("a tensor has no dtype or shape that is known here")
    if not all(type(size) is int and 0 <= size < NUMEL_LIMIT for size in shape):
        raise WireError("a tensor's shape holds other than sizes")
    if math.prod(max(size, 1) for size in shape) >= NUMEL_LIMIT:
        raise WireError("a tensor has more elements than torch can count")
    if entry.get("meta") is True:
        return torch.empty(shape, dtype=dtype, device="meta")
    raw = buffers.take(math.prod(shape) * dtype.itemsize)
    if not raw:
        return torch.empty(shape, dtype=dtype)
    flat = torch.frombuffer(raw, dtype=torch.uint8).clone()  # aligned, a tensor's own
    if dtype is torch.bool:
        return (flat != 0).reshape(shape)  # a byte of 2 would be neither True nor False
    return flat.view(dtype).reshape(shape)


# --- frames on descriptors --------------------------------------------------------


def until(deadline: float | None) -> Wait:
    """Waits for a descriptor up to a moment of `time.monotonic()`; None is forever."""

    def wait(fd: int, event: int) -> None:
        poll = select.poll()
        poll.register(fd, event)
        left = None if deadline is None else (deadline - time.monotonic()) * 1000
        if (left is not None and left <= 0) or not poll.poll(left):
            raise TimeoutError("the deadline has passed")

    return wait


def send(fd: int, value: Any, wait: Wait, limit: int = FRAME_LIMIT) -> None:
    """Write the value as one frame. Raises WireError, TimeoutError, OSError.

    The descriptor should be non-blocking, or one large write outlasts any deadline.
    """
    send_frame(fd, pack(value, limit), wait)


def send_frame(fd: int, frame: bytes, wait: Wait) -> None:
    view = memoryview(frame)
    while view:
        wait(fd, select.POLLOUT)
        try:
            view = view[os.write(fd, view[: 1 << 20]) :]
        except BlockingIOError:  # ready for fewer bytes than were offered
            continue


def receive(fd: int, wait: Wait, limit: int = FRAME_LIMIT) -> Any:
    """Read one frame. Raises WireError, TimeoutError, OSError; EOFError at its end.

    An end between frames is an EOFError, one within a frame a WireError.
    """
    prefix = _read(fd, PREFIX.size, wait, between_frames=True)
    head_length, body_length = _lengths(prefix, limit)
    head = _read(fd, head_length, wait)
    body = _read(fd, body_length, wait)
    return _decode_frame(bytes(head), memoryview(body))


def _read(fd: int, size: int, wait: Wait, between_frames: bool = False) -> bytearray:
    """`size` bytes. They are made room for as they come, not as they are announced."""
    data = bytearray()
    while len(data) < size:
        try:
            chunk = os.read(fd, min(size - len(data), 1 << 20))
        except BlockingIOError:
            wait(fd, select.POLLIN)
            continue
        if not chunk:
            if between_frames and not data:
                raise EOFError("the other end has closed")
            raise WireError("the frame ends early")
        data += chunk
    return data
