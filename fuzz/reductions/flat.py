"""Programs without nesting: one let per op, fn calls opened or moved into one fn.

Cutting a program into parts is done on this form. What these functions return need not check: a reduction tries, and
the checker decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compiler.syntax import Apply, Block, Carry, Expr, Fn, Let, Literal, Name, Param, Placeholder, Program, While
from compiler.types import TensorType
from fuzz.reductions.trees import substitute

Atom = Name | Literal


@dataclass(slots=True)
class Names:
    """Names not yet used."""

    taken: set[str] = field(default_factory=set)

    def fresh(self, wish: str) -> str:
        name = next(name for name in _variants(wish) if name not in self.taken)
        self.taken.add(name)
        return name


def _variants(wish: str) -> Iterator[str]:
    yield wish
    number = 2
    while True:
        yield f"{wish}_{number}"
        number += 1


@dataclass(frozen=True, slots=True)
class Flat:
    """A block in which every operand is a name or a literal, and what became of each name of the block before."""

    block: Block
    renamed: Mapping[str, Atom]


def flatten(program: Program, inline: Collection[str]) -> Flat:
    """`@main` with one let per op. Calls of the fns in `inline` become their bodies; any other call stays one let.

    The condition of a `while` stays one expression, for it has no block of its own.
    """
    main = program.main or Block((), ())
    flattener = _Flattener({fn.name: fn for fn in program.fns}, inline, Names({fn.name for fn in program.fns}))
    env: dict[str, Atom] = {}
    result = flattener.block(main, env)
    return Flat(Block(tuple(flattener.lets), tuple(result)), env)


def unnested(program: Program) -> Program:
    """The program with one let per op in every block, and all its calls."""
    fns = {fn.name: fn for fn in program.fns}

    def flat(block: Block, params: tuple[Param, ...] = ()) -> Block:
        flattener = _Flattener(fns, (), Names({*fns, *(param.name for param in params)}))
        result = flattener.block(block, {})
        return Block(tuple(flattener.lets), tuple(result))

    bodies = tuple(replace(fn, body=flat(fn.body, fn.params)) for fn in program.fns)
    return Program(bodies, program.main and flat(program.main))


@dataclass(slots=True)
class _Flattener:
    fns: Mapping[str, Fn]
    inline: Collection[str]
    names: Names
    lets: list[Let] = field(default_factory=list)

    def block(self, block: Block, env: dict[str, Atom]) -> list[Atom]:
        for let in block.lets:
            env.update(zip(let.names, self.atoms(let.value, env, let.names), strict=False))
        return [atom for expr in block.result for atom in self.atoms(expr, env, ("r",))]

    def atoms(self, expr: Expr, env: Mapping[str, Atom], wish: Sequence[str]) -> list[Atom]:
        """The values of an expression as atoms; new lets get the wished names, as far as they are free."""
        match expr:
            case Name():
                return [env.get(expr.id, expr)]
            case Literal():
                return [expr]
            case Placeholder():
                return self.bound(expr, wish)
            case While():
                return self.bound(self.loop(expr, env), wish, len(expr.carries))
        args = tuple(atom for arg in expr.args for atom in self.atoms(arg, env, (f"{wish[0]}_arg",)))
        fn = self.fns.get(expr.callee)
        if fn is not None and fn.name in self.inline:
            return self.block(fn.body, dict(zip((param.name for param in fn.params), args, strict=False)))
        return self.bound(Apply(expr.callee, args, expr.attrs), wish, len(fn.results) if fn else 1)

    def bound(self, value: Expr, wish: Sequence[str], count: int = 1) -> list[Atom]:
        wishes = wish if len(wish) == count else [wish[0]] * count
        names = tuple(self.names.fresh(name) for name in wishes)
        self.lets.append(Let(names, value))
        return [Name(name) for name in names]

    def loop(self, loop: While, env: Mapping[str, Atom]) -> While:
        inits = [self.atoms(carry.init, env, (carry.name,))[0] for carry in loop.carries]
        names = [self.names.fresh(carry.name) for carry in loop.carries]
        inner = {**env, **{carry.name: Name(name) for carry, name in zip(loop.carries, names, strict=True)}}
        cond = substitute(loop.cond, inner)
        body = _Flattener(self.fns, self.inline, self.names)
        result = body.block(loop.body, inner)
        carries = zip(names, loop.carries, inits, strict=True)
        return While(tuple(Carry(n, c.type, i) for n, c, i in carries), cond, Block(tuple(body.lets), tuple(result)))


def atom_type(atom: Expr, types: Mapping[str, TensorType]) -> TensorType:
    """The type of a name or a literal."""
    return types[atom.id] if isinstance(atom, Name) else atom.type  # type: ignore[union-attr]  # an atom, by contract


def wrap(block: Block, fns: tuple[Fn, ...], types: Mapping[str, TensorType]) -> Program:
    """A flat `@main` moved into one fn, which `@main` calls on its inputs: so its ops run compiled, not on the host.

    `types` holds the type of every name of the block. A result keeps its name in `@main` unless it is an input, a
    literal or returned twice.
    """
    inputs = [let for let in block.lets if isinstance(let.value, Placeholder)]
    names = Names({fn.name for fn in fns} | {let.names[0] for let in inputs})
    fn_name = names.fresh("f")
    outs = tuple(names.fresh(atom.id if isinstance(atom, Name) else "r") for atom in block.result)
    fn = Fn(
        fn_name,
        tuple(Param(let.names[0], types[let.names[0]]) for let in inputs),
        tuple(atom_type(atom, types) for atom in block.result),
        Block(tuple(let for let in block.lets if let not in inputs), block.result),
    )
    call = Let(outs, Apply(fn_name, tuple(Name(param.name) for param in fn.params)))
    return Program((*fns, fn), Block((*inputs, call), tuple(Name(out) for out in outs)))


def sole_call(program: Program) -> str | None:
    """The fn that `@main` does nothing but call, once: the form that `wrap` gives, also with the call in the result."""
    main = flatten(program, ()).block
    values = [let.value for let in main.lets if not isinstance(let.value, Placeholder)]
    named = all(isinstance(expr, Name) for expr in main.result)
    if len(values) == 1 and named and isinstance(values[0], Apply) and program.fn(values[0].callee):
        return values[0].callee
    return None
