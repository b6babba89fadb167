"""The header of an array in a .npy member, read by a regular expression: NumPy would evaluate it as Python text.

What the array should be, and reading its data, is the caller's business: `compiler.arguments`, `compiler.checkpoint`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

HEADER_LIMIT = 1 << 10  # bytes before an array's data; NumPy writes 128

_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    r"\{'descr': '(?P<dtype>[^']*)', 'fortran_order': (?P<fortran>True|False),"
    r" 'shape': \((?P<shape>|\d+,|\d+(?:, \d+)+)\), \} *\n",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Header:
    """`dtype` as NumPy writes it (`<f4`; `|O` is a pickled payload), `start` the byte where the data begins."""

    dtype: str
    shape: tuple[int, ...]
    order: Literal["C", "F"]
    start: int


def header(content: bytes) -> Header | None:
    """The header at the beginning of `content`, of version 1.0 as NumPy writes it; None where there is no such."""
    start = int.from_bytes(content[8:10], "little") + 10
    match = _HEADER.fullmatch(content[10:start].decode("latin1"))
    if not content.startswith(_MAGIC) or start > min(HEADER_LIMIT, len(content)) or match is None:
        return None
    shape = tuple(int(dim) for dim in match["shape"].replace(",", " ").split())
    return Header(match["dtype"], shape, "F" if match["fortran"] == "True" else "C", start)
