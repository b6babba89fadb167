"""Draws are a function of the strategy, the seed and the count."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from fuzz.generate.draw import draw_cases

NUMBERS = st.integers(0, 2**40)


@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_the_same_seed_draws_the_same(seed: int) -> None:
    assert draw_cases(NUMBERS, seed, 20) == draw_cases(NUMBERS, seed, 20)


def test_another_seed_draws_something_else() -> None:
    assert not set(draw_cases(NUMBERS, 1, 20)) & set(draw_cases(NUMBERS, 2, 20))


@pytest.mark.parametrize("n", [0, 1, 7, 50])
def test_no_more_than_asked_for_and_nothing_twice(n: int) -> None:
    drawn = draw_cases(NUMBERS, 3, n)
    assert len(set(drawn)) == len(drawn) <= n
    assert len(drawn) >= 0.6 * n


def test_a_small_strategy_runs_dry() -> None:
    assert set(draw_cases(st.booleans(), 0, 10)) <= {True, False}
