"""Walking and rewriting programs as trees. Nothing here knows why a program is rewritten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from compiler.syntax import Apply, Block, Expr, Let, Name, Program, While, walk_block, walk_expr


def blocks(program: Program) -> Iterator[Block]:
    """The body of every fn, then `@main`."""
    yield from (fn.body for fn in program.fns)
    if program.main is not None:
        yield program.main


def expressions(program: Program) -> Iterator[Expr]:
    """Every expression of the program."""
    for block in blocks(program):
        yield from walk_block(block)


def map_lets(program: Program, change: Callable[[Let], Let]) -> Program:
    """`change` applied to the lets of fns and of `@main`, those inside a `while` left out."""

    def changed(block: Block) -> Block:
        return Block(tuple(change(let) for let in block.lets), block.result)

    fns = tuple(replace(fn, body=changed(fn.body)) for fn in program.fns)
    return Program(fns, program.main and changed(program.main))


def count_ops(program: Program) -> int:
    """Uses of ops, `while` included, calls of fns not."""
    fns = {fn.name for fn in program.fns}
    return sum(
        isinstance(expr, While) or (isinstance(expr, Apply) and expr.callee not in fns) for expr in expressions(program)
    )


def rewrite(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """`change` applied to every expression, operands first."""
    match expr:
        case Apply():
            expr = replace(expr, args=tuple(rewrite(arg, change) for arg in expr.args))
        case While():
            carries = tuple(replace(carry, init=rewrite(carry.init, change)) for carry in expr.carries)
            expr = While(carries, rewrite(expr.cond, change), rewrite_block(expr.body, change))
    return change(expr)


def rewrite_block(block: Block, change: Callable[[Expr], Expr]) -> Block:
    """`rewrite` of every let and result."""
    lets = tuple(replace(let, value=rewrite(let.value, change)) for let in block.lets)
    return Block(lets, tuple(rewrite(expr, change) for expr in block.result))


def rewrite_program(program: Program, change: Callable[[Expr], Expr]) -> Program:
    """`rewrite` of every expression of the program."""
    fns = tuple(replace(fn, body=rewrite_block(fn.body, change)) for fn in program.fns)
    return Program(fns, program.main and rewrite_block(program.main, change))


def uses(exprs: Iterable[Expr]) -> Counter[str]:
    """How often each name is used in the expressions and below them."""
    return Counter(found.id for expr in exprs for found in walk_expr(expr) if isinstance(found, Name))


def block_uses(block: Block) -> Counter[str]:
    """How often each name is used in the block."""
    return uses((*(let.value for let in block.lets), *block.result))


def substitute(expr: Expr, env: Mapping[str, Expr]) -> Expr:
    """Names replaced by what `env` holds for them."""
    return rewrite(expr, lambda found: env.get(found.id, found) if isinstance(found, Name) else found)


def bound_in(block: Block) -> Iterator[str]:
    """Every name that the block binds, those inside a `while` last."""
    yield from (name for let in block.lets for name in let.names)
    for loop in walk_block(block):
        if isinstance(loop, While):
            yield from (carry.name for carry in loop.carries)
            yield from (name for let in loop.body.lets for name in let.names)
