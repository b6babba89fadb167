"""`quantize` and `hold`: the way from a dtype into float64 and back, rounding once."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compiler.types import BF16, BOOL, DTYPES, F16, F32, F64, I32, I64, DType, round_to
from oracles.engine import Array
from oracles.numpy_reference import NATIVE, TABLE, hold, quantize

FLOATS = (F16, BF16, F32, F64)


def bits(array: Array) -> Array:
    return array.view(f"u{array.dtype.itemsize}")


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
def test_every_16_bit_value_survives(dtype: DType) -> None:
    native = np.arange(2**16, dtype=np.uint16).view(NATIVE[dtype.name])
    back = quantize(hold(native), dtype)
    numbers = ~np.isnan(hold(native))
    assert np.array_equal(bits(back)[numbers], bits(native)[numbers])
    assert np.isnan(back[~numbers].astype(np.float64)).all()


def near_ties(dtype: DType) -> st.SearchStrategy[float]:
    """Numbers with one bit more than the dtype holds, and their float64 neighbours, from underflow to overflow."""
    tiny, huge = 1 - dtype.max_exponent - dtype.precision - 2, dtype.max_exponent + 1
    return st.builds(
        lambda significand, exponent, towards, sign: sign * math.nextafter(math.ldexp(significand, exponent), towards),
        st.integers(2**dtype.precision, 2 ** (dtype.precision + 1)).map(lambda n: n / 2**dtype.precision),
        st.integers(max(tiny, -1074), min(huge, 1022)),
        st.sampled_from((0.0, 1e-300, math.inf)),
        st.sampled_from((-1, 1)),
    )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@settings(max_examples=100, deadline=None, derandomize=True)
@given(data=st.data())
def test_quantize_rounds_once(dtype: DType, data: st.DataObject) -> None:
    value = data.draw(st.one_of(near_ties(dtype), st.floats(allow_nan=False, allow_infinity=False)))
    got = hold(quantize(np.array(value), dtype)).item()
    wanted = round_to(dtype, Fraction(value))
    assert got == wanted
    assert math.copysign(1, got) == math.copysign(1, value)


@given(x=st.integers(*I64.int_range), shift=st.integers(0, 40), dtype=st.sampled_from(FLOATS))
@example(x=2**60 + 2**36 + 1, shift=0, dtype=F32)  # just above a tie; by way of the nearest float64 it is a tie
@example(x=-(2**60) - 2**36 - 1, shift=0, dtype=F32)
@example(x=2**61 + 2**53 + 1, shift=0, dtype=BF16)
@example(x=2**63 - 1, shift=0, dtype=F64)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_a_cast_of_an_int_rounds_once(x: int, shift: int, dtype: DType) -> None:
    x >>= shift
    got = hold(quantize(TABLE["cast"](np.array(x), dtype=dtype.name), dtype)).item()
    assert got == round_to(dtype, Fraction(x))


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_quantize_gives_the_native_dtype(dtype: DType) -> None:
    assert quantize(hold(np.ones((2, 3), NATIVE[dtype.name])), dtype).dtype == NATIVE[dtype.name]


def test_hold_copies_and_keeps_ints() -> None:
    native = np.array([1, 2], ml_dtypes.bfloat16)
    held = hold(native)
    held[0] = 5
    assert held.dtype == np.float64
    assert native[0] == 1
    for dtype in (I32, I64, BOOL):
        assert hold(np.zeros(2, NATIVE[dtype.name])).dtype == NATIVE[dtype.name]


def test_functions_return_arrays_of_rank_0() -> None:
    assert isinstance(TABLE["add"](np.array(1.0), np.array(2.0)), np.ndarray)
    assert isinstance(TABLE["max"](np.array([1, 2]), axis=0), np.ndarray)
