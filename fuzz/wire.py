"""Messages on a private pipe: a JSON header and NumPy arrays, length-prefixed, bounded, without pickles.

Used between a lane and its sandbox child and between the campaign and its lanes. The reader trusts nothing: whatever
a crashed or hostile child leaves on the pipe is a message, `Closed`, `Garbage` or `TimedOut`. What a message means
is said by who sends it.

A frame is MAGIC, the header's and the body's sizes, the header (a JSON object whose "arrays" lists name, element type
and shape of each array in order) and the body (their elements one after the other, row-major, little-endian as all
machines are that MLIR's wheels exist for).
"""

from __future__ import annotations

import json
import math
import os
import select
import struct
import time
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from oracles.engine import Array

MAGIC = b"KINA"
MAX_HEADER = 16 << 20  # bytes; a case's text is some kilobytes, a finding's message at most some more
MAX_BODY = 512 << 20  # bytes; the checker caps the elements of one tensor far below this

_PREFIX = struct.Struct("<4sIQ")
_DTYPES = {
    dtype.name: dtype
    for dtype in map(np.dtype, (np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int32, np.int64, np.bool_))
}


class Closed(Exception):
    """The other end is gone: end of file or a broken pipe."""


class Garbage(Exception):
    """What came is not a message; the text says why."""


class TimedOut(Exception):
    """The deadline passed before a whole message had come."""


@dataclass(frozen=True, slots=True)
class Message:
    """`kind` says what it is; `fields` is JSON data; `arrays` are C-contiguous and read-only when received."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)


def send(fd: int, message: Message) -> None:
    """Write one message. Raises `Closed` when nobody reads any more, `Garbage` when it is over the bounds."""
    frame = memoryview(encode(message))
    try:
        while frame:
            frame = frame[os.write(fd, frame) :]
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Closed(str(error)) from error


def receive(fd: int, deadline: float | None = None) -> Message:
    """Read one message, at the latest by `deadline` (`time.monotonic` seconds)."""
    magic, header_size, body_size = _PREFIX.unpack(_read(fd, _PREFIX.size, deadline))
    if magic != MAGIC:
        raise Garbage(f"expected a message, got the bytes {magic!r}")
    if header_size > MAX_HEADER or body_size > MAX_BODY:
        raise Garbage(f"a message of {header_size} + {body_size} bytes is over the bounds")
    header = _read(fd, header_size, deadline)
    return decode(header, _read(fd, body_size, deadline))


def waiting(fd: int) -> bool:
    """Whether something can be read at once (the end of the file counts)."""
    return bool(_poll(fd, 0.0))


def readable(fd: int, deadline: float) -> bool:
    """Whether something can be read by `deadline` (`time.monotonic` seconds; the end of the file counts)."""
    return bool(_poll(fd, max(0.0, deadline - time.monotonic())))


def encode(message: Message) -> bytes:
    """The frame of a message. Raises `Garbage` when it is over the bounds."""
    forms = [[name, array.dtype.name, array.shape] for name, array in message.arrays.items()]
    header = json.dumps({"kind": message.kind, "fields": message.fields, "arrays": forms}).encode()
    body = b"".join(array.tobytes() for array in message.arrays.values())
    if len(header) > MAX_HEADER or len(body) > MAX_BODY:
        raise Garbage(f"a message of {len(header)} + {len(body)} bytes is over the bounds")
    return _PREFIX.pack(MAGIC, len(header), len(body)) + header + body


def decode(header: bytes, body: bytes) -> Message:
    """The message of a frame's two parts. Raises `Garbage`."""
    try:
        document = json.loads(header)
        json.dumps(document, ensure_ascii=False).encode()  # a lone surrogate is text that nobody could write down
        kind, fields, forms = document["kind"], document["fields"], document["arrays"]
        arrays: dict[str, Array] = {}
        at = 0
        for name, dtype, shape in forms:
            arrays[str(name)], at = _array(body, at, _DTYPES[dtype], shape)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Garbage(f"not a message: {type(error).__name__}: {error}") from error
    if not isinstance(kind, str) or not isinstance(fields, dict) or at != len(body):
        raise Garbage("not a message: wrong parts")
    return Message(kind, fields, arrays)


def _array(body: bytes, at: int, dtype: np.dtype[Any], shape: list[int]) -> tuple[Array, int]:
    """The array that begins at byte `at`, and where the next one does. Its claim is checked against the bytes left."""
    if not all(isinstance(dim, int) and dim >= 0 for dim in shape):
        raise ValueError(f"no shape: {shape}")
    count = math.prod(shape)
    end = at + count * dtype.itemsize
    if end > len(body):
        raise ValueError(f"shape {shape} needs more bytes than there are")
    return np.frombuffer(body, dtype, count, at).reshape(shape) if count else np.zeros(shape, dtype), end


def _read(fd: int, size: int, deadline: float | None) -> bytes:
    parts: list[bytes] = []
    while size:
        if deadline is not None and not _poll(fd, max(0.0, deadline - time.monotonic())):
            raise TimedOut
        part = os.read(fd, min(size, 1 << 20))
        if not part:
            raise Closed("end of file")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _poll(fd: int, seconds: float) -> bool:
    poller = select.poll()
    poller.register(fd, select.POLLIN | select.POLLHUP)
    return bool(poller.poll(math.ceil(seconds * 1000)))
