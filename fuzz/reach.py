"""Which uses of the language a program makes, and which there are: op × dtype × rank.

A use's dtype and rank are those of the operand that carries the data: the first one, but for `select`, whose first is
its condition. What else an op may be told a dtype of makes a row of its own: `cast to F16`, `gather by I32`. Three
parts of the syntax have dtypes and ranks too: `literal`, `call` (what a fn takes and returns) and `while` (what it
carries). Which uses there are is asked of the op table, so a new op is missing here as soon as it is in the language.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import NamedTuple

from compiler.application import TAKES_BARE, bare_shape, is_bare
from compiler.ops import OPS, Attrs, Op, Refusal
from compiler.scope import size_faults
from compiler.syntax import Apply, AttrValue, Block, Expr, Fn, Literal, Name, Placeholder, Program, While
from compiler.types import DTYPES, TensorType

RANKS = range(6)  # a tensor may have more axes; nothing in the language or in its lowering begins at the seventh
SYNTAX = ("literal", "call", "while")
_SUBJECT = {"select": 1}  # where the operand that carries the data is not the first
_BY = {"gather": 1}  # an operand whose dtype is another choice than the data's


class Use(NamedTuple):
    """One kind of use; `what` is a row of the table."""

    what: str
    dtype: str
    rank: int

    def __str__(self) -> str:
        return f"{self.what} {self.dtype} {self.rank}"

    @staticmethod
    def parse(text: str) -> Use:
        """The inverse of `str`. Raises ValueError."""
        what, dtype, rank = text.rsplit(" ", 2)
        return Use(what, dtype, int(rank))


def use_of(op: Op, types: Sequence[TensorType], attrs: Attrs) -> Use:
    """The use that an op with these operands is."""
    words = [op.name, *(f"to {attrs[attr.name]}" for attr in op.attrs if attr.kind == "dtype")]
    if op.name in _BY:
        words.append(f"by {types[_BY[op.name]].dtype}")
    return _use(" ".join(words), types[_SUBJECT.get(op.name, 0)])


def _use(what: str, type_: TensorType) -> Use:
    return Use(what, type_.dtype.name, type_.rank)


@cache
def accepted() -> frozenset[Use]:
    """Every use that the language has, up to the greatest of `RANKS`."""
    ops = {use_of(op, types, attrs) for op in OPS.values() for rank in RANKS for types, attrs in applications(op, rank)}
    return frozenset(ops | {Use(what, dtype, rank) for what in SYNTAX for dtype in DTYPES for rank in RANKS})


def applications(op: Op, rank: int) -> Iterator[tuple[list[TensorType], Attrs]]:
    """Legal ones, operands of every dtype each: all of one shape, or all but the data's of one axis."""
    for dtypes in product(DTYPES.values(), repeat=op.arity[0]):
        for others in ((2,) * rank, (2,)):
            shapes = [(2,) * rank if at == _SUBJECT.get(op.name, 0) else others for at in range(len(dtypes))]
            types = [TensorType(dtype, shape) for dtype, shape in zip(dtypes, shapes, strict=True)]
            yield from ((types, attrs) for attrs in attributes(op, (2,) * rank) if accepts(op, types, attrs))


def accepts(op: Op, types: Sequence[TensorType], attrs: Attrs) -> bool:
    """Whether the op takes operands of these types, and makes a value that is not too large."""
    try:
        return not size_faults(op.infer(types, attrs))
    except Refusal:
        return False


def attributes(op: Op, shape: tuple[int, ...]) -> Iterator[dict[str, AttrValue]]:
    """Attributes that the op may accept for data of a shape of twos."""
    usual: dict[str, Sequence[AttrValue]] = {
        "axis": [0],
        "start": [0],
        "stop": [1],
        "low": [1],
        "high": [1],
        "shape": [shape],
        "perm": [tuple(range(len(shape)))],
        "dtype": list(DTYPES),
    }
    names = [attr.name for attr in op.attrs]
    yield from (dict(zip(names, values, strict=True)) for values in product(*(usual[name] for name in names)))


def uses(program: Program) -> set[Use]:
    """What `@main` and the fns that it calls are made of. A fn that nothing calls computes nothing that is judged.

    The program is one that the checker accepts; it need not be elaborated.
    """
    return _walked(program).found


def edges(program: Program) -> set[Edge]:
    """What in `@main` and the fns that it calls takes what something else made."""
    return _walked(program).edges


def _walked(program: Program) -> _Walk:
    walk = _Walk({fn.name: fn for fn in program.fns})
    if program.main is not None:
        walk.body(program.main, {})
    while walk.called:
        fn = walk.called.pop()
        walk.body(fn.body, {param.name: Made(param.type, "param") for param in fn.params})
    return walk


class Made(NamedTuple):
    """A value: its type, and the op or the part of the syntax that it comes from."""

    type: TensorType
    maker: str


class Edge(NamedTuple):
    """A value on its way: `maker` and `taker` are ops, or `input`, `literal`, `param`, `call`, `while`, `result`."""

    maker: str
    taker: str
    dtype: str
    rank: int


Values = dict[str, Made]


@dataclass(slots=True)
class _Walk:
    """One program, typed on the way. `called` are the fns still to be looked into, `known` those once called."""

    fns: dict[str, Fn]
    found: set[Use] = field(default_factory=set)
    edges: set[Edge] = field(default_factory=set)
    called: list[Fn] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    def body(self, block: Block, values: Values) -> None:
        """A block whose lets are added to `values`."""
        self.taken("result", self.block(block, values))

    def block(self, block: Block, values: Values) -> list[Made]:
        """The results of a block whose lets are added to `values`."""
        for let in block.lets:
            values.update(zip(let.names, self.values(let.value, values), strict=True))
        return [made for result in block.result for made in self.values(result, values)]

    def values(self, expr: Expr, values: Values) -> Sequence[Made]:
        """An expression's values, having noted what is used for them."""
        match expr:
            case Name():
                return (values[expr.id],)
            case Placeholder():
                return (Made(expr.type, "input"),)
            case Literal():
                return self.noted("literal", (expr.type,))
            case While():
                return self.loop(expr, values)
            case Apply(callee=callee) if callee in self.fns:
                return self.call(self.fns[callee], expr, values)
            case Apply():
                return (self.op(expr.callee, self.operands(expr, values), dict(expr.attrs)),)

    def noted(self, what: str, types: Sequence[TensorType]) -> Sequence[Made]:
        """The values of a part of the syntax."""
        self.found.update(_use(what, type_) for type_ in types)
        return [Made(type_, what) for type_ in types]

    def taken(self, taker: str, operands: Sequence[Made]) -> None:
        self.edges.update(Edge(made.maker, taker, made.type.dtype.name, made.type.rank) for made in operands)

    def loop(self, expr: While, values: Values) -> Sequence[Made]:
        self.taken("while", [made for carry in expr.carries for made in self.values(carry.init, values)])
        carried = self.noted("while", [carry.type for carry in expr.carries])
        inside = values | dict(zip((carry.name for carry in expr.carries), carried, strict=True))
        self.values(expr.cond, inside)
        self.taken("while", self.block(expr.body, inside))
        return carried

    def call(self, fn: Fn, expr: Apply, values: Values) -> Sequence[Made]:
        self.taken("call", [made for arg in expr.args for made in self.values(arg, values)])
        self.noted("call", [param.type for param in fn.params])
        if fn.name not in self.known:
            self.known.add(fn.name)
            self.called.append(fn)
        return self.noted("call", fn.results)

    def operands(self, expr: Apply, values: Values) -> list[Made]:
        """The operands; a bare `broadcast` takes its shape from the first operand that has one of its own."""
        bare = [expr.callee in TAKES_BARE and is_bare(arg) for arg in expr.args]
        own = [
            self.values(arg.args[0] if is_bare(arg) and alone else arg, values)[0]
            for arg, alone in zip(expr.args, bare, strict=True)
        ]
        if not any(bare):
            return own
        sibling = own[bare.index(False)].type
        shapes = [bare_shape(OPS[expr.callee], made.type, sibling) for made in own]
        return [
            self.op("broadcast", [made], {"shape": shape}) if alone else made
            for made, shape, alone in zip(own, shapes, bare, strict=True)
        ]

    def op(self, name: str, operands: Sequence[Made], attrs: Attrs) -> Made:
        types = [made.type for made in operands]
        self.found.add(use_of(OPS[name], types, attrs))
        self.taken(name, operands)
        return Made(OPS[name].infer(types, attrs), name)
