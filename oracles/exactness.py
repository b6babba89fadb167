"""Proofs that a sum cannot round, whatever its order and whether its products are fused.

If every term is a multiple of a power of two q and the magnitudes of all terms together stay below q·2**p, then so
does every partial sum in any order; each is an integer below 2**p times q, hence a number of precision p. What makes a
single operation exact stands with its rule.
"""

from __future__ import annotations

import numpy as np

from compiler.types import F32, F64, DType
from oracles.engine import Array

NO_QUANTUM = 4096  # beyond any float64 exponent: zeros are multiples of everything


def quantum(array: Array, axis: int) -> Array:
    """Exponent of the largest power of two that divides every element along `axis`; keeps the axis as size 1."""
    fraction, exponent = np.frexp(array)
    integer = np.ldexp(fraction, F64.precision).astype(np.int64)
    lowest = np.frexp((integer & -integer).astype(np.float64))[1] - 1 + exponent - F64.precision
    return np.asarray(np.where(integer == 0, NO_QUANTUM, lowest).min(axis=axis, keepdims=True))


def exact_sums(total: Array, exponents: Array, dtype: DType) -> Array:
    """Where sums of terms with magnitudes adding up to `total`, all multiples of 2**`exponents`, never round.

    `dtype` is the one that the sum is accumulated in (F32 for a narrow one).
    """
    inner = F32 if dtype.bits < 32 else dtype
    lowest = 2 - inner.max_exponent - inner.precision
    room = np.ldexp(total, -np.clip(exponents, -NO_QUANTUM, NO_QUANTUM)) <= 2.0**inner.precision
    return np.asarray((total == 0) | (room & (exponents >= lowest) & (total <= inner.max_finite)))


def exact_products(left: Array, right: Array, total: Array, dtype: DType) -> Array:
    """Where the matrix product of exact [.., M, K] and [.., K, N] never rounds; `total` is |left| @ |right|."""
    return exact_sums(total, quantum(left, -1) + quantum(right, -2), dtype)


def negative_zeros(left: Array, right: Array) -> Array:
    """Where every product of a row and a column has a minus sign: a sum of such zeros is -0, or +0 if begun at +0."""
    plus = np.signbit(left).astype(np.float64), np.signbit(right).astype(np.float64)
    alike = plus[0] @ plus[1] + (1 - plus[0]) @ (1 - plus[1])
    return np.asarray(alike == 0)
