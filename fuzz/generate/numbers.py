"""What the values of a graph are while it is drawn: reference numbers and forward bounds.

So that a drawn program is one that can be judged: an op whose result would be unknown (a comparison of what lies closer
than its bounds, a quotient near zero) is seen as it is drawn, and another one is taken. No op is named here: the bounds
are those of `oracles`, without the sharpening that the judge does. The verdict is the judge's alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from compiler.recipes import Recipe, make
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


def given(recipe: Recipe, type_: TensorType) -> Traced:
    """A host input: exact, whatever it is."""
    return constant(make(recipe, type_), type_)


def constant(array: Array, type_: TensorType) -> Traced:
    """A value that is known to the bit."""
    return traced(Val(hold(array), type_.dtype))


def applied(op: str, args: Sequence[Traced], attrs: Attrs) -> Traced:
    """What an op makes of values. Raises `Unknown`."""
    with np.errstate(all="ignore"):
        return _step(op, args, attrs)


def _step(op: str, args: Sequence[Val[Array]], attrs: Attrs, _site: Site | None = None) -> Traced:
    operands = tuple(traced(arg) for arg in args)
    work, step = local_step(op, operands, attrs)
    if step.err is not None and np.isinf(step.err).any():
        raise Unknown
    moved = (op, attrs, operands) if op in MOVES else None
    product = product_error(op, operands, step)
    return Traced(step.value, work.dtype, step.err, step.source, tame=step.tame, moved=moved, product=product)


def computed(expr: Expr, count: int, seen: Mapping[str, Traced], fns: Sequence[Fn]) -> list[Traced]:
    """The `count` values of a call or a `while` beside values in sight. Raises `Unknown`.

    By the references' own walk: `seen` stands as inputs of a `@main`, and keeps its bounds.
    """
    names = tuple(f"={at}" for at in range(count))  # no name of a program
    lets = [Let((name,), Placeholder(TensorType(value.dtype, value.array.shape))) for name, value in seen.items()]
    program = Program(tuple(fns), Block((*lets, Let(names, expr)), tuple(Name(name) for name in names)))
    hooks: Hooks[Array] = Hooks(apply=_step, bind=lambda site, value: seen.get(site.path, value))
    with np.errstate(all="ignore"):
        done = evaluate(program, {name: value.array for name, value in seen.items()}, LIBRARY, hooks)
    return [traced(value) for value in done.results]
