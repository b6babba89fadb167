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

MAX_DEPTH = 100  # levels of one expression; every recursive walk of a tree must do with Python's 1,000 frames
WHILE_LEVELS = 3

# How the infix ops are written, and how tightly they bind: comparisons (which do not chain), sums, products.
INFIX: dict[str, tuple[str, int]] = {
    "less": ("<", 1),
    "less_equal": ("<=", 1),
    "equal": ("==", 1),
    "add": ("+", 2),
    "sub": ("-", 2),
    "mul": ("*", 3),
    "div": ("/", 3),
    "rem": ("%", 3),
    "matmul": ("@", 3),
}


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
    callee_span: Span = field(default=NO_SPAN, compare=False, repr=False)
    attr_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)

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
    name_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)


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
    name_span: Span = field(default=NO_SPAN, compare=False, repr=False)
    result_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)


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


def height(block: Block) -> tuple[int, Span]:
    """Levels of the highest expression of a block, with its span; a loop, for the tree may be too high to recurse.

    The insides of a `while` count as `WHILE_LEVELS`, for that is what comparing two trees costs in frames.
    """
    highest, where = 0, block.span
    pending = [(expr, 1) for expr in _own(block)]
    while pending:
        expr, level = pending.pop()
        if level > highest:
            highest, where = level, expr.span
        if isinstance(expr, While):
            inside = (*children(expr), expr.cond, *_own(expr.body))
            pending += [(child, level + WHILE_LEVELS) for child in inside]
        else:
            pending += [(child, level + 1) for child in children(expr)]
    return highest, where


def _own(block: Block) -> tuple[Expr, ...]:
    """The expressions of a block, without those inside them."""
    return (*(let.value for let in block.lets), *block.result)


def inputs(main: Block) -> dict[str, TensorType]:
    """The host inputs of `@main` in order: the names bound to a placeholder."""
    return {let.names[0]: let.value.type for let in main.lets if isinstance(let.value, Placeholder)}
