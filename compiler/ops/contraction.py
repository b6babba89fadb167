"""The matrix product.

F16 and BF16 products are accumulated in F32 and rounded once, as PyTorch does; integers wrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compiler.ops.rules import dims, need_number, need_same_dtype
from compiler.ops.table import Attrs, Op, Refusal
from compiler.types import TensorType, wide

if TYPE_CHECKING:
    from compiler.builder import Builder, Scalar, Value


def _infer_matmul(types: Sequence[TensorType], _attrs: Attrs) -> TensorType:
    """[.., M, K] @ [.., K, N] -> [.., M, N] with equal batch dims."""
    need_number("@", types[0].dtype)
    need_same_dtype("@", types)
    left, right = types[0].shape, types[1].shape
    if len(left) != len(right) or len(left) < 2:
        raise Refusal(
            "matmul-rank", f"`@` needs operands of one rank, at least 2, got ranks {len(left)} and {len(right)}"
        )
    if left[:-2] != right[:-2]:
        raise Refusal("matmul-batch", f"`@` needs equal batch dims, got {dims(left[:-2])} and {dims(right[:-2])}")
    if left[-1] != right[-2]:
        raise Refusal(
            "matmul-dims",
            f"`@` needs the left operand's columns to equal the right operand's rows, got {left[-1]} and {right[-2]}",
        )
    return types[0].with_shape((*left[:-1], right[-1]))


def _lower_matmul(b: Builder, args: Sequence[Value], _attrs: Attrs, result: TensorType) -> Value:
    """linalg.matmul and linalg.batch_matmul where they fit, a generic op with more batch dims."""
    total = b.fill(result.with_dtype(wide(result.dtype)), 0)
    if result.rank <= 3:
        name = "linalg.matmul" if result.rank == 2 else "linalg.batch_matmul"
        product = b.named(name, [x.mlir for x in args], total)
    else:
        product = _batched(b, args, total)
    return b.convert(product, result.dtype)


def _batched(b: Builder, args: Sequence[Value], total: Value) -> Value:
    rank = total.type.rank
    batch, (m, n, k) = tuple(range(rank - 2)), (rank - 2, rank - 1, rank)
    operands = [(args[0], (*batch, m, k)), (args[1], (*batch, k, n))]
    dtype = total.type.dtype
    multiply, add = ("arith.mulf", "arith.addf") if dtype.kind == "float" else ("arith.muli", "arith.addi")

    def body(x: Scalar, y: Scalar, old: Scalar) -> list[Scalar]:
        return [b.emit(add, old, b.emit(multiply, x, y))]

    return b.generic(operands, [(total, (*batch, m, n))], b.widened(operands, body), {k})[0]


CONTRACTIONS = (Op("matmul", (2, 2), _infer_matmul, _lower_matmul, infix="@"),)
