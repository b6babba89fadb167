"""ONNX's published node tests, and the same computations as expressions of Kina.

`nodes` collects inputs, attributes and expected outputs from the `onnx` wheel: its backend tests hand them to a
function named `expect`, which a recorder stands in for. `translate` writes one node as an expression over `x0`, `x1`,
..: the node's inputs, where they are data; shapes, axes and pads are read and become attributes. What does not carry
over, and why, is in `test_onnx_nodes.py`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import onnx.backend.test.case.node
from onnx import TensorProto, helper, numpy_helper

from compiler.arrays import NUMPY, Array
from compiler.syntax import Expr, Literal, Name
from compiler.types import DTYPES, TensorType
from fuzz.generate.build import op

MODULES = (
    *("abs", "add", "argmax", "cast", "concat", "div", "equal", "exp", "expand", "gather", "less", "less_or_equal"),
    *("log", "matmul", "max", "min", "mod", "mul", "neg", "pad", "reducemax", "reducesum", "reshape", "slice"),
    *("softmax", "sqrt", "sub", "tanh", "transpose", "where"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One node test; an optional input that is absent is None."""

    name: str
    op: str
    inputs: tuple[Array | None, ...]
    outputs: tuple[Array, ...]
    attrs: dict[str, Any]

    def data(self, index: int) -> Array:
        array = self.inputs[index]
        assert array is not None
        return array

    def numbers(self, index: int, default: list[int]) -> list[int]:
        """An input that is an attribute in Kina: a list of integers."""
        absent = index >= len(self.inputs) or self.inputs[index] is None
        return default if absent else [int(number) for number in self.data(index)]

    def axis(self, default: int = 0) -> int:
        """The attribute `axis`, counted from the left."""
        return int(self.attrs.get("axis", default)) % self.data(0).ndim

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.outputs[0].shape)


@cache
def nodes() -> tuple[Node, ...]:
    """All node tests of `MODULES`, in order; collected once, for a module hands them out as it is imported."""
    found: list[Node] = []

    def expect(node: Any, inputs: Any, outputs: Any, name: str, **_: Any) -> None:  # noqa: ANN401 - theirs
        attrs = {attr.name: helper.get_attribute_value(attr) for attr in node.attribute}
        arrays = tuple(None if x is None else _array(x) for x in inputs)
        found.append(Node(name, node.op_type, arrays, tuple(map(_array, outputs)), attrs))

    with patch.object(onnx.backend.test.case.node, "expect", expect), np.errstate(all="ignore"):
        for module in MODULES:
            importlib.import_module(f"onnx.backend.test.case.node.{module}")
    return tuple(found)


def _array(value: Array | TensorProto) -> Array:
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)


def type_of(array: Array) -> TensorType | None:
    """The Kina type of an array, if there is one."""
    name = next((name for name, dtype in NUMPY.items() if dtype == array.dtype), None)
    return None if name is None or 0 in array.shape else TensorType(DTYPES[name], array.shape)


def constant(value: float, like: Array, shape: tuple[int, ...]) -> Expr:
    """A tensor of one value with the dtype of `like`."""
    type_ = type_of(like)
    assert type_ is not None
    whole = Literal(type_.with_shape(()), (like.dtype.type(value).item(),))
    return op("broadcast", whole, shape=shape)


def translate(node: Node) -> Expr:
    """The node as an expression over its data inputs."""
    return _TRANSLATIONS[node.op](node)


def _fitted(node: Node, index: int, shape: tuple[int, ...]) -> Expr:
    """An input expanded to `shape`: ONNX does so by itself."""
    name = Name(f"x{index}")
    return name if node.data(index).shape == shape else op("broadcast", name, shape=shape)


def _elementwise(callee: str) -> Callable[[Node], Expr]:
    return lambda node: op(callee, *(_fitted(node, index, node.shape) for index in range(len(node.inputs))))


def _folded(callee: str) -> Callable[[Node], Expr]:
    """Max and Min take any number of inputs."""

    def translation(node: Node) -> Expr:
        result = _fitted(node, 0, node.shape)
        for index in range(1, len(node.inputs)):
            result = op(callee, result, _fitted(node, index, node.shape))
        return result

    return translation


def _reduced(callee: str) -> Callable[[Node], Expr]:
    """Several axes go one by one, the last first; with `keepdims` (the default) they come back as ones."""

    def translation(node: Node) -> Expr:
        rank = node.data(0).ndim
        every = [] if node.attrs.get("noop_with_empty_axes") else list(range(rank))
        result: Expr = Name("x0")
        for axis in sorted((axis % rank for axis in node.numbers(1, []) or every), reverse=True):
            result = op(callee, result, axis=axis)
        return op("reshape", result, shape=node.shape)

    return translation


def _argmax(node: Node) -> Expr:
    return op("reshape", op("argmax", "x0", axis=node.axis()), shape=node.shape)


def _concat(node: Node) -> Expr:
    return op("concat", *(f"x{index}" for index in range(len(node.inputs))), axis=node.axis())


def _gather(node: Node) -> Expr:
    """Kina gathers along axis 0 and clamps: another axis is brought to the front, a negative id is counted out."""
    axis, rank, ids = node.axis(), node.data(0).ndim, node.data(1)
    others = [other for other in range(rank) if other != axis]
    rows = op("gather", op("transpose", "x0", perm=(axis, *others)), _counted(node))
    back = [*range(ids.ndim, ids.ndim + axis), *range(ids.ndim), *range(ids.ndim + axis, ids.ndim + rank - 1)]
    return op("transpose", rows, perm=tuple(back))


def _counted(node: Node) -> Expr:
    ids, dim = node.data(1), node.data(0).shape[node.axis()]
    if ids.min() >= 0:
        return Name("x1")
    negative = op("less", "x1", constant(0, ids, ids.shape))
    return op("select", negative, op("add", "x1", constant(dim, ids, ids.shape)), "x1")


def _matmul(node: Node) -> Expr:
    """A vector becomes a row at the left and a column at the right; batch dims are expanded to each other's."""
    left, right = node.data(0).shape, node.data(1).shape
    left, right = (1, *left) if len(left) == 1 else left, (*right, 1) if len(right) == 1 else right
    batch = np.broadcast_shapes(left[:-2], right[:-2])
    operands = (
        op("broadcast", op("reshape", f"x{index}", shape=shape), shape=(*batch, *shape[-2:]))
        for index, shape in enumerate((left, right))
    )
    return op("reshape", op("matmul", *operands), shape=node.shape)


def _slice(node: Node) -> Expr:
    """One axis after the other; bounds beyond a dim, and negative ones, are counted out as ONNX says."""
    shape = node.data(0).shape
    starts, stops = node.numbers(1, []), node.numbers(2, [])
    result: Expr = Name("x0")
    for axis, start, stop in zip(node.numbers(3, [*range(len(starts))]), starts, stops, strict=True):
        low, high, _ = slice(start, stop).indices(shape[axis])
        result = op("slice", result, axis=axis % len(shape), start=low, stop=high)
    return result


def _pad(node: Node) -> Expr:
    """Kina pads with zeros: a padded mask of ones says where another constant goes."""
    data, value = node.data(0), node.data(2).item()
    amounts, axes = node.numbers(1, []), node.numbers(3, [*range(data.ndim)])
    padded: Expr = Name("x0")
    inside = constant(1, np.ones((), bool), data.shape)
    for axis, low, high in zip(axes, amounts[: len(axes)], amounts[len(axes) :], strict=True):
        padded = op("pad", padded, axis=axis % data.ndim, low=low, high=high)
        inside = op("pad", inside, axis=axis % data.ndim, low=low, high=high)
    return op("select", inside, padded, constant(value, data, node.shape))


def _transpose(node: Node) -> Expr:
    rank = node.data(0).ndim
    return op("transpose", "x0", perm=tuple(node.attrs.get("perm", range(rank)[::-1])))


def _cast(node: Node) -> Expr:
    target = type_of(node.outputs[0])
    assert target is not None
    return op("cast", "x0", dtype=target.dtype.name)


_TRANSLATIONS: dict[str, Callable[[Node], Expr]] = {
    "Abs": _elementwise("abs"),
    "Add": _elementwise("add"),
    "ArgMax": _argmax,
    "Cast": _cast,
    "Concat": _concat,
    "Div": _elementwise("div"),
    "Equal": _elementwise("equal"),
    "Exp": _elementwise("exp"),
    "Expand": lambda node: op("broadcast", "x0", shape=node.shape),
    "Gather": _gather,
    "Less": _elementwise("less"),
    "LessOrEqual": _elementwise("less_equal"),
    "Log": _elementwise("log"),
    "MatMul": _matmul,
    "Max": _folded("maximum"),
    "Min": _folded("minimum"),
    "Mod": _elementwise("rem"),
    "Mul": _elementwise("mul"),
    "Neg": _elementwise("neg"),
    "Pad": _pad,
    "ReduceMax": _reduced("max"),
    "ReduceSum": _reduced("sum"),
    "Reshape": lambda node: op("reshape", "x0", shape=node.shape),
    "Slice": _slice,
    "Softmax": lambda node: op("softmax", "x0", axis=node.axis(-1)),
    "Sqrt": _elementwise("sqrt"),
    "Sub": _elementwise("sub"),
    "Tanh": _elementwise("tanh"),
    "Transpose": _transpose,
    "Where": _elementwise("select"),
}
