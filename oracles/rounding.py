"""Numbers that bound one rounding in each dtype, and rounding float64 values as a correct implementation does.

What is here is arithmetic on plain arrays. What each op may add to a value's error is in `bounds`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from compiler.types import DTYPES, F32, F64, DType
from oracles.engine import Array
from oracles.numpy_reference import quantize

# Largest error in ulps of the library function, in every dtype it exists for. Over all F32 operands glibc 2.36 errs by
# at most 0.502 (exp), 0.818 (log) and 2.189 (tanh), measured; see also Zimmermann, "Accuracy of Mathematical Functions
# in Single, Double, Extended Double and Quadruple Precision" (HAL hal-03141101, 2021). exp and log are granted more, so
# that a correctly rounded result moved by one ulp is still legal. NumPy's and SLEEF's (torch) float64 kernels stay
# within it. `make bench-oracle` measures all of them against mpmath.
LIBM_ULPS = {"exp": 1.5, "log": 1.5, "tanh": 2.25}

TINY = 5e-324
"""Least positive bound: it demands the number but not its bits, so that an uncertain sign of a zero can be said."""


@dataclass(frozen=True, slots=True)
class Units:
    """One dtype's constants. All are sums of the target's share and the share of the float64 reference itself.

    `unit`: relative error of one rounding. `tiny`: absolute error of one rounding among subnormals. `limit`: least
    magnitude that rounds to infinity. `inner` and `inner_tiny`, `inner_limit`: the same for the dtype in which sums,
    matrix products and library functions are computed (F32 for F16 and BF16); `narrow` if that is another dtype.
    """

    dtype: DType
    unit: float
    tiny: float
    limit: float
    inner: float
    inner_tiny: float
    inner_limit: float
    narrow: bool


def overflow_threshold(dtype: DType) -> float:
    """Least magnitude that rounds to infinity: half an ulp beyond the largest finite number (IEEE 754-2019, 4.3.1).

    For F64 that number is not representable; its largest finite value stands in, which errs to the safe side.
    """
    if dtype is F64:
        return dtype.max_finite
    return dtype.max_finite + math.ldexp(1.0, dtype.max_exponent - dtype.precision)


def _units(dtype: DType) -> Units:
    inner = F32 if dtype.bits < 32 else dtype
    own = F64.unit_roundoff, F64.smallest_subnormal
    return Units(
        dtype,
        dtype.unit_roundoff + own[0],
        dtype.smallest_subnormal / 2 + own[1],
        overflow_threshold(dtype),
        inner.unit_roundoff + own[0],
        inner.smallest_subnormal / 2 + own[1],
        overflow_threshold(inner),
        inner is not dtype,
    )


UNITS: dict[str, Units] = {name: _units(dtype) for name, dtype in DTYPES.items() if dtype.kind == "float"}


def rounded(values: Array, dtype: DType) -> Array:
    """float64 `values` rounded once to a float `dtype`, as float64 again. Keeps signed zeros, infinities and NaN."""
    return values if dtype is F64 else quantize(values, dtype).astype(np.float64)


def rounded_integers(values: Array, dtype: DType) -> Array:
    """Integers rounded once to a float `dtype`, as float64.

    An int64 beyond 2**53 does not fit a float64: it is first cut to 53 bits with a sticky last bit (rounding to odd),
    after which a rounding to fewer bits is not a double one (Boldo and Melquiond, "Emulation of a FMA and correctly
    rounded sums", IEEE Trans. Computers 57(4), 2008).
    """
    wide = values.astype(np.float64)
    if dtype is F64 or values.dtype != np.int64:
        return rounded(wide, dtype)
    low = values & np.int64(0x7FF)
    odd = (values - low) | np.where(low != 0, np.int64(0x800), np.int64(0))
    return rounded(np.where(np.abs(wide) >= 2.0**53, odd, values).astype(np.float64), dtype)
