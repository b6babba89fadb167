"""The drawn programs that are measured: the campaign's op graphs and StoryLM cases, and graphs of hostile values.

What is drawn is a function of the family, the seed and the number asked for. What is measured on it is the siblings'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from bench.graphs import FLOATS, VALUES, draw_graph, draw_inputs
from compiler.types import DType
from fuzz.generate.draw import draw_cases
from fuzz.generate.families import FAMILIES as STORYLM
from fuzz.generate.families import storylm_families
from fuzz.generate.graphs import draw_graphs
from oracles.case import Case
from oracles.engine import Array
from oracles.inputs import make_inputs

Drawn = tuple[Case, dict[str, Array]]
LARGEST_GRAPH = 12  # ops


def hostile_graphs(seed: int, count: int) -> Iterator[Drawn]:
    """Op graphs of 1 to 12 ops: each dtype in turn, on values of each kind, infinities, NaN and subnormals too."""
    rng = np.random.default_rng([seed, 1])
    for _ in range(count):
        dtype, kind = FLOATS[rng.integers(len(FLOATS))], str(rng.choice(list(VALUES)))
        program, n = draw_graph(rng, dtype, int(rng.integers(1, LARGEST_GRAPH + 1)))
        yield Case(program), draw_inputs(rng, dtype, n, kind)


def campaign_graphs(seed: int, count: int) -> Iterator[Drawn]:
    """Op graphs as a campaign draws them."""
    return _ready(draw_graphs(seed, count))


def campaign_stories(seed: int, count: int) -> Iterator[Drawn]:
    """StoryLM cases as a campaign draws them: families and dtypes by their shares."""
    return _ready(draw_cases(storylm_families(), seed, count))


def stories_of_all(seed: int, count: int) -> Iterator[Drawn]:
    """StoryLM cases of every family, as many of each dtype."""
    for dtype in FLOATS:
        yield from stories_of(dtype, seed, max(1, count // len(FLOATS)))


def stories_of(dtype: DType, seed: int, count: int) -> Iterator[Drawn]:
    """StoryLM cases of one dtype, of each family by its share."""
    families = [family(dtype) for share, family in STORYLM.values() for _ in range(share)]
    rng = np.random.default_rng([seed, dtype.bits, dtype.precision])
    for pick in rng.integers(len(families), size=count):
        yield from _ready(draw_cases(families[pick], int(rng.integers(2**32)), 1))


def _ready(cases: Iterable[Case]) -> Iterator[Drawn]:
    """Cases with their inputs, without their claims."""
    for case in cases:
        yield replace(case, claims=()), make_inputs(case)


FAMILIES: dict[str, Callable[[int, int], Iterator[Drawn]]] = {
    "StoryLM": campaign_stories,
    "op graphs": campaign_graphs,
    "StoryLM, every dtype": stories_of_all,
    "hostile graphs": hostile_graphs,
}
