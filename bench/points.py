"""Operands at which a function is hard: near its thresholds, among subnormals, and where its result is almost a tie.

Data and drawing. What is measured at these points is `functions`'.
"""

from __future__ import annotations

import math

import numpy as np

from bench.rounded_sums import Generator
from compiler.types import DType
from oracles.engine import Array
from oracles.numpy_reference import NATIVE, TABLE, quantize

OVERSAMPLED = 30  # candidates for each point at which the result is almost a tie

RANGES: dict[str, tuple[tuple[float, float], ...]] = {
    "exp": ((-1, 1), (-20, 20), (-104, 89), (-746, 710), (-1e-6, 1e-6)),
    "log": ((0.5, 2), (0.99, 1.01), (1e-3, 1e3), (0, 1e-30), (1e30, 3e38)),
    "tanh": ((-1, 1), (-1e-3, 1e-3), (0.1, 0.6), (-10, 10), (15, 23)),
    "sqrt": ((0, 1), (1, 4), (0, 1e-30), (0, 1e10)),
}
WORST_F64: dict[str, tuple[str, ...]] = {
    "exp": ("0x1.9e9cbbfd6080bp-31", "0x1.83d4bcdebb3f4p+2"),
    "log": ("0x1.62a88613629b6p+678", "0x1.ebdb85d8a8bc4p+29"),
}
"""Nearest to a tie of all F64 (Lefèvre and Muller, "Worst cases for correct rounding of the elementary functions in
double precision", ARITH-15, 2001), or near one."""


def operands(name: str, dtype: DType, rng: Generator, count: int) -> tuple[Array, ...]:
    """About `count` operands of an op, native arrays; all that a narrow dtype has for a unary op, if they are fewer."""
    if name == "div":
        return _quotients(dtype, rng, count)
    if name == "softmax":
        return (_rows(dtype, rng, count // 8),)
    if dtype.bits == 16 and count > 1 << 16:
        return (np.arange(1 << 16).astype(np.uint16).view(NATIVE[dtype.name]),)
    part = count // 4
    with np.errstate(all="ignore"):
        return (quantize(np.concatenate(_sources(name, dtype, rng, part, count - 3 * part)), dtype),)


def _sources(name: str, dtype: DType, rng: Generator, part: int, rest: int) -> list[Array]:
    return [
        _ranges(name, rng, part),
        _any_bits(dtype, rng, part),
        _near(name, dtype, rng, part),
        _almost_ties(name, dtype, rng, rest),
    ]


def _ranges(name: str, rng: Generator, count: int) -> Array:
    bounds = np.array(RANGES[name])[rng.integers(len(RANGES[name]), size=count)]
    return rng.uniform(bounds[:, 0], bounds[:, 1])


def _any_bits(dtype: DType, rng: Generator, count: int) -> Array:
    """Every exponent alike, subnormals, infinities and NaN among them."""
    bits = rng.integers(0, 2**dtype.bits, size=count, dtype=np.uint64).astype(f"u{dtype.bits // 8}")
    with np.errstate(invalid="ignore"):
        return bits.view(NATIVE[dtype.name]).astype(np.float64)


def _thresholds(name: str, dtype: DType) -> list[float]:
    """Where a function changes its nature in this dtype."""
    ln2 = math.log(2)
    top, normal = (dtype.max_exponent + 1) * ln2, (1 - dtype.max_exponent) * ln2
    nothing = normal - dtype.precision * ln2
    return {
        "exp": [0.0, top, normal, nothing, nothing + ln2, 1.0, -1.0],
        "log": [0.0, 1.0, 1.0, dtype.smallest_normal, dtype.max_finite, math.e, 2.0],
        "tanh": [0.0, 0.0, 0.5 * dtype.precision * ln2 + 0.5 * ln2, -0.2, 0.55, dtype.smallest_normal, 1.0],
        "sqrt": [0.0, 1.0, 4.0, dtype.smallest_normal, dtype.max_finite],
    }[name]


def _near(name: str, dtype: DType, rng: Generator, count: int) -> Array:
    """Some units in the last place from a threshold, or some powers of two of it."""
    at = rng.choice(_thresholds(name, dtype), size=count)
    step = np.maximum(np.abs(at) * 2 * dtype.unit_roundoff, dtype.smallest_subnormal)
    far = np.exp2(rng.integers(0, dtype.precision, size=count))
    ulps = rng.choice([-1, 1], size=count) * rng.integers(0, 50, size=count)
    return np.asarray(at + ulps * step * np.where(at != 0, far, 1))


def _almost_ties(name: str, dtype: DType, rng: Generator, count: int) -> Array:
    """Where the exact result lies halfway between two numbers of the dtype, as nearly as float64 can tell."""
    known = [float.fromhex(text) for text in WORST_F64.get(name, ())]
    if name == "sqrt":  # the square of a tie, rounded
        tie = (rng.integers(2 ** (dtype.precision - 1), 2**dtype.precision, size=count) + 0.5).astype(np.longdouble)
        return np.asarray(np.ldexp(tie * tie, rng.integers(-20, 20, size=count) * 2)).astype(np.float64)
    if dtype.bits == 64:
        return np.concatenate([known, _ranges(name, rng, count - len(known))])
    x = quantize(_ranges(name, rng, count * OVERSAMPLED), dtype).astype(np.float64)
    fraction = np.frexp(TABLE[name](x))[0]
    place = np.abs(np.modf(np.abs(np.ldexp(fraction, dtype.precision)))[0] - 0.5)
    return x[np.argsort(np.where(np.isfinite(place), place, 1))[:count]]


def _quotients(dtype: DType, rng: Generator, count: int) -> tuple[Array, ...]:
    """Any bits, ordinary numbers, and quotients that are almost a tie."""
    part = count // 3
    b = rng.normal(size=count - 2 * part)
    tie = rng.integers(2 ** (dtype.precision - 1), 2**dtype.precision, size=b.size) + 0.5
    above = np.concatenate([_any_bits(dtype, rng, part), rng.normal(size=part), b * tie * 2.0**-dtype.precision])
    below = np.concatenate([_any_bits(dtype, rng, part), rng.normal(size=part), b])
    return quantize(above, dtype), quantize(below, dtype)


def _rows(dtype: DType, rng: Generator, count: int) -> Array:
    """Rows of 8 for a softmax: ordinary, large, almost equal, equal, far below an offset, masked."""
    rows = rng.normal(size=(count, 8)) * 10.0 ** rng.integers(-4, 3, size=(count, 1))
    offset = rng.choice([0.0, 0.0, 100.0, -1000.0], size=(count, 1))
    rows = np.where(rng.random((count, 1)) < 0.05, rows[:, :1], rows + offset)
    masked = (rng.random((count, 8)) < 0.3) & (rng.random((count, 1)) < 0.3)
    masked[:, 0] = False
    return quantize(np.where(masked, -np.inf, rows), dtype)
