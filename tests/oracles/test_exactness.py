"""Which sums are proved exact, checked against exact rational arithmetic over every order that could matter."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from bench.graphs import FLOATS, draw_values
from compiler.types import BF16, F16, F32, F64, DType, round_to
from oracles.engine import Array
from oracles.exactness import NO_QUANTUM, exact_products, exact_sums, negative_zeros, quantum


@pytest.mark.parametrize(
    ("row", "exponent"),
    [
        ([1.0, 2.0], 0),
        ([0.5, 3.0], -1),
        ([6.0, 12.0], 1),
        ([0.0, 0.0], NO_QUANTUM),
        ([0.0, 8.0], 3),
        ([1 + 2.0**-52], -52),
        ([5e-324], -1074),
        ([-0.75, 1024.0], -2),
    ],
)
def test_the_quantum_divides_all(row: list[float], exponent: int) -> None:
    assert quantum(np.array([row]), -1).tolist() == [[exponent]]


def representable(number: Fraction, dtype: DType) -> bool:
    rounded = round_to(dtype, number)
    return np.isfinite(rounded) and Fraction(rounded) == number


def check_proof(terms: list[float], dtype: DType) -> bool:
    """If the sum of `terms` is proved exact, every partial sum of every order must be representable."""
    row = np.array([terms])
    total = np.abs(row).sum(-1)
    proved = bool(exact_sums(total, quantum(row, -1)[..., 0], dtype)[0])
    if proved:
        exact = [Fraction(term) for term in terms]
        for size in range(1, len(terms) + 1):
            assert all(representable(sum(subset, Fraction(0)), dtype) for subset in combinations(exact, size)), terms
    return proved


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_no_proof_is_wrong(dtype: DType) -> None:
    rng = np.random.default_rng(7)
    proved = 0
    for _ in range(400):
        scale = 2.0 ** rng.integers(-4, dtype.precision + 12, size=5)
        terms = (rng.integers(-8, 9, size=5) * scale).tolist()
        proved += check_proof(terms, dtype)
    assert 40 < proved < 360  # both answers occur


def test_a_proof_reaches_to_the_last_bit_and_no_further() -> None:
    assert check_proof([2.0**24 - 1, 1.0], F32)
    assert not check_proof([2.0**24, 1.0], F32)
    assert check_proof([2.0**-149, 2.0**-149], F32)
    assert not check_proof([2.0**-150, 2.0**-149], F32)
    assert not check_proof([F32.max_finite, F32.max_finite], F32)


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
def test_a_narrow_sum_is_accumulated_in_f32(dtype: DType) -> None:
    assert exact_sums(np.array([2.0**24]), np.array([0]), dtype)[0]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_products_of_dyadic_numbers_are_exact_in_any_order(dtype: DType) -> None:
    rng = np.random.default_rng(3)
    left, right = (draw_values(rng, dtype, (2, 4, 4), "exact").astype(np.float64) for _ in range(2))
    assert exact_products(left, right, np.abs(left) @ np.abs(right), dtype).all()


def test_products_of_ordinary_numbers_are_not() -> None:
    rng = np.random.default_rng(3)
    left, right = (draw_values(rng, F32, (4, 4), "normal").astype(np.float64) for _ in range(2))
    assert not exact_products(left, right, np.abs(left) @ np.abs(right), F32).any()


@pytest.mark.parametrize(
    ("left", "right", "unsigned"),
    [
        ([[0.0]], [[1.0]], False),
        ([[0.0]], [[-1.0]], True),
        ([[-0.0]], [[-1.0]], False),
        ([[-0.0, 0.0]], [[1.0], [-2.0]], True),
        ([[-0.0, 0.0]], [[1.0], [2.0]], False),
    ],
)
def test_a_sum_of_nothing_but_negative_zeros_has_no_certain_sign(left: Array, right: Array, unsigned: bool) -> None:
    assert negative_zeros(np.array(left), np.array(right)).tolist() == [[unsigned]]
