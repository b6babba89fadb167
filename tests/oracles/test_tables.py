"""Both references' tables: complete, and one against the other on drawn operands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.ops import OPS
from compiler.types import F64, TensorType
from oracles import numpy_reference, torch_reference
from oracles.engine import Array
from oracles.evaluator import Val, result_dtype
from oracles.numpy_reference import NATIVE
from tests.oracles.operands import APPLICATIONS, Application, Attrs, by_numpy, by_torch, same

U = F64.unit_roundoff


def test_every_op_stands_in_both_tables() -> None:
    assert numpy_reference.TABLE.keys() == torch_reference.TABLE.keys() == OPS.keys()


def ulps(count: float) -> Callable[[list[Array], Attrs, Array], Array]:
    """How far two float64 results may lie apart that are each within `count` / 2 ulps."""
    return lambda _args, _attrs, result: np.asarray(2 * count * U * np.abs(result) + 5e-324)


def reordered_matmul(args: list[Array], _attrs: Attrs, _result: Array) -> Array:
    """Two orders of one sum of K products: 2 K u |A| |B| (Higham, "Accuracy and Stability", 3.5)."""
    a, b = (np.abs(arg.astype(np.float64)) for arg in args)
    distance: Array = 2 * a.shape[-1] * U * (a @ b)
    return distance


def reordered_sum(args: list[Array], attrs: Attrs, _result: Array) -> Array:
    x, axis = np.abs(args[0].astype(np.float64)), int(str(attrs["axis"]))
    distance: Array = 2 * x.shape[axis] * U * x.sum(axis)
    return distance


def softmax_distance(args: list[Array], attrs: Attrs, result: Array) -> Array:
    """Per side: u * |x - max| from the rounded exponent, an ulp each for exp, quotient and every addition."""
    n = args[0].shape[int(str(attrs["axis"]))]
    distance: Array = 2 * (n + 3 + 2 * 745) * U * np.abs(result) + 5e-324  # beyond 745 the weight is 0
    return distance


DISTANCES = {
    **{op: ulps(2) for op in ("log", "exp", "tanh", "sqrt")},
    "matmul": reordered_matmul,
    "sum": reordered_sum,
    "softmax": softmax_distance,
}


def check_both(op: str, application: Application) -> None:
    """Shape and dtype as the checker says, and one value: bitwise, or within the distance derived for the op."""
    args, dtypes, attrs = application
    before = [arg.copy() for arg in args]
    left, right = by_numpy(op, args, attrs), by_torch(op, args, attrs)
    types = [TensorType(dtype, arg.shape) for dtype, arg in zip(dtypes, args, strict=True)]
    declared = OPS[op].infer(types, attrs)
    assert result_dtype(op, [Val(arg, dtype) for arg, dtype in zip(args, dtypes, strict=True)], attrs) == declared.dtype
    assert left.dtype == (np.float64 if declared.dtype.kind == "float" else NATIVE[declared.dtype.name])
    assert left.shape == declared.shape
    if op in DISTANCES and left.dtype.kind == "f":
        finite = np.isfinite(left) & np.isfinite(right)
        assert same(np.where(finite, 0.0, left), np.where(finite, 0.0, right))
        distance = DISTANCES[op](args, attrs, np.where(finite, left, 0.0))
        assert np.all(np.abs(np.subtract(left, right, where=finite, out=np.zeros_like(left))) <= distance)
    else:
        assert same(left, right), (left, right)
    assert all(
        same(a, b) for a, b in zip(map(numpy_reference.hold, args), map(numpy_reference.hold, before), strict=True)
    )


def test_every_op_is_drawn() -> None:
    assert APPLICATIONS.keys() == OPS.keys()


@pytest.mark.parametrize("op", sorted(OPS))
@settings(max_examples=25, deadline=None, derandomize=True)
@given(data=st.data())
def test_the_references_agree(op: str, data: st.DataObject) -> None:
    check_both(op, data.draw(APPLICATIONS[op]))
