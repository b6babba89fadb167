"""Arithmetic, comparisons and `select`, on edge values of every dtype, at both ends of LLVM's optimisation."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from compiler.arrays import NUMPY, Array
from compiler.types import DTYPES
from tests.compiler.jit import run_uses, use
from tests.compiler.values import ALL, FLOATS, INTS, NUMBERS, array, check_bits, edges, exactly, pairs, random

LEVELS = (0, 2)
IEEE: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
}


def ieee(op: str, dtype: str, x: float, y: float) -> float:
    """+ - * / on scalars, rounded once; float64's own answer for zeros, infinities and NaN."""
    if math.isfinite(x) and math.isfinite(y) and not (op == "div" and y == 0):
        rounded = exactly(dtype, IEEE[op], x, y)  # type: ignore[arg-type]  # one operator serves float and Fraction
        if rounded is not None:
            return rounded
    with np.errstate(all="ignore"):
        return float(IEEE[op](np.float64(x), np.float64(y)))  # a np.float64 can be divided by zero


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_float_arithmetic_is_rounded_once(dtype: str, level: int) -> None:
    left, right = pairs(np.concatenate([edges(dtype), random(dtype, (8,), 1)]))
    got = run_uses([use(op, left, right) for op in IEEE], level)
    for op, result in zip(IEEE, got, strict=True):
        expected = array(dtype, [ieee(op, dtype, float(x), float(y)) for x, y in zip(left, right, strict=True)])
        check_bits(result, expected, left, right, name=op)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", INTS)
def test_int_arithmetic_wraps(dtype: str, level: int) -> None:
    left, right = pairs(edges(dtype))
    ops = ("add", "sub", "mul")
    for op, result in zip(ops, run_uses([use(op, left, right) for op in ops], level), strict=True):
        exact = [IEEE[op](int(x), int(y)) for x, y in zip(left, right, strict=True)]
        check_bits(result, wrapped(dtype, exact), left, right, name=op)


def wrapped(dtype: str, values: list[float]) -> Array:
    bits = DTYPES[dtype].bits
    half = 1 << (bits - 1)
    return np.array([(int(value) + half) % (1 << bits) - half for value in values], NUMPY[dtype])


@pytest.mark.parametrize("dtype", FLOATS)
def test_remainder_is_fmod(dtype: str) -> None:
    left, right = pairs(np.concatenate([edges(dtype), random(dtype, (8,), 2)]))
    (got,) = run_uses([use("rem", left, right)], 2)
    with np.errstate(all="ignore"):
        expected = np.fmod(left.astype(np.float64), right.astype(np.float64)).astype(NUMPY[dtype])
    check_bits(got, expected, left, right, name="rem")


def largest(x: float, y: float) -> float:
    """IEEE 754-2019 maximum: a NaN wins, and +0 is greater than -0."""
    if math.isnan(x) or math.isnan(y):
        return math.nan
    return max((x, y), key=lambda v: (v, math.copysign(1, v)))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_maximum_and_minimum(dtype: str, level: int) -> None:
    left, right = pairs(edges(dtype))
    greater, less = run_uses([use("maximum", left, right), use("minimum", left, right)], level)
    if dtype in INTS:
        check_bits(greater, np.maximum(left, right), left, right, name="maximum")
        check_bits(less, np.minimum(left, right), left, right, name="minimum")
        return
    operands = [(float(x), float(y)) for x, y in zip(left, right, strict=True)]
    check_bits(greater, array(dtype, [largest(x, y) for x, y in operands]), left, right, name="maximum")
    check_bits(less, array(dtype, [-largest(-x, -y) for x, y in operands]), left, right, name="minimum")


@pytest.mark.parametrize("dtype", NUMBERS)
def test_sign_ops(dtype: str) -> None:
    x = edges(dtype)
    negative, positive = run_uses([use("neg", x), use("abs", x)], 2)
    with np.errstate(all="ignore"):
        check_bits(negative, -x, x, name="neg")
        check_bits(positive, np.abs(x), x, name="abs")


@pytest.mark.parametrize("dtype", ALL)
def test_comparisons(dtype: str) -> None:
    left, right = pairs(edges(dtype))
    tests = (
        {"equal": np.equal} if dtype == "BOOL" else {"less": np.less, "less_equal": np.less_equal, "equal": np.equal}
    )
    wide = (left, right) if dtype in ("I32", "I64", "BOOL") else (left.astype(np.float64), right.astype(np.float64))
    for (op, numpy_op), got in zip(tests.items(), run_uses([use(op, left, right) for op in tests], 2), strict=True):
        check_bits(got, numpy_op(*wide), left, right, name=op)


@pytest.mark.parametrize("dtype", ALL)
def test_select_moves_bits(dtype: str) -> None:
    left, right = pairs(edges(dtype))
    condition = np.arange(left.size) % 3 == 0
    (got,) = run_uses([use("select", condition, left, right)], 2)
    check_bits(got, np.where(condition, left, right), condition, left, right, name="select")


# glibc's manual lists exp and log at 1 ulp and tanh at 2; F16 and BF16 are rounded from an F32 that is as good.
LIBM = {"exp": 1.0, "log": 1.0, "tanh": 2.0, "sqrt": 0.5}


def domain(dtype: str) -> Array:
    """Ordinary and extreme arguments of both signs, none of them special."""
    spread = np.exp2(np.linspace(-20, 6, 40))
    values = np.concatenate([spread, -spread, 1 + np.linspace(-0.1, 0.1, 21)])
    return values.astype(NUMPY[dtype])


@pytest.mark.parametrize("dtype", FLOATS)
def test_libm_ops_are_accurate(dtype: str) -> None:
    x = domain(dtype)
    for (op, allowed), got in zip(LIBM.items(), run_uses([use(op, x) for op in LIBM], 2), strict=True):
        inside = x > 0 if op in ("log", "sqrt") else np.ones(x.shape, bool)
        assert np.isnan(got[~inside]).all(), f"{op} of a negative number is NaN"
        exact = np.array([getattr(mpmath, op)(mpmath.mpf(float(value))) for value in x[inside]], object)
        finite = exact < DTYPES[dtype].max_finite
        distance = distances(dtype, got[inside][finite], exact[finite])
        assert max(distance) <= allowed, f"{op} {dtype}: {max(distance)} ulp"
        assert np.isposinf(got[inside][~finite].astype(np.float64)).all()


def distances(dtype: str, got: Array, exact: Array) -> list[float]:
    """|got - exact| in units of the last place, in mpmath's precision."""
    kind = DTYPES[dtype]
    quanta = [2.0 ** (math.floor(math.log2(max(abs(v), kind.smallest_normal))) + 1 - kind.precision) for v in exact]
    return [float(abs(mpmath.mpf(float(g)) - e) / q) for g, e, q in zip(got, exact, quanta, strict=True)]


@pytest.mark.parametrize("dtype", FLOATS)
def test_libm_ops_on_special_values(dtype: str) -> None:
    special = array(dtype, [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0])
    answers = {
        "exp": [1.0, 1.0, math.inf, 0.0, math.nan],
        "log": [-math.inf, -math.inf, math.inf, math.nan, math.nan, 0.0],
        "sqrt": [0.0, -0.0, math.inf, math.nan, math.nan, 1.0],
        "tanh": [0.0, -0.0, 1.0, -1.0, math.nan],
    }
    results = run_uses([use(op, special) for op in answers])
    for (op, expected), got in zip(answers.items(), results, strict=True):
        count = len(expected)
        check_bits(got[:count], array(dtype, expected), special[:count], name=op)


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (2, 1, 3), (1, 2, 2, 2), (2, 1, 2, 1, 3)])
def test_every_rank(shape: tuple[int, ...]) -> None:
    x, y = random("F32", shape, 3), random("F32", shape, 4)
    check_bits(run_uses([use("add", x, y)])[0], np.asarray(x + y), name="add")
