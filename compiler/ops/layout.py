"""Ops that move elements and change no bit of them: `reshape transpose broadcast slice concat pad`.

`gather` moves elements too, but by value; it is in `indexing.py`.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING

from compiler.ops.rules import dims, int_attr, ints_attr, need_axis, need_dims, need_same_dtype
from compiler.ops.table import Attr, Attrs, Op, Refusal
from compiler.types import TensorType

if TYPE_CHECKING:
    from compiler.builder import Builder, Value


def _infer_reshape(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (operand,), shape = types, ints_attr(attrs, "shape")
    need_dims("reshape", shape)
    if math.prod(shape) != operand.size:
        raise Refusal(
            "reshape-count",
            f"`reshape` keeps the number of elements, got {operand.size} in {dims(operand.shape)}"
            f" and {math.prod(shape)} in {dims(shape)}",
        )
    return operand.with_shape(shape)


def _lower_reshape(b: Builder, args: Sequence[Value], _attrs: Attrs, result: TensorType) -> Value:
    """Collapse each group of dims to one, then expand it: the groups are as small as the two shapes allow."""
    source_groups, result_groups = common_groups(args[0].type.shape, result.shape)
    flat = b.collapse(args[0], source_groups)
    return b.expand(flat, result.shape, result_groups)


Groups = list[list[int]]


def common_groups(source: Sequence[int], target: Sequence[int]) -> tuple[Groups, Groups]:
    """Splits both shapes into the same number of groups of neighbouring dims with equal products.

    [2, 3, 4] and [6, 2, 2] give [[0, 1], [2]] and [[0], [1, 2]]: a group ends where both have the same product so far.
    A shape of rank 0 leaves no group at all, which MLIR reads as "every dim of the other shape is 1".
    """
    if not source or not target:
        return [], []
    ends = sorted(set(accumulate(source, mul)) & set(accumulate(target, mul)))
    return _grouped(source, ends), _grouped(target, ends)


def _grouped(shape: Sequence[int], ends: list[int]) -> Groups:
    groups: Groups = [[] for _ in ends]
    for axis, size_so_far in enumerate(accumulate(shape, mul)):
        groups[bisect_left(ends, size_so_far)].append(axis)
    return groups


def _infer_transpose(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (operand,), perm = types, ints_attr(attrs, "perm")
    if sorted(perm) != list(range(operand.rank)):
        raise Refusal(
            "perm", f"`transpose` needs a permutation of the {operand.rank} axes from 0, got perm {dims(perm)}"
        )
    return operand.with_shape(tuple(operand.shape[axis] for axis in perm))


def _lower_transpose(b: Builder, args: Sequence[Value], attrs: Attrs, result: TensorType) -> Value:
    """Rank 0 has nothing to permute, and linalg.transpose's verifier cannot take it."""
    return b.transpose(args[0], result, ints_attr(attrs, "perm")) if result.rank else args[0]


def _infer_broadcast(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (operand,), shape = types, ints_attr(attrs, "shape")
    need_dims("broadcast", shape)
    if operand.rank > len(shape):
        raise Refusal(
            "broadcast-shape",
            f"`broadcast` cannot drop dims, got {dims(operand.shape)} of rank {operand.rank}"
            f" for {dims(shape)} of rank {len(shape)}",
        )
    for own, new in zip(operand.shape, shape[len(shape) - operand.rank :], strict=True):
        if own not in (1, new):
            raise Refusal(
                "broadcast-shape",
                f"`broadcast` expands dims of size 1 only, got {own} for {new} in {dims(operand.shape)}"
                f" to {dims(shape)}",
            )
    return operand.with_shape(shape)


def _lower_broadcast(b: Builder, args: Sequence[Value], _attrs: Attrs, result: TensorType) -> Value:
    """Aligned at the right; a dim that expands is read at index 0 throughout."""
    own = args[0].type.shape
    missing = result.rank - len(own)
    reads = tuple(None if dim == 1 else missing + axis for axis, dim in enumerate(own))
    return b.map(result, [(args[0], reads)], lambda x: x)


def _infer_slice(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (operand,) = types
    axis = need_axis("slice", operand, attrs)
    start, stop, dim = int_attr(attrs, "start"), int_attr(attrs, "stop"), operand.shape[axis]
    if not 0 <= start < stop <= dim:
        raise Refusal(
            "slice-range",
            f"`slice` needs 0 <= start < stop <= {dim} on axis {axis} of {dims(operand.shape)},"
            f" got start {start} and stop {stop}",
        )
    return operand.with_shape(_resized(operand.shape, axis, stop - start))


def _resized(shape: tuple[int, ...], axis: int, dim: int) -> tuple[int, ...]:
    return (*shape[:axis], dim, *shape[axis + 1 :])


def _lower_slice(b: Builder, args: Sequence[Value], attrs: Attrs, result: TensorType) -> Value:
    return b.extract_slice(args[0], result, _offsets(result.rank, int_attr(attrs, "axis"), int_attr(attrs, "start")))


def _offsets(rank: int, axis: int, offset: int) -> tuple[int, ...]:
    return _resized((0,) * rank, axis, offset)


def _infer_concat(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    first = types[0]
    need_same_dtype("concat", types)
    axis = need_axis("concat", first, attrs)
    for other in types[1:]:
        _need_joinable(first.shape, other.shape, axis)
    return first.with_shape(_resized(first.shape, axis, sum(t.shape[axis] for t in types)))


def _need_joinable(first: tuple[int, ...], other: tuple[int, ...], axis: int) -> None:
    if len(first) != len(other):
        raise Refusal("concat-rank", f"`concat` needs operands of one rank, got {len(first)} and {len(other)}")
    for at, (left, right) in enumerate(zip(first, other, strict=True)):
        if at != axis and left != right:
            raise Refusal(
                "concat-dims",
                f"`concat` on axis {axis} needs equal sizes on every other axis, got {left} and {right} on axis {at}",
            )


def _lower_concat(b: Builder, args: Sequence[Value], attrs: Attrs, result: TensorType) -> Value:
    """A chain of inserts: tensor.concat is decomposed to the same, but only by a pass of its own."""
    axis = int_attr(attrs, "axis")
    starts = accumulate((x.type.shape[axis] for x in args), initial=0)
    whole = b.empty(result)
    for start, part in zip(starts, args, strict=False):  # the last start is the end
        whole = b.insert_slice(part, whole, _offsets(result.rank, axis, start))
    return whole


def _infer_pad(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (operand,) = types
    axis = need_axis("pad", operand, attrs)
    low, high = int_attr(attrs, "low"), int_attr(attrs, "high")
    if low < 0 or high < 0:
        raise Refusal("pad-amount", f"`pad` adds zeros and cannot remove, got low {low} and high {high}")
    return operand.with_shape(_resized(operand.shape, axis, low + operand.shape[axis] + high))


def _lower_pad(b: Builder, args: Sequence[Value], attrs: Attrs, result: TensorType) -> Value:
    offsets = _offsets(result.rank, int_attr(attrs, "axis"), int_attr(attrs, "low"))
    return b.insert_slice(args[0], b.fill(result, 0), offsets)


_AXIS = Attr("axis", "int")

LAYOUT = (
    Op("reshape", (1, 1), _infer_reshape, _lower_reshape, (Attr("shape", "ints"),)),
    Op("transpose", (1, 1), _infer_transpose, _lower_transpose, (Attr("perm", "ints"),)),
    Op("broadcast", (1, 1), _infer_broadcast, _lower_broadcast, (Attr("shape", "ints"),)),
    Op("slice", (1, 1), _infer_slice, _lower_slice, (_AXIS, Attr("start", "int"), Attr("stop", "int"))),
    Op("concat", (2, sys.maxsize), _infer_concat, _lower_concat, (_AXIS,)),
    Op("pad", (1, 1), _infer_pad, _lower_pad, (_AXIS, Attr("low", "int"), Attr("high", "int"))),
)
