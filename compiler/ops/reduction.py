"""Ops along one axis: `sum`, `max`, `argmax`, `softmax`.

F16 and BF16 sums and softmax are computed in F32 and rounded once at the end, as PyTorch does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from compiler.ops.rules import int_attr, need_axis, need_float, need_number
from compiler.ops.table import Attr, Attrs, Op
from compiler.types import I64, DType, TensorType, wide

if TYPE_CHECKING:
    from compiler.builder import Builder, Scalar, Value

_AXIS = (Attr("axis", "int"),)


def _infer_reduced(name: str) -> Callable[[Sequence[TensorType], Attrs], TensorType]:
    def infer(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
        need_number(name, types[0].dtype)
        axis = need_axis(name, types[0], attrs)
        return types[0].with_shape(types[0].shape[:axis] + types[0].shape[axis + 1 :])

    return infer


def _infer_argmax(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    return _infer_reduced("argmax")(types, attrs).with_dtype(I64)


def _infer_softmax(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    need_float("softmax", types[0].dtype)
    need_axis("softmax", types[0], attrs)
    return types[0]


def _least(dtype: DType) -> int | float:
    """The identity of a maximum: -inf, not the lowest finite number, which would win over a row of -inf."""
    return -math.inf if dtype.kind == "float" else dtype.int_range[0]


def _lower_reduced(float_op: str, int_op: str, start: Callable[[DType], int | float]) -> Callable[..., Value]:
    def lower(b: Builder, args: Sequence[Value], attrs: Attrs, result: TensorType) -> Value:
        (x,), axis = args, int_attr(attrs, "axis")
        mlir_op = float_op if result.dtype.kind == "float" else int_op
        total = b.reduce(x, axis, start(x.type.dtype), lambda new, old: b.emit(mlir_op, old, new))
        return b.convert(total, result.dtype)

    return lower


def _lower_softmax(b: Builder, args: Sequence[Value], attrs: Attrs, result: TensorType) -> Value:
    """exp(x - max) / sum, every step in F32 or wider. A row of -inf gives NaN: -inf - -inf."""
    (x,), axis = args, int_attr(attrs, "axis")
    top = b.reduce(x, axis, -math.inf, lambda new, old: b.emit("arith.maximumf", old, new))
    powers = b.beside(
        result.with_dtype(top.type.dtype), x, top, axis, lambda x, m: b.emit("math.exp", b.emit("arith.subf", x, m))
    )
    total = b.reduce(powers, axis, 0.0, lambda new, old: b.emit("arith.addf", old, new))
    return b.beside(result, powers, total, axis, lambda e, s: b.emit("arith.divf", e, s))


def _lower_argmax(b: Builder, args: Sequence[Value], attrs: Attrs, result: TensorType) -> Value:
    """One pass with two accumulators: the best value so far and its index, replaced only by a better one.

    They begin at the identity of a maximum and index 0, so a row of -inf gives 0.
    """
    (x,), axis = args, int_attr(attrs, "axis")
    dtype = wide(x.type.dtype)

    def body(new: Scalar, best: Scalar, best_at: Scalar) -> list[Scalar]:
        better = _better(b, dtype, new, best)
        here = b.from_index(b.index(axis), I64)
        return [b.select(better, new, best), b.select(better, here, best_at)]

    starts = [b.fill(result.with_dtype(dtype), _least(dtype)), b.fill(result, 0)]
    return b.fold(x, axis, starts, body)[1]


def _better(b: Builder, dtype: DType, new: Scalar, best: Scalar) -> Scalar:
    """Greater; a NaN is greater than any number, and a NaN is never replaced, so that the first one wins."""
    if dtype.kind == "int":
        return b.compare("gt", dtype, new, best)
    return b.emit("arith.andi", b.compare("ugt", dtype, new, best), b.compare("ord", dtype, best, best))


REDUCTIONS = (
    Op("sum", (1, 1), _infer_reduced("sum"), _lower_reduced("arith.addf", "arith.addi", lambda _: 0), _AXIS),
    Op("max", (1, 1), _infer_reduced("max"), _lower_reduced("arith.maximumf", "arith.maxsi", _least), _AXIS),
    Op("argmax", (1, 1), _infer_argmax, _lower_argmax, _AXIS),
    Op("softmax", (1, 1), _infer_softmax, _lower_softmax, _AXIS),
)
