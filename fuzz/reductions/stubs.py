"""Reductions that put something known in the place of a let, in whatever block it stands: for what needs its calls.

`cuts` feeds values in as inputs and can do so in one block only; here the other fns stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from compiler.checker import check
from compiler.syntax import Block, Expr, Let, Literal, Name, Placeholder, Program
from compiler.types import TensorType
from fuzz.reductions.flat import unnested
from fuzz.reductions.tidy import tidied
from oracles.case import Case

LARGEST = 64  # elements of a constant that stands for a value


def stubs(case: Case) -> Iterator[Case]:
    """A name of the same type or zeros for each op, the last op of a block first: what led to it goes with it."""
    program = unnested(check(case.program).program)
    types = check(program).values
    for index, fn in enumerate(program.fns):
        given = [param.name for param in fn.params]
        for body in _stubbed(fn.body, given, types[fn.name]):
            fns = (*program.fns[:index], replace(fn, body=body), *program.fns[index + 1 :])
            yield tidied(replace(case, program=Program(fns, program.main)))
    if program.main is not None:
        for main in _stubbed(program.main, [], types["@main"]):
            yield tidied(replace(case, program=Program(program.fns, main)))


def _stubbed(block: Block, given: list[str], types: Mapping[str, TensorType]) -> Iterator[Block]:
    for index in reversed(range(len(block.lets))):
        let = block.lets[index]
        if len(let.names) == 1 and not isinstance(let.value, Placeholder | Literal | Name):
            known = [*given, *(name for earlier in block.lets[:index] for name in earlier.names)]
            for stub in _stand_ins(types[let.names[0]], known, types):
                lets = (*block.lets[:index], Let(let.names, stub), *block.lets[index + 1 :])
                yield Block(lets, block.result)


def _stand_ins(wanted: TensorType, known: list[str], types: Mapping[str, TensorType]) -> Iterator[Expr]:
    yield from (Name(name) for name in known if types[name] == wanted)
    if wanted.size <= LARGEST:
        zero = {"float": 0.0, "int": 0, "bool": False}[wanted.dtype.kind]
        yield Literal(wanted, (zero,) * wanted.size)
