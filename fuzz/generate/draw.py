"""Drawing cases from a strategy, reproducibly: the same strategy, seed and count give the same cases.

Hypothesis' public API only. What is drawn lives in the sibling modules; what becomes of a case lives outside.
"""

from __future__ import annotations

from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")


def draw_cases(strategy: SearchStrategy[T], seed_value: int, n: int) -> list[T]:
    """At most `n` different draws. Fewer, because Hypothesis also varies earlier draws, and some come out the same.

    Hypothesis begins each run with the simplest example there is, whatever the seed; it is left out, or every batch
    of a campaign would begin with the same case.
    """
    drawn: list[T] = []

    @seed(seed_value)
    @settings(
        max_examples=n + 1,
        phases=[Phase.generate],  # no replay of stored examples, no shrinking: a case is minimised as a program
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: T) -> None:
        if example not in drawn:
            drawn.append(example)

    collect()
    return drawn[1 : n + 1]
