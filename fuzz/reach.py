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
    ops = {use for op in OPS.values() for rank in RANKS for use in _accepted(op, rank)}
    return frozenset(ops | {Use(what, dtype, rank) for what in SYNTAX for dtype in DTYPES for rank in RANKS})


def _accepted(op: Op, rank: int) -> Iterator[Use]:
    """The op on operands of every dtype each: all of one shape, or all but the data's of one axis."""
    for dtypes in product(DTYPES.values(), repeat=op.arity[0]):
        for others in ((2,) * rank, (2,)):
            shapes = [(2,) * rank if at == _SUBJECT.get(op.name, 0) else others for at in range(len(dtypes))]
            types = [TensorType(dtype, shape) for dtype, shape in zip(dtypes, shapes, strict=True)]
            yield from (use_of(op, types, attrs) for attrs in attributes(op, (2,) * rank) if accepts(op, types, attrs))


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
    walk = _Walk({fn.name: fn for fn in program.fns})
    if program.main is not None:
        walk.block(program.main, {})
    while walk.called:
        fn = walk.called.pop()
        walk.block(fn.body, {param.name: param.type for param in fn.params})
    return walk.found


Types = dict[str, TensorType]


@dataclass(slots=True)
class _Walk:
    """One program, typed on the way. `called` are the fns still to be looked into, `known` those once called."""

    fns: dict[str, Fn]
    found: set[Use] = field(default_factory=set)
    called: list[Fn] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    def block(self, block: Block, values: Types) -> None:
        """Its lets are added to `values`."""
        for let in block.lets:
            values.update(zip(let.names, self.types(let.value, values), strict=True))
        for result in block.result:
            self.types(result, values)

    def types(self, expr: Expr, values: Types) -> Sequence[TensorType]:
        """The types of an expression's values, having noted what is used for them."""
        match expr:
            case Name():
                return (values[expr.id],)
            case Placeholder():
                return (expr.type,)
            case Literal():
                self.note("literal", (expr.type,))
                return (expr.type,)
            case While():
                return self.loop(expr, values)
            case Apply(callee=callee) if callee in self.fns:
                return self.call(self.fns[callee], expr, values)
            case Apply():
                return (self.op(expr.callee, self.operands(expr, values), dict(expr.attrs)),)

    def note(self, what: str, types: Sequence[TensorType]) -> None:
        self.found.update(_use(what, type_) for type_ in types)

    def loop(self, expr: While, values: Types) -> Sequence[TensorType]:
        for carry in expr.carries:
            self.types(carry.init, values)
        inside = values | {carry.name: carry.type for carry in expr.carries}
        self.types(expr.cond, inside)
        self.block(expr.body, inside)
        types = [carry.type for carry in expr.carries]
        self.note("while", types)
        return types

    def call(self, fn: Fn, expr: Apply, values: Types) -> Sequence[TensorType]:
        for arg in expr.args:
            self.types(arg, values)
        self.note("call", [*(param.type for param in fn.params), *fn.results])
        if fn.name not in self.known:
            self.known.add(fn.name)
            self.called.append(fn)
        return fn.results

    def operands(self, expr: Apply, values: Types) -> Sequence[TensorType]:
        """The operands' types; a bare `broadcast` takes its shape from the first operand that has one of its own."""
        bare = [expr.callee in TAKES_BARE and is_bare(arg) for arg in expr.args]
        own = [
            self.types(arg.args[0] if is_bare(arg) and alone else arg, values)[0]
            for arg, alone in zip(expr.args, bare, strict=True)
        ]
        if not any(bare):
            return own
        sibling = own[bare.index(False)]
        shapes = [bare_shape(OPS[expr.callee], type_, sibling) for type_ in own]
        return [
            self.op("broadcast", [type_], {"shape": shape}) if alone else type_
            for type_, shape, alone in zip(own, shapes, bare, strict=True)
        ]

    def op(self, name: str, types: Sequence[TensorType], attrs: Attrs) -> TensorType:
        self.found.add(use_of(OPS[name], types, attrs))
        return OPS[name].infer(types, attrs)
