"""Strategies of arbitrary syntax trees: whatever the grammar can say, whether or not it means anything.

They are functions of `draw`, and not combinators, for hypothesis prints a strategy's repr and warns of a long one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

from compiler.syntax import (
    INFIX,
    Apply,
    AttrValue,
    Block,
    Carry,
    Expr,
    Fn,
    Let,
    Literal,
    Name,
    Param,
    Placeholder,
    Program,
    While,
)
from compiler.types import DTYPES, PLACES, DType, Scalar, TensorType, round_to

T = TypeVar("T")
WORDS = ("a", "b", "x_1", "max", "slice", "F32", "inf_", "nano", "lets", "main", "_", "Q")
names = st.sampled_from(WORDS)
integers = st.integers(-2, 9) | st.integers(-(2**63), 2**63 - 1)


_between = cache(st.integers)  # a strategy that was used before needs no validation
_dtypes, _places = st.sampled_from(sorted(DTYPES)), st.sampled_from(PLACES)
_infix = st.sampled_from(sorted(INFIX))
_callees = st.sampled_from((*WORDS, *sorted(INFIX), "neg"))
_attribute_kinds = st.sampled_from(("int", "ints", "dtype"))
_leaves = st.sampled_from(("name", "literal", "placeholder"))
_kinds = st.sampled_from(("name", "literal", "placeholder", "infix", "neg", "apply", "apply", "while"))


@st.composite
def _types(draw: st.DrawFn) -> TensorType:
    return TensorType(DTYPES[draw(_dtypes)], _some(draw, _between(1, 3), 0, 3), draw(_places))


types = _types()


@cache
def scalars(dtype: DType) -> st.SearchStrategy[Scalar]:
    """Any value of a dtype; the only NaN is `math.nan`."""
    if dtype.kind == "bool":
        return st.booleans()
    if dtype.kind == "int":
        return st.integers(*dtype.int_range)
    special = st.sampled_from([math.inf, -math.inf, -0.0, math.nan, dtype.smallest_subnormal, dtype.max_finite])
    return special | st.floats(-dtype.max_finite, dtype.max_finite).map(lambda x: round_to(dtype, Fraction(x)))


def _some(draw: st.DrawFn, items: st.SearchStrategy[T], least: int, most: int) -> tuple[T, ...]:
    return tuple(draw(items) for _ in range(draw(_between(least, most))))


@st.composite
def _literals(draw: st.DrawFn) -> Literal:
    type_ = draw(types)
    return Literal(type_, _some(draw, scalars(type_.dtype), type_.size, type_.size))


literals = _literals()


@st.composite
def _attributes(draw: st.DrawFn) -> tuple[str, AttrValue]:
    kind = draw(_attribute_kinds)
    if kind == "ints":
        return draw(names), _some(draw, integers, 0, 3)
    return draw(names), draw(integers) if kind == "int" else draw(names)


attributes = _attributes()


@cache
@st.composite
def exprs(draw: st.DrawFn, levels: int) -> Expr:
    kind = draw(_kinds if levels > 1 else _leaves)
    match kind:
        case "name":
            return Name(draw(names))
        case "literal":
            return draw(literals)
        case "placeholder":
            return Placeholder(draw(types))
    inner = exprs(levels - 1)
    match kind:
        case "infix":
            return Apply(draw(_infix), (draw(inner), draw(inner)))
        case "neg":
            return Apply("neg", (draw(inner),))
        case "apply":
            return Apply(draw(_callees), _some(draw, inner, 0, 3), _some(draw, attributes, 0, 2))
    carries = tuple(Carry(draw(names), draw(types), draw(inner)) for _ in range(draw(_between(1, 2))))
    return While(carries, draw(inner), draw(blocks(levels - 1)))


@cache
@st.composite
def blocks(draw: st.DrawFn, levels: int) -> Block:
    inner = exprs(levels)
    lets = tuple(Let(_some(draw, names, 1, 2), draw(inner)) for _ in range(draw(_between(0, 2))))
    return Block(lets, _some(draw, inner, 1, 2))


@st.composite
def _programs(draw: st.DrawFn) -> Program:
    fns = []
    for _ in range(draw(_between(0, 2))):
        params = tuple(Param(draw(names), draw(types)) for _ in range(draw(_between(0, 2))))
        fns.append(Fn(draw(names), params, _some(draw, types, 1, 2), draw(blocks(3))))
    return Program(tuple(fns), draw(blocks(3)) if draw(_between(0, 1)) else None)


programs = _programs()
