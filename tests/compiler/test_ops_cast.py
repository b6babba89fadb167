"""`cast` between all pairs of dtypes: every edge value, saturation, and the traps of rounding twice."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from compiler.arrays import NUMPY, Array
from compiler.types import DTYPES, DType, Scalar
from tests.compiler.jit import run_uses, use
from tests.compiler.values import ALL, FLOATS, INTS, array, check_bits, edges, random, round_float


def converted(value: Scalar, target: DType) -> Scalar:
    """The rule of `cast`, in exact arithmetic."""
    if target.kind == "bool":
        return value != 0
    if target.kind == "float":
        return round_float(target, value if isinstance(value, float) else Fraction(value))
    least, greatest = target.int_range
    if not isinstance(value, float):
        return (int(value) - least) % (1 << target.bits) + least
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return greatest if value > 0 else least
    return min(max(int(value), least), greatest)


def near_limits(dtype: str) -> list[Scalar]:
    """Around the limits of both integer dtypes and around one half."""
    limits = [2.0**31, 2.0**63, 2.0**24, 2.0**53, 65504.0, 65520.0, 0.5, 1.5, 2.5]
    steps = [limit * (1 + k * 2 * DTYPES[dtype].unit_roundoff) for limit in limits for k in (-2, -1, 0, 1, 2)]
    return [sign * round_float(DTYPES[dtype], step) for step in steps for sign in (1, -1)]


def midpoints(dtype: str) -> list[Scalar]:
    """F64 values beside the midpoints of a narrower float: a detour through F32 rounds them the wrong way."""
    kind = DTYPES[dtype]
    found: list[Scalar] = []
    for exponent in (0, 3, 1 - kind.max_exponent, -kind.max_exponent - kind.precision, kind.max_exponent):
        for odd in (1, 3, 5, 2**kind.precision + 1, 2**kind.precision + 3):
            quantum = max(exponent, 1 - kind.max_exponent) - kind.precision
            middle = math.ldexp(odd, quantum)
            found += [middle, math.nextafter(middle, math.inf), math.nextafter(middle, 0), middle * (1 + 2.0**-40)]
    return [sign * value for value in found for sign in (1, -1)]


def int_midpoints() -> list[Scalar]:
    """I64 values one beside a midpoint of F16, BF16, F32 or F64."""
    found: list[Scalar] = []
    for precision in (8, 11, 24, 53):
        for top in range(precision + 1, 63, 5):
            for odd in (2**precision + 1, 2**precision + 3):
                middle = odd << (top - precision)
                found += [x for x in (middle, middle + 1, middle - 1) if x < 2**63]
    return [*found, *(-value for value in found)]


def sources(dtype: str) -> Array:
    values = [edges(dtype), random(dtype, (16,), 5)]
    if dtype in FLOATS:
        values.append(array(dtype, near_limits(dtype)))
    if dtype == "F64":
        values += [array(dtype, midpoints(narrow)) for narrow in ("F16", "BF16", "F32")]
    if dtype == "F32":
        values += [array(dtype, midpoints(narrow)) for narrow in ("F16", "BF16")]
    if dtype == "I64":
        values.append(np.array(int_midpoints(), np.int64))
    if dtype in INTS:
        values.append(np.array([2**24 + 1, 2**25 + 3, 65519, 65520, 65521, 257, 259], NUMPY[dtype]))
    return np.concatenate(values)


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("source", ALL)
def test_cast(source: str, level: int) -> None:
    x = sources(source)
    for target, got in zip(ALL, run_uses([use("cast", x, dtype=target) for target in ALL], level), strict=True):
        items = [value.item() if source != "BF16" else float(value) for value in x]
        expected = array(target, [converted(item, DTYPES[target]) for item in items])
        check_bits(got, expected, x, name=f"cast {source} to {target} ")


@pytest.mark.parametrize(
    ("source", "bits"),
    [
        ("F16", [0x7C01, 0x7FFF, 0xFC01, 0xFFFF]),
        ("BF16", [0x7F81, 0x7FFF, 0xFF81, 0xFFFF]),
        ("F32", [0x7F800001, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF]),
        ("F64", [0x7FF0000000000001, 0x7FFFFFFFFFFFFFFF, 0xFFF0000000000001, 0xFFFFFFFFFFFFFFFF]),
    ],
)
def test_every_nan_stays_one(source: str, bits: list[int]) -> None:
    """Rounding the bits of a NaN with a payload would carry into its sign, or leave an infinity."""
    x = np.array(bits, f"u{NUMPY[source].itemsize}").view(NUMPY[source])
    for target, got in zip(ALL, run_uses([use("cast", x, dtype=target) for target in ALL]), strict=True):
        expected = array(target, [converted(math.nan, DTYPES[target])] * len(bits))
        check_bits(got, expected, name=f"cast {source} to {target} ")
