"""The matrix product: exact on whole numbers, rounded once on narrow floats, at every rank."""

from __future__ import annotations

import math

import numpy as np
import pytest

from compiler.arrays import NUMPY, Array
from compiler.types import DTYPES
from tests.compiler.jit import run_op, run_uses, use
from tests.compiler.values import INTS, NUMBERS, array, check_bits

SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((2, 3), (3, 4)),
    ((1, 1), (1, 1)),
    ((3, 1), (1, 2)),
    ((1, 4), (4, 1)),
    ((3, 3), (3, 3)),
]
SHAPES += [((2, 2, 3), (2, 3, 2)), ((1, 1, 4), (1, 4, 4)), ((1, 2, 1, 2), (1, 2, 2, 4)), ((2, 2, 2, 2), (2, 2, 2, 2))]
SHAPES += [((2, 1, 3, 2, 1), (2, 1, 3, 1, 2)), ((2, 1, 1, 1, 2, 3), (2, 1, 1, 1, 3, 2))]


def whole_numbers(dtype: str, shape: tuple[int, ...], seed: int) -> Array:
    return np.asarray(np.random.default_rng(seed).integers(-20, 20, shape)).astype(NUMPY[dtype])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_products_of_whole_numbers(dtype: str) -> None:
    """Every partial sum is exact in the accumulator, so the result is the exact one rounded once."""
    operands = [(whole_numbers(dtype, a, 1), whole_numbers(dtype, b, 2)) for a, b in SHAPES]
    for (x, y), got in zip(operands, run_uses([use("matmul", x, y) for x, y in operands], 2), strict=True):
        exact = x.astype(np.float64) @ y.astype(np.float64)
        check_bits(got, array(dtype, exact.ravel().tolist()).reshape(exact.shape), name=f"{x.shape} @ {y.shape} ")


@pytest.mark.parametrize(("dtype", "large"), [("F16", 2048.0), ("BF16", 256.0)])
@pytest.mark.parametrize("batch", [(), (1,), (1, 1)])
def test_narrow_products_accumulate_in_f32(dtype: str, large: float, batch: tuple[int, ...]) -> None:
    row, column = array(dtype, [large] + [1.0] * 7), array(dtype, [1.0] * 8)
    got = run_op("matmul", row.reshape(*batch, 1, 8), column.reshape(*batch, 8, 1))
    check_bits(got, array(dtype, [large + 7]).reshape(*batch, 1, 1))


@pytest.mark.parametrize("dtype", INTS)
def test_int_products_wrap(dtype: str) -> None:
    greatest = DTYPES[dtype].int_range[1]
    got = run_op("matmul", array(dtype, [greatest, 3]).reshape(1, 2), array(dtype, [2, 1]).reshape(2, 1))
    assert got.item() == 1  # 2 (2**n - 1) + 3, modulo 2**(n + 1)


@pytest.mark.parametrize("dtype", ["F16", "BF16", "F32", "F64"])
def test_special_values(dtype: str) -> None:
    x = array(dtype, [math.inf, 0.0, math.nan, 0.0, math.inf, -math.inf, -0.0, -0.0]).reshape(4, 2)
    y = array(dtype, [1.0, 0.0, 1.0, 2.0]).reshape(2, 2)
    expected = [math.inf, math.nan, math.nan, math.nan, math.nan, math.nan, 0.0, 0.0]
    check_bits(run_op("matmul", x, y), array(dtype, expected).reshape(4, 2))
