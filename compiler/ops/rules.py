"""Typing rules that several ops share, each a function that returns or raises `Refusal`.

A message stands alone: it names the op in backticks and both facts. What an op does with a legal operand is in the
op's own module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from compiler.ops.table import Attrs, Refusal
from compiler.types import DType, TensorType


def dims(shape: Sequence[int]) -> str:
    """A shape as the language writes it."""
    return f"[{', '.join(map(str, shape))}]"


def int_attr(attrs: Attrs, name: str) -> int:
    """An attribute whose `Attr` says "int"; the checker has seen to it."""
    return cast("int", attrs[name])


def ints_attr(attrs: Attrs, name: str) -> tuple[int, ...]:
    """An attribute whose `Attr` says "ints"; the checker has seen to it."""
    return cast("tuple[int, ...]", attrs[name])


def need_same_dtype(op: str, types: Sequence[TensorType]) -> None:
    """There is no implicit conversion."""
    for other in types[1:]:
        if other.dtype != types[0].dtype:
            raise Refusal(
                "same-dtype",
                f"`{op}` needs operands of one dtype, got {types[0].dtype} and {other.dtype}; convert one with `cast`",
            )


def need_same_type(op: str, types: Sequence[TensorType]) -> None:
    """One dtype and one shape: there is no implicit conversion and no implicit broadcasting."""
    need_same_dtype(op, types)
    for other in types[1:]:
        if other.shape != types[0].shape:
            raise Refusal(
                "same-shape",
                f"`{op}` needs operands of one shape, got {dims(types[0].shape)} and {dims(other.shape)};"
                " expand one with `broadcast`",
            )


def need_number(op: str, dtype: DType) -> None:
    """Arithmetic and order are for numbers; BOOL has `==` and `select`."""
    if dtype.kind == "bool":
        raise Refusal("number-only", f"`{op}` needs numbers, got {dtype}; convert with `cast` or choose with `select`")


def need_float(op: str, dtype: DType) -> None:
    """For what has no integer meaning here: quotients, transcendental functions, softmax."""
    if dtype.kind != "float":
        raise Refusal("float-only", f"`{op}` needs a float dtype, got {dtype}; convert with `cast` first")


def need_axis(op: str, operand: TensorType, attrs: Attrs) -> int:
    """The axis, counted from 0 at the left; negative axes are not in the language."""
    axis = int_attr(attrs, "axis")
    if operand.rank == 0:
        raise Refusal("axis-range", f"`{op}` needs an operand with an axis, got rank 0 and axis {axis}")
    if not 0 <= axis < operand.rank:
        raise Refusal(
            "axis-range",
            f"`{op}` needs an axis from 0 to {operand.rank - 1} for an operand of rank {operand.rank}, got {axis}",
        )
    return axis


def need_dims(op: str, shape: Sequence[int]) -> None:
    """A shape given as an attribute obeys the rule of types: every dim is at least 1."""
    for dim in shape:
        if dim < 1:
            raise Refusal("shape-dims", f"`{op}` needs every dim of its shape to be at least 1, got {dims(shape)}")
