"""The first reference: each op phrased by NumPy's own operator, floats in float64.

Also `quantize`, the one rounding from this float64 world to a dtype. An op's result here is neither rounded to its
dtype nor made infinite beyond its range, a `cast` to a narrower float included: whoever judges accounts for both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from compiler.syntax import AttrValue
from compiler.types import DTYPES, DType
from oracles.engine import Array
from oracles.evaluator import Library

NATIVE: dict[str, np.dtype[Any]] = {
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
    "I32": np.dtype(np.int32),
    "I64": np.dtype(np.int64),
    "BOOL": np.dtype(np.bool_),
}
"""The array dtype of an observed value. The compiler has a table of its own: neither takes the other's word."""


def hold(array: Array) -> Array:
    """A fresh copy: any float as float64 (exact), ints and bools as they are."""
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return np.array(array, array.dtype if array.dtype.kind in "ib" else np.float64)


def quantize(array: Array, dtype: DType) -> Array:
    """The dtype's values nearest to float64 ones, ties to even, beyond the range infinite; ints and bools as they are.

    A legal implementation of an op is the table's function, quantized.
    """
    native = NATIVE[dtype.name]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return (_to_odd_float32(array) if dtype.name == "BF16" else array).astype(native)


def _to_odd_float32(array: Array) -> Array:
    """float64 to float32 "to odd": an inexact value goes to its neighbour with the odd last bit.

    ml_dtypes rounds float64 to bfloat16 by way of float32, to nearest twice: 1 + 2**-8 + 2**-40 comes out as 1. Rounded
    to odd first, with at least two bits to spare, the second rounding sees on which side of a tie the value lies
    (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", IEEE Trans. Computers 57(4), 2008).
    """
    array = np.asarray(array, np.float64)
    nearest = array.astype(np.float32)
    wide = nearest.astype(np.float64)
    towards_zero = np.where(np.abs(wide) > np.abs(array), np.nextafter(nearest, np.float32(0)), nearest)
    odd = (towards_zero.view(np.uint32) | 1).view(np.float32)
    return np.where((wide == array) | np.isnan(array), nearest, odd)


def _maximum(a: Array, b: Array) -> Array:
    """np.maximum, which is free to return either of two zeros: their sum has the greater one's sign."""
    return np.where((a == 0) & (b == 0), a + b, np.maximum(a, b))


def _minimum(a: Array, b: Array) -> Array:
    """np.minimum; of two zeros the lesser one is that with any minus: -(-a + -b)."""
    return np.where((a == 0) & (b == 0), -(-a + -b), np.minimum(a, b))


def _max(x: Array, axis: int) -> Array:
    """np.max; where it is a zero, +0 if there is one (x + 0 turns -0 into +0 and keeps the rest)."""
    top = np.asarray(np.max(x, axis=axis))
    has_positive_zero = np.any((x == 0) & ~np.signbit(x), axis=axis)
    return np.where((top == 0) & has_positive_zero, top + 0, top)


def _softmax(x: Array, axis: int) -> Array:
    """By its definition: NumPy has no operator for it."""
    weights: Array = np.exp(x - np.max(x, axis=axis, keepdims=True))
    shares: Array = weights / np.sum(weights, axis=axis, keepdims=True)
    return shares


def _pad(x: Array, axis: int, low: int, high: int) -> Array:
    amounts = [(low, high) if at == axis else (0, 0) for at in range(x.ndim)]
    return np.asarray(np.pad(x, amounts))


def _slice(x: Array, axis: int, start: int, stop: int) -> Array:
    return x[tuple(slice(start, stop) if at == axis else slice(None) for at in range(x.ndim))]


def _cast(x: Array, dtype: str) -> Array:
    """Float to int truncates, saturates and makes 0 of NaN; to BOOL is "differs from 0"; to a float changes nothing."""
    target = DTYPES[dtype]
    if target.kind == "float":
        return _to_odd_float64(x) if x.dtype == np.int64 and target.bits < 64 else x.astype(np.float64)
    if target.kind == "int" and x.dtype.kind == "f":
        return _saturated(x, target)
    return x.astype(NATIVE[dtype])


def _to_odd_float64(x: Array) -> Array:
    """int64 to float64; beyond 2**53 the bits that have no room make the last one odd.

    So that `quantize` rounds to a narrower float as if once, for the reason given in `_to_odd_float32`.
    """
    dropped = 11  # 64 bits less the 53 of a float64
    odd = (x >> dropped) | ((x & (1 << dropped) - 1) != 0)
    return np.where(np.abs(x.astype(np.float64)) < 2.0**53, x, odd * 2.0**dropped)


def _saturated(x: Array, target: DType) -> Array:
    """Compared with powers of two: the largest I64 has no float64 of its own."""
    low, high = target.int_range
    limit = 2.0 ** (target.bits - 1)
    inside = np.where(np.abs(x) < limit, x, 0.0)  # NaN gives 0
    values = np.trunc(inside).astype(NATIVE[target.name])
    return np.select([x >= limit, x <= -limit], [np.full_like(values, high), np.full_like(values, low)], values)


OPERATORS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "rem": np.fmod,
    "neg": np.negative,
    "matmul": np.matmul,
    "log": np.log,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "abs": np.abs,
    "maximum": _maximum,
    "minimum": _minimum,
    "sum": lambda x, axis: np.sum(x, axis=axis, dtype=x.dtype),
    "max": _max,
    "less": np.less,
    "less_equal": np.less_equal,
    "equal": np.equal,
    "select": np.where,
    "cast": _cast,
    "gather": lambda table, ids: np.take(table, ids, axis=0, mode="clip"),
    "reshape": lambda x, shape: np.reshape(x, shape),
    "transpose": lambda x, perm: np.transpose(x, perm),
    "broadcast": lambda x, shape: np.broadcast_to(x, shape),
    "slice": _slice,
    "concat": lambda *parts, axis: np.concatenate(parts, axis=axis),
    "pad": _pad,
    "softmax": _softmax,
    "argmax": lambda x, axis: np.argmax(x, axis=axis),
}
"""Without the care for warnings and rank 0 that `TABLE` takes."""


def _array_of(operator: Callable[..., Any]) -> Callable[..., Array]:
    """NumPy turns rank 0 into scalars."""
    return lambda *args, **attrs: np.asarray(operator(*args, **attrs))


def _silently(operator: Callable[..., Any]) -> Callable[..., Array]:
    """NumPy warns of the infinities and NaNs that the language defines."""

    def function(*args: Array, **attrs: AttrValue) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(operator(*args, **attrs))

    return function


TABLE: dict[str, Callable[..., Array]] = {op: _silently(operator) for op, operator in OPERATORS.items()}
LIBRARY: Library[Array] = Library(TABLE, hold)
QUIET: Library[Array] = Library({op: _array_of(operator) for op, operator in OPERATORS.items()}, hold)
"""The same for a caller who has silenced NumPy's warnings once for all ops."""
