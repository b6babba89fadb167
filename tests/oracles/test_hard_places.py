"""Where arithmetic is at its worst: what each rounding rule says there, beside what implementations really do there."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike

from bench.graphs import FLOATS, draw_values
from compiler.types import BF16, BOOL, F16, F32, F64, I64, DType
from oracles.bounds import Step, parts
from oracles.numpy_reference import TABLE, hold, quantize
from oracles.rounding import UNITS, rounded
from tests.oracles.rulework import AXIS_1, Attrs, apply_rule, check_certain, run

INF, NAN = math.inf, math.nan
NARROW = (F16, BF16)


def check_allows(step: Step, *values: ArrayLike) -> None:
    """Each of these results lies within the bound."""
    err = parts(step)[0]
    for value in values:
        with np.errstate(invalid="ignore"):
            off = np.abs(np.asarray(value, np.float64) - step.value)
        same = np.asarray(value, np.float64) == step.value
        assert (same | (off <= err)).all(), (value, step.value, err)


# --- double rounding through F32


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "sqrt", "rem"])
def test_arithmetic_by_way_of_f32_rounds_as_if_once(op: str, dtype: DType) -> None:
    rng = np.random.default_rng(3)
    for kind in ("normal", "edges", "wide"):
        args = [hold(draw_values(rng, dtype, (4000,), kind)) for _ in range(1 if op == "sqrt" else 2)]
        exact = TABLE[op](*args)
        assert np.array_equal(rounded(rounded(exact, F32), dtype), rounded(exact, dtype), equal_nan=True)


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("op", ["exp", "log", "tanh", "softmax", "sum"])
def test_functions_by_way_of_f32_may_round_twice(op: str, dtype: DType) -> None:
    x = hold(draw_values(np.random.default_rng(4), dtype, (500, 4), "positive"))
    attrs: Attrs = AXIS_1 if op in ("softmax", "sum") else {}
    step = apply_rule(op, [x], [dtype], attrs=attrs)
    exact = TABLE[op](x, **attrs)
    inner = rounded(exact, F32)
    up, down = (np.nextafter(inner.astype(np.float32), np.float32(to)).astype(np.float64) for to in (INF, -INF))
    if op == "sum":
        check_allows(step, rounded(exact, dtype))  # exact in F32: rounded once
    else:
        check_allows(step, *(rounded(value, dtype) for value in (exact, inner, up, down)))


# --- subnormals and overflow


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_among_subnormals_a_rounding_is_absolute(dtype: DType) -> None:
    least = dtype.smallest_subnormal
    product = run("mul", dtype, [3 * least], [0.5])
    check_allows(product, [least], [2 * least])
    assert parts(product)[0] < 2 * least
    check_certain(run("add", dtype, [3 * least], [-least]), [2 * least])  # a subnormal sum is exact
    check_certain(run("div", dtype, [4 * least], [2.0]), [2 * least])
    half = run("div", dtype, [3 * least], [2.0])
    assert parts(half)[0] == 0 or dtype is F64
    deep = run("exp", dtype, [math.log(dtype.smallest_normal) - 0.3])
    wanted = math.exp(float(quantize(np.array(math.log(dtype.smallest_normal) - 0.3), dtype)))
    check_allows(deep, [wanted - least], [wanted + least])
    assert parts(deep)[0] < 16 * least
    check_allows(run("exp", dtype, [-1e3 if dtype is not F64 else -800.0]), [0.0], [least])


@pytest.mark.parametrize(
    "dtype", [F32, F64], ids=str
)  # a narrow one is computed in F32, where this is an ordinary number
def test_a_probability_may_underflow(dtype: DType) -> None:
    least = dtype.smallest_subnormal
    step = run("softmax", dtype, [[0.0, math.log(least) - 0.4]], attrs=AXIS_1)
    check_allows(step, [[1.0, 0.0]], [[1.0, least]])
    assert parts(step)[0][0, 1] < 8 * least


# --- NaN


def nan_cases() -> list[tuple[str, tuple[ArrayLike, ...], Attrs]]:
    binary = ("add", "sub", "mul", "div", "rem", "maximum", "minimum")
    cases: list[tuple[str, tuple[ArrayLike, ...], Attrs]] = [(op, ([NAN], [2.0]), {}) for op in binary]
    cases += [(op, ([2.0], [NAN]), {}) for op in binary]
    cases += [(op, ([NAN],), {}) for op in ("neg", "abs", "exp", "log", "sqrt", "tanh")]
    cases += [(op, ([[NAN, 1.0, 2.0]],), AXIS_1) for op in ("sum", "max", "softmax")]
    return [*cases, ("matmul", ([[NAN, 1.0]], [[2.0], [3.0]]), {})]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("op", "args", "attrs"), nan_cases())
def test_a_nan_goes_through_every_op_and_nothing_else_is_allowed(
    dtype: DType, op: str, args: tuple[ArrayLike, ...], attrs: Attrs
) -> None:
    step = run(op, dtype, *args, attrs=attrs)
    assert np.isnan(step.value).all()
    assert not parts(step)[0].any()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_nan_compares_false_and_wins_an_argmax(dtype: DType) -> None:
    for op in ("less", "less_equal", "equal"):
        step = run(op, dtype, [NAN, 1.0], [1.0, NAN])
        assert step.err is None
        assert not step.value.any()
    assert run("argmax", dtype, [[1.0, NAN, INF]], attrs=AXIS_1).value == 1
    assert run("cast", dtype, [NAN], attrs={"dtype": "I32"}).value == 0


# --- near a singularity


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_near_one_a_logarithm_has_an_absolute_error_from_its_operand_and_a_relative_one_of_its_own(
    dtype: DType,
) -> None:
    unit = dtype.unit_roundoff
    x = 1 + 2 * unit
    own = run("log", dtype, [x])
    assert parts(own)[0] <= 8 * unit * math.log(x)  # ulps of the tiny result, not of 1
    carried = apply_rule("log", [np.array([x])], [dtype], [np.array([unit])])
    assert math.log1p(unit) <= parts(carried)[0] <= 1.1 * unit + 8 * unit * math.log(x) + unit * unit
    check_certain(run("log", dtype, [1.0]), [0.0])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_near_zero_a_logarithm_and_a_quotient_are_as_uncertain_as_their_operand(dtype: DType) -> None:
    small = 4 * dtype.smallest_normal
    relative = 2.0**-6
    log = apply_rule("log", [np.array([small])], [dtype], [np.array([small * relative])])
    below = np.array([4 * small])
    div = apply_rule("div", [np.array([0.5]), below], [dtype] * 2, [0.0, below * relative])
    for step, slope in ((log, 1.0), (div, 0.125 / small)):
        least = relative * slope
        assert least <= parts(step)[0] <= 1.2 * (least + 8 * dtype.unit_roundoff * abs(step.value))
    lost = apply_rule("log", [np.array([small])], [dtype], [np.array([0.7 * small])])
    assert lost.reason == "ill-conditioned"


# --- softmax


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("offset", [0.0, 1000.0, -1000.0])
def test_softmax_of_equal_inputs_is_nearly_certain_however_large(dtype: DType, offset: float) -> None:
    step = run("softmax", dtype, [[offset] * 4], attrs=AXIS_1)
    check_allows(step, [[0.25] * 4])
    assert (parts(step)[0] <= 20 * UNITS[dtype.name].unit * 0.25).all()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax_of_large_inputs_pays_for_the_depth_of_an_exponent_and_no_more(dtype: DType) -> None:
    step = run("softmax", dtype, [[8000.0, 8000.0 - 64.0, 0.0]], attrs=AXIS_1)
    bound = parts(step)[0][0]
    inner = F32 if dtype.bits < 32 else dtype
    assert bound[0] <= (20 * inner.unit_roundoff + 2 * dtype.unit_roundoff) * step.value[0, 0]
    floor = 8 * dtype.smallest_subnormal
    assert bound[1] <= (150 * inner.unit_roundoff + 2 * dtype.unit_roundoff) * step.value[0, 1] + floor
    assert bound[2] <= floor


# --- what an unknown condition or index chooses


def test_a_select_on_an_unknown_condition_is_unknown_there_alone() -> None:
    condition = np.array([True, True])
    step = apply_rule(
        "select",
        [condition, np.array([1.0, 2.0]), np.array([3.0, 4.0])],
        [BOOL, F32, F32],
        [np.array([INF, 0.0]), np.array([0.1, 0.2]), 0.0],
    )
    assert parts(step)[0].tolist() == [INF, 0.2]


def test_a_gather_through_an_unknown_index_is_unknown_in_its_rows_alone() -> None:
    table, ids = np.arange(6.0).reshape(3, 2), np.array([0, 2])
    step = apply_rule("gather", [table, ids], [F32, I64], [0.0, np.array([INF, 0.0])])
    assert np.isinf(parts(step)[0]).tolist() == [[True, True], [False, False]]


# --- the remainder and the integers


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("a", "known"), [(4.5, True), (4.0, False), (3.99609375, False), (0.5, True), (-4.5, True)])
def test_a_remainder_is_known_away_from_multiples(dtype: DType, a: float, known: bool) -> None:
    step = run("rem", dtype, [a], [2.0], errs=(np.array([2.0**-7]), 0.0))
    assert bool(np.isfinite(parts(step)[0]).all()) == known
    if known:
        check_allows(step, [math.fmod(a + 2.0**-7, 2.0)], [math.fmod(a - 2.0**-7, 2.0)])
    else:
        assert step.reason == "remainder-boundary"


@pytest.mark.parametrize(
    ("value", "target", "known"),
    [(2.5, "I32", True), (2.999, "I32", False), (-0.5, "I64", True), (0.999, "I32", False), (2.5, "BOOL", True)],
)
def test_a_cast_is_known_away_from_the_next_integer(value: float, target: str, known: bool) -> None:
    step = run("cast", F64, [value], errs=(np.array([0.01]),), attrs={"dtype": target})
    assert bool(np.isfinite(parts(step)[0]).all()) == known
    assert known or step.reason == "cast-boundary"


@pytest.mark.parametrize("op", ["less", "less_equal", "equal"])
@pytest.mark.parametrize(("gap", "known"), [(0.3, True), (0.1, False), (0.0, False), (-0.1, False), (-0.3, True)])
def test_a_comparison_is_known_where_the_sides_are_apart(op: str, gap: float, known: bool) -> None:
    step = run(op, F64, [1.0], [1.0 + gap], errs=(np.array([0.1]), np.array([0.1])))
    assert bool(np.isfinite(parts(step)[0]).all()) == known
    assert known or step.reason == "near-condition"


def test_bounds_of_f64_are_its_own_and_the_references() -> None:
    third = 1 / 3
    step = run("mul", F64, [third], [third])
    assert F64.unit_roundoff * third**2 < parts(step)[0] <= 2.01 * F64.unit_roundoff * third**2
