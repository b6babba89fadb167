"""Every op on every dtype and rank that its typing accepts: emitted, verified, of the type that was inferred."""

from __future__ import annotations

import pytest

from compiler.ops import OPS
from compiler.syntax import Fn, Program
from tests.compiler.jit import emitted
from tests.compiler.trials import uses_of_op


@pytest.mark.parametrize("op", OPS)
def test_what_is_accepted_is_lowered(op: str) -> None:
    fns = [fn for (fn,) in uses_of_op(op)]
    assert len(fns) >= 4 * 4, "four float dtypes and four ranks at least"
    lines = [line for line in emitted(Program(tuple(fns))).splitlines() if "func.func" in line]
    assert [line.split("-> ")[1].split(" attributes")[0] for line in lines] == [mlir_type(fn) for fn in fns]


def mlir_type(fn: Fn) -> str:
    """The result's type as MLIR writes it; a BOOL is a byte."""
    result = fn.results[0]
    element = {"F16": "f16", "BF16": "bf16", "F32": "f32", "F64": "f64", "I32": "i32", "I64": "i64", "BOOL": "i8"}
    return f"tensor<{'x'.join([*map(str, result.shape), element[result.dtype.name]])}>"
