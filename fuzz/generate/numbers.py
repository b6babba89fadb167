"""What the values of a graph are while it is drawn: reference numbers and forward bounds, on each set of inputs.

So that a drawn program is one that can be judged: an op whose result would be unknown (a comparison of what lies closer
than its bounds, a quotient near zero) is seen as it is drawn, and another one is taken. No op is named here: the bounds
are those of `oracles`, without the sharpening that the judge does. The verdict is the judge's alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from compiler.recipes import Recipe, make, with_other_numbers
from compiler.syntax import Block, Expr, Fn, Let, Name, Placeholder, Program
from compiler.types import TensorType
from oracles.engine import Array
from oracles.evaluator import Attrs, Hooks, Site, Val, evaluate
from oracles.numpy_reference import LIBRARY, hold
from oracles.traced import Traced
from oracles.tracing import local_step, product_error, traced
from oracles.transport import MOVES


class Unknown(Exception):
    """What an op returns cannot be told: a correct implementation may return one thing or another."""


Sets = tuple[Traced, ...]
"""A value on each set of inputs that its program will be run on."""


def given(recipe: Recipe, type_: TensorType) -> Sets:
    """A host input: exact, whatever it is."""
    return tuple(_exactly(make(each, type_), type_) for each in (recipe, with_other_numbers(recipe)))


def constant(array: Array, type_: TensorType) -> Sets:
    """A constant, on every set."""
    return (_exactly(array, type_),) * 2


def _exactly(array: Array, type_: TensorType) -> Traced:
    return traced(Val(hold(array), type_.dtype))


def applied(op: str, args: Sequence[Sets], attrs: Attrs) -> Sets:
    """An op on each set. Raises `Unknown`."""
    with np.errstate(all="ignore"):
        return tuple(_step(op, operands, attrs) for operands in zip(*args, strict=True))


def _step(op: str, args: Sequence[Val[Array]], attrs: Attrs, _site: Site | None = None) -> Traced:
    operands = tuple(traced(arg) for arg in args)
    work, step = local_step(op, operands, attrs)
    if step.err is not None and np.isinf(step.err).any():
        raise Unknown
    moved = (op, attrs, operands) if op in MOVES else None
    product = product_error(op, operands, step)
    return Traced(step.value, work.dtype, step.err, step.source, tame=step.tame, moved=moved, product=product)


def computed(expr: Expr, count: int, seen: Mapping[str, Sets], fns: Sequence[Fn]) -> tuple[Sets, ...]:
    """The `count` values of a call or a `while` beside values in sight, on each set. Raises `Unknown`."""
    each = [_computed(expr, count, {name: sets[at] for name, sets in seen.items()}, fns) for at in range(2)]
    return tuple(zip(*each, strict=True))


def _computed(expr: Expr, count: int, seen: Mapping[str, Traced], fns: Sequence[Fn]) -> list[Traced]:
    """By the references' own walk: `seen` stands as inputs of a `@main`, and keeps its bounds."""
    names = tuple(f"={at}" for at in range(count))  # no name of a program
    lets = [Let((name,), Placeholder(TensorType(value.dtype, value.array.shape))) for name, value in seen.items()]
    program = Program(tuple(fns), Block((*lets, Let(names, expr)), tuple(Name(name) for name in names)))
    hooks: Hooks[Array] = Hooks(apply=_step, bind=lambda site, value: seen.get(site.path, value))
    with np.errstate(all="ignore"):
        done = evaluate(program, {name: value.array for name, value in seen.items()}, LIBRARY, hooks)
    return [traced(value) for value in done.results]
