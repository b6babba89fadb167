"""Reductions that cut a program apart: keep some of its ops, and feed them the values that the others would have made.

A cut works on the flat form. Where `@main` only calls one fn, the ops of that fn are cut, else the lets of `@main`.
The values fed in are those of the reference, as literals, so that what a kept op sees stays what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from compiler.checker import check
from compiler.recipes import Recipe
from compiler.source import CompileError
from compiler.syntax import Block, Expr, Fn, Let, Name, Placeholder, Program
from compiler.types import TensorType
from fuzz.reductions.flat import Atom, flatten, sole_call, wrap
from fuzz.reductions.tidy import tidied
from fuzz.reductions.trees import bound_in, uses
from oracles.case import Case, Claim

Array = np.ndarray[Any, np.dtype[Any]]
Values = Callable[[Case], Mapping[str, Array]]
"""The reference's value of every let of `@main`, by name."""

MOST_VALUES = 4096  # elements of a literal: beyond, the numbers of a recipe must do


@dataclass(frozen=True, slots=True)
class Graph:
    """A flat program: its ops in order, what it returns, and the type and value of each name."""

    case: Case
    fns: tuple[Fn, ...]
    inputs: tuple[Let, ...]
    nodes: tuple[Let, ...]
    result: tuple[Expr, ...]
    types: Mapping[str, TensorType]
    arrays: Mapping[str, Array]
    wrapped: bool


def graphs(case: Case, values: Values) -> Iterator[Graph]:
    """The flat forms of a case: with all fn calls opened, then with the calls below the one of `@main` left alone."""
    call = sole_call(case.program)
    opened = [{fn.name for fn in case.program.fns}, {call}] if call else [set()]
    for index, inline in enumerate(opened):
        if index == 0 or inline != opened[0]:
            yield from graph(case, values, inline, call is not None)


def graph(case: Case, values: Values, inline: set[str], wrapped: bool) -> Iterator[Graph]:
    """The graph of a case, none where the flat form does not check."""
    try:
        elaborated = check(case.program).program  # on its own, a bare `broadcast` would have no sibling
        flat = flatten(elaborated, inline)
        program = Program(tuple(fn for fn in elaborated.fns if fn.name not in inline), flat.block)
        types = check(program).values["@main"]
    except CompileError:
        return
    flat_case = replace(case, program=program, claims=renamed_claims(case, flat.renamed))
    inputs = tuple(let for let in flat.block.lets if isinstance(let.value, Placeholder))
    nodes = tuple(let for let in flat.block.lets if let not in inputs)
    yield Graph(flat_case, elaborated.fns, inputs, nodes, flat.block.result, types, values(flat_case), wrapped)


def renamed_claims(case: Case, renamed: Mapping[str, Atom]) -> tuple[Claim, ...]:
    """The claims on the names that the flat form has for theirs, less those on literals."""
    pairs = [(claim, renamed.get(claim.left), renamed.get(claim.right)) for claim in case.claims]
    return tuple(
        replace(claim, left=left.id, right=right.id)
        for claim, left, right in pairs
        if isinstance(left, Name) and isinstance(right, Name)
    )


def part(graph: Graph, nodes: Sequence[Let], result: Sequence[Expr], claims: bool = False) -> Case:
    """The case of some nodes. What they use of the others becomes an input that holds the reference's value."""
    bound = set(bound_in(Block(tuple(nodes), ())))
    used = [*uses((*(let.value for let in nodes), *result))]
    free = dict.fromkeys(name for name in used if name not in bound and name in graph.types)
    inputs = [Let((name,), Placeholder(graph.types[name])) for name in free]
    given = graph.case.recipes
    recipes = {
        name: given[name] if name in given else recipe_of(graph.arrays[name], graph.types[name]) for name in free
    }
    block = Block((*inputs, *nodes), tuple(result))
    program = wrap(block, graph.fns, graph.types) if graph.wrapped else Program(graph.fns, block)
    kept = graph.case.claims if claims else ()
    return tidied(replace(graph.case, program=program, recipes=recipes, claims=kept))


def recipe_of(array: Array, tensor_type: TensorType) -> Recipe:
    """The recipe that gives this very array, rounded to its type."""
    if array.size > MOST_VALUES:
        return Recipe("normal") if tensor_type.dtype.kind == "float" else Recipe("iota")
    convert = float if tensor_type.dtype.kind == "float" else int
    return Recipe("literal", values=tuple(convert(value) for value in array.ravel().tolist()))


def windows(values: Values) -> Callable[[Case], Iterator[Case]]:
    """Keep a run of neighbouring ops: halves first, single ops last."""

    def cut(case: Case) -> Iterator[Case]:
        for whole in graphs(case, values):
            for start, stop in spans(len(whole.nodes)):
                yield part(whole, whole.nodes[start:stop], _results(whole, whole.nodes[start:stop], set()))

    return cut


def spans(count: int) -> Iterator[tuple[int, int]]:
    """Overlapping runs of at most half of `count` things, the long ones first."""
    size = count // 2
    while size >= 1:
        yield from ((start, min(start + size, count)) for start in range(0, count - size // 2, max(1, size // 2)))
        size //= 2


def holes(values: Values) -> Callable[[Case], Iterator[Case]]:
    """Drop a run of neighbouring ops and keep the rest: the complement of `windows`."""

    def cut(case: Case) -> Iterator[Case]:
        for whole in graphs(case, values):
            inputs = {let.names[0] for let in whole.inputs}
            for start, stop in spans(len(whole.nodes)):
                kept = whole.nodes[:start] + whole.nodes[stop:]
                yield part(whole, kept, _results(whole, kept, inputs), claims=True)

    return cut


def _results(whole: Graph, kept: Sequence[Let], also: set[str]) -> list[Expr]:
    """The results that `kept` computes or that are among `also`, then what the dropped ops used of `kept`."""
    bound = {name for let in kept for name in let.names} | also
    shown = [expr for expr in whole.result if isinstance(expr, Name) and expr.id in bound]
    dropped = uses(let.value for let in whole.nodes if let not in kept)
    cut = [Name(name) for let in kept for name in let.names if dropped[name] and Name(name) not in shown]
    return [*shown, *cut]


def on_host(values: Values) -> Callable[[Case], Iterator[Case]]:
    """The ops of the one fn as lets of `@main`."""

    def cut(case: Case) -> Iterator[Case]:
        for whole in graphs(case, values) if sole_call(case.program) else ():
            yield part(replace(whole, wrapped=False), whole.nodes, whole.result, claims=True)

    return cut


def one_block(values: Values) -> Callable[[Case], Iterator[Case]]:
    """Not smaller, but easier to cut: all ops in one block, that of `@main`, then that of one fn.

    Every let of `@main` becomes a result, so that it stays observed where the host no longer runs `@main` line by
    line. What needs its calls may need them in a fn.
    """

    def cut(case: Case) -> Iterator[Case]:
        names = {fn.name for fn in case.program.fns}
        main = case.program.main or Block((), ())
        lets = [Name(n) for let in main.lets if not isinstance(let.value, Placeholder) for n in let.names]
        shown = tuple(dict.fromkeys((*main.result, *lets)))
        for inline, wrapped, result in (
            (names, False, shown),
            (names, True, shown),
            (names, True, main.result),
            (set[str](), True, shown),
        ):
            changed = replace(case, program=Program(case.program.fns, Block(main.lets, result)))
            for whole in graph(changed, values, inline, wrapped):
                yield part(whole, whole.nodes, whole.result, claims=True)

    return cut
