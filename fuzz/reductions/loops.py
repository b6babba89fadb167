"""Reductions of a `while`: without it, with one trip, with fewer carries. Loops inside of loops stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from compiler.syntax import Block, Expr, Let, Name, Program, While
from fuzz.reductions.tidy import tidied
from fuzz.reductions.trees import blocks, substitute
from oracles.case import Case

Env = dict[str, Expr]
Change = Callable[[Let, While], tuple[list[Let], Env]]
"""What a let of a loop becomes, and what its names become for the rest of the block."""


def initial_values(case: Case) -> Iterator[Case]:
    """A loop that makes no trip."""
    yield from _each_loop(case, lambda let, loop: ([], _initially(let, loop)))


def one_trip(case: Case) -> Iterator[Case]:
    """A loop that makes one trip: its body, where the loop was; in `@main` also with every let of it a result."""

    def unrolled(let: Let, loop: While) -> tuple[list[Let], Env]:
        env = {carry.name: carry.init for carry in loop.carries}
        lets = [Let(inner.names, substitute(inner.value, env)) for inner in loop.body.lets]
        results = [substitute(expr, env) for expr in loop.body.result]
        return lets, dict(zip(let.names, results, strict=False))

    yield from _each_loop(case, unrolled)
    yield from _each_loop(case, unrolled, shown=True)


def fewer_carries(case: Case) -> Iterator[Case]:
    """A loop without one of its carries, which keeps its initial value."""
    most = max((len(loop.carries) for _, loop in _loops(case)), default=0)
    for index in range(most if most > 1 else 0):
        yield from _each_loop(case, _without(index))


def _without(index: int) -> Change:
    def change(let: Let, loop: While) -> tuple[list[Let], Env]:
        if index >= len(loop.carries) or len(loop.carries) == 1:
            return [let], {}
        env = {loop.carries[index].name: loop.carries[index].init}
        lets = tuple(Let(inner.names, substitute(inner.value, env)) for inner in loop.body.lets)
        result = tuple(substitute(expr, env) for expr in _less(loop.body.result, index))
        smaller = While(_less(loop.carries, index), substitute(loop.cond, env), Block(lets, result))
        return [Let(_less(let.names, index), smaller)], {let.names[index]: loop.carries[index].init}

    return change


T = TypeVar("T")


def _less(items: tuple[T, ...], index: int) -> tuple[T, ...]:
    return items[:index] + items[index + 1 :]


def _initially(let: Let, loop: While) -> Env:
    return {name: carry.init for name, carry in zip(let.names, loop.carries, strict=False)}


def _loops(case: Case) -> Iterator[tuple[Let, While]]:
    for block in blocks(case.program):
        yield from ((let, let.value) for let in block.lets if isinstance(let.value, While))


def _each_loop(case: Case, change: Change, shown: bool = False) -> Iterator[Case]:
    """The case with each loop changed in turn; `shown`: what it becomes is returned, which only `@main` can do."""
    for let, loop in _loops(case):
        lets, env = change(let, loop)
        fns = tuple(replace(fn, body=_spliced(fn.body, let, lets, env)) for fn in case.program.fns)
        main = case.program.main and _spliced(case.program.main, let, lets, env)
        if main and shown:
            main = Block(main.lets, (*main.result, *(Name(name) for new in lets for name in new.names)))
        yield tidied(replace(case, program=Program(fns, main)))


def _spliced(block: Block, at: Let, lets: list[Let], env: Env) -> Block:
    if not any(let is at for let in block.lets):
        return block
    out: list[Let] = []
    for let in block.lets:
        out += lets if let is at else [Let(let.names, substitute(let.value, env))]
    return Block(tuple(out), tuple(substitute(expr, env) for expr in block.result))
