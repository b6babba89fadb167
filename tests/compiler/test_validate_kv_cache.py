"""storylm0_kv_step.kina from the `.so` (Section 19): concat and attention with one new query, by NumPy and PyTorch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from compiler.backend import Compiled
from compiler.recipes import make, parse_recipe
from tests.compiler.built import example, shared_object
from tests.compiler.kv_algebra import KV_STEPS, Arrays
from tests.compiler.storylm0_fixture import patterned
from tests.compiler.validating import check_call

PROGRAM = example("storylm0_kv_step")
TYPES = [param.type for param in PROGRAM.fns[0].params]  # q_new, k_past, k_new, v_past, v_new, scale
SCALE = np.full((1, 1, 1, 1), 0.5**0.5, np.float32)


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compiled]:
    with shared_object(PROGRAM) as built:
        yield built


def patterns() -> Arrays:
    """Each operand with numbers of its own, as its rows stand in memory."""
    numbers = [(3, 2, 1, 7), (5, 3, 2, 11), (2, 1, 4, 7), (3, 7, 5, 11), (1, 4, 2, 7)]
    rows = [(type_.size // type_.shape[-1], type_.shape[-1]) for type_ in TYPES[:-1]]
    made = (patterned(shape, *four) for shape, four in zip(rows, numbers, strict=True))
    return (*(array.reshape(type_.shape) for array, type_ in zip(made, TYPES, strict=False)), SCALE)


def normal(seed: int, scale: float) -> Arrays:
    recipes = [parse_recipe(f"normal seed {seed + at} scale {scale}") for at in range(len(TYPES) - 1)]
    return (*(make(recipe, type_) for recipe, type_ in zip(recipes, TYPES, strict=False)), SCALE)


def check_step(compiled: Compiled, given: Arrays) -> Arrays:
    """The caches bitwise; the context by the judge, and as near to both algebras by hand."""
    got = compiled.call("kv_step", *given)
    _, k_past, k_new, v_past, v_new, _ = given
    assert got[0].tobytes() == np.concatenate([k_past, k_new], axis=3).tobytes()
    assert got[1].tobytes() == np.concatenate([v_past, v_new], axis=2).tobytes()
    check_call(PROGRAM, "kv_step", given, got, *(step(*given) for step in KV_STEPS))
    return got


def test_patterned_operands(compiled: Compiled) -> None:
    check_step(compiled, patterns())


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_operands_with_roundings(compiled: Compiled, scale: float) -> None:
    """From a nearly even softmax to one that is all but a choice."""
    for seed in (10, 20):
        check_step(compiled, normal(seed, scale))


def test_a_call_leaves_the_past_as_it_was(compiled: Compiled) -> None:
    """No write in place: the same operands give the same bits again."""
    given = patterns()
    kept = [array.copy() for array in given]
    first, second = check_step(compiled, given), check_step(compiled, given)
    assert [array.tobytes() for array in given] == [array.tobytes() for array in kept]
    assert [array.tobytes() for array in first] == [array.tobytes() for array in second]


def test_main_is_the_step(compiled: Compiled) -> None:
    given = patterns()
    whole, step = compiled.call("main", *given), compiled.call("kv_step", *given)
    assert [array.tobytes() for array in whole] == [array.tobytes() for array in step]
