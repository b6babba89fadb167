"""Messages: what is sent arrives bit by bit, and whatever else is on the pipe is garbage."""

from __future__ import annotations

import json
import os
import struct
import time
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest

from fuzz.outcomes import message_of, outcome_of
from fuzz.wire import MAX_HEADER, Closed, Garbage, Message, TimedOut, decode, encode, receive, send, waiting
from oracles.engine import Array, Failure, Observation

DTYPES = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int32, np.int64, np.bool_)
PREFIX = struct.Struct("<4sIQ")


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read_fd, write_fd = os.pipe()
    yield read_fd, write_fd
    for fd in (read_fd, write_fd):
        try:
            os.close(fd)
        except OSError:  # the test closed it
            continue


def check_same(left: Array, right: Array) -> None:
    assert left.dtype == right.dtype
    assert left.shape == right.shape
    assert left.tobytes() == right.tobytes()


def check_garbage(frame: bytes) -> None:
    """`frame` is refused with a message, whatever it is."""
    read_fd, write_fd = os.pipe()
    try:
        os.write(write_fd, frame)
        os.close(write_fd)
        with pytest.raises((Garbage, Closed)):
            receive(read_fd)
    finally:
        os.close(read_fd)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (3, 2), (2, 1, 0)])
def test_arrays_arrive_bit_by_bit(dtype: type, shape: tuple[int, ...], pipe: tuple[int, int]) -> None:
    array: Array = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
    send(pipe[1], Message("run", {"text": "ü"}, {"x": array}))
    message = receive(pipe[0], time.monotonic() + 5)
    assert (message.kind, message.fields) == ("run", {"text": "ü"})
    check_same(message.arrays["x"], array)


def test_nan_payloads_and_strides_survive(pipe: tuple[int, int]) -> None:
    bits = np.array([0x7FC00001, 0xFF800000, 0x80000000, 1], np.uint32).view(np.float32)
    send(pipe[1], Message("m", {}, {"nan": bits, "view": np.arange(12.0).reshape(3, 4).T[::2]}))
    message = receive(pipe[0])
    check_same(message.arrays["nan"], bits)
    assert message.arrays["view"].tolist() == [[0, 4, 8], [2, 6, 10]]


def test_end_of_the_pipe(pipe: tuple[int, int]) -> None:
    assert not waiting(pipe[0])
    os.close(pipe[1])
    assert waiting(pipe[0])
    with pytest.raises(Closed):
        receive(pipe[0])


def test_nobody_reads(pipe: tuple[int, int]) -> None:
    os.close(pipe[0])
    with pytest.raises(Closed):
        send(pipe[1], Message("m"))


def test_half_a_message_is_late_not_awaited_for_ever(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], encode(Message("m", {"text": "x" * 100}))[:40])
    with pytest.raises(TimedOut):
        receive(pipe[0], time.monotonic() + 0.05)


@pytest.mark.parametrize("frame", [b"", b"KIN", b"Segmentation fault\n" * 9, b"\0" * 99, b"KINA" + b"\xff" * 40])
def test_noise_is_garbage(frame: bytes) -> None:
    check_garbage(frame)


@pytest.mark.parametrize(
    "header",
    [
        b"{}",
        b"[1]",
        b"{",
        b"\xff",
        b"[" * 100_000,
        b'{"kind": 3, "fields": {}, "arrays": []}',
        b'{"kind": "m", "fields": [], "arrays": []}',
        b'{"kind": "m", "fields": {}, "arrays": [["x", "object", [1]]]}',
        b'{"kind": "m", "fields": {}, "arrays": [["x", "float32", [1]]]}',
        b'{"kind": "m", "fields": {}, "arrays": "xy"}',
        b'{"kind": "m", "fields": {"message": ["\\ud800"]}, "arrays": []}',
        b'{"kind": "m", "fields": {"\\uDfff": 1}, "arrays": []}',
        b'{"kind": "m", "fields": {"message": "\xed\xa0\x80"}, "arrays": []}',
    ],
)
def test_headers_of_another_form(header: bytes) -> None:
    with pytest.raises(Garbage):
        decode(header, b"")


def test_a_claim_larger_than_the_bounds_is_not_read() -> None:
    check_garbage(PREFIX.pack(b"KINA", MAX_HEADER + 1, 0))
    check_garbage(PREFIX.pack(b"KINA", 2, 2**63))
    with pytest.raises(Garbage):
        encode(Message("m", {"text": "x" * (MAX_HEADER + 1)}))


def test_every_cut_and_every_flipped_byte_is_an_answer_or_garbage() -> None:
    frame = bytes(encode(Message("m", {"a": 1}, {"x": np.arange(3, dtype=np.float32)})))
    header_size = PREFIX.unpack(frame[: PREFIX.size])[1]
    header, body = frame[PREFIX.size :][:header_size], frame[PREFIX.size + header_size :]
    for at in range(len(frame) - PREFIX.size):
        broken = bytearray(header + body)
        broken[at] ^= 0x5A
        for cut in (bytes(broken), (header + body)[:at]):
            try:
                decode(cut[:header_size], cut[header_size:])
            except Garbage:
                continue


@pytest.mark.parametrize("shape", [[2, 4], [9, 9], [-2, -3], ["2", 3], [2.0, 3], [2**62, 2**62], 6, [[2, 3]], [2, 2]])
def test_shapes_that_the_bytes_do_not_bear_out(shape: object) -> None:
    header = json.dumps({"kind": "m", "fields": {}, "arrays": [["x", "float32", shape]]}).encode()
    with pytest.raises(Garbage):
        decode(header, bytes(24))


def test_outcomes_there_and_back() -> None:
    failure = Failure("passes", "invalid-ir", "cse", "words")
    assert outcome_of(message_of("v", failure)) == ("v", failure)
    x, y = np.ones(2, np.float32), np.zeros((), np.int64)
    variant, outcome = outcome_of(message_of("v", Observation({"a": x, "b c": y}, (y, x, np.ones(3)))))
    assert isinstance(outcome, Observation)
    assert variant == "v"
    assert list(outcome.lets) == ["a", "b c"]
    assert [array.shape for array in outcome.results] == [(), (2,), (3,)]
    assert outcome.results[1] is outcome.lets["a"]


@pytest.mark.parametrize(
    "message",
    [
        Message("observation", {"variant": "v"}),
        Message("observation", {"variant": "v", "results": ["let x"]}),
        Message("observation", {"variant": "v", "results": [["let x"]]}),
        Message("observation", {"variant": 3, "results": []}),
        Message("failure", {"variant": "v", "stage": "lunch", "symptom": "crash"}),
        Message("failure", {"variant": "v", "stage": "run", "symptom": "sad"}),
        Message("surprise", {}),
    ],
)
def test_messages_that_are_no_outcomes(message: Message) -> None:
    with pytest.raises(Garbage):
        outcome_of(message)
