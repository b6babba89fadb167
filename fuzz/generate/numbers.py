"""What the values of a graph are while it is drawn: reference numbers and forward bounds, on each set of inputs.

So that a drawn program is one that can be judged: an op whose result would be unknown (a comparison of what lies closer
than its bounds, a quotient near zero) is seen as it is drawn, and another one is taken. No op is named here: the bounds
are those of `oracles`, without the sharpening that the judge does. The verdict is the judge's alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from compiler.recipes import Recipe, make, with_other_numbers
from compiler.syntax import Block, Expr, Fn, Let, Name, Placeholder, Program
from compiler.types import TensorType
from oracles.bounds import Work
from oracles.engine import Array
from oracles.evaluator import Attrs, Hooks, Site, Val, apply_table, evaluate
from oracles.numpy_reference import LIBRARY, hold
from oracles.rules import RULES


class Unknown(Exception):
    """What an op returns cannot be told: a correct implementation may return one thing or another."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers(Val[Array]):
    """A value on one set of inputs: its numbers, the bound of what they may differ by (None: not at all), and whether
    both are finite."""

    err: Array | None = None
    tame: bool = True


Sets = tuple[Numbers, ...]
"""A value on each set of inputs that its program will be run on."""


def given(recipe: Recipe, type_: TensorType) -> Sets:
    """A host input: exact, whatever it is."""
    return tuple(_exactly(make(each, type_), type_) for each in (recipe, with_other_numbers(recipe)))


def constant(array: Array, type_: TensorType) -> Sets:
    """A constant, on every set."""
    return (_exactly(array, type_),) * 2


def _exactly(array: Array, type_: TensorType) -> Numbers:
    held = hold(array)
    return Numbers(held, type_.dtype, None, bool(np.isfinite(held).all()))


def applied(op: str, args: Sequence[Sets], attrs: Attrs) -> Sets:
    """An op on each set. Raises `Unknown`."""
    with np.errstate(all="ignore"):
        return tuple(_step(op, operands, attrs) for operands in zip(*args, strict=True))


def _step(op: str, args: Sequence[Val[Array]], attrs: Attrs, _site: Site | None = None) -> Numbers:
    operands = [_known(arg) for arg in args]
    plain = apply_table(LIBRARY, op, args, attrs)
    errs = [0.0 if arg.err is None else arg.err for arg in operands]
    arrays, dtypes = [arg.array for arg in operands], [arg.dtype for arg in operands]
    tame = all(arg.tame for arg in operands)
    step = RULES[op](Work(op, plain.dtype, plain.array, arrays, errs, attrs, dtypes, tame))
    err = None if step.err is None else np.asarray(step.err)
    if err is not None and np.isinf(err).any():
        raise Unknown
    return Numbers(np.asarray(step.value), plain.dtype, err, step.tame)


def _known(value: Val[Array]) -> Numbers:
    """Constants come from the walk without bounds."""
    if isinstance(value, Numbers):
        return value
    return Numbers(value.array, value.dtype, None, bool(np.isfinite(value.array).all()))


def computed(expr: Expr, count: int, seen: Mapping[str, Sets], fns: Sequence[Fn]) -> tuple[Sets, ...]:
    """The `count` values of a call or a `while` beside values in sight, on each set. Raises `Unknown`."""
    each = [_computed(expr, count, {name: sets[at] for name, sets in seen.items()}, fns) for at in range(2)]
    return tuple(zip(*each, strict=True))


def _computed(expr: Expr, count: int, seen: Mapping[str, Numbers], fns: Sequence[Fn]) -> list[Numbers]:
    """By the references' own walk: `seen` stands as inputs of a `@main`, and keeps its bounds."""
    names = tuple(f"={at}" for at in range(count))  # no name of a program
    lets = [Let((name,), Placeholder(TensorType(value.dtype, value.array.shape))) for name, value in seen.items()]
    program = Program(tuple(fns), Block((*lets, Let(names, expr)), tuple(Name(name) for name in names)))
    hooks: Hooks[Array] = Hooks(apply=_step, bind=lambda site, value: seen.get(site.path, value))
    with np.errstate(all="ignore"):
        done = evaluate(program, {name: value.array for name, value in seen.items()}, LIBRARY, hooks)
    return [_known(value) for value in done.results]
