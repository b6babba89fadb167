"""What a campaign draws: families of cases and dtypes, each with its share, and pipelines to lower a program with.

What a family is, its file says. Nothing is drawn here but which family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from compiler.types import BF16, F16, F32, F64, DType
from fuzz.generate.batches import batch_cases
from fuzz.generate.graphs import graph_cases
from fuzz.generate.leaks import leak_cases
from fuzz.generate.pipelines import pipelines
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
        for pipeline in ("default", *self.pipelines):
            yield replace(self.case, pipeline=pipeline)


def storylm_families() -> SearchStrategy[Case]:
    """Every family of StoryLM cases by its share."""
    drawn = [
        cases
        for dtype, of_dtype in DTYPE_SHARES.items()
        for share, family in FAMILIES.values()
        for cases in [family(dtype)] * (share * of_dtype)
    ]
    return st.sampled_from(drawn).flatmap(lambda cases: cases)


def programs(seen: Mapping[str, int], count: int) -> SearchStrategy[Drawn]:
    """What a campaign draws, each with so many pipelines.

    `seen` counts features of `fuzz.novelty`, passes and pairs of passes.
    """
    pairs = {name: times for name, times in seen.items() if name.startswith("pair ")}
    graphs, stories = graph_cases(pairs), storylm_families()
    # Kind 0 is a graph: every run of Hypothesis begins with the simplest draw, which costs nothing there.
    cases = st.integers(0, GRAPHS).flatmap(lambda kind: stories if kind == GRAPHS else graphs)
    return st.builds(Drawn, cases, st.tuples(*[pipelines(seen=seen)] * count))
