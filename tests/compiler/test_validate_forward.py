"""storylm0_forward.kina from the `.so`: the causal forward at T = 4, against NumPy and PyTorch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from compiler.arrays import Array
from compiler.backend import Compiled
from tests.compiler.built import example, shared_object
from tests.compiler.storylm0_algebra import FORWARDS, causal_mask
from tests.compiler.storylm0_fixture import PROMPT, weights
from tests.compiler.test_golden import check_results
from tests.compiler.validating import Arrays, check_call

PROGRAM = example("storylm0_forward")
WEIGHTS = weights()


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compiled]:
    with shared_object(PROGRAM) as built:
        yield built


def arguments(ids: Array) -> Arrays:
    """In the order of the fn's parameters."""
    w = WEIGHTS
    return (ids, w["embed"], causal_mask(4), w["scale"], w["wq"], w["wk"], w["wv"], w["wo"], w["lm_head"])


def test_the_result_is_the_logits_only() -> None:
    check_results("storylm0_forward", "storylm0_forward", "tensor<1x4x8xf32>")


@pytest.mark.parametrize("ids", [PROMPT, [0, 0, 0, 0], [7, 6, 5, 4], [3, 3, 0, 1]])
def test_logits_match_the_algebra(ids: list[int], compiled: Compiled) -> None:
    given = arguments(np.array([ids]))
    got = compiled.call("storylm0_forward", *given)
    by_hand = [(forward(WEIGHTS, given[0])[2],) for forward in FORWARDS]
    check_call(PROGRAM, "storylm0_forward", given, got, *by_hand)


def test_a_changed_later_id_leaves_earlier_rows_as_they_are(compiled: Compiled) -> None:
    for position in range(1, 4):
        before, after = np.array([PROMPT]), np.array([PROMPT])
        after[0, position] = 7
        (first,) = compiled.call("storylm0_forward", *arguments(before))
        (second,) = compiled.call("storylm0_forward", *arguments(after))
        assert first[:, :position].tobytes() == second[:, :position].tobytes()
        assert not np.array_equal(first[:, position], second[:, position])
