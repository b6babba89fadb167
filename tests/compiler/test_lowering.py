"""Whole programs through the lowering: calls, tuples, `while`, literals, `@main`, and what is emitted for them."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pytest

from compiler.arrays import Array
from compiler.parser import parse
from tests.compiler.jit import call, emitted, jit
from tests.compiler.values import ALL, array, check_bits, edges, random

EXAMPLES = sorted((Path(__file__).parents[2] / "compiler" / "examples").glob("*.kina"))


def check_runs(text: str, arrays: list[Array], expected: list[Array], level: int = 0) -> None:
    """The last fn of a program, called with `arrays`, returns `expected` bit for bit."""
    program = parse(text)
    fn = program.fns[-1]
    for got, want in zip(call(jit(program, level), fn, *arrays), expected, strict=True):
        check_bits(got, want)


def test_a_function_is_public_and_named_as_the_fn() -> None:
    text = emitted(parse("let id = fn(x: tensor<F32, [2], @host>) -> tensor<F32, [2], @host> { x }"))
    assert "func.func @kina_id(%arg0: tensor<2xf32> {bufferization.writable = false}) -> tensor<2xf32>" in text
    assert "attributes {llvm.emit_c_interface}" in text


def test_main_takes_the_placeholders_in_order() -> None:
    text = emitted(
        parse("@main { let b = tensor<I32, [2], @host>; let c = b + b; let a = tensor<F32, [], @host>; (a, c) }")
    )
    signature = text.replace(" {bufferization.writable = false}", "")
    assert "func.func @kina_main(%arg0: tensor<2xi32>, %arg1: tensor<f32>) -> (tensor<f32>, tensor<2xi32>)" in signature


def test_no_fast_math_and_one_linalg_op_per_elementwise_op() -> None:
    text = emitted(parse("let f = fn(x: tensor<F32, [2], @host>) -> tensor<F32, [2], @host> { x * x + x }"))
    assert "fastmath" not in text
    assert text.count("linalg.generic") == text.count("tensor.empty") == 2


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_lower(path: Path) -> None:
    assert emitted(parse(path.read_text())).count("func.func") == path.read_text().count(" = fn(") + 1


CALLS = """
let both = fn(x: tensor<F32, [2], @host>, y: tensor<F32, [2], @host>) ->
  (tensor<F32, [2], @host>, tensor<F32, [2], @host>) { (x - y, y) }
let f = fn(a: tensor<F32, [2], @host>, b: tensor<F32, [2], @host>) ->
  (tensor<F32, [2], @host>, tensor<F32, [2], @host>, tensor<F32, [2], @host>, tensor<F32, [2], @host>) {
  let (d, e) = both(a, b);
  let (g, h) = both(e, d);
  (g, h, both(d, d))
}
"""


def test_calls_with_several_results_and_a_call_in_a_result_tuple() -> None:
    a, b = random("F32", (2,), 1), random("F32", (2,), 2)
    d = a - b
    check_runs(CALLS, [a, b], [b - d, d, d - d, d])


RETURNS = """
let f = fn(x: tensor<F32, [2, 3], @host>) ->
  (tensor<F32, [2, 3], @host>, tensor<F32, [2, 3], @host>, tensor<F32, [6], @host>, tensor<F32, [1, 3], @host>,
   tensor<F32, [3], @host>) {
  let row = slice(x, axis=0, start=1, stop=2);
  (x, x, reshape(x, shape=[6]), row, reshape(slice(x, axis=0, start=0, stop=1), shape=[3]))
}
"""


def test_arguments_and_views_of_them_as_results() -> None:
    x = random("F32", (2, 3), 3)
    check_runs(RETURNS, [x], [x, x, x.reshape(6), x[1:2], x[0]])


COUNT = """
let f = fn(x: tensor<F32, [2], @host>, n: tensor<{dtype}, {shape}, @host>) ->
  (tensor<{dtype}, {shape}, @host>, tensor<F32, [2], @host>) {{
  let one = tensor<{dtype}, {shape}, @host>{one};
  while (i: tensor<{dtype}, {shape}, @host> = one - one, y: tensor<F32, [2], @host> = x) i < n {{
    let next = i + one;
    (next, y + x)
  }}
}}
"""


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize(("shape", "one"), [((), "1"), ((1,), "[1]"), ((1, 1), "[[1]]")])
@pytest.mark.parametrize("dtype", ["I64", "F32"])
def test_while_counts(dtype: str, shape: tuple[int, ...], one: str, level: int) -> None:
    text = COUNT.format(dtype=dtype, shape=list(shape), one=one)
    x = random("F32", (2,), 4)
    for trips in (0, 1, 5):
        n = np.full(shape, trips, "int64" if dtype == "I64" else "float32")
        total = x.copy()
        for _ in range(trips):
            total = total + x
        check_runs(text, [x, n], [n, total], level)


SWAP = """
let f = fn(x: tensor<F32, [2], @host>, y: tensor<F32, [2], @host>, n: tensor<I32, [], @host>) ->
  (tensor<F32, [2], @host>, tensor<F32, [2], @host>, tensor<BOOL, [], @host>) {
  let (trips, p, q, ended) = while (
    i: tensor<I32, [], @host> = tensor<I32, [], @host>0,
    a: tensor<F32, [2], @host> = x,
    b: tensor<F32, [2], @host> = y,
    done: tensor<BOOL, [], @host> = tensor<BOOL, [], @host>0
  ) i < n { (i + tensor<I32, [], @host>1, b, a, i == i) };
  (p, q, ended)
}
"""


def test_while_carries_swap_without_clobbering_each_other() -> None:
    x, y = random("F32", (2,), 5), random("F32", (2,), 6)
    check_runs(SWAP, [x, y, np.array(3, np.int32)], [y, x, np.array(True)])
    check_runs(SWAP, [x, y, np.array(0, np.int32)], [x, y, np.array(False)])


NESTED = """
let twice = fn(x: tensor<I64, [2], @host>) -> tensor<I64, [2], @host> { x + x }
let f = fn(x: tensor<I64, [2], @host>, n: tensor<I64, [], @host>) ->
  (tensor<I64, [2], @host>, tensor<I64, [2], @host>, tensor<I64, [], @host>) {
  let one = tensor<I64, [], @host>1;
  let start = x + x;
  let (outer, grown, inner) = while (
    i: tensor<I64, [], @host> = one - one, y: tensor<I64, [2], @host> = start, m: tensor<I64, [], @host> = one - one
  ) i < n {
    let (j, z) = while (j0: tensor<I64, [], @host> = i, z0: tensor<I64, [2], @host> = y) j0 < n {
      (j0 + one, twice(z0))
    };
    (i + one, z - x, m + j)
  };
  (grown, start, inner)
}
"""


def test_while_in_a_while_and_a_start_that_is_used_again() -> None:
    x, n = np.array([3, -5]), 3
    y, inner = x + x, 0
    for i in range(n):
        y, inner = y * 2 ** (n - i) - x, inner + n
    check_runs(NESTED, [x, np.array(n)], [y, x + x, np.array(inner)])


def literal(dtype: str, values: Array) -> str:
    """The text of a rank-1 literal of these values, in the language's own spelling of a float."""
    spelled = [spell(value.item() if dtype != "BF16" else float(value)) for value in values]
    return f"tensor<{dtype}, [{len(values)}], @host>[{', '.join(spelled)}]"


def spell(value: float) -> str:
    if isinstance(value, float):
        return value.hex() if math.isfinite(value) else str(value)
    return str(int(value))


@pytest.mark.parametrize("dtype", ALL)
def test_literals_keep_every_bit(dtype: str) -> None:
    values = edges(dtype)
    text = f"let f = fn() -> tensor<{dtype}, [{len(values)}], @host> {{ {literal(dtype, values)} }}"
    check_runs(text, [], [values])


def test_equal_bits_make_a_splat_and_equal_numbers_do_not() -> None:
    result = "tensor<F32, [2], @host>"
    same = emitted(parse(f"let f = fn() -> {result} {{ {literal('F32', array('F32', [-0.0, -0.0]))} }}"))
    assert "dense<-0.000000e+00> : tensor<2xf32>" in same
    signs = emitted(parse(f"let f = fn() -> {result} {{ {literal('F32', array('F32', [-0.0, 0.0]))} }}"))
    assert "dense<[-0.000000e+00, 0.000000e+00]>" in signs
    nans = emitted(parse(f"let f = fn() -> {result} {{ {literal('F32', array('F32', [math.nan, math.nan]))} }}"))
    assert "dense<0x7FC00000> : tensor<2xf32>" in nans


def test_a_literal_is_not_written_through() -> None:
    """Two handles to one constant, one of them added to: the constant stays."""
    text = """
    let f = fn() -> (tensor<F32, [2], @host>, tensor<F32, [2], @host>) {
      let c = tensor<F32, [2], @host>[1, 2];
      let d = c + c;
      (d, tensor<F32, [2], @host>[1, 2])
    }
    """
    check_runs(text, [], [np.array([2, 4], np.float32), np.array([1, 2], np.float32)])


def test_the_default_nan_has_the_bits_of_ieee() -> None:
    program = parse("let f = fn() -> tensor<F64, [], @host> { tensor<F64, [], @host>nan }")
    (got,) = call(jit(program), program.fns[0])
    assert got.tobytes() == struct.pack("<d", math.nan)


def test_parameters_are_not_written_to() -> None:
    """A parameter that a `while` carries is copied before the loop stores into the carry."""
    text = COUNT.format(dtype="I64", shape=[], one="1")
    x, n = random("F32", (2,), 7), np.array(3)
    before = x.copy()
    call(jit(parse(text)), parse(text).fns[0], x, n)
    check_bits(x, before)
