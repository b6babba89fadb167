"""The syntax tree of Kina: what a program is, before and after checking.

Plain immutable data. Spans do not take part in equality, so `parse(print(p)) == p`. Names are not resolved here:
`Apply` names an op or a fn, and the checker decides which. Standard library only; the printer, the parser and the
rules of typing live elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.source import NO_SPAN, Span
from compiler.types import Scalar, TensorType

AttrValue = int | tuple[int, ...] | str


@dataclass(frozen=True, slots=True)
class Name:
    """A use of a bound value."""

    id: str
    span: Span = field(default=NO_SPAN, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """`tensor<F32, [2], @host>[1, 2]`: a constant. `values` is flat, row-major and already rounded to the dtype."""

    type: TensorType
    values: tuple[Scalar, ...]
    span: Span = field(default=NO_SPAN, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A type used as a value: a host input, named by the `let` of `@main` that binds it."""

    type: TensorType
    span: Span = field(default=NO_SPAN, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Apply:
    """An op or a fn applied to operands, however it was spelled: `a + b` is Apply("add", (a, b))."""

    callee: str
    args: tuple[Expr, ...]
    attrs: tuple[tuple[str, AttrValue], ...] = ()
    span: Span = field(default=NO_SPAN, compare=False, repr=False)

    def attr(self, name: str) -> AttrValue | None:
        return dict(self.attrs).get(name)


@dataclass(frozen=True, slots=True)
class Carry:
    """One loop-carried value of a `while`: its name, its fixed type, its initial value."""

    name: str
    type: TensorType
    init: Expr
    span: Span = field(default=NO_SPAN, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class While:
    """`while (i: T = i0, ...) cond { body }`; the value is the carries after the last trip."""

    carries: tuple[Carry, ...]
    cond: Expr
    body: Block
    span: Span = field(default=NO_SPAN, compare=False, repr=False)


Expr = Name | Literal | Placeholder | Apply | While


@dataclass(frozen=True, slots=True)
class Let:
    """`let a = value;` or `let (a, b) = value;`"""

    names: tuple[str, ...]
    value: Expr
    span: Span = field(default=NO_SPAN, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Block:
    """`let` lines and one result, a flat tuple of values (nested tuples flatten)."""

    lets: tuple[Let, ...]
    result: tuple[Expr, ...]
    span: Span = field(default=NO_SPAN, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a fn, with its declared type."""

    name: str
    type: TensorType
    span: Span = field(default=NO_SPAN, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Fn:
    """`let name = fn(params) -> (results) { body }`"""

    name: str
    params: tuple[Param, ...]
    results: tuple[TensorType, ...]
    body: Block
    span: Span = field(default=NO_SPAN, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Program:
    """Fns in order of binding, and the host's script if there is one."""

    fns: tuple[Fn, ...]
    main: Block | None = None
    span: Span = field(default=NO_SPAN, compare=False, repr=False)

    def fn(self, name: str) -> Fn | None:
        return next((fn for fn in self.fns if fn.name == name), None)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The operand expressions of `expr`; a `while` counts its initial values, not its cond or body."""
    match expr:
        case Apply():
            return expr.args
        case While():
            return tuple(carry.init for carry in expr.carries)
        case _:
            return ()


def walk_expr(expr: Expr) -> Iterator[Expr]:
    """`expr` and every expression below it, the insides of a `while` included, parents first."""
    yield expr
    for child in children(expr):
        yield from walk_expr(child)
    if isinstance(expr, While):
        yield from walk_expr(expr.cond)
        yield from walk_block(expr.body)


def walk_block(block: Block) -> Iterator[Expr]:
    """Every expression of a block in program order."""
    for let in block.lets:
        yield from walk_expr(let.value)
    for result in block.result:
        yield from walk_expr(result)


def inputs(main: Block) -> dict[str, TensorType]:
    """The host inputs of `@main` in order: the names bound to a placeholder."""
    return {let.names[0]: let.value.type for let in main.lets if isinstance(let.value, Placeholder)}
