"""Messages on a private pipe: a JSON header and NumPy arrays, length-prefixed, bounded, without pickles.

Used between a lane and its sandbox child and between the campaign and its lanes. The reader trusts nothing: whatever
a crashed or hostile child leaves on the pipe is a message, `Closed`, `Garbage` or `TimedOut`. What a message means
is said by who sends it.

A frame is MAGIC, the header's and the body's sizes, the header (a JSON object whose "arrays" lists name and element
type of each array in order) and the body (one `.npy` image after the other).
"""

from __future__ import annotations

import io
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
# .npy cannot name bfloat16: it travels as the 16-bit integers it is made of.
_CARRIERS = {np.dtype(ml_dtypes.bfloat16): np.dtype(np.uint16)}
_DTYPES = {
    dtype.name: dtype
    for dtype in (*_CARRIERS, *map(np.dtype, (np.float16, np.float32, np.float64, np.int32, np.int64, np.bool_)))
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
    frame = encode(message)
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


def encode(message: Message) -> memoryview:
    """The frame of a message. Raises `Garbage` when it is over the bounds."""
    names = [[name, array.dtype.name] for name, array in message.arrays.items()]
    header = json.dumps({"kind": message.kind, "fields": message.fields, "arrays": names}).encode()
    body = io.BytesIO()
    for array in message.arrays.values():
        carrier = _CARRIERS.get(array.dtype, array.dtype)
        np.lib.format.write_array(body, np.ascontiguousarray(array).view(carrier).reshape(array.shape))
    size = body.tell()
    if len(header) > MAX_HEADER or size > MAX_BODY:
        raise Garbage(f"a message of {len(header)} + {size} bytes is over the bounds")
    return memoryview(_PREFIX.pack(MAGIC, len(header), size) + header + body.getvalue())


def decode(header: bytes, body: bytes) -> Message:
    """The message of a frame's two parts. Raises `Garbage`."""
    try:
        document = json.loads(header)
        kind, fields, names = document["kind"], document["fields"], document["arrays"]
        stream = io.BytesIO(body)
        arrays = {str(name): _read_array(stream, _DTYPES[dtype], len(body)) for name, dtype in names}
    except (ValueError, KeyError, TypeError, RecursionError, EOFError) as error:
        raise Garbage(f"not a message: {type(error).__name__}: {error}") from error
    if not isinstance(kind, str) or not isinstance(fields, dict) or stream.read(1):
        raise Garbage("not a message: wrong parts")
    return Message(kind, fields, arrays)


def _read_array(stream: io.BytesIO, dtype: np.dtype[Any], size: int) -> Array:
    """One `.npy` image of the given element type; its claim is checked against the bytes there are."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("another version of .npy")
    shape, fortran, carrier = np.lib.format.read_array_header_1_0(stream)
    if carrier != _CARRIERS.get(dtype, dtype) or fortran:
        raise ValueError(f"{carrier} where {dtype} was announced")
    count = math.prod(shape)
    if min(shape, default=1) < 0 or count * carrier.itemsize > size - stream.tell():
        raise ValueError(f"shape {shape} needs more bytes than there are")
    return np.frombuffer(stream.read(count * carrier.itemsize), carrier).view(dtype).reshape(shape)


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
