"""The simulator makes every choice that the language leaves open, and no other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from bench.rounded_sums import Products, fused, products
from bench.schedules import Parted, Runs, run_schedules
from compiler.parser import parse
from compiler.types import DTYPES, DType
from oracles.engine import Array
from oracles.numpy_reference import quantize

COUNT = 400


def runs_of(lets: str, inputs: Mapping[str, Array], dtype: DType) -> Runs:
    """Many schedules of lets over inputs of one dtype; the results are y, or y and z."""
    heads = "".join(
        f"let {name} = tensor<{dtype}, [{', '.join(map(str, array.shape))}], @host>; " for name, array in inputs.items()
    )
    program = parse(f"@main {{ {heads}{lets} }}")
    native = {name: quantize(array, dtype) for name, array in inputs.items()}
    return run_schedules(program, native, np.random.default_rng(1), COUNT)


def distinct(results: Array) -> int:
    return len(np.unique(results.reshape(len(results), -1), axis=0))


F32 = DTYPES["F32"]
X = np.random.default_rng(2).normal(size=(3, 7))


@pytest.mark.parametrize("dtype", ["F32", "F64"])
def test_a_sum_is_taken_in_many_orders_and_a_product_fused_or_not(dtype: str) -> None:
    assert distinct(runs_of("let y = sum(x, axis=1); (y)", {"x": X}, DTYPES[dtype]).results[0]) > 10
    # of y·y - z, z being y·y rounded, only what the fusion keeps is left
    text = "let y = x * x; let z = x * x; let d = y - reshape(z, shape=[3, 7]); (d)"
    left = runs_of(text, {"x": X}, DTYPES[dtype]).results[0]
    assert (left == 0).any()
    assert (left > 0).any()
    assert (left < 0).any()
    assert np.abs(left).max() <= DTYPES[dtype].unit_roundoff * (X**2).max()


@pytest.mark.parametrize("dtype", ["F16", "BF16"])
def test_a_narrow_sum_is_accumulated_in_f32(dtype: str) -> None:
    x = np.array([[2048.0, 1.0, 1.0, 1.0, 1.0]])
    found = runs_of("let y = sum(x, axis=1); (y)", {"x": x}, DTYPES[dtype]).results[0]
    assert np.unique(found) == float(quantize(np.array(2052.0), DTYPES[dtype]))


@pytest.mark.parametrize("op", ["exp", "log", "tanh"])
def test_a_library_function_errs_by_one_unit_at_most_and_in_no_certain_point(op: str) -> None:
    point = {"exp": 0.0, "log": 1.0, "tanh": 0.0}[op]
    x = np.array([0.7, 1.3, point])
    found = runs_of(f"let y = {op}(x); (y)", {"x": x}, F32).results[0]
    native = found.astype(np.float32)
    assert (np.ptp(native.view(np.int32), axis=0) == [2, 2, 0]).all()


def test_a_row_of_a_softmax_adds_up_and_is_computed_in_many_ways() -> None:
    found = runs_of("let y = softmax(x, axis=1); (y)", {"x": X}, F32).results[0]
    assert distinct(found) > 100
    assert np.abs(found.sum(-1) - 1).max() < 1e-6


def test_what_has_one_result_has_it_in_every_schedule() -> None:
    text = "let y = transpose(x / (x + x), perm=[1, 0]); let z = sqrt(abs(x)); (y, z)"
    for result in runs_of(text, {"x": X}, F32).results:
        assert distinct(result) == 1


def test_one_observation_is_one_of_the_runs() -> None:
    runs = runs_of("let y = sum(x, axis=0); (y)", {"x": X}, F32)
    seen = runs.observe(17)
    assert seen.results[0] is seen.lets["y"]
    assert seen.lets["y"].dtype == np.float32
    assert np.array_equal(seen.lets["y"], runs.lets["y"][17])
    assert np.array_equal(seen.lets["x"], X.astype(np.float32))


def test_schedules_that_a_loop_parts_are_not_compared() -> None:
    text = """let s = sum(x * x, axis=0);
      let limit = s - s + reshape(slice(exp(x), axis=0, start=0, stop=1), shape=[]);
      let y = while (t: tensor<F32, [], @host> = limit) less(t, exp(reshape(slice(x, axis=0, start=0, stop=1),
        shape=[]))) { (t + t) };
      (y)"""
    with pytest.raises(Parted):
        runs_of(text, {"x": X[0]}, F32)


def test_a_fused_step_rounds_once() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 1000))
    product = products(a, b, wide=True)
    assert np.array_equal(product.nearest, a * b)
    left = fused(product, -product.nearest)
    assert np.array_equal(left, product.tail)
    exact = [int(x * 2**60) * int(y * 2**60) for x, y in zip(a, b, strict=True) if abs(x) > 0.01 and abs(y) > 0.01]
    tails = [
        int(n * 2.0**120) + int(t * 2.0**120)
        for x, y, n, t in zip(a, b, product.nearest, product.tail, strict=True)
        if abs(x) > 0.01 and abs(y) > 0.01
    ]
    assert exact == tails
    with np.errstate(over="ignore", invalid="ignore"):  # as in the simulator
        assert np.isinf(fused(Products(np.array([1e308]), np.array([np.nan])), np.array([1e308]))).all()
