"""llm_generate.kina from the `.so`: the loop-carried matrix, against NumPy and PyTorch loops."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from compiler.arrays import Array
from compiler.backend import Compiled
from tests.compiler.built import example, shared_object
from tests.compiler.storylm0_fixture import patterned
from tests.compiler.validating import Arrays, check_call

PROGRAM = example("llm_generate")


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compiled]:
    with shared_object(PROGRAM) as built:
        yield built


def by_numpy(state: Array, mix: Array, steps: int) -> Arrays:
    x, m = state.astype(np.float64), mix.astype(np.float64)
    for _ in range(steps):
        x = np.tanh(x + x @ m)
    return np.array(steps), x


def by_torch(state: Array, mix: Array, steps: int) -> Arrays:
    x, m = torch.from_numpy(state).double(), torch.from_numpy(mix).double()
    for _ in range(steps):
        x = torch.addmm(x, x, m).tanh()
    return np.array(steps), x.numpy()


@pytest.mark.parametrize("steps", [0, 1, 2, 6])
def test_the_loop_matches_the_algebra(steps: int, compiled: Compiled) -> None:
    state, mix = patterned((2, 4), 3, 5, 1, 7), patterned((4, 4), 2, 3, 1, 5) / np.float32(2)
    given = (state, mix, np.array(steps))
    got = compiled.call("llm_generate", *given)
    check_call(PROGRAM, "llm_generate", given, got, by_numpy(state, mix, steps), by_torch(state, mix, steps))


def test_a_loop_that_never_begins_returns_what_it_was_given(compiled: Compiled) -> None:
    state = patterned((2, 4), 3, 5, 1, 7)
    trips, last = compiled.call("llm_generate", state, np.ones((4, 4), np.float32), np.array(-3))
    assert (trips.item(), last.tobytes()) == (0, state.tobytes())
