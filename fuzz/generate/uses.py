"""Legal uses of ops, found by asking the op table: operands from what is in sight, attributes by their kind.

No op is named here. An attempt is drawn, `infer` takes it or refuses it, and the next one is drawn: an attempt costs a
few microseconds. Operands may also be `fresh`: of a type that nothing in sight has, related to that of another operand.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random
from typing import TypeVar

from compiler.application import TAKES_BARE, bare_shape
from compiler.ops import OPS, Op, Refusal
from compiler.syntax import AttrValue
from compiler.types import DTYPES, DType, TensorType
from fuzz.reach import accepts, attributes
from oracles.traced import Traced

ATTEMPTS = 30
FEW = 3  # attempts, after which fresh operands are the rule
ATTRIBUTES = 3  # draws of an op's attributes for the same operands
MOST_AXES = 5
MORE_OPERANDS = 2  # than an op needs, if it takes as many as one likes

_DTYPES = tuple(DTYPES.values())

Shape = tuple[int, ...]
T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Value:
    """A value in sight. `maker` is the op that made it, or `input`, `literal`, `param`, `call`, `while`, `carry`."""

    name: str
    type: TensorType
    known: Traced
    maker: str
    used: int = 0


Operand = Value | TensorType
"""A value in sight, or the type of a fresh one."""


@dataclass(frozen=True, slots=True)
class Pool:
    """What types are made of in one program: few dims and dtypes, so that shapes meet. `cap`: elements of one value."""

    dims: Sequence[int]
    dtypes: Sequence[DType]
    ranks: Sequence[int]
    cap: int

    def shape(self, rng: Random) -> Shape:
        """A shape of the pool that is not too large."""
        return self.capped(tuple(pick(rng, self.dims) for _ in range(pick(rng, self.ranks))))

    def capped(self, shape: Shape) -> Shape:
        """The shape with its first dims reduced to 1, as many as it takes."""
        dims = list(shape)
        for at in range(len(dims)):
            if math.prod(dims) <= self.cap:
                break
            dims[at] = 1
        return tuple(dims)


@dataclass(frozen=True, slots=True)
class Use:
    """A legal use: `bare` marks operands that stand in a bare `broadcast`."""

    op: Op
    operands: tuple[Operand, ...]
    bare: tuple[bool, ...]
    attrs: dict[str, AttrValue]
    type: TensorType


def type_of(operand: Operand) -> TensorType:
    """The operand's own type, whether it is in sight or fresh."""
    return operand if isinstance(operand, TensorType) else operand.type


@cache
def dtype_rows(op: Op, count: int) -> Mapping[tuple[int, DType], Sequence[tuple[DType, ...]]]:
    """The dtypes that so many operands may have together, by the place and the dtype of one of them."""
    rows: defaultdict[tuple[int, DType], list[tuple[DType, ...]]] = defaultdict(list)
    for dtypes in product(DTYPES.values(), repeat=count):
        types = [TensorType(dtype, (2, 2)) for dtype in dtypes]
        if any(accepts(op, types, attrs) for attrs in attributes(op, (2, 2))):
            for place in enumerate(dtypes):
                rows[place].append(dtypes)
    return rows


def find(rng: Random, op: Op, values: Sequence[Value], pool: Pool) -> Use | None:
    """A legal use of `op`, or None where none was met."""
    for attempt in range(ATTEMPTS):
        use = _attempt(rng, op, values, pool, 0.2 if attempt < FEW else 0.7)
        if use is not None and use.type.size <= pool.cap and use.type.rank <= MOST_AXES:
            return use
    return None


def _attempt(rng: Random, op: Op, values: Sequence[Value], pool: Pool, fresh: float) -> Use | None:
    """All operands are drawn around one of them, the theme; this share of the others is fresh."""
    least, most = op.arity
    count = least + (rng.randint(0, min(most - least, MORE_OPERANDS)) if most > least else 0)
    rows, at = dtype_rows(op, count), int(rng.random() * count)
    theme = _theme(rng, [value for value in values if (at, value.type.dtype) in rows], pool)
    around = type_of(theme)
    if (at, around.dtype) not in rows:
        return None
    others = [value for value in values if value is not theme] if rng.random() < 0.8 else values
    operands = [
        theme if index == at else _beside(rng, around.with_dtype(dtype), others, pool, fresh)
        for index, dtype in enumerate(pick(rng, rows[at, around.dtype]))
    ]
    for _ in range(ATTRIBUTES if op.attrs else 1):
        use = _accepted(rng, op, operands, pool)
        if use is not None:
            return use
    return None


def _theme(rng: Random, values: Sequence[Value], pool: Pool) -> Operand:
    """Seldom a fresh one where there is a value."""
    if values and rng.random() < 0.92:
        return likely(rng, values)
    return TensorType(_dtype(rng, pool), pool.shape(rng))


def _accepted(rng: Random, op: Op, operands: Sequence[Operand], pool: Pool) -> Use | None:
    """The op with drawn attributes, if it takes them."""
    own = [type_of(operand) for operand in operands]
    attrs = {attr.name: _ATTRIBUTES[attr.kind](rng, own[0], pool) for attr in op.attrs}
    for bare in _spellings(rng, op, own):
        try:
            return Use(op, tuple(operands), bare, attrs, op.infer(_expanded(op, own, bare), attrs))
        except Refusal:
            continue
    return None


def pick(rng: Random, items: Sequence[T]) -> T:
    """`rng.choice`, in a quarter of its time."""
    return items[int(rng.random() * len(items))]


def likely(rng: Random, values: Sequence[Value]) -> Value:
    """Sooner one that is not used yet, of two."""
    first, second = pick(rng, values), pick(rng, values)
    return second if second.used < first.used else first


def _dtype(rng: Random, pool: Pool) -> DType:
    """Seldom one that is not the pool's: a condition, an id."""
    return pick(rng, pool.dtypes if rng.random() < 0.85 else _DTYPES)


def _beside(rng: Random, theme: TensorType, values: Sequence[Value], pool: Pool, fresh: float) -> Operand:
    """Another operand of the dtype: one of the theme's shape, any other, or a fresh one of a related type."""
    if rng.random() >= fresh:
        alike = [value for value in values if value.type.dtype is theme.dtype]
        if rng.random() < 0.75:
            alike = [value for value in alike if value.type.shape == theme.shape]
        if alike:
            return likely(rng, alike)
    return TensorType(theme.dtype, pool.capped(_related(rng, theme.shape, pool)))


def _related(rng: Random, shape: Shape, pool: Pool) -> Shape:
    """The same, one of another order, size or rank, one that expands to it."""
    choice = rng.random()
    if not shape or choice < 0.35:
        return shape if choice < 0.35 else pool.shape(rng)
    at = int(rng.random() * len(shape))
    if choice < 0.65:
        return (*shape[:-2], *shape[:-3:-1])  # the last two changed round
    if choice < 0.8:
        return (*shape[:at], pick(rng, pool.dims), *shape[at + 1 :])
    if choice < 0.92:
        return tuple(1 if rng.random() < 0.5 else dim for dim in shape[at:])
    return pool.shape(rng)


def _spellings(rng: Random, op: Op, types: Sequence[TensorType]) -> tuple[tuple[bool, ...], ...]:
    """Which operands stand in a bare `broadcast`: none, or else the one of the fewest axes and elements."""
    plain = (False,) * len(types)
    if op.name not in TAKES_BARE:
        return (plain,)
    least = min(range(len(types)), key=lambda at: (types[at].rank, types[at].size))
    bare = tuple(at == least for at in range(len(types)))
    return (bare, plain) if rng.random() < 0.05 else (plain, bare)


def _expanded(op: Op, types: Sequence[TensorType], bare: Sequence[bool]) -> list[TensorType]:
    """The operands' types behind bare `broadcast`. Raises `Refusal`."""
    if not any(bare):
        return list(types)
    sibling = types[bare.index(False)]
    return [
        OPS["broadcast"].infer([type_], {"shape": bare_shape(op, type_, sibling)}) if alone else type_
        for type_, alone in zip(types, bare, strict=True)
    ]


def expansion(use: Use, at: int) -> dict[str, AttrValue]:
    """The attributes that the bare `broadcast` of operand `at` takes from its sibling."""
    types = [type_of(operand) for operand in use.operands]
    return {"shape": bare_shape(use.op, types[at], types[use.bare.index(False)])}


def _int(rng: Random, type_: TensorType, _: Pool) -> AttrValue:
    """An axis, or something up to a dim."""
    if rng.random() < 0.5:
        return rng.randrange(max(1, type_.rank))
    return rng.randint(0, pick(rng, type_.shape or (1,)))


def _ints(rng: Random, type_: TensorType, pool: Pool) -> AttrValue:
    """A permutation of the axes, a shape of as many elements, or a larger one that the shape expands to."""
    choice, shape = rng.random(), type_.shape
    if choice < 0.35:
        return tuple(rng.sample(range(len(shape)), len(shape)))
    if choice < 0.7:
        return _regrouped(rng, shape)
    front = tuple(pick(rng, pool.dims) for _ in range(pick(rng, (0, 0, 1, 1, 2))))
    return (*front, *(pick(rng, pool.dims) if dim == 1 else dim for dim in shape))


def _regrouped(rng: Random, shape: Shape) -> Shape:
    """Neighbours merged, a dim split, a 1 put in or left out: one to three times."""
    dims = list(shape)
    for _ in range(rng.randint(1, 3)):
        at, choice = rng.randrange(len(dims) + 1), rng.random()
        if choice < 0.35 and at + 1 < len(dims):
            dims[at : at + 2] = [dims[at] * dims[at + 1]]
        elif choice < 0.7 and at < len(dims):
            divisor = pick(rng, [d for d in range(1, dims[at] + 1) if dims[at] % d == 0])
            dims[at : at + 1] = [divisor, dims[at] // divisor]
        elif choice < 0.85 and at < len(dims) and dims[at] == 1:
            del dims[at]
        elif choice >= 0.7:
            dims.insert(at, 1)
    return tuple(dims)


def _dtype_name(rng: Random, _: TensorType, pool: Pool) -> AttrValue:
    """Often one that is not the pool's: what may be converted to what is many pairs."""
    return (pick(rng, _DTYPES) if rng.random() < 0.4 else _dtype(rng, pool)).name


_ATTRIBUTES = {"int": _int, "ints": _ints, "dtype": _dtype_name}
