"""Arrays by name at the command line: in from an .npz file or a program's header, out to an .npz file or a person.

NumPy has no bfloat16, so a BF16 array stands in an .npz file as two raw bytes an element (dtype `V2`), as `np.savez`
writes one of ml_dtypes.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from compiler import npy
from compiler.arrays import NUMPY, Array, numpy_dtype
from compiler.recipes import RecipeError, header_inputs, make
from compiler.syntax import Block, Name
from compiler.types import TensorType

ARCHIVE_SLACK = 1 << 20  # bytes of an .npz file beside its arrays

_RAW_BF16 = np.dtype("V2")
_UNREADABLE = (ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, struct.error)
_NAMES = {dtype.str: dtype.name for dtype in NUMPY.values()}


class InputError(Exception):
    """The inputs do not fit; the message says which and what is wanted."""


def from_npz(path: Path, wanted: Mapping[str, TensorType]) -> list[Array]:
    """The arrays of a file in the order of `wanted`. Raises `InputError`, and OSError where there is no file."""
    limit = sum(map(_size, wanted.values())) + ARCHIVE_SLACK
    with path.open("rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise InputError(f"{path} has more than {limit} bytes: too many for {_listed(wanted)}")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {member.removesuffix(".npy"): member for member in archive.namelist()}
            _check_names(str(path), list(members), wanted)
            return [_member(archive, members[name], f"{path}: `{name}`", type_) for name, type_ in wanted.items()]
    except _UNREADABLE as error:
        raise InputError(f"{path} cannot be read as an .npz file of plain arrays: {error}") from error


def from_header(text: str, wanted: Mapping[str, TensorType], name: str) -> list[Array]:
    """What the `// inputs:` lines say. A fn takes those of its parameters' names; `@main` must use them all."""
    try:
        recipes = header_inputs(text)
    except RecipeError as error:
        raise InputError(f"in an `// inputs:` line: {error}") from error
    given = [key for key in recipes if name == "main" or key in wanted]
    _check_names("the program's `// inputs:` lines", given, wanted)
    arrays = []
    for key, type_ in wanted.items():
        try:
            arrays.append(make(recipes[key], type_))
        except RecipeError as error:
            raise InputError(f"input `{key}`: {error}") from error
    return arrays


def _check_names(source: str, given: Sequence[str], wanted: Mapping[str, TensorType]) -> None:
    missing = _listed({name: type_ for name, type_ in wanted.items() if name not in given})
    extra = [f"`{name}`" for name in given if name not in wanted]
    if missing:
        raise InputError(f"{source}: no {missing}; name every input there, or in an .npz file (--inputs)")
    if extra:
        raise InputError(f"{source}: {', '.join(extra)} is no input; those are {', '.join(wanted) or 'none'}")


def _listed(wanted: Mapping[str, TensorType]) -> str:
    return ", ".join(f"`{name}` ({type_})" for name, type_ in wanted.items())


def _size(type_: TensorType) -> int:
    """The bytes of an array's data."""
    return type_.size * numpy_dtype(type_).itemsize


def _member(archive: zipfile.ZipFile, name: str, what: str, type_: TensorType) -> Array:
    """An array of the archive, if it is of this type: no more is unpacked than that takes, and nothing evaluated."""
    dtype = numpy_dtype(type_)
    raw = _RAW_BF16 if type_.dtype.name == "BF16" else dtype
    with archive.open(name) as file:
        content = file.read(npy.HEADER_LIMIT)
        header = npy.header(content)
        if header is None:
            raise InputError(f"{what} does not begin with the header of a plain array (.npy version 1.0)")
        if (header.dtype, header.shape) != (raw.str, type_.shape):
            got = f"{_NAMES.get(header.dtype, header.dtype)} {list(header.shape)}"
            raise InputError(f"{what} is {got}, wanted {type_}, which is {dtype} {list(type_.shape)}")
        content += file.read(max(0, header.start + _size(type_) + 1 - len(content)))
    if len(content) != header.start + _size(type_):
        raise InputError(f"{what} has not the {_size(type_)} bytes of data that {type_} takes")
    array: Array = np.frombuffer(content, dtype, offset=header.start).reshape(type_.shape, order=header.order)
    return array


def named(body: Block, results: Sequence[Array]) -> dict[str, Array]:
    """Results by the names that the result tuple gives them; those without a name of their own are numbered."""
    names = [expr.id if isinstance(expr, Name) else "" for expr in body.result]
    if "" in names or len(set(names)) < len(names):
        names = [f"result{at}" for at in range(len(results))]
    return dict(zip(names, results, strict=True))


def to_npz(arrays: Mapping[str, Array]) -> bytes:
    """An .npz file. Not `np.savez`: an array may have the name of one of its parameters."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, array in arrays.items():
            raw = array.view(_RAW_BF16) if array.dtype.kind == "V" else array
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, raw, allow_pickle=False)
    return content.getvalue()


def shown(name: str, type_: TensorType, array: Array) -> str:
    """A value for a person; long ones are cut in the middle."""
    return f"{name}: {type_}\n{np.array2string(array, floatmode='unique', max_line_width=120)}"
