"""Both references as plain functions on NumPy arrays, and legal operands for every op, drawn.

Shared by the tests of the tables; what is asserted of them is in those.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from compiler.syntax import AttrValue
from compiler.types import BOOL, DTYPES, I32, I64, DType
from oracles import numpy_reference, torch_reference
from oracles.engine import Array
from oracles.evaluator import Library
from oracles.numpy_reference import NATIVE

INF, NAN = math.inf, math.nan
INT_MIN, INT_MAX = I32.int_range
ALL = tuple(DTYPES.values())
FLOATS = tuple(dtype for dtype in ALL if dtype.kind == "float")
NUMBERS = (*FLOATS, I32, I64)
Attrs = dict[str, AttrValue]

LIBRARIES: dict[str, Library[Any]] = {"numpy": numpy_reference.LIBRARY, "torch": torch_reference.LIBRARY}
both_libraries = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES.keys())


def by_numpy(op: str, args: Sequence[Array], attrs: Attrs) -> Array:
    return numpy_reference.TABLE[op](*map(numpy_reference.hold, args), **attrs)


def by_torch(op: str, args: Sequence[Array], attrs: Attrs) -> Array:
    result: Array = torch_reference.TABLE[op](*map(torch_reference.hold, args), **attrs).numpy()
    return result


def same(left: Array, right: Array) -> bool:
    """One dtype, one shape, one value for each element, zeros with their sign, any NaN like any other."""
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.dtype.kind != "f":
        return np.array_equal(left, right)
    return np.array_equal(left, right, equal_nan=True) and np.array_equal(
        np.signbit(left)[~np.isnan(left)], np.signbit(right)[~np.isnan(right)]
    )


SPECIAL: dict[str, list[Any]] = {
    "float": [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, INF, -INF, NAN, 1e-45, -1e-40, 65504.0, 3e38, 1e-8],
    "int": [0, 1, -1, INT_MIN, INT_MAX],
    "bool": [False, True],
}
LONG = [*I64.int_range, 2**53 + 1, -(2**53) - 1, 2**60 + 2**36 + 1]  # the last lies just above a tie of F32


def arrays(dtype: DType, shape: Sequence[int], *, specials: bool = True) -> st.SearchStrategy[Array]:
    """Arrays of the dtype's own values: ordinary numbers and, unless told otherwise, hostile ones."""
    ordinary: dict[str, st.SearchStrategy[Any]] = {
        "float": st.floats(-8, 8, width=16),
        "int": st.integers(-9, 9),
        "bool": st.booleans(),
    }
    element = ordinary[dtype.kind]
    if specials:
        special = SPECIAL[dtype.kind] + (LONG if dtype == I64 else [])
        element = st.one_of(element, st.sampled_from(special))
    size = math.prod(shape)

    def build(values: list[Any]) -> Array:
        wide = np.array(values, np.float64 if dtype.kind == "float" else NATIVE[dtype.name])
        return numpy_reference.quantize(wide, dtype).reshape(shape)

    return st.lists(element, min_size=size, max_size=size).map(build)


SHAPES = st.lists(st.integers(1, 4), max_size=4).map(tuple)
AXIS_SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)
Application = tuple[list[Array], list[DType], Attrs]


@st.composite
def elementwise(draw: st.DrawFn, arity: int, dtypes: Sequence[DType]) -> Application:
    dtype, shape = draw(st.sampled_from(dtypes)), draw(SHAPES)
    return [draw(arrays(dtype, shape)) for _ in range(arity)], [dtype] * arity, {}


@st.composite
def selects(draw: st.DrawFn) -> Application:
    (a, b), (dtype, _), _ = draw(elementwise(2, ALL))
    return [draw(arrays(BOOL, a.shape)), a, b], [BOOL, dtype, dtype], {}


@st.composite
def along_axis(draw: st.DrawFn, dtypes: Sequence[DType], specials: bool = True) -> Application:
    dtype, shape = draw(st.sampled_from(dtypes)), draw(AXIS_SHAPES)
    axis = draw(st.integers(0, len(shape) - 1))
    return [draw(arrays(dtype, shape, specials=specials))], [dtype], {"axis": axis}


@st.composite
def slices(draw: st.DrawFn) -> Application:
    args, dtypes, attrs = draw(along_axis(ALL))
    dim = args[0].shape[int(str(attrs["axis"]))]
    start = draw(st.integers(0, dim - 1))
    return args, dtypes, attrs | {"start": start, "stop": draw(st.integers(start + 1, dim))}


@st.composite
def pads(draw: st.DrawFn) -> Application:
    args, dtypes, attrs = draw(along_axis(ALL))
    return args, dtypes, attrs | {"low": draw(st.integers(0, 3)), "high": draw(st.integers(0, 3))}


@st.composite
def concats(draw: st.DrawFn) -> Application:
    (first,), (dtype,), attrs = draw(along_axis(ALL))
    axis, parts = int(str(attrs["axis"])), [first]
    for dim in draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)):
        parts.append(draw(arrays(dtype, (*first.shape[:axis], dim, *first.shape[axis + 1 :]))))
    return parts, [dtype] * len(parts), attrs


@st.composite
def matmuls(draw: st.DrawFn) -> Application:
    dtype, batch = draw(st.sampled_from(NUMBERS)), draw(st.lists(st.integers(1, 3), max_size=2))
    m, k, n = (draw(st.integers(1, 5)) for _ in range(3))
    a = draw(arrays(dtype, (*batch, m, k), specials=False))
    return [a, draw(arrays(dtype, (*batch, k, n), specials=False))], [dtype, dtype], {}


@st.composite
def gathers(draw: st.DrawFn) -> Application:
    dtype, ids_dtype = draw(st.sampled_from(ALL)), draw(st.sampled_from((I32, I64)))
    table, ids = draw(arrays(dtype, draw(AXIS_SHAPES))), draw(arrays(ids_dtype, draw(SHAPES)))
    return [table, ids], [dtype, ids_dtype], {}


@st.composite
def transposes(draw: st.DrawFn) -> Application:
    (x,), dtypes, _ = draw(elementwise(1, ALL))
    return [x], dtypes, {"perm": tuple(draw(st.permutations(range(x.ndim))))}


@st.composite
def reshapes(draw: st.DrawFn) -> Application:
    (x,), dtypes, _ = draw(elementwise(1, ALL))
    return [x], dtypes, {"shape": draw(st.sampled_from([(x.size,), (1, x.size), x.shape[::-1], (*x.shape, 1)]))}


@st.composite
def broadcasts(draw: st.DrawFn) -> Application:
    (x,), dtypes, _ = draw(elementwise(1, ALL))
    wide = [draw(st.integers(1, 3)) if dim == 1 else dim for dim in x.shape]
    return [x], dtypes, {"shape": (*draw(st.lists(st.integers(1, 3), max_size=1)), *wide)}


@st.composite
def casts(draw: st.DrawFn) -> Application:
    args, dtypes, _ = draw(elementwise(1, ALL))
    return args, dtypes, {"dtype": draw(st.sampled_from(sorted(DTYPES)))}


APPLICATIONS: dict[str, st.SearchStrategy[Application]] = {
    **{op: elementwise(2, NUMBERS) for op in ("add", "sub", "mul", "maximum", "minimum", "less", "less_equal")},
    **{op: elementwise(2, FLOATS) for op in ("div", "rem")},
    **{op: elementwise(1, NUMBERS) for op in ("neg", "abs")},
    **{op: elementwise(1, FLOATS) for op in ("log", "exp", "sqrt", "tanh")},
    **{op: along_axis(NUMBERS) for op in ("max", "argmax")},
    "sum": along_axis(NUMBERS, specials=False),
    "softmax": along_axis(FLOATS),
    "equal": elementwise(2, ALL),
    "select": selects(),
    "cast": casts(),
    "matmul": matmuls(),
    "gather": gathers(),
    "transpose": transposes(),
    "reshape": reshapes(),
    "broadcast": broadcasts(),
    "slice": slices(),
    "pad": pads(),
    "concat": concats(),
}
