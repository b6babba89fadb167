"""What a sandbox child is at, in a file that it shares with its sandbox: who is to blame when it dies.

A message for each pass would wake the other side each time and cost more than a small pass does; a mark is looked at
only after a death. What it says is not trusted. The messages that do travel are `wire`'s.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from fuzz.wire import Garbage

_SIZE = 8192  # bytes; a mark is JSON, ends with a zero byte, and has a tenth of this


def new(folder: Path) -> int:
    """A file descriptor, for both sides, of a new file; its bytes are there from the start, so no write can fail."""
    fd = os.open(folder / "mark", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(fd, bytes(_SIZE))
    return fd


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
        json.dumps(fields, ensure_ascii=False).encode()  # a lone surrogate is text that nobody could write down
    except (ValueError, RecursionError) as error:
        raise Garbage(f"not a mark: {line[:80]!r}") from error
    if not isinstance(fields, dict):
        raise Garbage(f"not a mark: {fields!r}")
    return fields
