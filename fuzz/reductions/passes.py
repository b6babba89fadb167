"""What the minimiser may try: the list of its passes, and those of them that need no other form of the program.

A pass is a function from a case to candidates, the biggest step first. A candidate need not check, nor be smaller: the
minimiser drops what is not, before it asks whether the bug still shows. To add a pass, write the function and add a
line to `passes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from math import isfinite

from compiler.recipes import Recipe
from compiler.syntax import Apply, Block, Expr, Name, Placeholder, Program, While, inputs
from compiler.types import Scalar
from fuzz.reductions.cuts import Values, holes, on_host, one_block, spans, windows
from fuzz.reductions.loops import fewer_carries, initial_values, one_trip
from fuzz.reductions.pipelines import shorter_pipeline
from fuzz.reductions.resize import fewer_axes, plainer_attributes, smaller_dims
from fuzz.reductions.spelling import fewer_lets, short_names
from fuzz.reductions.stubs import stubs
from fuzz.reductions.tidy import live, tidied, without_claims
from fuzz.reductions.trees import rewrite_program
from oracles.case import Case

Pass = Callable[[Case], Iterator[Case]]

SMALL = 16  # elements that are simplified one by one


def passes(values: Values) -> tuple[Pass, ...]:
    """All passes, in the order in which they are tried: what cuts most, first. `values`: the reference's lets."""
    return (
        shorter_pipeline,
        fewer_claims,
        fewer_results,
        windows(values),
        holes(values),
        initial_values,
        one_trip,
        fewer_carries,
        operands,
        stubs,
        on_host(values),
        dead_code,
        smaller_dims,
        plainer_inputs,
        smaller_dims_of_other_values,
        fewer_axes,
        plainer_attributes,
        plainer_numbers,
        fewer_lets,
        short_names,
    )


def first_passes(values: Values) -> tuple[Pass, ...]:
    """What makes a large case cheap to try: whole calls of `@main` are dropped before any fn is opened."""
    return (shorter_pipeline, fewer_claims, windows(values), fewer_results)


def restatements(values: Values) -> tuple[Pass, ...]:
    """Forms of a case that are not smaller but easier to cut; tried once, before the passes."""
    return (one_block(values),)


def fewer_claims(case: Case) -> Iterator[Case]:
    """No claims; one claim; one claim less."""
    if case.claims:
        yield tidied(replace(case, claims=()))
    for claim in case.claims:
        yield tidied(replace(case, claims=(claim,)))
    for claim in case.claims:
        yield tidied(without_claims(case, [claim]))


def fewer_results(case: Case) -> Iterator[Case]:
    """Some of the results and lets of `@main` as its results, down to one."""
    main = case.program.main or Block((), ())
    named = [Name(name) for let in main.lets if not isinstance(let.value, Placeholder) for name in let.names]
    shown = list(dict.fromkeys((*main.result, *named)))
    kept = [(start, stop) for start, stop in spans(len(shown))] + [(0, len(main.result))]
    for start, stop in kept:
        yield _returning(case, shown[start:stop])
    for index in range(len(main.result)):
        yield _returning(case, [*main.result[:index], *main.result[index + 1 :]])


def _returning(case: Case, result: list[Expr]) -> Case:
    lets = case.program.main.lets if case.program.main else ()
    return tidied(replace(case, program=Program(case.program.fns, Block(lets, tuple(result)))))


def operands(case: Case) -> Iterator[Case]:
    """An operand in the place of an op, anywhere: in fns and in loops too."""
    ops: list[Apply] = []

    def note(op: Apply) -> Expr:
        ops.append(op)
        return op

    _with_ops(case.program, note)
    for index, op in enumerate(ops):
        for arg in range(len(op.args)):
            yield tidied(replace(case, program=_with_ops(case.program, _nth_becomes(index, arg))))


def _with_ops(program: Program, change: Callable[[Apply], Expr]) -> Program:
    return rewrite_program(program, lambda expr: change(expr) if isinstance(expr, Apply) else expr)


def _nth_becomes(index: int, arg: int) -> Callable[[Apply], Expr]:
    places = count()
    return lambda op: op.args[arg] if next(places) == index else op


def dead_code(case: Case) -> Iterator[Case]:
    """Nothing that is not used; then nothing in the bodies of loops either."""
    yield tidied(case)
    program = rewrite_program(
        case.program, lambda expr: replace(expr, body=live(expr.body, ())) if isinstance(expr, While) else expr
    )
    yield tidied(replace(case, program=program))


NUMBERLESS = tuple(Recipe(kind) for kind in ("zeros", "ones", "iota"))
SEEDLESS = (Recipe("tags"), Recipe("exact"), Recipe("normal"), Recipe("normal", scale=100.0))
FILLS: dict[str, tuple[Scalar, ...]] = {"float": (-1.0, 2.0, 10.0, 100.0), "int": (-1, 2, 10), "bool": ()}


def plainer_inputs(case: Case) -> Iterator[Case]:
    """A recipe without particular numbers, for all inputs of floats at once, then for each input."""
    types = inputs(case.program.main) if case.program.main else {}
    for recipe in (*NUMBERLESS, *SEEDLESS):
        yield replace(case, recipes=case.recipes | dict.fromkeys(_floats(case), recipe))
    for name in case.recipes:
        fills = [Recipe("fill", values=(value,)) for value in FILLS[types[name].dtype.kind]]
        for recipe in (*NUMBERLESS, *fills, *SEEDLESS):
            yield replace(case, recipes=case.recipes | {name: recipe})


def _floats(case: Case) -> list[str]:
    types = inputs(case.program.main) if case.program.main else {}
    return [name for name in case.recipes if types[name].dtype.kind == "float"]


def smaller_dims_of_other_values(case: Case) -> Iterator[Case]:
    """Smaller dims at the price of numbers that are less plain: of `iota`, few elements are all small."""
    for recipe in (Recipe("fill", values=(100.0,)), Recipe("tags")):
        yield from smaller_dims(replace(case, recipes=case.recipes | dict.fromkeys(_floats(case), recipe)))


def plainer_numbers(case: Case) -> Iterator[Case]:
    """The elements of a small literal, of an input or of a constant: all at once, then one by one."""
    for name, recipe in case.recipes.items():
        if recipe.kind in ("literal", "fill") and len(recipe.values) <= SMALL:
            for values in _plainer_values(recipe.values):
                yield replace(case, recipes=case.recipes | {name: replace(recipe, values=values)})


def _plainer_values(values: tuple[Scalar, ...]) -> Iterator[tuple[Scalar, ...]]:
    for digits in range(3):
        yield tuple(round(value, digits) if _rounds(value) else value for value in values)
    for index, value in enumerate(values):
        for plainer in _plainer_scalars(value):
            yield (*values[:index], plainer, *values[index + 1 :])


def _rounds(value: Scalar) -> bool:
    return isinstance(value, float) and isfinite(value)


def _plainer_scalars(value: Scalar) -> list[Scalar]:
    """Simpler numbers of the same Python type, the simplest first."""
    if isinstance(value, bool) or not isfinite(value):
        return [type(value)(0)]
    if isinstance(value, int):
        return [0, 1, -1, value // 10, value - 1]
    return [0.0, 1.0, -1.0, 2.0, 10.0, 100.0, float(int(value)), round(value, 1), round(value, 2)]
