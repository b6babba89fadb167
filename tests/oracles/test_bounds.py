"""The rounding rules, op by op: the induction step that each must prove, and what each must say it does not know."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from numpy.typing import ArrayLike

from bench.graphs import FLOATS, draw_values
from compiler.types import BF16, BOOL, F16, F32, F64, I64, DType
from oracles import torch_reference
from oracles.bounds import Bound, Work, parts
from oracles.engine import Array
from oracles.numpy_reference import TABLE, quantize
from oracles.rules import RULES
from tests.oracles.rulework import AXIS_1, Attrs, apply_rule, check_certain, run

INF, NAN = math.inf, math.nan
TRIALS = 12  # perturbations for each drawn operand


# --- the induction step


ONE: dict[str, tuple[Attrs, str]] = {
    "neg": ({}, "normal"),
    "abs": ({}, "normal"),
    "exp": ({}, "normal"),
    "log": ({}, "positive"),
    "sqrt": ({}, "positive"),
    "tanh": ({}, "normal"),
    "sum": ({"axis": 1}, "normal"),
    "max": ({"axis": 1}, "normal"),
    "softmax": ({"axis": 1}, "normal"),
    "transpose": ({"perm": (1, 0)}, "normal"),
    "cast": ({"dtype": "F64"}, "normal"),
}
TWO = ("add", "sub", "mul", "div", "rem", "maximum", "minimum", "matmul")


def check_induction(
    op: str, args: Sequence[Array], errs: Sequence[Bound], attrs: Attrs, rng: np.random.Generator
) -> int:
    """f(x + δ) must lie within the bound of f(x), and within the source of its linearisation, for |δ| <= E.

    In F64, where hardly anything is added by rounding: what is tested is the slope and the remainder.
    """
    step = apply_rule(op, args, [F64] * len(args), errs, attrs)
    err, source = parts(step)
    known = np.isfinite(err)
    for _ in range(TRIALS):
        corner = rng.random() < 0.5
        deltas = [
            e * (rng.choice([-1, 1], x.shape) if corner else rng.uniform(-1, 1, x.shape))
            for x, e in zip(args, errs, strict=True)
        ]
        moved = TABLE[op](*(x + d for x, d in zip(args, deltas, strict=True)), **attrs)
        _, slope = torch.autograd.functional.jvp(  # type: ignore[no-untyped-call] # torch's own, untyped
            lambda *xs: torch_reference.TABLE[op](*xs, **attrs),
            tuple(map(torch.from_numpy, args)),
            tuple(map(torch.from_numpy, deltas)),
        )
        noise = 1e-13 * (np.abs(step.value) + err)  # float64 rounding of this very test
        noise = noise + 1e-15 * np.abs(args[0]) if op == "rem" else noise
        assert (np.abs(moved - step.value) <= err + noise)[known].all()
        assert (np.abs(moved - step.value - slope.numpy()) <= source + noise)[known].all()
    return int(known.sum())


@pytest.mark.parametrize("op", [*ONE, *TWO])
def test_slope_and_remainder_bound_what_a_disturbed_operand_does(op: str) -> None:
    rng = np.random.default_rng(5)
    attrs, kind = ONE.get(op, ({}, "normal"))
    known = 0
    for trial in range(40):
        args = [draw_values(rng, F64, (3, 3), kind) for _ in range(1 if op in ONE else 2)]
        scale = 10.0 ** -rng.integers(0, 9)
        errs = [np.abs(x) * scale * rng.random(x.shape) if trial % 2 else scale * rng.random(x.shape) for x in args]
        known += check_induction(op, args, errs, attrs, rng)
    assert known > 100  # the rule gives up only now and then


@pytest.mark.parametrize("op", ["maximum", "minimum", "max", "abs", "sub", "equal"])
def test_equal_operands_are_a_kink(op: str) -> None:
    rng = np.random.default_rng(6)
    x = np.array([[1.0, 1.0, 0.0], [2.0, -2.0, 0.0], [0.0, 0.0, 0.0]])
    if op == "equal":
        step = apply_rule(op, [x, x], [F64, F64], [x * 0 + 0.1, x * 0])
        assert np.isinf(parts(step)[0]).all()
        return
    args = [x] if op in ONE else [x, x.copy()]
    attrs: Attrs = {"axis": 1} if op == "max" else {}
    check_induction(op, args, [0.1 * rng.random(x.shape) for _ in args], attrs, rng)


# --- what cannot be known


UNKNOWN = [  # op, operands, bounds of the operands, attributes, reason
    ("div", ([1.0], [0.1]), (0.0, np.array([0.2])), {}, "ill-conditioned"),
    ("log", ([0.1],), (np.array([0.2]),), {}, "ill-conditioned"),
    ("sqrt", ([0.0],), (np.array([0.1]),), {}, "ill-conditioned"),
    ("exp", ([0.0],), (np.array([2.0]),), {}, "ill-conditioned"),
    ("softmax", ([[0.0, 1.0]],), (np.array([[1.0, 0.0]]),), {"axis": 1}, "ill-conditioned"),
    ("rem", ([4.0], [2.0]), (np.array([0.1]), 0.0), {}, "remainder-boundary"),
    ("mul", ([INF], [0.1]), (0.0, np.array([0.2])), {}, "ill-conditioned"),
    ("less", ([1.0], [1.05]), (np.array([0.1]), 0.0), {}, "near-condition"),
    ("equal", ([1.0], [1.0]), (np.array([1e-9]), 0.0), {}, "near-condition"),
    ("cast", ([1.99],), (np.array([0.02]),), {"dtype": "I32"}, "cast-boundary"),
    ("cast", ([0.0],), (np.array([0.02]),), {"dtype": "BOOL"}, "cast-boundary"),
    ("argmax", ([[1.0, 1.05]],), (np.array([[0.1, 0.0]]),), {"axis": 1}, "near-tie"),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("op", "args", "errs", "attrs", "reason"), UNKNOWN)
def test_what_a_rule_cannot_know_it_names(
    dtype: DType, op: str, args: Sequence[ArrayLike], errs: Sequence[Bound], attrs: Attrs, reason: str
) -> None:
    step = run(op, dtype, *args, errs=errs, attrs=attrs)
    assert np.isinf(parts(step)[0]).all()
    assert step.reason == reason


KNOWN = [
    ("less", ([1.0], [1.5]), (np.array([0.1]), 0.0), {}),
    ("less", ([NAN], [1.5]), (0.0, np.array([0.1])), {}),
    ("cast", ([-0.5],), (np.array([0.4]),), {"dtype": "I32"}),
    ("cast", ([1e30],), (np.array([1e20]),), {"dtype": "I32"}),
    ("argmax", ([[1.0, 1.5]],), (np.array([[0.1, 0.1]]),), {"axis": 1}),
    ("argmax", ([[1.0, 1.0, 0.5]],), (np.array([[0.0, 0.0, 0.1]]),), {"axis": 1}),
    ("argmax", ([[0.0, NAN, 5.0]],), (np.array([[0.1, 0.0, 0.1]]),), {"axis": 1}),
]


@pytest.mark.parametrize(("op", "args", "errs", "attrs"), KNOWN)
def test_a_discrete_result_away_from_its_boundary_is_exact(
    op: str, args: Sequence[ArrayLike], errs: Sequence[Bound], attrs: Attrs
) -> None:
    assert run(op, F32, *args, errs=errs, attrs=attrs).err is None


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_overflow_is_certain_on_both_sides_and_open_between(dtype: DType) -> None:
    top = dtype.max_finite
    if dtype is not F64:  # there the reference itself overflows
        check_certain(run("mul", dtype, [top], [4.0]), [INF])
    assert run("exp", dtype, [1000.0] if dtype is not F16 else [600.0]).value == INF
    step = run("matmul", dtype, [[top, top]], [[1.0], [-1.0]])
    if dtype in (F32, F64, BF16):
        assert step.reason == "overflow"  # top + (-top), or with another pair first: it depends on the order
    else:
        check_certain(step, [[0.0]])  # accumulated in F32, where it is small


def test_a_sum_that_overflows_in_every_order_is_infinite() -> None:
    top = F32.max_finite
    check_certain(run("matmul", F32, [[top, top, 1.0]], [[1.0], [1.0], [-5.0]]), [[INF]])
    check_certain(run("sum", F32, [[-top, -top, -top]], attrs=AXIS_1), [-INF])


def test_an_overflowed_product_may_be_saved_by_fusing_it_into_a_sum() -> None:
    step = run("mul", F32, [2.0**100], [2.0**29])
    product = np.where(np.isinf(step.value), INF, 0.0)
    value = np.array([-(2.0**127)])
    unfused = Work("add", F32, step.value + value, [step.value, value], [0.0, 0.0], {}, [F32, F32], False, product)
    with np.errstate(all="ignore"):
        assert np.isinf(parts(RULES["add"](unfused))[0]).all()


def test_integers_and_bools_are_exact() -> None:
    ids = np.array([3, 1], np.int64)
    for op in ("add", "mul", "less", "maximum"):
        assert apply_rule(op, [ids, ids], [I64, I64]).err is None
    assert apply_rule("sum", [ids], [I64], attrs={"axis": 0}).err is None
    flags = np.array([True, False])
    assert apply_rule("select", [flags, ids, ids], [BOOL, I64, I64]).err is None


def test_what_is_unknown_spreads_through_integers_as_far_as_it_reaches() -> None:
    ids, err = np.array([[3, 1], [4, 1]], np.int64), np.array([[INF, 0.0], [0.0, 0.0]])
    assert parts(apply_rule("add", [ids, ids], [I64, I64], [err, 0.0]))[0].tolist() == err.tolist()
    assert parts(apply_rule("sum", [ids], [I64], [err], AXIS_1))[0].tolist() == [INF, 0.0]
    assert parts(apply_rule("matmul", [ids, ids], [I64, I64], [err, 0.0]))[0].tolist() == [
        [INF] * 2,
        [0.0] * 2,
    ]
    table = np.arange(10.0).reshape(5, 2)
    rows = apply_rule("gather", [table, ids], [F32, I64], [0.0, err])
    assert np.isinf(parts(rows)[0]).tolist() == [[[True, True], [False, False]], [[False, False], [False, False]]]


def test_bounds_move_with_their_values() -> None:
    x, err = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3) / 100
    moves: dict[str, Attrs] = {"transpose": {"perm": (1, 0)}, "slice": {"axis": 1, "start": 1, "stop": 3}}
    for op, attrs in moves.items():
        step = apply_rule(op, [x], [F32], [err], attrs)
        assert np.array_equal(parts(step)[0], step.value / 100)
    padded = apply_rule("pad", [x], [F32], [err], {"axis": 0, "low": 1, "high": 0})
    assert parts(padded)[0][0].tolist() == [0.0, 0.0, 0.0]
    joined = apply_rule("concat", [x, x], [F32, F32], [err, 0.0], {"axis": 0})
    assert parts(joined)[0].tolist() == [*err.tolist(), [0.0] * 3, [0.0] * 3]


def test_a_masked_score_is_exactly_nothing_and_disturbs_nobody() -> None:
    scores, err = np.array([[1.0, 2.0, -INF]]), np.array([[1e-6, 1e-6, 0.0]])
    step = apply_rule("softmax", [scores], [F32], [err], AXIS_1)
    bound = parts(step)[0]
    assert step.value[0, 2] == 0.0
    assert bound[0, 2] == 0.0
    assert (bound[0, :2] > 0).all()
    assert (bound[0, :2] < 1e-5).all()


def test_every_rule_of_f32_stays_below_its_dtype() -> None:
    """The bound of one op of exact operands is a few units in the last place, not a tolerance."""
    rng = np.random.default_rng(1)
    x, y = (quantize(rng.uniform(1.1, 5, (4, 4)), F32) for _ in range(2))
    units = {"exp": 3.1, "log": 3.1, "tanh": 4.6, "mul": 1.1, "matmul": 4.1, "sum": 3.1, "softmax": 25}
    for op, most in units.items():
        args = [x, y] if op in ("mul", "matmul") else [x]
        attrs: Attrs = {"axis": 1} if op in ("sum", "softmax") else {}
        step = run(op, F32, *args, attrs=attrs)
        assert (parts(step)[0] <= most * F32.unit_roundoff * np.abs(step.value)).all(), op


def test_there_is_a_rule_for_every_op_of_the_references() -> None:
    assert set(RULES) == set(TABLE)
