"""The drawn programs that are measured: op graphs of every dtype and kind of values, and StoryLM cases.

What is drawn is a function of the family, the seed and the number asked for. What is measured on it is the siblings'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from bench.graphs import FLOATS, VALUES, draw_graph, draw_inputs
from compiler.types import F32
from fuzz.generate.draw import draw_cases
from fuzz.generate.storylm import storylm_cases
from oracles.case import Case
from oracles.engine import Array
from oracles.inputs import make_inputs

Drawn = tuple[Case, dict[str, Array]]
LARGEST_GRAPH = 12  # ops


def graphs(seed: int, count: int) -> Iterator[Drawn]:
    """Op graphs of 1 to 12 ops: each dtype in turn, on values of each kind, hostile ones too."""
    rng = np.random.default_rng([seed, 1])
    for _ in range(count):
        dtype, kind = FLOATS[rng.integers(len(FLOATS))], str(rng.choice(list(VALUES)))
        program, n = draw_graph(rng, dtype, int(rng.integers(1, LARGEST_GRAPH + 1)))
        yield Case(program), draw_inputs(rng, dtype, n, kind)


def stories(seed: int, count: int) -> Iterator[Drawn]:
    """StoryLM cases, half of them F32, without their claims."""
    others = [dtype for dtype in FLOATS if dtype is not F32]
    for at, dtype in enumerate([F32, *others]):
        share = count // 2 if dtype is F32 else (count - count // 2 + at - 1) // len(others)
        for case in draw_cases(storylm_cases(dtype), seed, share):
            yield replace(case, claims=()), make_inputs(case)


FAMILIES: dict[str, Callable[[int, int], Iterator[Drawn]]] = {"op graphs": graphs, "StoryLM": stories}
