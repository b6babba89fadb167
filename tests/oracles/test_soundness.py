"""The judge as a whole, in small: no legal implementation is called wrong.

`bench.schedules` makes every choice that the language leaves to an implementation at random; `bench` measures more.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from bench.graphs import FLOATS, VALUES, draw_graph, draw_inputs
from bench.schedules import run_schedule
from compiler.types import F32, DType
from fuzz.generate.draw import draw_cases
from fuzz.generate.storylm import storylm_cases
from oracles.case import Case
from oracles.engine import Array
from oracles.inputs import make_inputs
from oracles.judge import judge, judge_lets, references
from oracles.verdict import Agree, Disagree

SCHEDULES = 3

# --- legal implementations


def check_sound(case: Case, inputs: dict[str, Array], rng: np.random.Generator, schedules: int) -> Counter[str]:
    """Several legal runs, judged in full and in lockstep; the verdicts counted by kind."""
    kinds: Counter[str] = Counter()
    refs = references(case, inputs)
    for _ in range(schedules):
        seen = run_schedule(case.program, inputs, rng)
        for verdict in (judge(refs, seen), judge_lets(case.program, inputs, seen)):
            assert not isinstance(verdict, Disagree), verdict
            kinds[type(verdict).__name__] += 1
    return kinds


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_no_legal_run_of_an_op_graph_is_called_wrong(dtype: DType, kind: str) -> None:
    rng = np.random.default_rng([7, *map(ord, kind), dtype.bits, dtype.precision])
    kinds: Counter[str] = Counter()
    for ops in (1, 1, 1, 2, 3, 4, 6, 9):
        program, n = draw_graph(rng, dtype, ops)
        kinds += check_sound(Case(program), draw_inputs(rng, dtype, n, kind), rng, SCHEDULES)
    assert kinds["Agree"] > 12, kinds  # it does not get there by leaving all open


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_no_legal_run_of_a_story_is_called_wrong(dtype: DType) -> None:
    rng = np.random.default_rng(11)
    for case in draw_cases(storylm_cases(dtype), 11, 3):
        check_sound(replace(case, claims=()), make_inputs(case), rng, 2)


def test_agreement_reports_how_close_it_came() -> None:
    case = draw_cases(storylm_cases(F32), 2, 1)[0]
    inputs = make_inputs(case)
    seen = run_schedule(case.program, inputs, np.random.default_rng(1))
    verdict = judge(references(replace(case, claims=()), inputs), seen)
    assert isinstance(verdict, Agree)
    assert 0 <= verdict.closest <= 1
