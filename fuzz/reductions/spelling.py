"""Reductions that leave the computation alone: fewer lets, shorter names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from string import ascii_lowercase

from compiler.syntax import Apply, Block, Expr, Fn, Let, Name, Placeholder, Program, While, walk_block
from fuzz.reductions.trees import block_uses, blocks, bound_in, expressions, rewrite_program, substitute
from oracles.case import Case

FN_LETTERS = "fgh"
VALUE_LETTERS = "".join(letter for letter in ascii_lowercase if letter not in FN_LETTERS)


def fewer_lets(case: Case) -> Iterator[Case]:
    """A let that is used once, put in the place of its use: all such lets, then each."""
    claimed = {name for claim in case.claims for name in (claim.left, claim.right)}
    bodies = [expr.body for expr in expressions(case.program) if isinstance(expr, While)]
    found = [name for block in (*blocks(case.program), *bodies) for name in _used_once(block)]
    single = [name for name in found if name not in claimed]
    for chosen in (single, *([name] for name in single)):
        yield replace(case, program=_merged(case.program, set(chosen)))


def _used_once(block: Block) -> Iterator[str]:
    """Lets of one value with one use, which is not inside a `while`: there it would be computed in each trip."""
    used = block_uses(block)
    looped = {name for loop in walk_block(block) if isinstance(loop, While) for name in block_uses(loop.body)}
    for let in block.lets:
        if len(let.names) == 1 and not isinstance(let.value, Placeholder):
            yield from (name for name in let.names if used[name] == 1 and name not in looped)


def _merged(program: Program, chosen: set[str]) -> Program:
    """The lets of these names gone, their values where the names were used."""

    def merged(block: Block) -> Block:
        env: dict[str, Expr] = {}
        lets = []
        for let in block.lets:
            value = substitute(let.value, env)
            if set(let.names) <= chosen:
                env[let.names[0]] = value
            else:
                lets.append(Let(let.names, value))
        return Block(tuple(lets), tuple(substitute(expr, env) for expr in block.result))

    program = rewrite_program(
        program, lambda expr: replace(expr, body=merged(expr.body)) if isinstance(expr, While) else expr
    )
    fns = tuple(replace(fn, body=merged(fn.body)) for fn in program.fns)
    return Program(fns, program.main and merged(program.main))


def short_names(case: Case) -> Iterator[Case]:
    """Names of one letter, in order of appearance: `f`, `g`, `h` for fns, the others for values."""
    fns = dict(zip((fn.name for fn in case.program.fns), _short(FN_LETTERS), strict=False))
    names = dict(zip(dict.fromkeys(_bound(case.program)), _short(VALUE_LETTERS), strict=False))
    claims = tuple(replace(claim, left=names[claim.left], right=names[claim.right]) for claim in case.claims)
    recipes = {names[name]: recipe for name, recipe in case.recipes.items()}
    yield replace(case, program=_renamed(case.program, names, fns), claims=claims, recipes=recipes)


def _short(letters: str) -> Iterator[str]:
    yield from letters
    yield from (f"{letter}{number}" for number in count(1) for letter in letters)


def _bound(program: Program) -> Iterator[str]:
    """Every name of a value, where it is bound."""
    main = [program.main] if program.main else []
    yield from (name for block in main for name in bound_in(block))
    for fn in program.fns:
        yield from (param.name for param in fn.params)
        yield from bound_in(fn.body)


def _renamed(program: Program, names: Mapping[str, str], fns: Mapping[str, str]) -> Program:
    def renamed(expr: Expr) -> Expr:
        match expr:
            case Name():
                return Name(names[expr.id])
            case Apply():
                return replace(expr, callee=fns.get(expr.callee, expr.callee))
            case While():
                carries = tuple(replace(carry, name=names[carry.name]) for carry in expr.carries)
                return While(carries, expr.cond, _renamed_lets(expr.body, names))
            case _:
                return expr

    def renamed_fn(fn: Fn) -> Fn:
        params = tuple(replace(param, name=names[param.name]) for param in fn.params)
        return Fn(fns[fn.name], params, fn.results, _renamed_lets(fn.body, names))

    program = rewrite_program(program, renamed)
    return Program(tuple(map(renamed_fn, program.fns)), program.main and _renamed_lets(program.main, names))


def _renamed_lets(block: Block, names: Mapping[str, str]) -> Block:
    lets = tuple(replace(let, names=tuple(names[name] for name in let.names)) for let in block.lets)
    return Block(lets, block.result)
