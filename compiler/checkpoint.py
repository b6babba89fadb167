"""A StoryLM-0 checkpoint on disk: weights, sizes and class names, read without trusting a byte of it.

`load` reads the three files of the format `storylm0-checkpoint-v0` (Section 23 of the language's documents):

    manifest.json     {"format": "storylm0-checkpoint-v0", "vocab": V, "heads": H, "head_dim": Dh}
    checkpoint.npz    embed [V, D], wq wk wv wo [D, D], lm_head [D, V], scale [1, 1, 1, 1]; F32, D = H * Dh
    vocab.json        V class names, all different; the first is <pad>

The names of the files and of the arrays are fixed, so nothing in them can point elsewhere; every size is known from
the manifest before an array is read; nothing is unpickled. What a model does with weights is `compiler.handoff`'s.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from compiler import npy
from compiler.arrays import Array
from compiler.npy import HEADER_LIMIT, Header

FORMAT = "storylm0-checkpoint-v0"
PAD = "<pad>"

TEXT_LIMIT = 1 << 20  # bytes of a JSON file: 10,000 classes of 100 characters
DIM_LIMIT = 1 << 16  # of each number in the manifest
WEIGHTS_LIMIT = 64 << 20  # bytes of all arrays together: "tiny checkpoint", and nothing that hurts a host
ARCHIVE_SLACK = 1 << 16  # bytes of the archive beside the arrays: zip headers, at about 250 each

_FLOAT32 = np.dtype("<f4")
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error)
"""What zipfile raises on damaged, encrypted or unsupported archives."""


class CheckpointError(Exception):
    """A checkpoint that cannot be used: the message names the file, what it holds and what it should hold."""


@dataclass(frozen=True, slots=True, eq=False)  # arrays have no truth value: compare identities
class Checkpoint:
    """`weights` holds read-only F32 arrays by name, `scale` among them; `vocab` the class names by id."""

    heads: int
    head_dim: int
    weights: Mapping[str, Array]
    vocab: tuple[str, ...]

    @property
    def identity(self) -> str:
        return identity(self.weights)


def identity(weights: Mapping[str, Array]) -> str:
    """The SHA-256 (hex) of the weights' names, dtypes, shapes and bytes: equal weights, equal identity."""
    digest = hashlib.sha256()
    for name in sorted(weights):
        array = weights[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def load(directory: Path) -> Checkpoint:
    """The checkpoint in `directory`. Raises `CheckpointError`."""
    sizes = _manifest(directory / "manifest.json")
    vocab = _vocab(directory / "vocab.json", sizes["vocab"])
    shapes = weight_shapes(sizes["vocab"], sizes["heads"] * sizes["head_dim"])
    return Checkpoint(sizes["heads"], sizes["head_dim"], _weights(directory / "checkpoint.npz", shapes), vocab)


def weight_shapes(vocab: int, width: int) -> dict[str, tuple[int, ...]]:
    """The arrays of a checkpoint, and no others."""
    square = dict.fromkeys(("wq", "wk", "wv", "wo"), (width, width))
    return {"embed": (vocab, width), **square, "lm_head": (width, vocab), "scale": (1, 1, 1, 1)}


def _manifest(path: Path) -> dict[str, int]:
    content = _json(path)
    if not isinstance(content, dict):
        raise CheckpointError(f"{path}: a manifest is a JSON object, got a {type(content).__name__}")
    if content.get("format") != FORMAT:
        raise CheckpointError(f"{path}: this reads the format {FORMAT!r}, got {content.get('format')!r}")
    keys = {"format", "vocab", "heads", "head_dim"}
    if set(content) != keys:
        raise CheckpointError(f"{path}: a manifest has the keys {_listed(keys)}, got {_listed(content)}")
    for key in sorted(keys - {"format"}):
        if type(content[key]) is not int or not 1 <= content[key] <= DIM_LIMIT:
            raise CheckpointError(f"{path}: {key!r} is an integer from 1 to {DIM_LIMIT}, got {content[key]!r:.40}")
    return {key: content[key] for key in keys - {"format"}}


def _vocab(path: Path, length: int) -> tuple[str, ...]:
    content = _json(path)
    if not isinstance(content, list) or not all(isinstance(name, str) for name in content):
        raise CheckpointError(f"{path}: a vocabulary is a JSON list of strings")
    if len(content) != length:
        raise CheckpointError(f"{path}: the manifest has {length} classes, this lists {len(content)}")
    if content[0] != PAD:
        raise CheckpointError(f"{path}: class 0 is {PAD!r}, got {content[0]!r:.40}")
    if len(set(content)) != length:
        raise CheckpointError(f"{path}: class names differ from each other, got {len(set(content))} for {length} ids")
    return tuple(content)


def _json(path: Path) -> Any:  # noqa: ANN401 - whatever the file says; the callers look
    try:
        return json.loads(_bytes(path, TEXT_LIMIT), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:  # ValueError: not UTF-8, not JSON, a key twice, a number too long
        raise CheckpointError(f"{path}: this is no JSON: {error}") from error


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("an object has a key twice")
    return content


def _bytes(path: Path, limit: int) -> bytes:
    """A file's content, never more than `limit` bytes of it, and never through a link or from a device."""
    if path.is_symlink() or not path.is_file():
        kind = "a symbolic link" if path.is_symlink() else "not a file" if path.exists() else "missing"
        raise CheckpointError(f"{path}: a checkpoint needs this file, and it is {kind}")
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise CheckpointError(f"{path}: this cannot be read: {error.strerror}") from error
    if len(content) > limit:
        raise CheckpointError(f"{path}: this has {path.stat().st_size} bytes, the limit is {limit}")
    return content


def _weights(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> Mapping[str, Array]:
    total = sum(_size(shape) for shape in shapes.values())
    if total > WEIGHTS_LIMIT:
        raise CheckpointError(f"{path}: the manifest asks for {total} bytes of weights, the limit is {WEIGHTS_LIMIT}")
    try:
        with zipfile.ZipFile(io.BytesIO(_bytes(path, total + ARCHIVE_SLACK))) as archive:
            _check_members(path, [info.filename for info in archive.infolist()], shapes)
            members = {name: _member(path, archive, name, _size(shape)) for name, shape in shapes.items()}
    except _ZIP_ERRORS as error:
        raise CheckpointError(f"{path}: this is no readable .npz archive: {error}") from error
    return MappingProxyType({name: _array(path, name, members[name], shape) for name, shape in shapes.items()})


def _check_members(path: Path, members: list[str], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """The archive's members are the arrays, each once: a path, a nested folder or a second copy is none of them."""
    expected = {f"{name}.npy" for name in shapes}
    for kind, odd in (
        ("lacks the arrays", expected - set(members)),
        ("has unknown members", set(members) - expected),
        ("has members twice", {name for name in members if members.count(name) > 1}),
    ):
        if odd:
            raise CheckpointError(f"{path}: this {kind}: {_listed(odd)}; it should hold {_listed(expected)}")


def _member(path: Path, archive: zipfile.ZipFile, name: str, size: int) -> bytes:
    """The bytes of an array's member; its size is looked at before anything is unpacked."""
    info = archive.getinfo(f"{name}.npy")
    if info.file_size > size + HEADER_LIMIT:
        raise CheckpointError(f"{path}: `{name}` unpacks to {info.file_size} bytes, its array has {size}")
    with archive.open(info) as file:
        return file.read(info.file_size)  # with a number, zlib too stops there


def _array(path: Path, name: str, content: bytes, shape: tuple[int, ...]) -> Array:
    """The read-only array in one .npy member, after its header has been compared with what must stand there."""
    header = _header(path, name, content)
    dtype, got_shape, start = header.dtype, header.shape, header.start
    if dtype.startswith("|O"):
        raise CheckpointError(f"{path}: `{name}` is a pickled payload (dtype {dtype!r}); nothing is ever unpickled")
    if dtype != _FLOAT32.str:
        raise CheckpointError(f"{path}: `{name}` has the dtype {dtype!r}, this format has {_FLOAT32.str!r} (F32)")
    if got_shape != shape:
        raise CheckpointError(f"{path}: `{name}` has the shape {list(got_shape)}, the manifest says {list(shape)}")
    if len(content) != start + _size(shape):
        got = len(content) - start
        raise CheckpointError(f"{path}: `{name}` has {got} bytes of data, its shape {list(shape)} takes {_size(shape)}")
    array: Array = np.frombuffer(content, _FLOAT32, offset=start).reshape(shape, order=header.order).copy(order="C")
    array.flags.writeable = False
    return array


def _header(path: Path, name: str, content: bytes) -> Header:
    header = npy.header(content)
    if header is None:
        raise CheckpointError(f"{path}: `{name}` does not begin with the header of a plain array (.npy version 1.0)")
    return header


def _size(shape: tuple[int, ...]) -> int:
    """Bytes of an F32 array; in Python's integers, so that nothing overflows."""
    size = _FLOAT32.itemsize
    for dim in shape:
        size *= dim
    return size


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(f"{name!r:.40}" for name in names))
