"""Constructors of syntax trees for the generators, and the script of a case while it is being written.

Nothing here draws. A program built here is not checked here either: the tests require the checker to accept it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.recipes import Recipe
from compiler.syntax import Apply, AttrValue, Block, Expr, Fn, Let, Name, Placeholder, Program
from compiler.types import TensorType
from oracles.case import Case, Claim, Relation

Operand = Expr | str


def op(callee: str, *operands: Operand, **attrs: AttrValue) -> Apply:
    """An op or a fn applied; a string is a use of that name."""
    return Apply(callee, tuple(Name(x) if isinstance(x, str) else x for x in operands), tuple(attrs.items()))


def matmul(left: Operand, right: Operand) -> Apply:
    """`left @ right`."""
    return op("matmul", left, right)


def bare(operand: Operand) -> Apply:
    """`broadcast(x)`, whose shape comes from the sibling operand."""
    return op("broadcast", operand)


@dataclass(slots=True)
class Body:
    """The lets of a block so far. Where `nested`, a `step` stays an expression inside the next one."""

    nested: bool = False
    lets: list[Let] = field(default_factory=list)

    def let(self, name: str, value: Expr) -> Name:
        self.lets.append(Let((name,), value))
        return Name(name)

    def step(self, name: str, value: Expr) -> Expr:
        """A value that is used once."""
        return value if self.nested else self.let(name, value)

    def block(self, *result: Operand) -> Block:
        return Block(tuple(self.lets), tuple(Name(r) if isinstance(r, str) else r for r in result))


@dataclass(slots=True)
class Script:
    """`@main` while it is being written: its inputs, fns, lets and claims, and what it is to return beside them."""

    inputs: dict[str, tuple[TensorType, Recipe]] = field(default_factory=dict)
    fns: dict[str, Fn] = field(default_factory=dict)
    lets: list[Let] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def input(self, name: str, tensor_type: TensorType, recipe: Recipe) -> str:
        """A host input. The same name twice is the same input."""
        self.inputs.setdefault(name, (tensor_type, recipe))
        return name

    def let(self, name: str, value: Expr) -> str:
        self.lets.append(Let((name,), value))
        return name

    def call(self, fn: Fn, names: tuple[str, ...], instead: dict[str, str]) -> None:
        """A call whose arguments are the values named as the parameters are, or what stands `instead`."""
        self.fns.setdefault(fn.name, fn)
        self.lets.append(Let(names, op(fn.name, *(instead.get(p.name, p.name) for p in fn.params))))

    def claim(self, left: str, relation: Relation, right: str) -> None:
        self.claims.append(Claim(left, relation, right))

    def results(self) -> tuple[str, ...]:
        """What is shown, in order and as often as it is, then what claims name: an engine may see nothing else."""
        claimed = [name for claim in self.claims for name in (claim.left, claim.right)]
        return (*self.shown, *(name for name in dict.fromkeys(claimed) if name not in self.shown))

    def case(self, why: str) -> Case:
        placeholders = [Let((name,), Placeholder(tensor_type)) for name, (tensor_type, _) in self.inputs.items()]
        main = Block((*placeholders, *self.lets), tuple(Name(name) for name in self.results()))
        program = Program(tuple(self.fns.values()), main)
        recipes = {name: recipe for name, (_, recipe) in self.inputs.items()}
        return Case(program, recipes, claims=tuple(self.claims), why=why)
