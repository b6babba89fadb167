"""What a sandbox child is at, in memory that it shares with its sandbox: who is to blame when it dies.

A message for each pass would wake the other side each time and cost more than a small pass does; a mark is looked at
only after a death. What it says is not trusted. The messages that do travel are `wire`'s.
"""

from __future__ import annotations

import json
import os
from typing import Any

from fuzz.wire import Garbage

_SIZE = 8192  # bytes; a mark is a line of JSON and a zero byte


def new() -> int:
    """A file descriptor of memory without a name, for both sides."""
    return os.memfd_create("mark")


def clear(fd: int) -> None:
    """There is no mark from here on."""
    os.pwrite(fd, b"\0", 0)


def write(fd: int, **fields: Any) -> None:  # noqa: ANN401 (JSON)
    """Puts this mark in the place of the last one."""
    os.pwrite(fd, json.dumps(fields).encode() + b"\0", 0)


def read(fd: int) -> dict[str, Any] | None:
    """The mark's fields, if there is one. Raises `Garbage`."""
    line = os.pread(fd, _SIZE, 0).partition(b"\0")[0]
    if not line:
        return None
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Garbage(f"not a mark: {line[:80]!r}") from error
    if not isinstance(fields, dict):
        raise Garbage(f"not a mark: {fields!r}")
    return fields
