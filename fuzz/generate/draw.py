"""Drawing cases from a strategy, reproducibly: the same strategy, seed and count give the same cases.

Hypothesis' public API only. What is drawn lives in the sibling modules; what becomes of a case lives outside.
"""

from __future__ import annotations

from random import Random
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

_SETTINGS = settings(
    max_examples=2,
    phases=[Phase.generate],  # no replay of stored examples, no shrinking: a case is minimised as a program
    database=None,
    deadline=None,
    derandomize=False,
    suppress_health_check=list(HealthCheck),
)

# In parts, for one integer or one string of bytes may be a constant that stands in any module that is loaded: one case
# in twenty would come again.
NUMBERS = st.tuples(*[st.integers(0, 2**16 - 1)] * 4).map(lambda parts: sum(p << 16 * at for at, p in enumerate(parts)))
"""A seed of 64 bits, 0 the simplest, for generators whose choices are a stream of their own."""


def draw_cases(strategy: SearchStrategy[T], seed_value: int, n: int) -> list[T]:
    """`n` independent draws; `n` more of the same seed begin with them.

    Each is a run of its own with the simplest example there is, which every run begins with, and one more. In one run
    of `n` examples Hypothesis would vary its earlier ones: half of the programs would come twice. The one more never
    makes the first choice of the simplest again, so that choice is one that nothing depends on.
    """
    drawn: list[T] = []

    def collect(example: tuple[int, T]) -> None:  # of two lines: each run tokenises its source
        drawn.append(example[1])

    run = _SETTINGS(given(st.tuples(st.integers(0, 2**32), strategy))(collect))
    seeds = Random(seed_value)  # noqa: S311 (reproducible, nothing secret)
    cases = []
    for _ in range(n):
        drawn.clear()
        seed(seeds.getrandbits(64))(run)()
        cases.append(drawn[-1])
    return cases
