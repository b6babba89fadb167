"""Every op in every dtype, in lockstep: legal runs pass, an error of some units in the last place does not."""

from __future__ import annotations

import numpy as np
import pytest

from bench.graphs import FLOATS, VALUES, apply, draw_values
from bench.schedules import run_schedule
from compiler.syntax import Block, Expr, Let, Name, Placeholder, Program
from compiler.types import BOOL, DTYPES, I32, I64, DType, TensorType
from oracles.engine import Array, Observation
from oracles.judge import judge_lets
from oracles.numpy_reference import NATIVE, quantize
from oracles.rules import RULES
from oracles.verdict import Agree, Disagree

N = 4
KINDS = [kind for kind in VALUES if kind != "wide"]  # there, half of the sums overflow
ONE_OP: dict[str, Expr] = {
    **{op: apply(op, "x", "y") for op in ("add", "sub", "mul", "div", "rem", "maximum", "minimum", "matmul")},
    **{op: apply(op, "x") for op in ("neg", "abs", "exp", "log", "sqrt", "tanh")},
    **{op: apply(op, "x", axis=1) for op in ("sum", "max", "argmax", "softmax")},
    **{op: apply(op, "x", "y") for op in ("less", "less_equal", "equal")},
    "select": apply("select", "c", "x", "y"),
    "gather": apply("gather", "x", "ids"),
    "concat": apply("concat", "x", "y", axis=1),
    "slice": apply("slice", "x", axis=1, start=1, stop=3),
    "pad": apply("pad", "x", axis=0, low=1, high=2),
    "transpose": apply("transpose", "x", perm=(1, 0)),
    "reshape": apply("reshape", "x", shape=(N * N,)),
    "broadcast": apply("broadcast", "x", shape=(2, N, N)),
    "cast": apply("cast", "x", dtype="F16"),
}
INTEGER = {"add", "sub", "mul", "neg", "abs", "maximum", "minimum", "matmul", "sum", "max", "argmax"}
INTEGER |= {"less", "less_equal", "equal", "select", "gather", "concat", "slice", "pad", "transpose", "reshape"}
INTEGER |= {"broadcast", "cast"}
FAR = 40  # units in the last place by which a result is moved: more than any op of four terms may err


def program(expr: Expr, dtype: DType) -> Program:
    types = {"x": dtype, "y": dtype, "c": BOOL, "ids": I64}
    lets = [Let((name,), Placeholder(TensorType(held, (N, N)))) for name, held in types.items()]
    return Program((), Block((*lets, Let(("z",), expr)), (Name("z"),)))


def inputs(rng: np.random.Generator, dtype: DType, kind: str) -> dict[str, Array]:
    if dtype.kind == "float":
        x, y = (draw_values(rng, dtype, (N, N), kind) for _ in range(2))
    else:
        low, high = dtype.int_range
        x, y = (rng.choice([low, -1, 0, 1, 2, 77, high], size=(N, N)).astype(NATIVE[dtype.name]) for _ in range(2))
    return {"x": x, "y": y, "c": rng.random((N, N)) < 0.5, "ids": rng.integers(-2, N + 2, size=(N, N))}


def check_legal(op: str, dtype: DType, kind: str) -> None:
    rng = np.random.default_rng([*map(ord, op + kind), dtype.bits])
    one = program(ONE_OP[op], dtype)
    for _ in range(3):
        values = inputs(rng, dtype, kind)
        for _ in range(3):
            verdict = judge_lets(one, values, run_schedule(one, values, rng))
            assert not isinstance(verdict, Disagree), verdict


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", ONE_OP)
def test_legal_runs_of_one_op_pass(op: str, dtype: DType) -> None:
    for kind in KINDS:
        check_legal(op, dtype, kind)


@pytest.mark.parametrize("dtype", [I32, I64], ids=str)
@pytest.mark.parametrize("op", sorted(INTEGER))
def test_legal_runs_of_one_op_on_integers_pass(op: str, dtype: DType) -> None:
    check_legal(op, dtype, "exact")


def moved(z: Array, index: tuple[int, ...]) -> Array:
    """`z` with one element FAR units in the last place further from 0; the index beside it, or the other truth."""
    wrong = z.copy()
    if z.dtype.kind in "ib":
        wrong[index] = not z[index] if z.dtype.kind == "b" else z[index] + 1
        return wrong
    dtype = next(DTYPES[name] for name, native in NATIVE.items() if native == z.dtype)
    value = float(z[index])
    unit = max(2 * dtype.unit_roundoff * abs(value), dtype.smallest_subnormal)
    wrong[index] = quantize(np.array(value + np.copysign(FAR * unit, value)), dtype)
    return wrong


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", ONE_OP)
def test_one_element_moved_by_some_units_is_seen(op: str, dtype: DType) -> None:
    rng = np.random.default_rng([*map(ord, op), dtype.bits])
    one, values = program(ONE_OP[op], dtype), inputs(rng, dtype, "positive")
    seen = run_schedule(one, values, rng)
    assert isinstance(judge_lets(one, values, seen), Agree)
    z = seen.lets["z"]
    for index in np.ndindex(z.shape):
        wrong = moved(z, index)
        verdict = judge_lets(one, values, Observation({**seen.lets, "z": wrong}, (wrong,)))
        assert isinstance(verdict, Disagree)
        assert (verdict.culprit, verdict.index) == (op, index)


def test_no_op_is_left_out() -> None:
    assert set(ONE_OP) == set(RULES)
