"""Ops that work on each element by itself: arithmetic, comparisons, `select`.

F16 and BF16 arithmetic is done in F32 and rounded back after every op. For one `+ - * /` or `sqrt` that gives the
correctly rounded result: F32 has at least 2p + 2 bits for p = 8 and p = 11 (Figueroa, "When is double rounding
innocuous?", SIGNUM 1995), and results among BF16's subnormals stay far enough from midpoints. Conversions are in
`conversion.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from compiler.ops.rules import dims, need_float, need_number, need_same_type
from compiler.ops.table import Attrs, Op, Refusal
from compiler.types import BOOL, DType, TensorType

if TYPE_CHECKING:
    from compiler.builder import Builder, Scalar, Value

    Lower = Callable[[Builder, Sequence[Value], Attrs, TensorType], Value]

Need = Callable[[str, DType], None]


def _infer(name: str, need: Need) -> Callable[[Sequence[TensorType], Attrs], TensorType]:
    def infer(types: Sequence[TensorType], _attrs: Attrs) -> TensorType:
        need(name, types[0].dtype)
        need_same_type(name, types)
        return types[0]

    return infer


def _lower(float_op: str, int_op: str) -> Lower:
    """Each element through one MLIR op, chosen by the dtype's kind."""

    def lower(b: Builder, args: Sequence[Value], _attrs: Attrs, result: TensorType) -> Value:
        mlir_op = float_op if result.dtype.kind == "float" else int_op
        return b.elementwise(result, args, lambda *scalars: b.emit(mlir_op, *scalars))

    return lower


def _binary(name: str, infix: str, float_op: str, int_op: str = "", need: Need = need_number) -> Op:
    return Op(name, (2, 2), _infer(infix or name, need), _lower(float_op, int_op), infix=infix)


def _unary(name: str, float_op: str, int_op: str = "", need: Need = need_float) -> Op:
    return Op(name, (1, 1), _infer(name, need), _lower(float_op, int_op))


def _need_float_division(op: str, dtype: DType) -> None:
    """Integer `/` and `%` have their own codes: rounding and zero divisors are unspecified, so nothing is guessed."""
    if dtype.kind == "int":
        code = "int-div" if op == "/" else "int-rem"
        raise Refusal(
            code,
            f"`{op}` is defined on floats only, got {dtype}; convert both operands with `cast(x, dtype=F64)` first",
        )
    need_float(op, dtype)


def _lower_neg(b: Builder, args: Sequence[Value], _attrs: Attrs, result: TensorType) -> Value:
    """Flips the sign bit: 0 - x would lose the sign of a zero."""
    if result.dtype.kind == "float":
        return b.elementwise(result, args, lambda x: b.emit("arith.negf", x), exact=True)
    return b.elementwise(result, args, lambda x: b.emit("arith.subi", b.scalar(result.dtype, 0), x))


def _infer_compare(name: str, need: Need) -> Callable[[Sequence[TensorType], Attrs], TensorType]:
    same = _infer(name, need)
    return lambda types, attrs: same(types, attrs).with_dtype(BOOL)


def _lower_compare(predicate: str) -> Lower:
    """Ordered: false when an operand is a NaN."""

    def lower(b: Builder, args: Sequence[Value], _attrs: Attrs, result: TensorType) -> Value:
        def body(x: Scalar, y: Scalar) -> Scalar:
            return b.compare(predicate, args[0].type.dtype, x, y)

        return b.elementwise(result, args, body)

    return lower


def _compare(name: str, infix: str, predicate: str, need: Need = need_number) -> Op:
    return Op(name, (2, 2), _infer_compare(infix, need), _lower_compare(predicate), infix=infix)


def _need_any(_op: str, _dtype: DType) -> None:
    """`==` compares every dtype, BOOL too."""


def _infer_select(types: Sequence[TensorType], _attrs: Attrs) -> TensorType:
    condition, chosen, _ = types
    if condition.dtype != BOOL:
        raise Refusal("select-condition", f"`select` needs a BOOL condition, got {condition.dtype}")
    need_same_type("select", types[1:])
    if condition.shape != chosen.shape:
        raise Refusal(
            "select-condition",
            "`select` needs a condition of its operands' shape,"
            f" got {dims(condition.shape)} for operands of shape {dims(chosen.shape)}",
        )
    return chosen


def _lower_select(b: Builder, args: Sequence[Value], _attrs: Attrs, result: TensorType) -> Value:
    return b.elementwise(result, args, lambda c, x, y: b.select(b.bit(c), x, y), exact=True)


ELEMENTWISE = (
    _binary("add", "+", "arith.addf", "arith.addi"),
    _binary("sub", "-", "arith.subf", "arith.subi"),
    _binary("mul", "*", "arith.mulf", "arith.muli"),
    _binary("div", "/", "arith.divf", need=_need_float_division),
    _binary("rem", "%", "arith.remf", need=_need_float_division),
    _binary("maximum", "", "arith.maximumf", "arith.maxsi"),
    _binary("minimum", "", "arith.minimumf", "arith.minsi"),
    Op("neg", (1, 1), _infer("neg", need_number), _lower_neg),
    _unary("abs", "math.absf", "math.absi", need_number),
    _unary("log", "math.log"),
    _unary("exp", "math.exp"),
    _unary("sqrt", "math.sqrt"),
    _unary("tanh", "math.tanh"),
    _compare("less", "<", "lt"),
    _compare("less_equal", "<=", "le"),
    _compare("equal", "==", "eq", _need_any),
    Op("select", (3, 3), _infer_select, _lower_select),
)
