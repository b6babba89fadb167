"""The host boundary: NumPy arrays in and out of compiled functions, and who frees what.

A memref of rank r is passed as a descriptor of 3 + 2r words: the allocated pointer, the aligned pointer, the offset,
r sizes, r strides (in elements). Every field is one 64-bit word, so a descriptor is an int64 array here, and the struct
of a function's results is its descriptors in a row.

Ownership: arguments are the caller's, and the callee gets private copies, which are compared afterwards. A result may
be a view of an argument, of a constant or of another result: it is read with its own offset and strides and copied, and
only then is the callee's memory released, all at once (`compiler.runtime`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from compiler.arrays import Array, numpy_dtype
from compiler.types import TensorType

Words = npt.NDArray[np.int64]
Signature = tuple[tuple[TensorType, ...], tuple[TensorType, ...]]  # parameter types, result types


class CallError(Exception):
    """A call that cannot be made, or a callee that broke the contract of its signature."""


Entry = Callable[..., None]  # of addresses


def entry(address: int, signature: Signature | None) -> Entry:
    """A function by its address: a fn's C interface takes a pointer to the struct of its results and one to each
    argument's descriptor; without a signature it takes nothing.
    """
    pointers = 0 if signature is None else 1 + len(signature[0])
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * pointers)(address)


def call(
    function: Entry, release: Entry, name: str, signature: Signature, arrays: Sequence[Array]
) -> tuple[Array, ...]:
    """Calls an `entry`, and then `release`, whatever came of it.

    Raises `CallError` for arrays that do not fit, a result of another shape, an argument that was written.
    """
    params, results = signature
    _check_arguments(name, params, arrays)
    copies = [array.copy(order="C") for array in arrays]
    returned = np.zeros(sum(3 + 2 * type_.rank for type_ in results), np.int64)
    structs = [returned, *map(_descriptor, copies)]
    function(*(words.ctypes.data for words in structs))
    try:
        _check_untouched(name, arrays, copies)
        return tuple(_read(name, words, type_) for words, type_ in _split(returned, results))
    finally:
        release()


def _check_arguments(name: str, params: Sequence[TensorType], arrays: Sequence[Array]) -> None:
    if len(arrays) != len(params):
        raise CallError(f"`{name}` takes {len(params)} arguments, got {len(arrays)}")
    for at, (type_, array) in enumerate(zip(params, arrays, strict=True)):
        if array.dtype != numpy_dtype(type_) or array.shape != type_.shape:
            got = f"{array.dtype} {list(array.shape)}"
            raise CallError(f"`{name}` takes {type_} as argument {at}, got an array of {got}")


def _descriptor(array: Array) -> Words:
    """Of a contiguous array."""
    strides = [stride // array.itemsize for stride in array.strides]
    return np.array([array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides], np.int64)


def _split(returned: Words, results: Sequence[TensorType]) -> list[tuple[Words, TensorType]]:
    ends = np.cumsum([3 + 2 * type_.rank for type_ in results])
    return list(zip(np.split(returned, ends[:-1]), results, strict=True))


def _read(name: str, words: Words, type_: TensorType) -> Array:
    """A contiguous copy of what the descriptor describes."""
    dtype, rank = numpy_dtype(type_), type_.rank
    aligned, offset, sizes, strides = int(words[1]), int(words[2]), words[3 : 3 + rank], words[3 + rank :]
    if tuple(sizes) != type_.shape:
        raise CallError(f"`{name}` declares a result of shape {list(type_.shape)} and returned {sizes.tolist()}")
    reach = [int(stride) * (size - 1) for stride, size in zip(strides, type_.shape, strict=True)]
    lowest, span = sum(min(0, step) for step in reach), 1 + sum(map(abs, reach))
    memory = (ctypes.c_char * (span * dtype.itemsize)).from_address(aligned + (offset + lowest) * dtype.itemsize)
    byte_strides = tuple(int(stride) * dtype.itemsize for stride in strides)
    return np.ndarray(type_.shape, dtype, memoryview(memory), -lowest * dtype.itemsize, byte_strides).copy(order="C")


def _check_untouched(name: str, arrays: Sequence[Array], copies: Sequence[Array]) -> None:
    for at, (array, copy) in enumerate(zip(arrays, copies, strict=True)):
        if array.tobytes() != copy.tobytes():
            raise CallError(f"`{name}` wrote to its argument {at}")
