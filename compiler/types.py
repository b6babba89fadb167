"""Element types and tensor types of Kina, and the numbers that describe them.

What is here: the seven dtypes with the parameters of their arithmetic, `TensorType`, and rounding a real number to
a dtype. What is not: how an op types its result (`compiler.ops`), MLIR's types (`compiler.lowering`) and NumPy's
(`compiler.backend`, `oracles`). Standard library only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Scalar = int | float | bool


@dataclass(frozen=True, slots=True)
class DType:
    """One element type.

    `bits` is the storage size. For a float, `precision` counts significand bits with the hidden one and
    `max_exponent` is the largest e with 2**e finite (IEEE 754-2019, table 3.5; bfloat16 shares F32's range).
    """

    name: str
    kind: Literal["float", "int", "bool"]
    bits: int
    precision: int = 0
    max_exponent: int = 0

    @property
    def unit_roundoff(self) -> float:
        """Largest relative error of one rounding to nearest: 2**-precision."""
        return math.ldexp(1.0, -self.precision)

    @property
    def max_finite(self) -> float:
        return (2.0 - math.ldexp(1.0, 1 - self.precision)) * math.ldexp(1.0, self.max_exponent)

    @property
    def smallest_normal(self) -> float:
        return math.ldexp(1.0, 1 - self.max_exponent)

    @property
    def smallest_subnormal(self) -> float:
        return math.ldexp(1.0, 2 - self.max_exponent - self.precision)

    @property
    def int_range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer dtype."""
        return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1

    def __str__(self) -> str:
        return self.name


F16 = DType("F16", "float", 16, 11, 15)
BF16 = DType("BF16", "float", 16, 8, 127)
F32 = DType("F32", "float", 32, 24, 127)
F64 = DType("F64", "float", 64, 53, 1023)
I32 = DType("I32", "int", 32)
I64 = DType("I64", "int", 64)
BOOL = DType("BOOL", "bool", 8)

DTYPES: dict[str, DType] = {d.name: d for d in (F16, BF16, F32, F64, I32, I64, BOOL)}
PLACES = ("host", "device", "mesh")

MAX_RANK = 8  # axes of a tensor: deeper loop nests take MLIR minutes
MAX_ELEMENTS = 2**26  # of one tensor: half a GiB of F64


def wide(dtype: DType) -> DType:
    """The dtype in which a value of `dtype` is computed and accumulated: F32 for F16 and BF16, else `dtype`."""
    return F32 if dtype in (F16, BF16) else dtype


@dataclass(frozen=True, slots=True)
class TensorType:
    """`tensor<DTYPE, [dims], @place>`; every dim is a static integer >= 1, rank 0 is `()`."""

    dtype: DType
    shape: tuple[int, ...]
    place: str = "host"

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def with_shape(self, shape: tuple[int, ...]) -> TensorType:
        return TensorType(self.dtype, shape, self.place)

    def with_dtype(self, dtype: DType) -> TensorType:
        return TensorType(dtype, self.shape, self.place)

    def __str__(self) -> str:
        return f"tensor<{self.dtype}, [{', '.join(map(str, self.shape))}], @{self.place}>"


def round_to(dtype: DType, value: Fraction) -> float:
    """The dtype's value nearest to `value`, ties to even; overflow gives an infinity, underflow a zero of its sign.

    Rounds once from the exact number, so a decimal literal never suffers double rounding.
    """
    if value == 0:
        return 0.0
    exponent = _floor_log2(abs(value))
    quantum_exponent = max(exponent, 1 - dtype.max_exponent) - dtype.precision + 1
    quantum = Fraction(2) ** quantum_exponent
    rounded = round(value / quantum) * quantum  # Python's round is to nearest even
    magnitude = math.inf if abs(rounded) > Fraction(dtype.max_finite) else float(abs(rounded))
    return -magnitude if value < 0 else magnitude


def _floor_log2(value: Fraction) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1
