"""Numbers of literals: rounded once when read, short and exact when printed."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.numbers import NumberError, print_scalar, read_scalar
from compiler.types import BF16, BOOL, DTYPES, F16, F32, F64, I32, I64, DType, Scalar, round_to
from tests.compiler.trees import scalars

FLOATS = (F16, BF16, F32, F64)
decimals = st.builds(
    lambda whole, fraction, exponent: f"{whole}.{fraction}e{exponent}",
    st.integers(0, 10**12),
    st.integers(0, 10**30),
    st.integers(-60, 20),
)


@given(decimals, st.sampled_from([d.name for d in FLOATS]))
@settings(deadline=None)
def test_decimals_are_rounded_once(text: str, dtype: str) -> None:
    exact = round_to(DTYPES[dtype], Fraction(text))
    if math.isinf(exact):
        check_refused(DTYPES[dtype], text, "literal-range")
    else:
        assert read_scalar(DTYPES[dtype], text) == exact
        assert read_scalar(DTYPES[dtype], f"-{text}") == -exact


@given(
    st.integers(0, 2**11), st.integers(-30, 15), st.integers(-(10**6), 10**6), st.sampled_from([d.name for d in FLOATS])
)
@settings(deadline=None)
def test_near_midpoints_the_decimal_decides(half: int, exponent: int, nudge: int, dtype: str) -> None:
    """A number a hair from the middle of two values: through F64 it would fall on the middle, and round to even."""
    exact = (Fraction(2 * half + 1) + Fraction(nudge, 10**40)) * Fraction(2) ** exponent
    text = f"{exact.numerator * 10**80 // exact.denominator}e-80"
    wanted = round_to(DTYPES[dtype], Fraction(text))
    if math.isfinite(wanted):
        assert read_scalar(DTYPES[dtype], text) == wanted


@given(st.data(), st.sampled_from(sorted(DTYPES)))
@settings(deadline=None)
def test_what_is_printed_reads_back(data: st.DataObject, name: str) -> None:
    dtype = DTYPES[name]
    value = data.draw(scalars(dtype))
    again = read_scalar(dtype, print_scalar(dtype, value))
    assert repr(again) == repr(value)
    assert type(again) is type(value)


def check_read(dtype: DType, text: str, value: Scalar) -> None:
    assert repr(read_scalar(dtype, text)) == repr(value)


def check_refused(dtype: DType, text: str, code: str) -> None:
    with pytest.raises(NumberError) as caught:
        read_scalar(dtype, text)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("dtype", "text", "value"),
    [
        (F32, "1", 1.0),
        (F32, "-0", -0.0),
        (F32, "-0.0", -0.0),
        (F32, "-1e-999999999999", -0.0),
        (F32, "16777217", 16777216.0),
        (F32, "16777217.00000000000000000001", 16777218.0),
        (F32, "0x1.000001p0", 1.0),
        (F32, "0x1.00000100000000000001p0", 1.00000011920928955078125),
        (F32, "1e-45", 2.0**-149),
        (F32, "0x1p-150", 0.0),
        (F32, "0x1.0000000000000000001p-150", 2.0**-149),
        (F32, "-0x1.8p-3", -0.1875),
        (F16, "65519.99", 65504.0),
        (BF16, "0.1", 0.10009765625),
        (F64, "1e-400", 0.0),
        (F64, "0.1", 0.1),
        (F64, f"{2**53 + 1}.{'0' * 1000}1", float(2**53 + 2)),
        (F64, "inf", math.inf),
        (F16, "-inf", -math.inf),
        (I64, "-9223372036854775808", -(2**63)),
        (I32, "000000000000000000000000000012", 12),
        (I32, "-0", 0),
        (BOOL, "1", True),
        (BOOL, "0", False),
    ],
)
def test_read(dtype: DType, text: str, value: Scalar) -> None:
    check_read(dtype, text, value)


def test_nan_is_always_the_same_object() -> None:
    assert all(read_scalar(dtype, "nan") is math.nan for dtype in FLOATS)


@pytest.mark.parametrize(
    ("dtype", "text", "code"),
    [
        (I32, "2147483648", "literal-range"),
        (I32, "9" * 1000, "literal-range"),
        (I32, "1.0", "literal-kind"),
        (I64, "1e3", "literal-kind"),
        (I64, "nan", "literal-kind"),
        (BOOL, "-1", "literal-range"),
        (F16, "65520", "literal-range"),
        (F32, "-3.5e38", "literal-range"),
        (F64, "1e999999999999", "literal-range"),
        (F64, "0x1p1024", "literal-range"),
    ],
)
def test_refused(dtype: DType, text: str, code: str) -> None:
    check_refused(dtype, text, code)


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        (F32, round_to(F32, Fraction("0.1")), "0.1"),
        (F16, 65504.0, "65504.0"),
        (BF16, BF16.max_finite, "3.39e+38"),
        (F32, -(2.0**-149), "-1e-45"),
        (F64, 0.1 + 0.2, "0.30000000000000004"),
        (BOOL, True, "1"),
        (I64, -3, "-3"),
        (F32, 3, "3.0"),
    ],
)
def test_printed(dtype: DType, value: Scalar, text: str) -> None:
    assert print_scalar(dtype, value) == text
