"""Numbers between text and a dtype's values: reading rounds once, printing gives the shortest text that reads back.

Standard library only.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from compiler.types import DType, Scalar, round_to

_PARTS = re.compile(r"-?(?:0x(?P<hex>[0-9a-fA-F.]+)[pP]|(?P<dec>[0-9.]+)[eE]?)(?P<exponent>[+-]?[0-9]+)?")
MOST_DIGITS = 17  # significant decimal digits that tell any two F64 apart
EXACT_BELOW = 1e16  # from here on `repr` of an integer has an exponent anyway


class NumberError(Exception):
    """A number is not a value of the dtype. `code` is a slug of `source.CODES`; the message stands alone."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def read_scalar(dtype: DType, text: str) -> Scalar:
    """The value of a number token in a literal of `dtype`: floats rounded once, to nearest even. Raises `NumberError`.

    `nan` is always the object `math.nan`. A number beyond the largest finite one is refused, `inf` is not.
    """
    if dtype.kind == "float":
        return _read_float(dtype, text)
    if not text.removeprefix("-").isdecimal():
        raise NumberError("literal-kind", f"a literal of {dtype} holds integers, got `{text[:40]}`")
    low, high = dtype.int_range if dtype.kind == "int" else (0, 1)
    value = read_integer(text, low, high)
    if value is None:
        raise NumberError("literal-range", f"a literal of {dtype} holds {low} to {high}, got `{text[:40]}`")
    return bool(value) if dtype.kind == "bool" else value


def read_integer(text: str, low: int, high: int) -> int | None:
    """The integer of an "int" token, or None outside [low, high]."""
    if len(text.lstrip("-0")) > len(str(high)):  # `int` is slow on long texts, and refuses the longest
        return None
    value = int(text)
    return value if low <= value <= high else None


def _read_float(dtype: DType, text: str) -> float:
    if text == "nan":
        return math.nan
    if text.endswith("inf"):
        return -math.inf if text.startswith("-") else math.inf
    magnitude = _round_text(dtype, text.removeprefix("-"))
    if math.isinf(magnitude):
        raise NumberError(
            "literal-range",
            f"the largest finite {dtype} is {dtype.max_finite:.9g}, got `{text[:40]}`; an infinity is written `inf`",
        )
    return -magnitude if text.startswith("-") else magnitude


def _round_text(dtype: DType, text: str) -> float:
    """Through F64 where that cannot round twice: unless the F64 is a midpoint of `dtype`, or `dtype` is subnormal."""
    try:
        near = float.fromhex(text) if text.startswith("0x") else float(text)
    except OverflowError:  # `fromhex` says so, `float` gives an infinity
        return math.inf
    if math.isinf(near):
        return math.inf
    if dtype.smallest_normal <= near <= dtype.max_finite:
        fraction, exponent = math.frexp(near)
        scaled = math.ldexp(fraction, dtype.precision)
        if scaled % 1.0 != 0.5:
            return math.ldexp(round(scaled), exponent - dtype.precision)
    return round_to(dtype, _exact(text)) if near else 0.0


def _exact(text: str) -> Fraction:
    """The number that the text says. The caller has seen that it is within F64's range."""
    match = _PARTS.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no number token")
    digits, base = (match["hex"], 16) if match["hex"] else (match["dec"], 10)
    whole, _, fraction = digits.partition(".")
    scale = Fraction(2 if base == 16 else 10) ** int(match["exponent"] or 0)
    return Fraction(int(whole + fraction, base), base ** len(fraction)) * scale


def print_scalar(dtype: DType, value: Scalar) -> str:
    """The shortest text that `read_scalar` reads as `value`, which must be a value of `dtype`."""
    return print_float(dtype, float(value)) if dtype.kind == "float" else str(int(value))


def print_float(dtype: DType, value: float) -> str:
    """Decimal, with a point or an exponent, or `inf`, `-inf`, `nan`. Integers are exact: F16's largest is 65504.0."""
    if not math.isfinite(value) or (value.is_integer() and abs(value) < EXACT_BELOW):
        return repr(value)
    magnitude = abs(value)
    texts = (repr(float(f"{magnitude:.{digits}g}")) for digits in range(1, MOST_DIGITS))
    shortest = next((text for text in texts if _round_text(dtype, text) == magnitude), repr(magnitude))
    return f"-{shortest}" if value < 0 else shortest
