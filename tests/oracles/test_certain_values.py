"""Values that a rounding rule must know for certain, bit for bit: special values, exact arithmetic, conversions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike

from bench.graphs import FLOATS
from compiler.types import BF16, F16, F32, F64, I32, I64, DType
from oracles.bounds import parts
from oracles.numpy_reference import TABLE, quantize
from tests.oracles.rulework import AXIS_1, Attrs, apply_rule, check_certain, run

INF, NAN = math.inf, math.nan

CERTAIN = [  # op, operands, attributes, value: bitwise in every float dtype
    ("add", ([0.5], [0.25]), {}, [0.75]),
    ("sub", ([1.0], [1.0]), {}, [0.0]),
    ("add", ([-0.0], [-0.0]), {}, [-0.0]),
    ("sub", ([INF], [INF]), {}, [NAN]),
    ("add", ([INF], [3.0]), {}, [INF]),
    ("mul", ([1.5], [-2.0]), {}, [-3.0]),
    ("mul", ([-0.0], [2.0]), {}, [-0.0]),
    ("mul", ([INF], [0.0]), {}, [NAN]),
    ("mul", ([INF], [-2.0]), {}, [-INF]),
    ("div", ([1.0], [0.0]), {}, [INF]),
    ("div", ([1.0], [-0.0]), {}, [-INF]),
    ("div", ([0.0], [0.0]), {}, [NAN]),
    ("div", ([3.0], [2.0]), {}, [1.5]),
    ("rem", ([7.5], [2.0]), {}, [1.5]),
    ("rem", ([-7.5], [2.0]), {}, [-1.5]),
    ("rem", ([1.0], [0.0]), {}, [NAN]),
    ("rem", ([3.0], [INF]), {}, [3.0]),
    ("neg", ([0.0],), {}, [-0.0]),
    ("abs", ([-0.0],), {}, [0.0]),
    ("maximum", ([-0.0], [0.0]), {}, [0.0]),
    ("minimum", ([0.0], [-0.0]), {}, [-0.0]),
    ("maximum", ([NAN], [1.0]), {}, [NAN]),
    ("exp", ([0.0, -INF, INF],), {}, [1.0, 0.0, INF]),
    ("log", ([1.0, 0.0, -1.0, INF],), {}, [0.0, -INF, NAN, INF]),
    ("tanh", ([-0.0, INF, -INF],), {}, [-0.0, 1.0, -1.0]),
    ("sqrt", ([4.0, -0.0, -1.0],), {}, [2.0, -0.0, NAN]),
    ("sum", ([[1.0, 2.0, 0.5]],), {"axis": 1}, [3.5]),
    ("sum", ([[1.0, -1.0]],), {"axis": 1}, [0.0]),
    ("sum", ([[INF, 1.0]],), {"axis": 1}, [INF]),
    ("sum", ([[INF, -INF]],), {"axis": 1}, [NAN]),
    ("max", ([[-INF, 3.0, NAN]],), {"axis": 1}, [NAN]),
    ("max", ([[-0.0, 0.0]],), {"axis": 1}, [0.0]),
    ("matmul", ([[1.0, 2.0]], [[0.5], [0.25]]), {}, [[1.0]]),
    ("matmul", ([[INF, 2.0]], [[0.0], [1.0]]), {}, [[NAN]]),
    ("matmul", ([[-INF, 2.0]], [[1.0], [1.0]]), {}, [[-INF]]),
    ("softmax", ([[3.0]],), {"axis": 1}, [[1.0]]),
    ("softmax", ([[-INF, -INF]],), {"axis": 1}, [[NAN, NAN]]),
    ("pad", ([1.5],), {"axis": 0, "low": 1, "high": 1}, [0.0, 1.5, 0.0]),
    ("concat", ([1.0], [NAN]), {"axis": 0}, [1.0, NAN]),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("op", "args", "attrs", "value"), CERTAIN)
def test_certain_values(dtype: DType, op: str, args: Sequence[ArrayLike], attrs: Attrs, value: ArrayLike) -> None:
    check_certain(run(op, dtype, *args, attrs=attrs), value)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("op", "args"), [("add", (1.0, 2.0**-60)), ("sub", (1.0, 3e-5)), ("div", (1.0, 3.0))])
def test_a_sum_or_quotient_of_exact_numbers_is_its_rounding(dtype: DType, op: str, args: tuple[float, float]) -> None:
    operands = [quantize(np.array([arg]), dtype).astype(np.float64) for arg in args]
    check_certain(run(op, dtype, *operands), quantize(TABLE[op](*operands), dtype).astype(np.float64))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_rounding_of_a_product_stays_open(dtype: DType) -> None:
    third = quantize(np.array([1 / 3]), dtype).astype(np.float64)
    step = run("mul", dtype, third, third)
    err = parts(step)[0]
    assert step.value == third * third
    rounding = np.abs(quantize(step.value, dtype).astype(np.float64) - step.value)
    assert (err >= rounding).all()
    assert (err > 0).all()
    assert (err <= 2.5 * dtype.unit_roundoff * step.value).all()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_sum_of_negative_zeros_has_a_value_but_no_sign(dtype: DType) -> None:
    for step in (run("sum", dtype, [[-0.0, -0.0]], attrs=AXIS_1), run("matmul", dtype, [[0.0]], [[-1.0]])):
        assert step.value == 0.0
        assert parts(step)[0] == 5e-324


@pytest.mark.parametrize(
    ("source", "target", "value", "expected"),
    [
        (F32, F16, 65519.0, 65504.0),
        (F32, F16, 65520.0, INF),
        (F32, BF16, 1 + 2.0**-8, 1.0),
        (F64, F32, 1 + 2.0**-24 + 2.0**-40, 1 + 2.0**-23),
        (F16, F64, 0.1, float(np.float16(0.1))),
        (BF16, F16, 1e-30, 0.0),
        (F32, F32, -0.0, -0.0),
    ],
)
def test_a_cast_of_an_exact_float_rounds_once(source: DType, target: DType, value: float, expected: float) -> None:
    check_certain(run("cast", source, [value], attrs={"dtype": target.name}), [expected])


@pytest.mark.parametrize(
    ("source", "target", "value", "expected"),
    [
        (I64, F64, 2**53 + 1, 2.0**53),
        (I64, F32, 2**24 + 1, 2.0**24),
        (I64, F32, 2**60 + 2**36 + 1, 2.0**60 + 2.0**37),  # just above a tie: by way of float64 it would be one
        (I64, F32, -(2**60) - 2**36 - 1, -(2.0**60) - 2.0**37),
        (I32, F16, 70000, INF),
        (I32, BF16, 257, 256.0),
    ],
)
def test_a_cast_of_an_integer_rounds_once(source: DType, target: DType, value: int, expected: float) -> None:
    held = np.array([value], np.dtype(f"int{source.bits}"))
    check_certain(apply_rule("cast", [held], [source], attrs={"dtype": target.name}), [expected])


@pytest.mark.parametrize(("source", "value"), [(F64, 1 + 2.0**-8 + 2.0**-40), (I64, 2**40 + 2**32 + 1)])
def test_a_cast_by_way_of_f32_may_round_twice(source: DType, value: float) -> None:
    held = np.array([value], np.float64 if source is F64 else np.int64)
    step = apply_rule("cast", [held], [source], attrs={"dtype": "BF16"})
    once, twice = quantize(held, BF16).astype(np.float64), quantize(held.astype(np.float32), BF16).astype(np.float64)
    assert once != twice
    assert step.value == once
    assert (parts(step)[0] >= np.abs(once - twice)).all()
    assert (parts(step)[0] <= 1.01 * np.abs(once - twice)).all()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_product_with_an_exact_zero_is_zero(dtype: DType) -> None:
    err = np.full((1, 2), 0.01)
    check_certain(run("mul", dtype, [[0.0, 0.0]], [[1.0, 2.0]], errs=(0.0, err)), [[0.0, 0.0]])
    unsigned = run("mul", dtype, [[0.0, 0.0]], [[0.0, 0.001]], errs=(0.0, err))
    assert (parts(unsigned)[0] == 5e-324).all()
    masked = run("matmul", dtype, [[0.0, 0.0]], [[1.0], [2.0]], errs=(0.0, err.T))
    assert masked.value == 0
    assert parts(masked)[0] == 5e-324
