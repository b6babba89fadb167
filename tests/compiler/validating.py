"""Is what a compiled fn returned right? By the judge's references, and beside algebra that was written by hand."""

from __future__ import annotations

import numpy as np

from compiler.arrays import Array
from compiler.syntax import Apply, Block, Let, Name, Placeholder, Program
from compiler.types import TensorType
from oracles.case import Case
from oracles.compare import Allowed, difference
from oracles.engine import Observation
from oracles.judge import judge, references
from oracles.verdict import Agree

Arrays = tuple[Array, ...]

BY_HAND = 2.0**-28
"""What the algebra by hand adds to a bound, relatively: the bound is proportional to F32's roundoff 2**-24, and the
reference and the algebra both lie within the same bound at float64's, 2**-53, of the real number."""


def call_case(program: Program, name: str) -> Case:
    """`@main` calls one fn with a placeholder for each parameter and returns its results."""
    fn = program.fn(name)
    assert fn is not None
    lets = [Let((param.name,), Placeholder(param.type)) for param in fn.params]
    names = tuple(f"result_{index}" for index in range(len(fn.results)))
    call = Let(names, Apply(name, tuple(Name(param.name) for param in fn.params)))
    return Case(Program(program.fns, Block((*lets, call), tuple(map(Name, names)))))


def result_types(program: Program, name: str) -> tuple[TensorType, ...]:
    fn = program.fn(name)
    assert fn is not None
    return fn.results


def check_call(program: Program, name: str, arrays: Arrays, got: Arrays, *by_hand: Arrays) -> Arrays:
    """The judge agrees with `got`, and each algebra by hand lies as near. Returns the results' bounds."""
    case = call_case(program, name)
    fn = program.fn(name)
    assert fn is not None
    refs = references(case, {param.name: array for param, array in zip(fn.params, arrays, strict=True)})
    observation = Observation({f"result_{index}": array for index, array in enumerate(got)}, got)
    verdict = judge(refs, observation)
    assert isinstance(verdict, Agree), f"{name}: {verdict}"
    sharp = refs.base.bounds(refs.base.results)
    bounds = tuple(np.zeros(x.shape) if bound is None else bound for x, bound in zip(got, sharp, strict=True))
    for values in by_hand:
        check_near(got, values, bounds, fn.results)
    return bounds


def check_near(got: Arrays, values: Arrays, bounds: Arrays, types: tuple[TensorType, ...]) -> None:
    """Each result lies within its bound of a value computed by hand in float64."""
    for array, value, bound, type_ in zip(got, values, bounds, types, strict=True):
        assert difference("result", array, Allowed(value, type_.dtype, bound * (1 + BY_HAND))) is None


def margin(scores: Array) -> float:
    """By how much the largest of the last axis leads: no error below half of it changes an argmax."""
    ordered = np.sort(scores, axis=-1)
    return float((ordered[..., -1] - ordered[..., -2]).min())
