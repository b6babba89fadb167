"""The values that the tests of the op table are made of, and exact answers for them.

Answers come from rational arithmetic rounded once (`compiler.types.round_to`), from Python's integers or from mpmath:
never from the formula that the lowering uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import chain

import numpy as np

from compiler.arrays import NUMPY, Array
from compiler.types import DTYPES, DType, Scalar, round_to

FLOATS = ("F16", "BF16", "F32", "F64")
INTS = ("I32", "I64")
NUMBERS = (*FLOATS, *INTS)
ALL = (*NUMBERS, "BOOL")


def edges(dtype: str) -> Array:
    """Where arithmetic of a dtype goes wrong: zeros, neighbours of 1, limits, subnormals, infinities, NaN."""
    kind = DTYPES[dtype]
    if kind.kind == "bool":
        return np.array([False, True])
    if kind.kind == "int":
        least, greatest = kind.int_range
        return np.array([0, 1, -1, 2, 7, -3, 46341, greatest, greatest - 1, least, least + 1], NUMPY[dtype])
    ulp = 2 * kind.unit_roundoff
    positive = [0.0, 1.0, 1 + ulp, 1 - ulp / 2, 1.5, 0.1, 3.0, 7.25, 100.0, kind.max_finite, kind.max_finite / 2]
    positive += [kind.smallest_subnormal, 3 * kind.smallest_subnormal, kind.smallest_normal, math.inf, math.nan]
    return array(dtype, [sign * value for value in positive for sign in (1, -1)])


def array(dtype: str, values: Iterable[Scalar]) -> Array:
    """An array of a dtype; NumPy need not round what `round_to` has rounded, so BF16 is not rounded twice."""
    kind = DTYPES[dtype]
    if kind.kind != "float":
        return np.array(list(values), NUMPY[dtype])
    rounded = [round_float(kind, value) for value in values]
    return np.array(rounded, np.float64).astype(NUMPY[dtype])


def rows(dtype: str, values: Sequence[Sequence[Scalar]]) -> Array:
    """`array` of rank 2."""
    return array(dtype, chain.from_iterable(values)).reshape(len(values), -1)


def round_float(dtype: DType, value: Scalar | Fraction) -> float:
    """Rounded once; NaN, infinities and the sign of a zero stay."""
    if isinstance(value, float) and (value == 0 or not math.isfinite(value)):
        return value
    return round_to(dtype, Fraction(value))


def pairs(values: Array) -> tuple[Array, Array]:
    """Every value against every value."""
    left, right = np.meshgrid(values, values)
    return left.ravel().copy(), right.ravel().copy()


def random(dtype: str, shape: tuple[int, ...], seed: int, scale: float = 3.0) -> Array:
    """Ordinary numbers; no two draws of one seed are related."""
    rng = np.random.default_rng(seed)
    if DTYPES[dtype].kind == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    spread = scale if DTYPES[dtype].kind == "float" else 9 * scale
    return np.asarray(rng.standard_normal(shape) * spread).astype(NUMPY[dtype])


def same_bits(got: Array, expected: Array) -> Array:
    """Elementwise: equal bits, or both NaN. A NaN's payload and sign are not the language's."""
    if got.dtype.kind not in "fV":  # ml_dtypes' bfloat16 is of kind V
        return np.asarray(got == expected)
    unsigned = np.dtype(f"u{got.dtype.itemsize}")
    with np.errstate(invalid="ignore"):  # a signalling NaN of ml_dtypes warns
        both_nan = np.isnan(got) & np.isnan(expected)
    return np.asarray((got.view(unsigned) == expected.view(unsigned)) | both_nan)


def check_bits(got: Array, expected: Array, *shown: Array, name: str = "") -> None:
    """Bitwise equality, with the operands of the first element that differs."""
    assert got.dtype == expected.dtype, f"{name}: dtype {got.dtype}, expected {expected.dtype}"
    assert got.shape == expected.shape, f"{name}: shape {got.shape}, expected {expected.shape}"
    wrong = np.argwhere(~same_bits(got, expected))
    if len(wrong):
        at = tuple(wrong[0])
        operands = [x[at].item() for x in shown if x.shape == got.shape]
        raise AssertionError(
            f"{name}{operands} at {at}: got {got[at]!r}, expected {expected[at]!r} ({len(wrong)} differ)"
        )


def exactly(dtype: str, rational: Callable[[Fraction, Fraction], Fraction], x: float, y: float) -> float | None:
    """A binary operation on finite operands, rounded once; None for an exact zero, whose sign is IEEE's business."""
    result = rational(Fraction(x), Fraction(y))
    return round_to(DTYPES[dtype], result) if result else None
