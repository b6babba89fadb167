"""What a campaign draws: families of cases and dtypes, each with its share, and pipelines to lower a program with.

What a family is, its file says. Nothing is drawn here but which family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from compiler.types import BF16, F16, F32, F64, DType
from fuzz.generate.batches import batch_cases
from fuzz.generate.draw import NUMBERS, draw_cases
from fuzz.generate.graphs import grower
from fuzz.generate.leaks import leak_cases
from fuzz.generate.pipelines import DRAWN, pipeline
from fuzz.generate.rollout import rollout_cases
from fuzz.generate.scratch import scratch_cases
from fuzz.generate.storylm import storylm_cases
from oracles.case import Case

FAMILIES: Mapping[str, tuple[int, Callable[[DType], SearchStrategy[Case]]]] = {
    "handoff": (11, storylm_cases),
    "scratch": (3, scratch_cases),
    "rollout": (3, rollout_cases),
    "leak": (2, leak_cases),
    "batch": (2, batch_cases),
}
"""How often each family of StoryLM cases is drawn."""

DTYPE_SHARES: Mapping[DType, int] = {F32: 17, F64: 1, F16: 1, BF16: 1}
"""How often a model is of each dtype. Of 16 bits it is seldom: much of what it makes lies near a tie."""

GRAPHS = 15
"""Op graphs for each StoryLM program, which costs as much to compile as all of these together, and more."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A program, and the pipelines to lower it with beside the default one."""

    case: Case
    pipelines: tuple[str, ...]

    def cases(self) -> Iterator[Case]:
        """The program on each pipeline, the default one first."""
        for text in ("default", *self.pipelines):
            yield replace(self.case, pipeline=text)


def storylm_families() -> SearchStrategy[Case]:
    """Every family of StoryLM cases by its share."""
    drawn = [
        cases
        for dtype, of_dtype in DTYPE_SHARES.items()
        for share, family in FAMILIES.values()
        for cases in [family(dtype)] * (share * of_dtype)
    ]
    return st.sampled_from(drawn).flatmap(lambda cases: cases)


def draw_programs(seen: Mapping[str, int], pipelines_each: int, seed: int, n: int) -> list[Drawn]:
    """What a campaign draws: `n` programs of a seed, each with so many pipelines.

    `seen` counts features of `fuzz.novelty`, passes and pairs of passes. It is no part of what Hypothesis draws, which
    keeps strategies for reuse, and with them all that they refer to.
    """
    grow = grower({name: times for name, times in seen.items() if name.startswith("pair ")})
    return [
        Drawn(
            grow(sketch) if isinstance(sketch, int) else sketch,
            tuple(pipeline(number, DRAWN, seen) for number in numbers),
        )
        for sketch, numbers in draw_cases(_sketches(pipelines_each), seed, n)
    ]


@cache
def _sketches(count: int) -> SearchStrategy[tuple[int | Case, tuple[int, ...]]]:
    """A case, or the number that an op graph grows from, and those of `count` pipelines."""
    stories = storylm_families()
    # Kind 0 is a graph: every run of Hypothesis begins with the simplest draw, which costs nothing there.
    kinds: SearchStrategy[int | Case] = st.integers(0, GRAPHS).flatmap(
        lambda kind: stories if kind == GRAPHS else NUMBERS
    )
    return st.tuples(kinds, st.tuples(*[NUMBERS] * count))
