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
def test_as_many_as_asked_for(n: int) -> None:
    assert len(set(draw_cases(NUMBERS, 3, n))) == n


def test_more_draws_begin_with_fewer() -> None:
    assert draw_cases(NUMBERS, 3, 9)[:4] == draw_cases(NUMBERS, 3, 4)


def test_draws_are_independent() -> None:
    """Hypothesis' own run of many examples repeats parts of earlier ones."""
    pairs = draw_cases(st.tuples(NUMBERS, NUMBERS), 1, 50)
    assert len({number for pair in pairs for number in pair}) > 90


def test_every_choice_is_drawn_as_often() -> None:
    """The simplest one too, though each run has made it once before."""
    drawn = draw_cases(st.integers(0, 3).flatmap(lambda kind: st.tuples(st.just(kind), NUMBERS)), 1, 120)
    counts = [sum(kind == wanted for kind, _ in drawn) for wanted in range(4)]
    assert min(counts) > 15
