"""What an op's `lower` emits with: MLIR on tensors (linalg, tensor, arith, math), one small vocabulary for all ops.

Each method emits at the current insertion point of the context that was entered (see `compiler.lowering`). It takes
and gives `Value`s, or scalars inside the body of a `linalg.generic`. What the ops mean is in `compiler.ops`; nothing
here knows an op's name. No fast-math flag is ever set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, TypeAlias

from mlir import ir
from mlir.dialects.linalg import fill_builtin_region

from compiler.constants import dense, scalar_attribute
from compiler.ops.conversion import convert_scalar
from compiler.types import BOOL, I64, DType, TensorType, wide

# BOOL is stored as a byte, 0 or 1: the load and store of an i1 are an assertion failure in finalize-memref-to-llvm.
_ELEMENTS = {"F16": "f16", "BF16": "bf16", "F32": "f32", "F64": "f64", "I32": "i32", "I64": "i64", "BOOL": "i8"}
# The numbers of the predicates of arith.cmpf and arith.cmpi, from the dialect's definition.
_COMPARISONS = {
    "float": ("arith.cmpf", {"eq": 1, "ge": 3, "lt": 4, "le": 5, "ord": 7, "ugt": 9, "ult": 11, "ne": 13}),
    "int": ("arith.cmpi", {"eq": 0, "ne": 1, "lt": 2, "le": 3, "gt": 4, "ugt": 8}),
}


class Value(NamedTuple):
    """A tensor under construction: the SSA value and its Kina type."""

    mlir: ir.Value
    type: TensorType


Scalar: TypeAlias = ir.Value  # of an element type
Dims = tuple[int | None, ...]  # for each dim of an operand, the loop that runs over it; None stays at index 0
Operands = Sequence[tuple[Value, Dims]]
Body = Callable[..., Any]  # scalars in, a scalar or several out
Attributes = dict[str, ir.Attribute]


class Builder:
    """Emits ops; keeps the types and attributes that come up again and again."""

    def __init__(self, context: ir.Context) -> None:
        self._elements = {name: ir.Type.parse(text, context) for name, text in _ELEMENTS.items()}
        self._bit = ir.IntegerType.get_signless(1, context)
        self.bits16 = ir.IntegerType.get_signless(16, context)
        self._index = ir.IndexType.get(context)
        self._iterators = [
            ir.Attribute.parse(f"#linalg.iterator_type<{kind}>", context) for kind in ("parallel", "reduction")
        ]
        self._tensors: dict[TensorType, ir.Type] = {}
        self._maps: dict[tuple[int, Dims], ir.Attribute] = {}

    def element(self, dtype: DType) -> ir.Type:
        """The MLIR type of an element in storage."""
        return self._elements[dtype.name]

    def tensor(self, type_: TensorType) -> ir.Type:
        """The MLIR type of a tensor."""
        if type_ not in self._tensors:
            self._tensors[type_] = ir.RankedTensorType.get(type_.shape, self.element(type_.dtype))
        return self._tensors[type_]

    # Scalars, in the body of a generic op

    def emit(
        self, name: str, *operands: ir.Value, result: ir.Type | None = None, **attributes: ir.Attribute
    ) -> ir.Value:
        """An op with one result, of the first operand's type unless `result` says another."""
        result_type = operands[0].type if result is None else result
        return ir.Operation.create(name, [result_type], list(operands), attributes).result

    def scalar(self, dtype: DType, value: float) -> Scalar:
        """A constant."""
        element = self.element(dtype)
        return self.emit("arith.constant", result=element, value=scalar_attribute(dtype, element, value))

    def compare(self, predicate: str, dtype: DType, x: Scalar, y: Scalar) -> Scalar:
        """The bit that says how x stands to y, both of `dtype`.

        On a NaN `eq ge lt le ord` are false, `ne ugt ult` true; ints are signed but for `ugt`.
        """
        name, numbers = _COMPARISONS["float" if dtype.kind == "float" else "int"]
        number = ir.IntegerAttr.get(self.element(I64), numbers[predicate])
        return self.emit(name, x, y, result=self._bit, predicate=number)

    def select(self, condition: Scalar, x: Scalar, y: Scalar) -> Scalar:
        """x if the condition's bit is set, else y."""
        return self.emit("arith.select", condition, x, y, result=x.type)

    def bit(self, x: Scalar) -> Scalar:
        """The bit of a BOOL in storage."""
        return self.emit("arith.trunci", x, result=self._bit)

    def byte(self, bit: Scalar) -> Scalar:
        """A bit as a BOOL in storage."""
        return self.emit("arith.extui", bit, result=self.element(BOOL))

    def index(self, loop: int) -> Scalar:
        """The position on a loop, of MLIR's type index."""
        return self.emit("linalg.index", result=self._index, dim=ir.IntegerAttr.get(self.element(I64), loop))

    def to_index(self, x: Scalar) -> Scalar:
        """An integer as an index."""
        return self.emit("arith.index_cast", x, result=self._index)

    def from_index(self, position: Scalar, dtype: DType) -> Scalar:
        """An index as an integer."""
        return self.emit("arith.index_cast", position, result=self.element(dtype))

    def extract(self, tensor: Value, position: Sequence[Scalar]) -> Scalar:
        """One element, at a position of type index that must lie inside."""
        return self.emit("tensor.extract", tensor.mlir, *position, result=self.element(tensor.type.dtype))

    # Whole tensors

    def _whole(self, name: str, operands: Sequence[Value], result: TensorType, **attributes: ir.Attribute) -> Value:
        operands_ = [x.mlir for x in operands]
        return Value(self.emit(name, *operands_, result=self.tensor(result), **attributes), result)

    def empty(self, type_: TensorType) -> Value:
        """Storage of unspecified content, to be written."""
        return self._whole("tensor.empty", (), type_)

    def constant(self, type_: TensorType, values: Sequence[float]) -> Value:
        """A literal, values in row-major order."""
        return self._whole("arith.constant", (), type_, value=dense(type_, values, self.tensor(type_)))

    def fill(self, type_: TensorType, value: float) -> Value:
        """Every element the same."""
        return self.named("linalg.fill", [self.scalar(type_.dtype, value)], self.empty(type_))

    def transpose(self, x: Value, result: TensorType, perm: Sequence[int]) -> Value:
        """Axis i of the result is axis perm[i] of x."""
        operands, order = [x.mlir, self.empty(result).mlir], ir.DenseI64ArrayAttr.get(perm)
        op = ir.Operation.create("linalg.transpose", [self.tensor(result)], operands, {"permutation": order}, regions=1)
        fill_builtin_region(op)
        return Value(op.result, result)

    def collapse(self, x: Value, groups: Sequence[Sequence[int]]) -> Value:
        """Merges each group of neighbouring dims to one; no group at all: from dims of 1 to rank 0."""
        shape = tuple(math.prod(x.type.shape[dim] for dim in group) for group in groups)
        if shape == x.type.shape:
            return x
        return self._whole("tensor.collapse_shape", [x], x.type.with_shape(shape), reassociation=_nested(groups))

    def expand(self, x: Value, shape: tuple[int, ...], groups: Sequence[Sequence[int]]) -> Value:
        """Splits each dim to a group of neighbouring dims of `shape`."""
        if shape == x.type.shape:
            return x
        attributes = {"reassociation": _nested(groups), "static_output_shape": ir.DenseI64ArrayAttr.get(shape)}
        return self._whole("tensor.expand_shape", [x], x.type.with_shape(shape), **attributes)

    def extract_slice(self, x: Value, result: TensorType, offsets: Sequence[int]) -> Value:
        """The part of x of the result's shape that begins at `offsets`."""
        return self._whole("tensor.extract_slice", [x], result, **_window(offsets, result.shape, [1, 0, 0, 0]))

    def insert_slice(self, part: Value, whole: Value, offsets: Sequence[int]) -> Value:
        """`whole` with `part` written over it at `offsets`."""
        window = _window(offsets, part.type.shape, [1, 1, 0, 0, 0])
        return self._whole("tensor.insert_slice", [part, whole], whole.type, **window)

    def copy(self, x: Value) -> Value:
        """The same elements in storage of their own."""
        segments = ir.DenseI32ArrayAttr.get([0, 1, 0])
        return self._whole("bufferization.alloc_tensor", [x], x.type, operandSegmentSizes=segments)

    def store(self, x: Value, storage: ir.Value) -> ir.Value:
        """The elements of x in the storage of another tensor of its type."""
        return self.emit("bufferization.materialize_in_destination", x.mlir, storage)

    def named(self, name: str, inputs: Sequence[ir.Value], init: Value) -> Value:
        """A linalg op that MLIR writes the body of; inputs are tensors or scalars as MLIR values."""
        op = self._linalg(name, inputs, [init], {})
        fill_builtin_region(op)
        return Value(op.result, init.type)

    def _linalg(
        self, name: str, inputs: Sequence[ir.Value], inits: Sequence[Value], attributes: Attributes
    ) -> ir.Operation:
        sizes = ir.DenseI32ArrayAttr.get([len(inputs), len(inits)])
        operands = [*inputs, *(init.mlir for init in inits)]
        results = [self.tensor(init.type) for init in inits]
        return ir.Operation.create(name, results, operands, {**attributes, "operandSegmentSizes": sizes}, regions=1)

    # A body of scalars over loops

    def generic(self, inputs: Operands, inits: Operands, body: Body, reduced: Collection[int] = ()) -> list[Value]:
        """linalg.generic over all the loops the operands use; `reduced` loops run from 0 upwards.

        `body` takes a scalar of each input and of each init and returns a new scalar for each init.
        """
        operands = [*inputs, *inits]
        loops = 1 + max((loop for _, dims in operands for loop in dims if loop is not None), default=-1)
        attributes = {
            "indexing_maps": ir.ArrayAttr.get([self._map(loops, dims) for _, dims in operands]),
            "iterator_types": ir.ArrayAttr.get([self._iterators[loop in reduced] for loop in range(loops)]),
        }
        op = self._linalg("linalg.generic", [x.mlir for x, _ in inputs], [x for x, _ in inits], attributes)
        block = op.regions[0].blocks.append(*(self.element(x.type.dtype) for x, _ in operands))
        with ir.InsertionPoint(block):
            ir.Operation.create("linalg.yield", [], list(body(*block.arguments)))
        return [Value(new, init.type) for new, (init, _) in zip(op.results, inits, strict=True)]

    def _map(self, loops: int, dims: Dims) -> ir.Attribute:
        if (loops, dims) not in self._maps:
            exprs = [ir.AffineConstantExpr.get(0) if dim is None else ir.AffineDimExpr.get(dim) for dim in dims]
            self._maps[loops, dims] = ir.AffineMapAttr.get(ir.AffineMap.get(loops, 0, exprs))
        return self._maps[loops, dims]

    def widened(self, inputs: Operands, body: Body) -> Body:
        """`body` on scalars as they are computed with: F16 and BF16 as F32, BOOL as a bit. Inits stay as stored."""

        def wide_body(*scalars: Scalar) -> Scalar | Sequence[Scalar]:
            reads = [self._computed(x, read.type.dtype) for x, (read, _) in zip(scalars, inputs, strict=False)]
            return body(*reads, *scalars[len(reads) :])

        return wide_body

    def _computed(self, x: Scalar, dtype: DType) -> Scalar:
        return self.bit(x) if dtype == BOOL else convert_scalar(self, x, dtype, wide(dtype))

    def _stored(self, x: Scalar, dtype: DType) -> Scalar:
        return self.byte(x) if dtype == BOOL else convert_scalar(self, x, wide(dtype), dtype)

    def map(self, result: TensorType, inputs: Operands, body: Body) -> Value:
        """One new element for each position of the result: `body` of the inputs' scalars, all as stored."""
        storage = [(self.empty(result), every(result.rank))]
        return self.generic(inputs, storage, lambda *scalars: [body(*scalars[:-1])])[0]

    def compute(self, result: TensorType, inputs: Operands, body: Body) -> Value:
        """`map` with F16 and BF16 computed in F32 and rounded once, when the body is done, and BOOL as a bit."""
        wide_body = self.widened(inputs, body)
        return self.map(result, inputs, lambda *scalars: self._stored(wide_body(*scalars), result.dtype))

    def elementwise(self, result: TensorType, inputs: Sequence[Value], body: Body, *, exact: bool = False) -> Value:
        """`compute` on inputs of the result's shape; an `exact` body rounds nothing and is a `map`."""
        over = self.map if exact else self.compute
        return over(result, [(x, every(x.type.rank)) for x in inputs], body)

    def beside(self, result: TensorType, x: Value, reduced: Value, axis: int, body: Body) -> Value:
        """`compute` on a tensor and another one that lacks `axis`."""
        return self.compute(result, [(x, every(x.type.rank)), (reduced, all_but(x.type.rank, axis))], body)

    def fold(self, x: Value, axis: int, starts: Sequence[Value], body: Body) -> list[Value]:
        """Runs along `axis`: `body` takes x's next scalar, F16 and BF16 as F32, and an accumulator per start."""
        rank = x.type.rank
        inputs, inits = [(x, every(rank))], [(start, all_but(rank, axis)) for start in starts]
        return self.generic(inputs, inits, self.widened(inputs, body), {axis})

    def reduce(self, x: Value, axis: int, start: float, body: Body) -> Value:
        """`fold` with one accumulator that begins at `start`; the result is F32 where x is F16 or BF16."""
        shape = x.type.shape[:axis] + x.type.shape[axis + 1 :]
        total = self.fill(TensorType(wide(x.type.dtype), shape, x.type.place), start)
        return self.fold(x, axis, [total], lambda *scalars: [body(*scalars)])[0]

    def convert(self, x: Value, dtype: DType) -> Value:
        """Each element to another dtype, as `cast` does."""
        if x.type.dtype == dtype:
            return x
        inputs = [(x, every(x.type.rank))]
        return self.map(x.type.with_dtype(dtype), inputs, lambda s: convert_scalar(self, s, x.type.dtype, dtype))


def every(rank: int) -> Dims:
    """Each dim by the loop of its own number."""
    return tuple(range(rank))


def all_but(rank: int, axis: int) -> Dims:
    """The dims of an operand that lacks `axis`."""
    return tuple(dim for dim in range(rank) if dim != axis)


def _nested(groups: Sequence[Sequence[int]]) -> ir.Attribute:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, dim) for dim in group]) for group in groups])


def _window(offsets: Sequence[int], shape: Sequence[int], segments: list[int]) -> Attributes:
    return {
        "static_offsets": ir.DenseI64ArrayAttr.get(offsets),
        "static_sizes": ir.DenseI64ArrayAttr.get(shape),
        "static_strides": ir.DenseI64ArrayAttr.get([1] * len(shape)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments),
    }
