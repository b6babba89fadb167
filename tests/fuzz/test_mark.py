"""A child's mark: what one side writes the other reads, and whatever else is there is garbage."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz import mark
from fuzz.wire import Garbage


@pytest.fixture
def fd(tmp_path: Path) -> Iterator[int]:
    made = mark.new(tmp_path)
    yield made
    os.close(made)


def test_the_latest_mark_is_read_until_it_is_cleared(fd: int) -> None:
    assert mark.read(fd) is None
    mark.write(fd, stage="passes", variants=["a", "b"], culprit="one-shot-bufferize")
    mark.write(fd, stage="run", variants=["b"])
    assert mark.read(fd) == {"stage": "run", "variants": ["b"]}
    mark.clear(fd)
    assert mark.read(fd) is None


@pytest.mark.parametrize(
    "spoilt", [b"nonsense\0", b"[1]\0", b'{"a": "\\ud800"}\0', b"\xff\0", b'{"half": "of' + bytes(1), b"[" * 9000]
)
def test_garbage(spoilt: bytes, fd: int) -> None:
    os.pwrite(fd, spoilt, 0)
    with pytest.raises(Garbage, match="not a mark"):
        mark.read(fd)


def test_a_file_that_was_cut_has_no_mark(fd: int) -> None:
    mark.write(fd, stage="run")
    os.ftruncate(fd, 0)
    assert mark.read(fd) is None
