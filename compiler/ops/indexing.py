"""`gather`: rows of a table chosen by ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compiler.ops.table import Attrs, Op, Refusal
from compiler.types import TensorType

if TYPE_CHECKING:
    from compiler.builder import Builder, Scalar, Value


def _infer_gather(types: Sequence[TensorType], _attrs: Attrs) -> TensorType:
    """table [V, rest..], ids of any shape -> ids.shape + rest."""
    table, ids = types
    if table.rank == 0:
        raise Refusal("gather-table", f"`gather` needs a table of rank 1 or more, got rank 0 ({table})")
    if ids.dtype.kind != "int":
        raise Refusal("gather-ids", f"`gather` needs ids of dtype I64 or I32, got {ids.dtype}")
    return table.with_shape(ids.shape + table.shape[1:])


def _lower_gather(b: Builder, args: Sequence[Value], _attrs: Attrs, result: TensorType) -> Value:
    """An id outside [0, V) is clamped in its own dtype, before any conversion could wrap it."""
    table, ids = args
    dtype, rank = ids.type.dtype, ids.type.rank
    last = min(table.type.shape[0] - 1, dtype.int_range[1])

    def body(id_: Scalar) -> Scalar:
        capped = b.emit("arith.minsi", id_, b.scalar(dtype, last))
        row = b.to_index(b.emit("arith.maxsi", capped, b.scalar(dtype, 0)))
        return b.extract(table, [row, *(b.index(axis) for axis in range(rank, result.rank))])

    return b.map(result, [(ids, tuple(range(rank)))], body)


INDEXING = (Op("gather", (2, 2), _infer_gather, _lower_gather),)
