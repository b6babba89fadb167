"""Is a target's array what the reference allows, element by element?

The one place where a computed number meets an allowed one. An `Allowed` says what is allowed: a float64 value and how
far from it a correct implementation may lie. Where that bound comes from is not known here (`bounds`, `judge`), and
there is no tolerance of any other kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from compiler.types import DType
from oracles.engine import Array
from oracles.numpy_reference import NATIVE, quantize


@dataclass(frozen=True, slots=True, eq=False)
class Allowed:
    """What a value of one `dtype` may be.

    `value`: float64 for a float dtype, else the dtype's own array; its shape is the shape demanded. `bound`, of the
    same shape or None for zero everywhere, is absolute: 0 asks for the very bits of `value` (the sign of a zero
    included, any NaN for a NaN), a positive number for |target - value| <= bound, inf for nothing at all.
    """

    value: Array
    dtype: DType
    bound: Array | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing wrong with an array, or its worst element. `times` is in units of the bound, inf without one."""

    symptom: Literal["wrong-shape", "wrong-dtype", "wrong-value"]
    message: str
    index: tuple[int, ...] = ()
    got: float = 0.0
    low: float = 0.0
    high: float = 0.0
    times: float = 0.0


def difference(name: str, target: Array, allowed: Allowed) -> Difference | None:
    """What is wrong with `target`, an array of native dtype, or None. `name` only words the message."""
    unlike = form_difference(name, target, allowed.dtype, allowed.value.shape)
    if unlike is not None:
        return unlike
    error = ratio(target, allowed)
    return worst_difference(name, target, allowed, error) if (error > 1).any() else None


def form_difference(name: str, target: Array, dtype: DType, shape: tuple[int, ...]) -> Difference | None:
    """Is the dtype or the shape another one than the reference's own?"""
    if target.dtype != NATIVE[dtype.name]:
        return Difference("wrong-dtype", f"{name} is {_kina_name(target)}, must be {dtype}")
    if target.shape != shape:
        return Difference("wrong-shape", f"{name} has shape {list(target.shape)}, must be {list(shape)}")
    return None


def ratio(target: Array, allowed: Allowed) -> Array:
    """|target - value| in units of the bound: 0 for the same bits, inf for other bits where the bound is 0.

    Where the bound is inf nothing is known and the ratio is 0. Never NaN.
    """
    if allowed.dtype.kind != "float":
        wrong = np.where(_same_integers(target, allowed.value), 0.0, math.inf)
        return wrong if allowed.bound is None else np.where(np.isinf(allowed.bound), 0.0, wrong)
    same = _same_bits(wide := widened(target), allowed.value)
    if allowed.bound is None:
        return np.where(same, 0.0, math.inf)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        measured = np.abs(wide - allowed.value) / allowed.bound
    measured = np.where(np.isnan(measured), math.inf, measured)
    return np.where(same | np.isinf(allowed.bound), 0.0, measured)


def widened(array: Array) -> Array:
    """A float array as float64. A signalling NaN, which a target may well return, makes NumPy warn."""
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)


def _same_bits(left: Array, right: Array) -> Array:
    """Equal as numbers of one float dtype, told apart by the sign of a zero; a NaN equals any NaN."""
    equal = (left == right) & (np.signbit(left) == np.signbit(right))
    return np.asarray(equal | (np.isnan(left) & np.isnan(right)))


def _same_integers(left: Array, right: Array) -> Array:
    """Byte for byte for BOOL: memory may hold a byte that is neither 0 nor 1, and NumPy's `==` would not see it."""
    if left.dtype == np.bool_:
        return np.asarray(_bytes(left) == _bytes(right))
    return np.asarray(left == right)


def _kina_name(array: Array) -> str:
    return next((name for name, dtype in NATIVE.items() if dtype == array.dtype), str(array.dtype))


def worst_difference(name: str, target: Array, allowed: Allowed, error: Array) -> Difference:
    """The element with the largest `error`, which is what `ratio` made of `target`."""
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(error)), error.shape))
    where = f"{name}[{','.join(map(str, index))}]"
    value, times = allowed.value[index], float(error[index])
    if allowed.dtype.kind != "float":
        whole = _byte(target, index)
        return Difference("wrong-value", f"{where} = {whole}, must be {int(value)}", index, whole, value, value, times)
    got = float(widened(target)[index])
    bound = 0.0 if allowed.bound is None else float(allowed.bound[index])
    if bound == 0.0:
        message = f"{where} = {got!r}, must be {float(value)!r} exactly"
        return Difference("wrong-value", message, index, got, float(value), float(value), times)
    low, high = float(value) - bound, float(value) + bound
    interval = f"{_digits(low, bound)}…{_digits(high, bound)}"
    message = f"{where} = {_digits(got, bound)}, allowed {interval}, {how_far(times)}"
    return Difference("wrong-value", message, index, got, low, high, times)


def how_far(times: float) -> str:
    """`3.9e5 × the legal error`."""
    return f"{times:.2g} × the legal error".replace("e+0", "e").replace("e+", "e")


def _byte(target: Array, index: tuple[int, ...]) -> int:
    """An integer element; a BOOL as the byte that memory holds."""
    raw = _bytes(target) if target.dtype == np.bool_ else target
    return int(raw[index])


def _bytes(array: Array) -> Array:
    """Of a BOOL array, in its shape: a contiguous array has an axis at least."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(array.shape)


def _digits(number: float, bound: float) -> str:
    """`number` with two digits more than the bound's first one, so that the interval's ends can be told apart."""
    if not math.isfinite(number) or number == 0.0 or bound == 0.0:
        return repr(number)
    digits = math.floor(math.log10(abs(number))) - math.floor(math.log10(bound)) + 2
    return f"{number:.{max(digits, 3)}g}" if digits < 17 else repr(number)  # a float64 has no more


def native(allowed: Allowed) -> Array:
    """The allowed value itself in its native dtype: what a perfect implementation would return."""
    return quantize(allowed.value, allowed.dtype)
