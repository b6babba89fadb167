"""What the language says of special values, one fact to a line, on both references."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from compiler.types import BOOL, F32, F64, I32, I64, DType
from oracles.engine import Array
from oracles.numpy_reference import NATIVE
from tests.oracles.operands import INF, INT_MAX, INT_MIN, NAN, Attrs, by_numpy, by_torch, same

LONG_MIN, LONG_MAX = I64.int_range
TILES = 33  # the libraries have one code for whole vectors and another for what is left over


def check_fact(op: str, args: Sequence[Array], attrs: Attrs, wanted: Array) -> None:
    for library in (by_numpy, by_torch):
        result = library(op, args, attrs)
        assert same(result, wanted), f"{library.__name__} {op}({args}, {attrs}) = {result!r}, wanted {wanted!r}"


UNARY = {
    "neg": [(0.0, -0.0), (-0.0, 0.0), (INF, -INF), (NAN, NAN)],
    "abs": [(-0.0, 0.0), (-INF, INF), (-2.5, 2.5), (NAN, NAN)],
    "exp": [(0.0, 1.0), (-INF, 0.0), (INF, INF), (1e4, INF), (-1e4, 0.0), (NAN, NAN)],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (-1.0, NAN), (INF, INF), (NAN, NAN)],
    "sqrt": [(4.0, 2.0), (-0.0, -0.0), (-1.0, NAN), (INF, INF), (5e-324, 2.0**-537), (NAN, NAN)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (5e-324, 5e-324), (NAN, NAN)],
}
BINARY = {
    "add": [(INF, -INF, NAN), (-0.0, 0.0, 0.0), (-0.0, -0.0, -0.0), (1e308, 1e308, INF)],
    "sub": [(INF, INF, NAN), (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0)],
    "mul": [(0.0, INF, NAN), (-0.0, 1.0, -0.0), (5e-324, 0.5, 0.0)],
    "div": [(1.0, 0.0, INF), (1.0, -0.0, -INF), (0.0, 0.0, NAN), (INF, INF, NAN), (1.0, INF, 0.0)],
    "rem": [
        *((5.5, 2.0, 1.5), (-5.5, 2.0, -1.5), (5.5, -2.0, 1.5), (-4.0, 2.0, -0.0)),
        *((1.0, 0.0, NAN), (INF, 2.0, NAN), (3.0, INF, 3.0), (-0.0, 3.0, -0.0), (NAN, 1.0, NAN)),
        # exact remainders, by way of fractions; torch's own operator returns NaN for the second, third and fourth
        *((-1e300, 7e-300, -5.651755366164927e-300), (1e300, 5e-324, 0.0)),
        *((1.0, 1e-310, 3.5074317610433e-311), (2.0**1023, 3e-308, 2.3714127225155304e-308)),
    ],
    "maximum": [
        (-0.0, 0.0, 0.0),
        (0.0, -0.0, 0.0),
        (-0.0, -0.0, -0.0),
        (NAN, INF, NAN),
        (1.0, NAN, NAN),
        (2.0, 3.0, 3.0),
    ],
    "minimum": [
        (-0.0, 0.0, -0.0),
        (0.0, -0.0, -0.0),
        (0.0, 0.0, 0.0),
        (NAN, -INF, NAN),
        (1.0, NAN, NAN),
        (2.0, 3.0, 2.0),
    ],
}
COMPARISONS = {
    "less": [(1.0, 2.0, True), (2.0, 1.0, False), (0.0, -0.0, False), (NAN, 1.0, False), (-INF, INF, True)],
    "less_equal": [(1.0, 1.0, True), (-0.0, 0.0, True), (0.0, -0.0, True), (1.0, NAN, False), (NAN, NAN, False)],
    "equal": [(1.0, 1.0, True), (-0.0, 0.0, True), (NAN, NAN, False), (INF, INF, True), (1.0, 2.0, False)],
}
INTS = {
    "add": (INT_MAX, 1, INT_MIN),
    "sub": (INT_MIN, 1, INT_MAX),
    "mul": (2**30, 6, -(2**31)),
    "maximum": (INT_MIN, 3, 3),
    "minimum": (INT_MIN, 3, INT_MIN),
}
CASTS: list[tuple[DType, list[float], DType, list[float]]] = [
    (F32, [1.9, -1.9, 0.5, NAN, INF, -INF, 3e9, -3e9], I32, [1, -1, 0, 0, INT_MAX, INT_MIN, INT_MAX, INT_MIN]),
    (F64, [2.0**31, 2.0**31 - 0.5, -(2.0**31) - 0.5], I32, [INT_MAX, INT_MAX, INT_MIN]),
    (F64, [2.0**63, -(2.0**63), 1e300, 2.0**62], I64, [LONG_MAX, LONG_MIN, LONG_MAX, 2**62]),
    (F32, [0.0, -0.0, 0.25, NAN, -INF], BOOL, [False, False, True, True, True]),
    (I64, [2**32 + 5, -1, 2**31, LONG_MIN], I32, [5, -1, INT_MIN, 0]),
    (I64, [0, 2**40], BOOL, [False, True]),
    (I32, [INT_MIN, -1], I64, [INT_MIN, -1]),
    (I32, [INT_MIN, 7], F64, [float(INT_MIN), 7.0]),
    (I64, [2**53 + 1, LONG_MAX], F64, [2.0**53, 2.0**63]),
    (I64, [2**60 + 2**36 + 1, 2**60 + 2**36], F32, [2.0**60 + 2.0**36 + 2.0**11, 2.0**60 + 2.0**36]),
    (BOOL, [True, False], F64, [1.0, 0.0]),
    (BOOL, [True, False], I64, [1, 0]),
    (F64, [1e300, NAN, -0.0], F32, [1e300, NAN, -0.0]),
]
TABLE_4x2 = np.arange(8.0).reshape(4, 2)
ROWS = np.array([[-0.0, 0.0, -0.0], [NAN, 1.0, NAN], [-INF, -INF, -INF], [1.0, INF, INF]])
OTHERS: list[tuple[str, list[Array], Attrs, Array]] = [
    ("gather", [TABLE_4x2, np.array([3, -1, 9, LONG_MIN])], {}, TABLE_4x2[[3, 0, 3, 0]]),
    ("gather", [TABLE_4x2, np.array(2, np.int32)], {}, TABLE_4x2[2]),
    ("gather", [np.array([5, 6]), np.array([[1], [0]])], {}, np.array([[6], [5]])),
    ("max", [ROWS], {"axis": 1}, np.array([0.0, NAN, -INF, INF])),
    ("max", [np.array([-0.0, -0.0])], {"axis": 0}, np.array(-0.0)),
    ("max", [np.array([3, LONG_MIN])], {"axis": 0}, np.array(3)),
    ("argmax", [ROWS], {"axis": 1}, np.array([0, 0, 0, 1])),
    ("argmax", [np.array([1.0, NAN, INF, NAN])], {"axis": 0}, np.array(1)),
    ("argmax", [np.array([2, 7, 7], np.int32)], {"axis": 0}, np.array(1)),
    ("sum", [np.array([INT_MAX, 1], np.int32)], {"axis": 0}, np.array(INT_MIN, np.int32)),
    ("sum", [ROWS[1:]], {"axis": 1}, np.array([NAN, -INF, INF])),
    ("matmul", [np.array([[2**62, 1]]), np.array([[4], [5]])], {}, np.array([[5]])),
    ("matmul", [np.array([[INF, 1.0]]), np.array([[0.0], [1.0]])], {}, np.array([[NAN]])),
    ("softmax", [ROWS[1:]], {"axis": 1}, np.full((3, 3), NAN)),
    ("softmax", [np.array([1.0, -INF, 1.0])], {"axis": 0}, np.array([0.5, 0.0, 0.5])),
    ("softmax", [np.array([1e5, -1e5])], {"axis": 0}, np.array([1.0, 0.0])),
    ("select", [np.array([True, False]), np.array([NAN, NAN]), np.array([1.0, -0.0])], {}, np.array([NAN, -0.0])),
    ("equal", [np.array([True, False]), np.array([True, True])], {}, np.array([True, False])),
    ("pad", [np.array([[True]])], {"axis": 1, "low": 1, "high": 2}, np.array([[False, True, False, False]])),
    ("pad", [np.array([[5], [6]])], {"axis": 0, "low": 0, "high": 1}, np.array([[5], [6], [0]])),
    ("slice", [TABLE_4x2], {"axis": 0, "start": 1, "stop": 3}, TABLE_4x2[1:3]),
    ("concat", [np.array([1]), np.array([2, 3]), np.array([4])], {"axis": 0}, np.array([1, 2, 3, 4])),
    ("transpose", [np.zeros((2, 3, 4))], {"perm": (2, 0, 1)}, np.zeros((4, 2, 3))),
    ("reshape", [np.array([[7]])], {"shape": ()}, np.array(7)),
    ("broadcast", [np.array([[1], [2]])], {"shape": (2, 2, 2)}, np.array([[[1, 1], [2, 2]]] * 2)),
    ("neg", [np.array([INT_MIN], np.int32)], {}, np.array([INT_MIN], np.int32)),
    ("abs", [np.array([LONG_MIN])], {}, np.array([LONG_MIN])),
]


@pytest.mark.parametrize("op", UNARY)
def test_special_values_of_unary_ops(op: str) -> None:
    x, wanted = (np.tile(column, TILES) for column in zip(*UNARY[op], strict=True))
    check_fact(op, [x], {}, wanted)


@pytest.mark.parametrize(("op", "rows"), [*BINARY.items(), *COMPARISONS.items()])
def test_special_values_of_binary_ops(op: str, rows: list[tuple[float, float, float]]) -> None:
    a, b, wanted = (np.tile(column, TILES) for column in zip(*rows, strict=True))
    check_fact(op, [a, b], {}, wanted)


@pytest.mark.parametrize("op", INTS)
def test_integers_wrap(op: str) -> None:
    a, b, wanted = (np.array([value], np.int32) for value in INTS[op])
    check_fact(op, [a, b], {}, wanted)
    check_fact(op, [a.reshape(()), b.reshape(())], {}, wanted.reshape(()))


@pytest.mark.parametrize(("source", "values", "target", "wanted"), CASTS)
def test_casts(source: DType, values: list[float], target: DType, wanted: list[float]) -> None:
    held = np.float64 if target.kind == "float" else NATIVE[target.name]
    x = np.array(values, np.float64 if source.kind == "float" else NATIVE[source.name])
    check_fact("cast", [x], {"dtype": target.name}, np.array(wanted, held))


@pytest.mark.parametrize(("op", "args", "attrs", "wanted"), OTHERS)
def test_facts(op: str, args: list[Array], attrs: Attrs, wanted: Array) -> None:
    check_fact(op, args, attrs, wanted)
