"""Every op on every dtype and rank that its typing accepts: emitted, verified, of the type that was inferred."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from compiler.ops import OPS, Refusal
from compiler.syntax import AttrValue, Fn, Program
from compiler.types import DTYPES, I64, DType, TensorType
from tests.compiler.jit import emitted, fn_of

SHAPES = ((), (2,), (2, 2), (1, 2, 2), (2, 1, 2, 2), (1, 2, 1, 2, 2))

Trial = tuple[list[TensorType], dict[str, AttrValue]]


def trials(op: str, dtype: DType) -> Iterator[Trial]:
    """Operands and attributes that fit the op, at every rank; a rank it refuses is left to its typing."""
    for shape in SHAPES:
        x, rank = TensorType(dtype, shape), len(shape)
        operands = [x] * OPS[op].arity[0]
        if op == "select":
            operands[0] = x.with_dtype(DTYPES["BOOL"])
        if op == "gather":
            operands[1] = TensorType(I64, shape[:2])  # more would exceed the language's rank
        yield from ((operands, attrs) for attrs in attributes(op, shape, rank))


def attributes(op: str, shape: tuple[int, ...], rank: int) -> Iterator[dict[str, AttrValue]]:
    last = max(rank - 1, 0)
    match op:
        case "sum" | "max" | "argmax" | "softmax" | "concat":
            for axis in range(max(rank, 1)):
                yield {"axis": axis}
        case "slice":
            yield {"axis": last, "start": 1, "stop": 2}
        case "pad":
            yield {"axis": 0, "low": 1, "high": 2}
        case "reshape":
            yield {"shape": (*shape[::-1], 1)}
        case "broadcast":
            yield {"shape": (3, *(2 for _ in shape))}
        case "transpose":
            yield {"perm": tuple(reversed(range(rank)))}
        case "cast":
            for dtype in DTYPES:
                yield {"dtype": dtype}
        case _:
            yield {}


def accepted(op: str) -> Iterator[Trial]:
    for dtype in DTYPES.values():
        for operands, attrs in trials(op, dtype):
            try:
                OPS[op].infer(operands, attrs)
            except Refusal:
                continue
            yield operands, attrs


@pytest.mark.parametrize("op", OPS)
def test_what_is_accepted_is_lowered(op: str) -> None:
    fns: list[Fn] = [fn_of(f"f{i}", op, operands, attrs) for i, (operands, attrs) in enumerate(accepted(op))]
    assert len(fns) >= 4 * 4, "four float dtypes and four ranks at least"
    lines = [line for line in emitted(Program(tuple(fns))).splitlines() if "func.func" in line]
    assert [line.split("-> ")[1].split(" attributes")[0] for line in lines] == [mlir_type(fn) for fn in fns]


def mlir_type(fn: Fn) -> str:
    """The result's type as MLIR writes it; a BOOL is a byte."""
    result = fn.results[0]
    element = {"F16": "f16", "BF16": "bf16", "F32": "f32", "F64": "f64", "I32": "i32", "I64": "i64", "BOOL": "i8"}
    return f"tensor<{'x'.join([*map(str, result.shape), element[result.dtype.name]])}>"
