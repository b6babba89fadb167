"""storylm0_generate.kina from the `.so` (Section 20): the host loop from one seed token.

Every step is held against (a) the incremental algebra and (b) a causal forward on the whole prefix, each by NumPy and
PyTorch in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from compiler.arrays import Array
from compiler.backend import Compiled
from tests.compiler.built import example, shared_object
from tests.compiler.kv_algebra import DECODES, Arrays, Cache, Decode, chosen
from tests.compiler.storylm0_algebra import FORWARDS, Forward
from tests.compiler.storylm0_fixture import weights
from tests.compiler.validating import check_call, check_near, margin, result_types

PROGRAM = example("storylm0_generate")
WEIGHTS = weights()
FAMILY = ("decode_self", "decode_s1", "decode_s2")
SEED_TOKEN = 3


class Step(NamedTuple):
    """One step of the host loop: the fn, its operands, its results, the class that was chosen."""

    name: str
    given: Arrays
    results: Arrays
    chosen: Array


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compiled]:
    with shared_object(PROGRAM) as built:
        yield built


def generate(compiled: Compiled, seed_token: int) -> list[Step]:
    """The host loop of paragraph 4."""
    projections = tuple(WEIGHTS[name] for name in ("scale", "wq", "wk", "wv", "wo", "lm_head"))
    token, steps = np.array([[seed_token]]), list[Step]()
    cache: Arrays = ()
    for name in FAMILY:
        given = (token, WEIGHTS["embed"], *cache, *projections)
        results = compiled.call(name, *given)
        (token,) = compiled.call("greedy_one", results[2])
        steps.append(Step(name, given, results, token))
        cache = results[:2]
    return steps


def sequence(steps: list[Step]) -> list[int]:
    return [steps[0].given[0].item(), *(step.chosen.item() for step in steps)]


def by_steps(decode: Decode, seed_token: int) -> list[int]:
    """The tokens of the incremental algebra, on its own."""
    tokens, cache = [seed_token], None
    for _ in FAMILY:
        k, v, logits = decode(WEIGHTS, np.array([tokens[-1:]]), cache)
        cache = (k, v)
        tokens.append(chosen(logits))
    return tokens


def by_forwards(forward: Forward, seed_token: int) -> list[int]:
    """The tokens of a causal forward run anew on the whole prefix each time."""
    tokens = [seed_token]
    for _ in FAMILY:
        tokens.append(chosen(forward(WEIGHTS, np.array([tokens]))[2]))
    return tokens


@pytest.mark.parametrize("seed_token", range(8))
def test_tokens(compiled: Compiled, seed_token: int) -> None:
    """The section's seed is 3; the others cost little."""
    tokens = sequence(generate(compiled, seed_token))
    assert [by_steps(decode, seed_token) for decode in DECODES] == [tokens, tokens]
    assert [by_forwards(forward, seed_token) for forward in FORWARDS] == [tokens, tokens]


def test_each_step_is_the_incremental_algebra(compiled: Compiled) -> None:
    """(a) From the operands that the step was given: within the judge's bound, and no other class is as near."""
    cache: Cache | None = None
    for step in generate(compiled, SEED_TOKEN):
        by_hand = [decode(WEIGHTS, step.given[0], cache) for decode in DECODES]
        *_, bound = check_call(PROGRAM, step.name, step.given, step.results, *by_hand)
        assert margin(by_hand[0][2]) > 2 * bound.max()
        cache = (step.results[0], step.results[1])


def test_each_step_is_the_forward_on_the_prefix(compiled: Compiled) -> None:
    """(b) A step's bound takes its cache for exact, and so it is: the weights are small dyadic numbers."""
    steps = generate(compiled, SEED_TOKEN)
    tokens = sequence(steps)
    for length, step in enumerate(steps, 1):
        *_, bound = check_call(PROGRAM, step.name, step.given, step.results)
        for forward in FORWARDS:
            k_t, v, logits = forward(WEIGHTS, np.array([tokens[:length]]))
            check_exact(step.results[:2], (k_t, v))
            check_near(step.results[2:], (logits[:, -1:],), (bound,), result_types(PROGRAM, step.name)[2:])


def check_exact(got: Arrays, values: Arrays) -> None:
    for array, value in zip(got, values, strict=True):
        assert array.astype(np.float64).tobytes() == np.ascontiguousarray(value).tobytes()
