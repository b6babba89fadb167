"""The comparator: everything that can be wrong with an array, and nothing that is right."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike

from compiler.types import BF16, BOOL, DTYPES, F16, F32, F64, I32, I64, DType
from oracles.compare import Allowed, difference, form_difference, native, ratio
from oracles.engine import Array
from oracles.numpy_reference import NATIVE, quantize

FLOATS = [F16, BF16, F32, F64]
SPECIALS = [0.0, -0.0, 1.0, -1.0, 0.1, math.inf, -math.inf, math.nan]


def array(dtype: DType, values: ArrayLike) -> Array:
    """Values in the dtype's native form."""
    if dtype.kind == "float":
        return quantize(np.asarray(values, np.float64), dtype)
    return np.asarray(values, NATIVE[dtype.name])


def allowed(dtype: DType, values: ArrayLike, bound: ArrayLike | None = None) -> Allowed:
    """What is allowed, with a bound broadcast to the values' shape."""
    value = array(dtype, values)
    held = value.astype(np.float64) if dtype.kind == "float" else value
    limits = None if bound is None else np.broadcast_to(np.asarray(bound, np.float64), held.shape)
    return Allowed(held, dtype, limits)


def check(
    dtype: DType, target: ArrayLike, value: ArrayLike, bound: ArrayLike | None, symptom: str | None, says: str = ""
) -> None:
    """Compares `target` with `value` ± `bound`, all given as numbers."""
    found = difference("out", array(dtype, target), allowed(dtype, value, bound))
    if symptom is None:
        assert found is None, found
        return
    assert found is not None
    assert found.symptom == symptom
    assert says in found.message


# --- bitwise


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("left", range(len(SPECIALS)))
@pytest.mark.parametrize("right", range(len(SPECIALS)))
def test_special_values_equal_only_themselves(dtype: DType, left: int, right: int) -> None:
    symptom = None if left == right else "wrong-value"
    check(dtype, [SPECIALS[left]], [SPECIALS[right]], None, symptom)
    check(dtype, [SPECIALS[left]], [SPECIALS[right]], 0.0, symptom)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_one_flipped_bit_in_each_position_is_seen(dtype: DType) -> None:
    width = dtype.bits // 8
    word = np.dtype(f"u{width}")
    for number in (1.0, -0.3, dtype.max_finite, dtype.smallest_subnormal, 0.0):
        right = array(dtype, [2.0, number, 4.0])
        for bit in range(dtype.bits):
            wrong = right.copy()
            wrong.view(word)[1] ^= word.type(1 << bit)
            found = difference("out", wrong, Allowed(right.astype(np.float64), dtype))
            assert found is not None, (number, bit)
            assert found.index == (1,)
            assert found.times == math.inf


@pytest.mark.parametrize("dtype", [I32, I64], ids=str)
def test_one_flipped_bit_of_an_integer_is_seen(dtype: DType) -> None:
    for bit in range(dtype.bits):
        right = array(dtype, [7, -1, dtype.int_range[0]])
        wrong = right.copy()
        wrong.view(np.dtype(f"u{dtype.bits // 8}"))[2] ^= np.dtype(f"u{dtype.bits // 8}").type(1 << bit)
        found = difference("out", wrong, Allowed(right, dtype))
        assert found is not None
        assert found.index == (2,)


def test_neighbouring_integers_beyond_float64_differ() -> None:
    check(I64, [2**62 + 1], [2**62], None, "wrong-value", f"must be {2**62}")
    check(I64, [2**63 - 1], [2**63 - 1], None, None)


def test_a_bool_is_compared_as_a_byte() -> None:
    right = array(BOOL, [0, 1, 1])
    wrong = right.copy()
    wrong.view(np.uint8)[2] = 2  # NumPy's own == takes any other byte for true
    found = difference("out", wrong, Allowed(right, BOOL))
    assert found is not None
    assert found.message == "out[2] = 2, must be 1"
    check(BOOL, [False, True], [False, True], None, None)
    check(BOOL, [True, True], [False, True], None, "wrong-value")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_each_float_value_allows_its_own_native_form(dtype: DType) -> None:
    values = allowed(dtype, [*SPECIALS, dtype.max_finite, dtype.smallest_subnormal])
    assert difference("out", native(values), values) is None


# --- within a bound


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_bound_admits_its_ends_and_nothing_beyond(dtype: DType) -> None:
    step = 2 * dtype.unit_roundoff
    check(dtype, [1 + step, 1 - step, 1.0], [1.0, 1.0, 1.0], step, None)
    check(dtype, [1 + 2 * step], [1.0], step, "wrong-value", "2 × the legal error")
    check(dtype, [1 - 2 * step], [1.0], step, "wrong-value", "2 × the legal error")


def test_a_bound_may_ask_for_bits_in_one_place_only() -> None:
    bound = [0.0, 0.5]
    check(F32, [1.0, 1.4], [1.0, 1.0], bound, None)
    check(F32, [1.0, 1.6], [1.0, 1.0], bound, "wrong-value", "out[1]")
    check(F32, [-0.0, 1.4], [0.0, 1.0], bound, "wrong-value", "out[0] = -0.0, must be 0.0 exactly")


def test_the_least_bound_leaves_the_sign_of_zero_open_and_nothing_else() -> None:
    check(F32, [-0.0], [0.0], 5e-324, None)
    check(F64, [-5e-324], [0.0], 5e-324, None)
    check(F32, [1e-45], [0.0], 5e-324, "wrong-value")


@pytest.mark.parametrize("target", [math.nan, math.inf, -math.inf])
def test_no_finite_bound_admits_a_special_value(target: float) -> None:
    check(F64, [target], [1.0], 1e300, "wrong-value", "inf × the legal error")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_special_value_must_be_met_whatever_the_bound(value: float) -> None:
    check(F32, [1.0], [value], 1.0, "wrong-value")
    check(F32, [value], [value], 1.0, None)


def test_an_unknown_element_admits_everything() -> None:
    check(F32, [math.nan, -math.inf, 3.0], [0.0, 0.0, 0.0], math.inf, None)
    check(F32, [math.nan, 1.0], [0.0, 0.0], [math.inf, 0.5], "wrong-value", "out[1]")
    check(I64, [3, 4], [0, 4], [math.inf, 0.0], None)
    check(I64, [3, 5], [0, 4], [math.inf, 0.0], "wrong-value", "out[1] = 5, must be 4")


def test_one_bad_element_among_many_is_found() -> None:
    value = np.linspace(1, 2, 1000).reshape(10, 100)
    for index in [(0, 0), (9, 99), (4, 57)]:
        wrong = value.copy()
        wrong[index] += 1e-3
        found = difference("out", wrong, Allowed(value, F64, np.full(value.shape, 1e-6)))
        assert found is not None
        assert found.index == index


def test_the_worst_element_is_reported() -> None:
    found = difference("x", array(F64, [1.1, 1.5, 1.2]), allowed(F64, [1.0, 1.0, 1.0], 0.05))
    assert found is not None
    assert (found.index, found.got, found.low, found.high) == ((1,), 1.5, 0.95, 1.05)
    assert found.times == pytest.approx(10)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_transposed_outputs_of_equal_sum_differ(dtype: DType) -> None:
    value = array(dtype, [[0, 1], [0, 1]] if dtype is BOOL else [[1, 2], [3, 4]])
    held = value.astype(np.float64) if dtype.kind == "float" else value
    for wrong in (value.T.copy(), value[:, ::-1]):
        found = difference("out", wrong, Allowed(held, dtype))
        assert found is not None
        assert found.symptom == "wrong-value"
    loose = np.full((2, 2), 0.5)
    assert difference("out", value[:, ::-1], Allowed(held, dtype, loose if dtype.kind == "float" else None)) is not None


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3), (1, 2, 2), (2, 1, 2, 1), (1, 2, 1, 2, 1)])
def test_the_right_array_differs_in_nothing(dtype: DType, shape: tuple[int, ...]) -> None:
    value = array(dtype, np.resize([0, 1, 1, 0, 1], shape))
    held = value.astype(np.float64) if dtype.kind == "float" else value
    for bound in (None, np.zeros(shape), np.full(shape, 1e-9), np.full(shape, math.inf)):
        assert difference("out", value, Allowed(held, dtype, bound)) is None
        assert not ratio(value, Allowed(held, dtype, bound)).any()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_flipped_bit_is_seen_through_a_bound_exactly_where_it_leaves_it(dtype: DType) -> None:
    right = array(dtype, [1.5])
    for ulps in (0.25, 3.0, 100.0):
        bound = ulps * 2 * dtype.unit_roundoff
        for bit in range(dtype.bits):
            wrong = right.copy()
            wrong.view(f"u{dtype.bits // 8}")[0] ^= np.dtype(f"u{dtype.bits // 8}").type(1 << bit)
            far = abs(float(wrong[0]) - 1.5)
            found = difference("out", wrong, Allowed(right.astype(np.float64), dtype, np.array([bound])))
            assert (found is not None) == (not far <= bound), (bit, ulps)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_any_nan_is_a_nan_and_no_number_is(dtype: DType) -> None:
    words = np.dtype(f"u{dtype.bits // 8}")
    infinity = int(array(dtype, [math.inf]).view(words)[0])
    fraction = (infinity & -infinity) - 1
    for payload in (1, fraction, fraction ^ 1):  # signalling, and quiet
        for sign in (0, 1 << (dtype.bits - 1)):
            nan = np.array([infinity | payload | sign], words).view(NATIVE[dtype.name])
            assert difference("out", nan, Allowed(np.array([math.nan]), dtype)) is None
            for number in (0.0, 1.0, math.inf, -math.inf):
                assert difference("out", nan, Allowed(np.array([number]), dtype, np.array([1e9]))) is not None


def test_an_offset_that_cancels_in_the_sum_is_seen() -> None:
    value = np.zeros(4)
    check(F32, [0.1, -0.1, 0.1, -0.1], value, 0.01, "wrong-value")


def test_strided_and_reversed_views_are_compared_by_element() -> None:
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    assert difference("out", base[::2, ::-1], Allowed(base[::2, ::-1].astype(np.float64), F32)) is None
    assert difference("out", base.T, Allowed(base.T.astype(np.float64), F32)) is None


def test_rank_zero() -> None:
    check(F32, 1.0, 1.0, None, None)
    check(F32, 2.0, 1.0, 0.5, "wrong-value", "out[] = 2")
    check(I64, 2, 1, None, "wrong-value")
    check(BOOL, True, True, None, None)
    check(BOOL, True, False, None, "wrong-value", "out[] = 1, must be 0")


def test_ratio_is_never_nan() -> None:
    targets = array(F32, [math.nan, math.inf, 0.0, 1.0])
    for value in (math.nan, math.inf, -math.inf, 0.0, 1.0):
        for bound in (0.0, 1e-300, 1.0, math.inf):
            assert not np.isnan(ratio(targets, allowed(F32, [value] * 4, bound))).any()


def test_ratio_counts_in_bounds() -> None:
    found = ratio(array(F64, [1.0, 1.5, 3.0]), allowed(F64, [1.0, 1.0, 1.0], 1.0))
    assert found.tolist() == [0.0, 0.5, 2.0]


# --- form


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("other", DTYPES.values(), ids=str)
def test_a_wrong_dtype_is_named(dtype: DType, other: DType) -> None:
    found = form_difference("out", array(other, [0, 1]), dtype, (2,))
    if dtype is other:
        assert found is None
    else:
        assert found is not None
        assert found.symptom == "wrong-dtype"
        assert found.message == f"out is {other}, must be {dtype}"


@pytest.mark.parametrize("shape", [(), (6,), (3, 2), (2, 3, 1), (1, 2, 3)])
def test_a_wrong_shape_is_named_even_with_the_same_elements(shape: tuple[int, ...]) -> None:
    target = np.resize(np.arange(6, dtype=np.float32), shape)
    found = difference("out", target, Allowed(np.arange(6.0).reshape(2, 3), F32, np.full((2, 3), math.inf)))
    assert found is not None
    assert found.symptom == "wrong-shape"
    assert found.message == f"out has shape {list(shape)}, must be [2, 3]"


def test_an_unlike_numpy_dtype_is_named_by_numpy() -> None:
    found = form_difference("out", np.zeros(2, np.int8), F32, (2,))
    assert found is not None
    assert found.message == "out is int8, must be F32"


# --- words


@pytest.mark.parametrize(
    ("target", "value", "bound", "says"),
    [
        (0.731, 0.522165, 5e-6, "out[0,1] = 0.731, allowed 0.52216…0.52217, 4.2e4 × the legal error"),
        (math.nan, 0.522165, 5e-6, "out[0,1] = nan, allowed 0.52216…0.52217, inf × the legal error"),
        (
            0.731,
            0.5,
            2.0**-52,
            "out[0,1] = 0.731, allowed 0.4999999999999998…0.5000000000000002, 1e15 × the legal error",
        ),
        (-1e300, 2.0, 1e-3, "out[0,1] = -1e+300, allowed 1.999…2.001, 1e303 × the legal error"),
        (100.0, 3.0, 1.0, "out[0,1] = 100, allowed 2…4, 97 × the legal error"),
    ],
)
def test_the_message_gives_value_interval_and_size(target: float, value: float, bound: float, says: str) -> None:
    found = difference("out", array(F64, [[value, target]]), allowed(F64, [[value, value]], bound))
    assert found is not None
    assert found.message == says
