"""The wire: what goes in comes out, and what is no frame is refused before it costs."""

import json
import math
import os
import struct
import threading
import time
from contextlib import contextmanager, suppress

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import wire
from autograder.wire import DTYPES, TooLarge, WireError, pack, unpack

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
tensors = st.builds(
    lambda dtype, shape, seed: random_tensor(DTYPES[dtype], shape, seed),
    st.sampled_from(sorted(DTYPES)),
    st.lists(st.integers(0, 4), max_size=4),
    st.integers(0, 99),
)
values = st.recursive(
    scalars | tensors,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)


def random_tensor(dtype, shape, seed):
    generator = torch.Generator().manual_seed(seed)
    high = 2 if dtype is torch.bool else 256
    size = math.prod(shape) * dtype.itemsize
    raw = torch.randint(0, high, [size], generator=generator, dtype=torch.uint8)
    return raw.view(dtype).reshape(shape) if size else torch.empty(shape, dtype=dtype)


def alike(a, b):
    """The same types and bits, all the way down."""
    if isinstance(a, torch.Tensor):
        if (a.dtype, a.shape, a.device) != (b.dtype, b.shape, b.device):
            return False
        if a.device.type == "meta" or not a.numel():
            return True
        bits = [t.detach().resolve_conj().reshape(-1).contiguous() for t in (a, b)]
        return torch.equal(*[t.view(torch.uint8) for t in bits])
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, float):
        if math.isnan(a):
            return math.isnan(b)
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return a == b


def frame(head, body=b"", magic=wire.MAGIC, head_length=None, body_length=None):
    """A frame made by hand; its lengths are true unless others are given."""
    head = head if isinstance(head, bytes) else json.dumps(head).encode()
    lengths = head_length or len(head), body_length or len(body)
    return struct.pack("<4sIQ", magic, *lengths) + head + body


@contextmanager
def pipe():
    ends = os.pipe()
    try:
        for end in ends:
            os.set_blocking(end, False)
        yield ends
    finally:
        for end in ends:
            with pytest.MonkeyPatch.context():
                close(end)


def close(fd):
    try:
        os.close(fd)
    except OSError:
        assert fd > 2  # closed by the test itself


@pytest.mark.parametrize("stride", [0, 3])
def test_one_number_passes_whatever_its_stride(stride):
    one = torch.arange(4.0).as_strided([1, 1], [stride, stride], 2)
    assert alike(unpack(pack(one)), torch.tensor([[2.0]]))


@settings(max_examples=200, deadline=None)
@given(values)
def test_what_goes_in_comes_out(value):
    assert alike(unpack(pack(value)), value)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).reshape(2, 3).T,
        torch.arange(6.0)[::2],
        torch.tensor(3.0),
        torch.zeros(0, 3),
        torch.ones(1).expand(4, 5),
        torch.tensor([1 + 2j]).conj(),
        torch.ones(2, requires_grad=True),
        torch.nn.Parameter(torch.ones(2)),
        torch.empty(2, 3, device="meta", dtype=torch.bfloat16),
        torch.empty(1 << 30, 1 << 30, device="meta"),
    ],
    ids=str,
)
def test_every_kind_of_tensor_comes_out(tensor):
    assert alike(unpack(pack({"x": tensor}))["x"], tensor)


def test_a_whole_number_that_comes_out_fits_into_a_float():
    largest = 2**1023 - 1
    assert float(unpack(pack(largest))) == float(largest)
    for larger in (2**1024 - 1, -(2**1024) + 1):
        with pytest.raises(WireError):
            pack(larger)
        with pytest.raises(WireError):
            unpack(frame(str(larger).encode()))


def test_a_meta_tensor_travels_without_its_bytes():
    assert len(pack(torch.empty(1 << 30, device="meta"))) < 100


def test_tensors_that_come_out_share_no_memory():
    one, two = unpack(pack([torch.zeros(2), torch.ones(2)]))
    one.add_(5)
    assert two.tolist() == [1, 1]
    assert one.untyped_storage().nbytes() == 8


def test_a_bool_of_any_byte_is_true_or_false():
    head = {"tensor": {"dtype": "bool", "shape": [3]}}
    assert unpack(frame(head, b"\x00\x02\xff")).view(torch.uint8).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1: 2}, "key 1"),
        ({"x": object()}, "builtins.object"),
        ({"x": {2}}, "builtins.set"),
        (torch.eye(2).to_sparse(), "sparse"),
        ([10**5000], "16,610 bits"),
    ],
    ids=["key", "object", "set", "sparse", "digits"],
)
def test_what_cannot_be_sent_is_said(value, message):
    with pytest.raises(WireError, match=message):
        pack(value)


def test_a_list_that_holds_itself_is_refused():
    loop: list = []
    loop.append(loop)
    with pytest.raises(WireError, match="levels"):
        pack(loop)


def test_the_sender_keeps_to_the_limit_too():
    with pytest.raises(TooLarge, match=r"4,0\d\d bytes.* 1,000"):
        pack(torch.zeros(1000), limit=1000)


def test_a_view_larger_than_memory_is_refused_uncopied():
    with pytest.raises(TooLarge):
        pack(torch.zeros(1).expand(1 << 40))


def tensor_head(shape, dtype="float32", **more):
    return {"tensor": {"dtype": dtype, "shape": shape} | more}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "ends early"),
        (b"\x00" * 8, "ends early"),
        (b"\x00" * 16, "no frame"),
        (frame(1, magic=b"PK34"), "no frame"),
        (frame(1) + b"!", "length"),
        (frame([1, 2])[:-1], "length"),
        (frame(b"{'no': json}"), "malformed"),
        (frame(b"\xff\xfe\xfa"), "malformed"),
        (frame(b"9" * 5000), "malformed"),
        (frame(b"[" + b"9" * 400 + b"]"), "larger than any"),
        (frame(b"[" * 100_000), "malformed"),
        (frame(b"[" * 60 + b"]" * 60), "levels"),
        (frame({}), "other than one key"),
        (frame({"tuple": [], "dict": {}}), "other than one key"),
        (frame({"tuple": {}}), "isn't one"),
        (frame({"dict": [1]}), "isn't one"),
        (frame({"__reduce__": ["os.system"]}), "isn't one"),
        (frame({"tensor": []}), "isn't one"),
        (frame({"tensor": {}}), "no dtype"),
        (frame(tensor_head([1], "float33"), b"1234"), "no dtype"),
        (frame(tensor_head([1], ["float32"]), b"1234"), "no dtype"),
        (frame(tensor_head("1"), b"1234"), "no dtype"),
        (frame(tensor_head([1] * 65), b"1234"), "no dtype"),
        (frame(tensor_head([-1]), b"1234"), "other than sizes"),
        (frame(tensor_head([-2, -2]), b"1" * 16), "other than sizes"),
        (frame(tensor_head([True]), b"1234"), "other than sizes"),
        (frame(tensor_head([1.0]), b"1234"), "other than sizes"),
        (frame(tensor_head([1 << 70])), "other than sizes"),
        (frame(tensor_head([1 << 40, 1 << 40])), "more elements"),
        (frame(tensor_head([0, 1 << 40, 1 << 40])), "more elements"),
        (frame(tensor_head([1 << 40, 1 << 40], meta=True)), "more elements"),
        (frame(tensor_head([2]), b"1234"), "larger than the bytes"),
        (frame(tensor_head([1 << 40]), b"1234"), "larger than the bytes"),
        (frame(tensor_head([1]), b"12345"), "left over"),
        (frame([1], b"1234"), "left over"),
    ],
)
def test_what_is_no_frame_is_refused(data, message):
    with pytest.raises(WireError, match=message):
        unpack(data)


@settings(max_examples=300, deadline=None)
@given(values, st.data())
def test_a_damaged_frame_is_a_value_or_a_wire_error(value, data):
    damaged = bytearray(pack(value))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place] = data.draw(st.integers(0, 255))
    damaged = damaged[: data.draw(st.integers(0, len(damaged)))]
    with suppress(WireError):
        unpack(damaged)


def test_frames_pass_through_a_pipe_one_after_the_other():
    with pipe() as (there, here):
        soon = wire.until(time.monotonic() + 5)
        wire.send(here, {"x": torch.ones(3)}, soon)
        wire.send(here, (1, 2), soon)
        assert wire.receive(there, soon)["x"].tolist() == [1, 1, 1]
        assert wire.receive(there, soon) == (1, 2)
        os.close(here)
        with pytest.raises(EOFError):
            wire.receive(there, soon)


def test_a_frame_larger_than_the_pipe_passes():
    value = torch.arange(1 << 18)
    with pipe() as (there, here):
        soon = wire.until(time.monotonic() + 20)
        writer = threading.Thread(target=wire.send, args=(here, value, soon))
        writer.start()
        assert torch.equal(wire.receive(there, soon), value)
        writer.join()


@pytest.mark.parametrize("cut", [1, 15, 16, 30])
def test_an_end_within_a_frame_is_no_answer(cut):
    with pipe() as (there, here):
        os.write(here, pack(torch.ones(5))[:cut])
        os.close(here)
        with pytest.raises(WireError, match="ends early"):
            wire.receive(there, wire.until(time.monotonic() + 5))


@pytest.mark.parametrize(
    ("head", "body"),
    [(1 << 31, None), (None, 1 << 60), (4 << 20, 256 << 20)],
)
def test_a_frame_that_announces_too_much_is_refused_unread(head, body):
    with pipe() as (there, here):
        os.write(here, frame(1, head_length=head, body_length=body))
        with pytest.raises(TooLarge):
            wire.receive(there, wire.until(time.monotonic() + 5))


def test_the_deadline_holds_for_reading():
    with pipe() as (there, here):
        os.write(here, b"T")  # a drop doesn't move it
        with pytest.raises(TimeoutError):
            wire.receive(there, wire.until(time.monotonic() + 0.05))


def test_the_deadline_holds_for_writing():
    with pipe() as (_, here), pytest.raises(TimeoutError):
        wire.send(here, torch.zeros(1 << 20), wire.until(time.monotonic() + 0.05))


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (lambda: torch.zeros([1] * 65), "more than 64 axes"),
        (
            lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
            "holds no plain numbers",
        ),
    ],
    ids=["65 axes", "nested"],
)
@pytest.mark.filterwarnings("ignore")
def test_a_tensor_that_cannot_be_sent_says_why(tensor, words):
    with pytest.raises(WireError, match=words):
        pack(tensor())
