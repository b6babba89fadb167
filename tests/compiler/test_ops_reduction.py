"""`sum`, `max`, `argmax`, `softmax` over every axis, with ties, NaN, infinities and signed zeros."""

from __future__ import annotations

import math

import numpy as np
import pytest

from compiler.arrays import NUMPY, Array
from compiler.types import DTYPES, wide
from tests.compiler.jit import Use, run_op, run_uses, use
from tests.compiler.values import FLOATS, INTS, NUMBERS, array, check_bits, random, rows

SHAPES: dict[tuple[int, ...], tuple[int, ...]] = {  # the axes of each that are reduced
    (5,): (0,),
    (1,): (0,),
    (3, 4): (0, 1),
    (4, 1): (1,),
    (2, 3, 4): (0, 1, 2),
    (2, 1, 3, 2): (1, 2),
    (2, 2, 1, 3, 2): (0, 3),
}
EVERY_AXIS = [(shape, axis) for shape, axes in SHAPES.items() for axis in axes]
INF, NAN = math.inf, math.nan


def whole_numbers(dtype: str, shape: tuple[int, ...], seed: int, most: int = 40) -> Array:
    """Small integers: their sums are exact in every dtype's accumulator, in any order."""
    return np.asarray(np.random.default_rng(seed).integers(-most, most, shape)).astype(NUMPY[dtype])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_sum_is_exact_on_whole_numbers(dtype: str) -> None:
    operands = [(whole_numbers(dtype, shape, seed), axis) for seed, (shape, axis) in enumerate(EVERY_AXIS)]
    for (x, axis), got in zip(operands, run_uses([use("sum", x, axis=axis) for x, axis in operands]), strict=True):
        exact = x.astype(np.float64).sum(axis) if dtype in FLOATS else x.sum(axis, dtype=NUMPY[dtype])
        expected = array(dtype, exact.ravel().tolist()).reshape(exact.shape)
        check_bits(got, expected, name=f"sum of {x.shape} over {axis} ")


@pytest.mark.parametrize(("dtype", "terms"), [("F16", [2048.0] + [1.0] * 7), ("BF16", [256.0] + [1.0] * 7)])
def test_narrow_sums_are_rounded_once(dtype: str, terms: list[float]) -> None:
    """In the dtype itself each 1 would be lost to a tie."""
    check_bits(run_op("sum", array(dtype, terms), axis=0), array(dtype, [sum(terms)]).reshape(()))


@pytest.mark.parametrize("dtype", INTS)
def test_int_sum_wraps(dtype: str) -> None:
    greatest = DTYPES[dtype].int_range[1]
    assert run_op("sum", array(dtype, [greatest, 2, greatest]), axis=0).item() == 0


@pytest.mark.parametrize("dtype", FLOATS)
def test_sum_of_special_values(dtype: str) -> None:
    x = rows(dtype, [[INF, 1], [-INF, INF], [NAN, 1], [INF, INF], [-0.0, -0.0], [-0.0, 0.0]])
    check_bits(run_op("sum", x, axis=1), array(dtype, [INF, NAN, NAN, INF, 0.0, 0.0]), name="sum ")


@pytest.mark.parametrize("dtype", NUMBERS)
def test_max_over_every_axis(dtype: str) -> None:
    operands = [(random(dtype, shape, seed), axis) for seed, (shape, axis) in enumerate(EVERY_AXIS)]
    for (x, axis), got in zip(operands, run_uses([use("max", x, axis=axis) for x, axis in operands]), strict=True):
        check_bits(got, np.asarray(x.max(axis)), name=f"max of {x.shape} over {axis} ")


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("dtype", FLOATS)
def test_max_of_special_values(dtype: str, level: int) -> None:
    values = [[-INF, -INF, -INF], [NAN, 1, 2], [1, 2, NAN], [-0.0, -0.0, -0.0], [-0.0, 0.0, -0.0], [INF, 1, -INF]]
    expected = array(dtype, [-INF, NAN, NAN, -0.0, 0.0, INF])
    (got,) = run_uses([use("max", rows(dtype, values), axis=1)], level)
    check_bits(got, expected, name="max ")


@pytest.mark.parametrize("dtype", INTS)
def test_max_and_argmax_of_the_least_integers(dtype: str) -> None:
    least = array(dtype, [DTYPES[dtype].int_range[0]] * 3)
    greatest, index = run_uses([use("max", least, axis=0), use("argmax", least, axis=0)])
    assert (greatest.item(), index.item()) == (least[0].item(), 0)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_argmax_over_every_axis(dtype: str) -> None:
    """Few distinct values, so that ties abound: the lowest index wins, as NumPy says."""
    operands = [(whole_numbers(dtype, shape, seed, 2), axis) for seed, (shape, axis) in enumerate(EVERY_AXIS)]
    for (x, axis), got in zip(operands, run_uses([use("argmax", x, axis=axis) for x, axis in operands]), strict=True):
        check_bits(got, np.asarray(x.argmax(axis), np.int64), name=f"argmax of {x.shape} over {axis} ")


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("dtype", FLOATS)
def test_argmax_of_special_values(dtype: str, level: int) -> None:
    indices = {
        (-INF, -INF, -INF): 0,
        (1, NAN, INF): 1,
        (INF, NAN, NAN): 1,
        (NAN, NAN, 1): 0,
        (-0.0, 0.0, -0.0): 0,
        (-INF, -INF, -5): 2,
        (1, INF, INF): 1,
    }
    x = rows(dtype, list(indices))
    (got,) = run_uses([use("argmax", x, axis=1)], level)
    check_bits(got, np.array(list(indices.values())), name="argmax ")


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_over_every_axis(dtype: str) -> None:
    uses = [use("softmax", random(dtype, shape, seed), axis=axis) for seed, (shape, axis) in enumerate(EVERY_AXIS)]
    for x, got in zip(uses, run_uses(uses, 2), strict=True):
        check_softmax(dtype, x, got)


def check_softmax(dtype: str, x: Use, got: Array) -> None:
    """Within the first-order sum of the roundings of exp(x - m) / sum.

    x - m errs by |x - m| u in the exponent, exp by one ulp (2 u), the division by u; the sum repeats the first two
    and adds one u per addition. Twice the first term and 6 u cover both; a narrow result is rounded once more.
    """
    (operand,), axis = x.arrays, int(str(x.attrs["axis"]))
    exact = operand.astype(np.longdouble)
    shifted = exact - exact.max(axis, keepdims=True)
    expected = np.exp(shifted) / np.exp(shifted).sum(axis, keepdims=True)
    kind, unit = DTYPES[dtype], wide(DTYPES[dtype]).unit_roundoff
    relative = (2 * np.abs(shifted).max() + operand.shape[axis] + 6) * unit
    relative += kind.unit_roundoff if wide(kind) != kind else 0
    assert got.dtype == operand.dtype
    assert np.all(np.abs(got.astype(np.longdouble) - expected) <= relative * expected + kind.smallest_subnormal)


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_of_special_values(dtype: str) -> None:
    greatest = DTYPES[dtype].max_finite
    values = [[-INF, -INF], [INF, 1], [NAN, 1], [1, -INF], [greatest, greatest], [greatest, -greatest], [-INF, -0.0]]
    expected: list[list[float]] = [[NAN, NAN], [NAN, NAN], [NAN, NAN], [1, 0], [0.5, 0.5], [1, 0], [0, 1]]
    x = rows(dtype, values)
    check_bits(run_op("softmax", x, axis=1), rows(dtype, expected), x, name="softmax ")
