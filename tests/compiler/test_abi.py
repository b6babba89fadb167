"""The host boundary: results are right and their own, whatever they are views of; nothing is written, kept or lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import combinations, product

import ml_dtypes
import numpy as np
import pytest
from mlir import ir

from compiler import backend, pipeline
from compiler.abi import CallError
from compiler.arrays import Array
from compiler.backend import Compiled
from compiler.checker import check, signature
from compiler.lowering import lower
from compiler.parser import parse
from compiler.scope import MAX_VALUES
from compiler.types import F32, I64, TensorType
from tests.compiler.built import shared_object

M = "tensor<F32, [3, 4], @host>"
PROGRAM = f"""
let same = fn(x: {M}) -> {M} {{ x }}
let twice = fn(x: {M}) -> ({M}, {M}) {{ (x, x) }}
let crossed = fn(x: {M}, y: {M}) -> ({M}, {M}, {M}) {{ (y, x, y) }}
let fresh_twice = fn(x: {M}) -> ({M}, {M}) {{ let y = -x; (y, y) }}
let row = fn(x: {M}) -> tensor<F32, [1, 4], @host> {{ slice(x, axis=0, start=1, stop=2) }}
let columns = fn(x: {M}) -> tensor<F32, [3, 2], @host> {{ slice(x, axis=1, start=1, stop=3) }}
let part_and_whole = fn(x: {M}) -> (tensor<F32, [3, 1], @host>, {M}, tensor<F32, [2, 4], @host>) {{
  let y = -x;
  (slice(y, axis=1, start=3, stop=4), y, slice(y, axis=0, start=1, stop=3))
}}
let slice_of_slice = fn(x: {M}) -> tensor<F32, [2, 1], @host> {{
  slice(slice(x, axis=0, start=1, stop=3), axis=1, start=2, stop=3)
}}
let flat = fn(x: {M}) -> (tensor<F32, [12], @host>, tensor<F32, [2, 1, 6], @host>) {{
  (reshape(x, shape=[12]), reshape(x, shape=[2, 1, 6]))
}}
let flat_columns = fn(x: {M}) -> tensor<F32, [6], @host> {{
  reshape(slice(x, axis=1, start=1, stop=3), shape=[6])
}}
let turned = fn(x: {M}) -> (tensor<F32, [4, 3], @host>, tensor<F32, [3, 4], @host>, tensor<F32, [2, 3], @host>) {{
  let y = transpose(x, perm=[1, 0]);
  (y, transpose(y, perm=[1, 0]), transpose(slice(x, axis=1, start=1, stop=3), perm=[1, 0]))
}}
let constant = fn() -> (tensor<I64, [2, 2], @host>, tensor<I64, [2, 2], @host>, tensor<I64, [2, 1], @host>) {{
  let c = tensor<I64, [2, 2], @host>[[1, 2], [3, 4]];
  (c, c, slice(c, axis=1, start=1, stop=2))
}}
let scalar = fn(x: tensor<F64, [], @host>) -> (tensor<F64, [], @host>, tensor<F64, [], @host>) {{ (x, -x) }}
let truth = fn(x: {M}, c: tensor<BOOL, [3], @host>) -> (tensor<BOOL, [3, 4], @host>, tensor<BOOL, [2], @host>) {{
  (x < -x, slice(c, axis=0, start=1, stop=3))
}}
let half = fn(x: tensor<F16, [2, 3], @host>) -> (tensor<F16, [2, 1], @host>, tensor<F16, [2, 3], @host>) {{
  (slice(x, axis=1, start=1, stop=2), -x)
}}
let brain = fn(x: tensor<BF16, [2, 3], @host>) -> (tensor<BF16, [2, 1], @host>, tensor<BF16, [2, 3], @host>) {{
  (slice(x, axis=1, start=1, stop=2), -x)
}}
let called = fn(x: {M}) -> (tensor<F32, [3, 2], @host>, {M}, {M}) {{
  let (a, b) = twice(x);
  let (c, d) = fresh_twice(same(a));
  (columns(d), b, c)
}}
let looped = fn(x: {M}) -> ({M}, tensor<I64, [], @host>, {M}) {{
  let zero = tensor<I64, [], @host> 0;
  let one = tensor<I64, [], @host> 1;
  let three = tensor<I64, [], @host> 3;
  let (n, y, z) = while (i: tensor<I64, [], @host> = zero, a: {M} = x, b: {M} = -x) i < three {{ (i + one, b, a) }};
  (y, n, z)
}}
"""
X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5.5
Y = X[::-1].copy() * 2
C = np.array([[1, 2], [3, 4]])
C_BOOL = np.array([True, False, True])
H = np.array([[1, 2, -3], [0.5, -0.0, np.inf]], np.float16)
B = H.astype(ml_dtypes.bfloat16)

CASES: dict[str, tuple[tuple[Array, ...], Callable[..., tuple[Array, ...]]]] = {
    "same": ((X,), lambda x: (x,)),
    "twice": ((X,), lambda x: (x, x)),
    "crossed": ((X, Y), lambda x, y: (y, x, y)),
    "fresh_twice": ((X,), lambda x: (-x, -x)),
    "row": ((X,), lambda x: (x[1:2],)),
    "columns": ((X,), lambda x: (x[:, 1:3],)),
    "part_and_whole": ((X,), lambda x: (-x[:, 3:], -x, -x[1:])),
    "slice_of_slice": ((X,), lambda x: (x[1:3, 2:3],)),
    "flat": ((X,), lambda x: (x.reshape(12), x.reshape(2, 1, 6))),
    "flat_columns": ((X,), lambda x: (x[:, 1:3].reshape(6),)),
    "turned": ((X,), lambda x: (x.T.copy(), x, x[:, 1:3].T.copy())),
    "constant": ((), lambda: (C, C, C[:, 1:])),
    "scalar": ((np.array(2.5),), lambda x: (x, np.negative(x))),
    "truth": ((X, C_BOOL), lambda x, c: (x < -x, c[1:])),
    "half": ((H,), lambda x: (x[:, 1:2], -x)),
    "brain": ((B,), lambda x: (x[:, 1:2], -x)),
    "called": ((X,), lambda x: (-x[:, 1:3], x, -x)),
    "looped": ((X,), lambda x: (-x, np.array(3), x)),
}


@contextmanager
def built(text: str, build: str) -> Iterator[Compiled]:
    """A program's fns from a `.so`, or from the JIT at an -O level."""
    program = parse(text)
    if build == "so":
        with shared_object(program, opt_level=0) as compiled:
            yield compiled
        return
    checked = check(program)
    module = lower(checked, ir.Context())
    pipeline.run(module, pipeline.DEFAULT)
    signatures = {fn.name: signature(checked, fn.name) for fn in program.fns}
    with closing(backend.compile_jit(module, signatures, int(build[-1]))) as compiled:
        yield compiled


@pytest.fixture(scope="module", params=["jit-O0", "jit-O2", "so"])
def fns(request: pytest.FixtureRequest) -> Iterator[Compiled]:
    with built(PROGRAM, request.param) as compiled:
        yield compiled


def check_results(results: tuple[Array, ...], expected: tuple[Array, ...], arguments: tuple[Array, ...]) -> None:
    """Equal bit by bit, and memory of their own: not the arguments', not each other's, not the callee's."""
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
        assert result.tobytes() == wanted.tobytes()
        assert result.flags.owndata
        assert result.flags.writeable
        assert result.flags.c_contiguous
    for one, other in [*combinations(results, 2), *product(results, arguments)]:
        assert not np.shares_memory(one, other)


@pytest.mark.parametrize("name", CASES)
def test_results_are_right_and_their_own(fns: Compiled, name: str) -> None:
    arguments, expected = CASES[name]
    before = [argument.tobytes() for argument in arguments]
    results = fns.call(name, *arguments)
    check_results(results, expected(*arguments), arguments)
    for result in results:  # what the host does to a result reaches neither the arguments nor the next call's results
        result.fill(0)
    assert [argument.tobytes() for argument in arguments] == before
    check_results(fns.call(name, *arguments), expected(*arguments), arguments)


READ_ONLY = X.copy()
READ_ONLY.flags.writeable = False
UNALIGNED = np.frombuffer(b"\0" + X.tobytes(), np.float32, offset=1).reshape(3, 4)
LAYOUTS: dict[str, Array] = {
    "columns first": np.asfortranarray(X),
    "every other element": np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": X[::-1, ::-1],
    "one row for all": np.broadcast_to(X[0], (3, 4)),
    "read-only": READ_ONLY,
    "unaligned": UNALIGNED,
    "part of a larger array": np.pad(X, 2)[2:5, 2:6],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_argument_may_lie_in_memory_in_any_way(fns: Compiled, layout: str) -> None:
    x = LAYOUTS[layout]
    for name in ("same", "columns", "fresh_twice", "flat"):
        arguments, expected = (x,), CASES[name][1]
        check_results(fns.call(name, *arguments), tuple(map(np.ascontiguousarray, expected(x))), ())


def test_one_array_may_be_two_arguments(fns: Compiled) -> None:
    check_results(fns.call("crossed", X, X), (X, X, X), (X,))


def check_call_refused(fns: Compiled, name: str, arguments: tuple[Array, ...], *facts: str) -> None:
    with pytest.raises(CallError) as refused:
        fns.call(name, *arguments)
    for fact in facts:
        assert fact in str(refused.value)


def test_arguments_that_do_not_fit_are_refused_before_the_call(fns: Compiled) -> None:
    check_call_refused(fns, "same", (), "`same`", "1 argument", "got 0")
    check_call_refused(fns, "crossed", (X,), "`crossed`", "2 arguments", "got 1")
    check_call_refused(fns, "same", (X.astype(np.float64),), "argument 0", M, "float64")
    check_call_refused(fns, "crossed", (X, X.T), "argument 1", M, "[4, 3]")
    check_call_refused(fns, "scalar", (np.ones(1),), "[]", "[1]")
    check_call_refused(fns, "brain", (H,), "BF16", "float16")
    check_call_refused(fns, "truth", (X, C_BOOL.astype(np.int8)), "BOOL", "int8")


BY_HAND = """
func.func @kina_f(%x: memref<2xf32, strided<[?], offset: ?>>) -> memref<2xf32, strided<[?], offset: ?>>
    attributes {llvm.emit_c_interface} {
  %at = arith.constant 1 : index
  %value = arith.constant 7.0 : f32
  memref.store %value, %x[%at] : memref<2xf32, strided<[?], offset: ?>>
  return %x : memref<2xf32, strided<[?], offset: ?>>
}
"""


def call_by_hand(text: str, result: TensorType, *arguments: Array) -> tuple[Array, ...]:
    """The results of `kina_f`, which takes vectors of two F32, with the result type that is claimed for it."""
    module = ir.Module.parse(text, ir.Context())
    pipeline.run(module, pipeline.DEFAULT)
    signatures = {"f": ((TensorType(F32, (2,)),) * len(arguments), (result,))}
    with closing(backend.compile_jit(module, signatures, 0)) as compiled:
        return compiled.call("f", *arguments)


def test_code_that_writes_to_its_argument_is_found_out_and_does_no_harm() -> None:
    x = np.array([1, 2], np.float32)
    with pytest.raises(CallError, match="`f` wrote to its argument 0"):
        call_by_hand(BY_HAND, TensorType(F32, (2,)), x)
    assert x.tolist() == [1, 2]


def test_a_result_of_another_shape_than_declared_is_found_out() -> None:
    text = BY_HAND.replace("memref.store", "// memref.store")
    with pytest.raises(CallError, match=r"shape \[3\] and returned \[2\]"):
        call_by_hand(text, TensorType(F32, (3,)), np.zeros(2, np.float32))


STRIDES = """
func.func @kina_f() -> memref<2x3xi64, strided<[STRIDES], offset: OFFSET>> attributes {llvm.emit_c_interface} {
  %buffer = memref.alloc() : memref<32xi64>
  %from = arith.constant 0 : index
  %to = arith.constant 32 : index
  %step = arith.constant 1 : index
  scf.for %i = %from to %to step %step {
    %value = arith.index_cast %i : index to i64
    memref.store %value, %buffer[%i] : memref<32xi64>
  }
  %view = memref.reinterpret_cast %buffer to offset: [OFFSET], sizes: [2, 3], strides: [STRIDES]
    : memref<32xi64> to memref<2x3xi64, strided<[STRIDES], offset: OFFSET>>
  return %view : memref<2x3xi64, strided<[STRIDES], offset: OFFSET>>
}
"""


@pytest.mark.parametrize(
    ("offset", "strides"),
    [(0, (3, 1)), (5, (3, 1)), (4, (1, 2)), (7, (8, 3)), (20, (-3, -1)), (10, (0, 1)), (1, (0, 0)), (9, (5, -4))],
)
def test_a_result_is_read_by_its_own_offset_and_strides(offset: int, strides: tuple[int, int]) -> None:
    text = STRIDES.replace("OFFSET", str(offset)).replace("STRIDES", ", ".join(map(str, strides)))
    (result,) = call_by_hand(text, TensorType(I64, (2, 3)))
    assert result.tolist() == [[offset + i * strides[0] + j * strides[1] for j in range(3)] for i in range(2)]


def test_a_fn_of_as_many_parameters_as_the_checker_takes() -> None:
    params = ", ".join(f"x{at}: tensor<F32, [], @host>" for at in range(MAX_VALUES))
    text = f"let f = fn({params}) -> tensor<F32, [], @host> {{ x{MAX_VALUES - 1} - x0 }}"
    with built(text, "jit-O0") as compiled:
        (result,) = compiled.call("f", *(np.array(at + 1, np.float32) for at in range(MAX_VALUES)))
    assert result == MAX_VALUES - 1
