"""Fns that use the language once: every op on every dtype and rank that its typing accepts, and the syntax around ops.

Which uses there are is asked of `infer`; what stands here is only what they are tried with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

from compiler.kinds import edge_values
from compiler.ops import OPS, Refusal
from compiler.syntax import Apply, AttrValue, Block, Carry, Fn, Let, Literal, Name, Param, While
from compiler.types import BOOL, DTYPES, I32, I64, DType, TensorType
from tests.compiler.jit import fn_of

SHAPES = ((), (3,), (2, 3), (2, 1, 3), (2, 1, 2, 3), (1, 2, 1, 3, 2))

Trial = tuple[list[TensorType], dict[str, AttrValue]]
Attrs = dict[str, AttrValue]


def trials(op: str) -> Iterator[Trial]:
    """Operands and attributes that fit the op, of every dtype and rank; not all of them are accepted."""
    for dtype in DTYPES.values():
        for shape in SHAPES:
            yield from _beside(op, dtype, shape)


def accepted(op: str) -> Iterator[Trial]:
    for operands, attrs in trials(op):
        try:
            OPS[op].infer(operands, attrs)
        except Refusal:
            continue
        yield operands, attrs


def _beside(op: str, dtype: DType, shape: tuple[int, ...]) -> Iterator[Trial]:
    """Trials whose data is of this type."""
    x, axes = TensorType(dtype, shape), range(len(shape))
    match op:
        case "select":
            yield [x.with_dtype(BOOL), x, x], {}
        case "gather":
            for ids in (I32, I64):
                yield [x, TensorType(ids, SHAPES[len(shape) % 4])], {}  # more would exceed the language's rank
        case "matmul":
            yield [x, x.with_shape((*shape[:-2], shape[-1], 4) if len(shape) > 1 else shape)], {}
        case "concat":
            for axis in axes:
                part = x.with_shape((*shape[:axis], 1, *shape[axis + 1 :]))
                yield [part, x, part], {"axis": axis}
        case _:
            yield from (([x] * OPS[op].arity[0], attrs) for attrs in _attributes(op, shape))


def _attributes(op: str, shape: tuple[int, ...]) -> Iterator[Attrs]:
    axes = range(len(shape))
    match op:
        case "sum" | "max" | "argmax" | "softmax":
            for axis in axes:
                yield {"axis": axis}
        case "slice":
            for axis in axes:
                yield {"axis": axis, "start": shape[axis] - 1, "stop": shape[axis]}
        case "pad":
            for axis in axes:
                yield {"axis": axis, "low": 1, "high": 2}
        case "reshape":
            yield {"shape": (*shape[::-1], 1)}
            yield {"shape": (math.prod(shape),)}
        case "broadcast":
            yield {"shape": (4, *(5 if dim == 1 else dim for dim in shape))}
        case "transpose":
            yield {"perm": tuple(reversed(axes))}
        case "cast":
            for dtype in DTYPES:
                yield {"dtype": dtype}
        case _:
            yield {}


Fns = tuple[Fn, ...]
"""A fn, last, and those that it calls."""


def uses_of_op(op: str) -> list[Fns]:
    return [(fn_of(f"f{i}", op, operands, attrs),) for i, (operands, attrs) in enumerate(accepted(op))]


def types() -> Iterator[tuple[int, TensorType]]:
    """Every dtype and rank, numbered."""
    yield from enumerate(TensorType(dtype, shape) for dtype in DTYPES.values() for shape in SHAPES)


def uses_of_literals() -> list[Fns]:
    """Constants of ordinary and special values, and of one value throughout, each also compared with an operand."""
    found: list[Fns] = []
    for number, type_ in types():
        edges = edge_values(type_.dtype)
        for start in {0, 11 % len(edges), len(edges) - 1}:
            values = [edges[(start + at) % len(edges)] for at in range(type_.size)]
            if start == 0:
                values = values[:1] * type_.size
            literal = Literal(type_, tuple(map(bool, values) if type_.dtype is BOOL else values))
            body = Block((), (literal, Apply("equal", (Name("x"), literal))))
            results = (type_, type_.with_dtype(BOOL))
            found.append((Fn(f"f{number}_{start}", (Param("x", type_),), results, body),))
    return found


def uses_of_calls() -> list[Fns]:
    """A fn called twice: it returns a parameter as it came and one that was chosen; the caller swaps what it gets."""
    found: list[Fns] = []
    for number, x in types():
        params = (Param("x", x), Param("y", x))
        chosen = Apply("select", (Apply("equal", (Name("x"), Name("y"))), Name("x"), Name("y")))
        inner = Fn(f"g{number}", params, (x, x), Block((), (Name("y"), chosen)))
        lets = (
            Let(("a", "b"), Apply(inner.name, (Name("x"), Name("y")))),
            Let(("c", "d"), Apply(inner.name, (Name("b"), Name("x")))),
        )
        outer = Fn(f"f{number}", params, (x, x, x), Block(lets, (Name("d"), Name("a"), Name("c"))))
        found.append((inner, outer))
    return found


def uses_of_while() -> list[Fns]:
    """Three trips, counted by one element of any rank: two carries change places, a third takes what they agree on."""
    found: list[Fns] = []
    for number, x in types():
        count = TensorType(I64, (1,) * x.rank)
        zero, one, three = (Literal(count, (n,)) for n in (0, 1, 3))
        carries = (Carry("i", count, zero), *(Carry(n, x, Name(of)) for n, of in (("a", "x"), ("b", "y"), ("c", "y"))))
        same = Apply("select", (Apply("equal", (Name("a"), Name("c"))), Name("b"), Name("a")))
        body = Block((), (Apply("add", (Name("i"), one)), Name("b"), Name("a"), same))
        loop = While(carries, Apply("less", (Name("i"), three)), body)
        lets = (Let(("n", "p", "q", "r"), loop),)
        results = Block(lets, (Name("n"), Name("p"), Name("q"), Name("r")))
        found.append((Fn(f"f{number}", (Param("x", x), Param("y", x)), (count, x, x, x), results),))
    return found


USES: dict[str, Callable[[], list[Fns]]] = {
    **{op: partial(uses_of_op, op) for op in OPS},
    "literal": uses_of_literals,
    "call": uses_of_calls,
    "while": uses_of_while,
}
