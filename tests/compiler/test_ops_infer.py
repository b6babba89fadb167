"""What the op table accepts and refuses, and what a refusal says."""

from __future__ import annotations

import re

import pytest

from compiler.codes import CODES
from compiler.ops import OPS, Refusal
from compiler.syntax import AttrValue
from compiler.types import DTYPES, TensorType

ALL = tuple(DTYPES)
FLOATS = ("F16", "BF16", "F32", "F64")
NUMBERS = (*FLOATS, "I32", "I64")


def tensor(text: str) -> TensorType:
    """`F32 2 3` is tensor<F32, [2, 3], @host>."""
    dtype, *dims = text.split()
    return TensorType(DTYPES[dtype], tuple(map(int, dims)))


def check_accepts(op: str, operands: str, result: str, **attrs: AttrValue) -> None:
    assert OPS[op].infer([tensor(text) for text in operands.split(", ")], attrs) == tensor(result)


def check_refuses(op: str, operands: str, code: str, message: str, **attrs: AttrValue) -> None:
    with pytest.raises(Refusal) as caught:
        OPS[op].infer([tensor(text) for text in operands.split(", ")], attrs)
    assert (caught.value.code, caught.value.message) == (code, message)
    assert code in CODES
    assert re.match(r"`\S+` ", message), "the op comes first, in backticks"


DTYPES_OF = {
    **dict.fromkeys(("add", "sub", "mul", "maximum", "minimum", "less", "less_equal", "neg", "abs"), NUMBERS),
    **dict.fromkeys(("div", "rem", "log", "exp", "sqrt", "tanh"), FLOATS),
    "equal": ALL,
}


@pytest.mark.parametrize(("op", "dtype"), [(op, dtype) for op in DTYPES_OF for dtype in ALL])
def test_dtypes_of_elementwise_ops(op: str, dtype: str) -> None:
    operands = [tensor(f"{dtype} 2 3")] * OPS[op].arity[0]
    if dtype in DTYPES_OF[op]:
        compares = op in ("less", "less_equal", "equal")
        assert OPS[op].infer(operands, {}) == tensor("BOOL 2 3" if compares else f"{dtype} 2 3")
    else:
        with pytest.raises(Refusal, match=f"got {dtype}"):
            OPS[op].infer(operands, {})


@pytest.mark.parametrize(
    ("op", "dtypes"), [("sum", NUMBERS), ("max", NUMBERS), ("argmax", NUMBERS), ("softmax", FLOATS)]
)
def test_dtypes_of_reductions(op: str, dtypes: tuple[str, ...]) -> None:
    for dtype in ALL:
        if dtype in dtypes:
            result = OPS[op].infer([tensor(f"{dtype} 2 3")], {"axis": 1})
            assert result == tensor({"argmax": "I64 2", "softmax": f"{dtype} 2 3"}.get(op, f"{dtype} 2"))
        else:
            with pytest.raises(Refusal, match=f"`{op}` needs .* got {dtype}"):
                OPS[op].infer([tensor(f"{dtype} 2 3")], {"axis": 1})


@pytest.mark.parametrize("source", ALL)
@pytest.mark.parametrize("target", ALL)
def test_cast_is_between_all_pairs(source: str, target: str) -> None:
    check_accepts("cast", f"{source} 2", f"{target} 2", dtype=target)


def test_accepted() -> None:
    check_accepts("select", "BOOL 2, F32 2, F32 2", "F32 2")
    check_accepts("matmul", "F32 2 3, F32 3 4", "F32 2 4")
    check_accepts("matmul", "I64 5 6 2 3, I64 5 6 3 1", "I64 5 6 2 1")
    check_accepts("gather", "F32 8 4, I64 1 3", "F32 1 3 4")
    check_accepts("gather", "BOOL 8, I32", "BOOL")
    check_accepts("reshape", "F32 2 3", "F32 3 1 2", shape=(3, 1, 2))
    check_accepts("reshape", "F32 1 1", "F32", shape=())
    check_accepts("transpose", "F32 2 3 4", "F32 4 2 3", perm=(2, 0, 1))
    check_accepts("transpose", "F32", "F32", perm=())
    check_accepts("broadcast", "F32 3 1", "F32 2 3 4", shape=(2, 3, 4))
    check_accepts("broadcast", "F32", "F32 2", shape=(2,))
    check_accepts("slice", "F32 4 5", "F32 4 2", axis=1, start=3, stop=5)
    check_accepts("concat", "F32 1 2 2 3, F32 1 2 2 1", "F32 1 2 2 4", axis=3)
    check_accepts("concat", "BOOL 1, BOOL 2, BOOL 3", "BOOL 6", axis=0)
    check_accepts("pad", "F32 2 3", "F32 2 6", axis=1, low=1, high=2)
    check_accepts("pad", "F32 2 3", "F32 2 3", axis=0, low=0, high=0)
    check_accepts("max", "I32 3", "I32", axis=0)


def test_placement_is_kept() -> None:
    device = TensorType(DTYPES["F32"], (2, 3), "device")
    for op, attrs in {"neg": {}, "argmax": {"axis": 0}, "reshape": {"shape": (6,)}, "cast": {"dtype": "I32"}}.items():
        assert OPS[op].infer([device], attrs).place == "device"  # type: ignore[arg-type]  # dicts of several types


def test_refused_operands() -> None:
    check_refuses(
        "add",
        "F32 2, F16 2",
        "same-dtype",
        "`+` needs operands of one dtype, got F32 and F16; convert one with `cast`",
    )
    check_refuses(
        "mul",
        "F32 2 3, F32 3",
        "same-shape",
        "`*` needs operands of one shape, got [2, 3] and [3]; expand one with `broadcast`",
    )
    check_refuses(
        "sub",
        "BOOL 2, BOOL 2",
        "number-only",
        "`-` needs numbers, got BOOL; convert with `cast` or choose with `select`",
    )


def test_refused_divisions_and_choices() -> None:
    check_refuses("log", "I32 2", "float-only", "`log` needs a float dtype, got I32; convert with `cast` first")
    check_refuses(
        "div",
        "I64 2, I64 2",
        "int-div",
        "`/` is defined on floats only, got I64; convert both operands with `cast(x, dtype=F64)` first",
    )
    check_refuses(
        "rem",
        "I32 2, I32 2",
        "int-rem",
        "`%` is defined on floats only, got I32; convert both operands with `cast(x, dtype=F64)` first",
    )
    check_refuses("div", "BOOL 2, BOOL 2", "float-only", "`/` needs a float dtype, got BOOL; convert with `cast` first")
    check_refuses("select", "F32 2, F32 2, F32 2", "select-condition", "`select` needs a BOOL condition, got F32")
    check_refuses(
        "select",
        "BOOL 1, F32 2, F32 2",
        "select-condition",
        "`select` needs a condition of its operands' shape, got [1] for operands of shape [2]",
    )
    check_refuses(
        "select",
        "BOOL 2, F32 2, F32 3",
        "same-shape",
        "`select` needs operands of one shape, got [2] and [3]; expand one with `broadcast`",
    )


def test_refused_products_and_gathers() -> None:
    check_refuses(
        "matmul", "F32 3, F32 3", "matmul-rank", "`@` needs operands of one rank, at least 2, got ranks 1 and 1"
    )
    check_refuses(
        "matmul", "F32 1 2 3, F32 3 4", "matmul-rank", "`@` needs operands of one rank, at least 2, got ranks 3 and 2"
    )
    check_refuses("matmul", "F32 1 2 3, F32 2 3 4", "matmul-batch", "`@` needs equal batch dims, got [1] and [2]")
    check_refuses(
        "matmul",
        "F32 2 3, F32 4 3",
        "matmul-dims",
        "`@` needs the left operand's columns to equal the right operand's rows, got 3 and 4",
    )
    check_refuses(
        "gather",
        "F32, I64 2",
        "gather-table",
        "`gather` needs a table of rank 1 or more, got rank 0 (tensor<F32, [], @host>)",
    )
    check_refuses("gather", "F32 2, F32 2", "gather-ids", "`gather` needs ids of dtype I64 or I32, got F32")
    check_refuses("gather", "F32 2, BOOL 2", "gather-ids", "`gather` needs ids of dtype I64 or I32, got BOOL")


@pytest.mark.parametrize("op", ["sum", "max", "argmax", "softmax"])
def test_refused_axes(op: str) -> None:
    outside = f"`{op}` needs an axis from 0 to 1 for an operand of rank 2, got "
    check_refuses(op, "F32 2 3", "axis-range", outside + "2", axis=2)
    check_refuses(op, "F32 2 3", "axis-range", outside + "-1", axis=-1)
    check_refuses(op, "F32", "axis-range", f"`{op}` needs an operand with an axis, got rank 0 and axis 0", axis=0)


def test_refused_layouts() -> None:
    check_refuses(
        "reshape",
        "F32 2 3",
        "reshape-count",
        "`reshape` keeps the number of elements, got 6 in [2, 3] and 8 in [4, 2]",
        shape=(4, 2),
    )
    for shape in ((0, 6), (-2, -3)):
        check_refuses(
            "reshape",
            "F32 2 3",
            "shape-dims",
            f"`reshape` needs every dim of its shape to be at least 1, got [{shape[0]}, {shape[1]}]",
            shape=shape,
        )
    for perm in ((0,), (0, 0), (1, 2), (0, 1, 2), (-1, 0)):
        text = ", ".join(map(str, perm))
        check_refuses(
            "transpose",
            "F32 2 3",
            "perm",
            f"`transpose` needs a permutation of the 2 axes from 0, got perm [{text}]",
            perm=perm,
        )
    check_refuses(
        "broadcast",
        "F32 2 3",
        "broadcast-shape",
        "`broadcast` cannot drop dims, got [2, 3] of rank 2 for [3] of rank 1",
        shape=(3,),
    )
    check_refuses(
        "broadcast",
        "F32 2 3",
        "broadcast-shape",
        "`broadcast` expands dims of size 1 only, got 2 for 4 in [2, 3] to [5, 4, 3]",
        shape=(5, 4, 3),
    )


@pytest.mark.parametrize(("start", "stop"), [(0, 4), (2, 2), (3, 1), (-1, 2), (3, 4)])
def test_refused_slices(start: int, stop: int) -> None:
    check_refuses(
        "slice",
        "F32 2 3",
        "slice-range",
        f"`slice` needs 0 <= start < stop <= 3 on axis 1 of [2, 3], got start {start} and stop {stop}",
        axis=1,
        start=start,
        stop=stop,
    )


def test_refused_concats_and_pads() -> None:
    check_refuses(
        "concat",
        "F32 1 2 2 3, F32 1 3 2 1",
        "concat-dims",
        "`concat` on axis 3 needs equal sizes on every other axis, got 2 and 3 on axis 1",
        axis=3,
    )
    check_refuses("concat", "F32 2, F32 2 2", "concat-rank", "`concat` needs operands of one rank, got 1 and 2", axis=0)
    check_refuses(
        "concat",
        "F32 2, I32 2",
        "same-dtype",
        "`concat` needs operands of one dtype, got F32 and I32; convert one with `cast`",
        axis=0,
    )
    check_refuses(
        "pad",
        "F32 2",
        "pad-amount",
        "`pad` adds zeros and cannot remove, got low -1 and high 2",
        axis=0,
        low=-1,
        high=2,
    )
