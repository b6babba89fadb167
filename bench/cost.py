"""What the oracle costs for a StoryLM case: CPU seconds of one core, references and judge apart.

Each program is judged as a lane judges it: on two sets of inputs, each for the two variants of one build, of which the
stepped one is judged in lockstep as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from bench.programs import FAMILIES
from bench.schedules import Parted, run_schedule
from fuzz.lane import with_other_numbers
from oracles.case import Case, print_case
from oracles.inputs import make_inputs
from oracles.judge import judge, judge_lockstep, references

T = TypeVar("T")


@dataclass(slots=True)
class Cost:
    """Milliseconds of each stage, a number for each case."""

    milliseconds: dict[str, list[float]] = field(default_factory=dict)

    def timed(self, stage: str, work: Callable[[], T]) -> T:
        began = time.process_time()
        result = work()
        self.milliseconds.setdefault(stage, []).append(1e3 * (time.process_time() - began))
        return result


def cost(family: str, seed: int, programs: int) -> Cost:
    """Both cases of each program; the first programs warm the libraries up and are not counted."""
    measured, rng = Cost(), np.random.default_rng([seed, 7])
    for number, (drawn, _) in enumerate(FAMILIES[family](seed, programs + 3)):
        if number == 3:
            measured = Cost()
        for case in (drawn, with_other_numbers(drawn)):
            _measure(case, rng, measured)
    return measured


def _measure(case: Case, rng: np.random.Generator, measured: Cost) -> None:
    measured.timed("print", lambda: print_case(case))
    inputs = make_inputs(case)
    try:
        stepped = run_schedule(case.program, inputs, rng)
    except Parted:
        return
    whole = replace(run_schedule(case.program, inputs, rng), lets={})
    refs = measured.timed("references", lambda: references(case, inputs))
    measured.timed("judge", lambda: [judge(refs, outcome) for outcome in (stepped, whole)])
    measured.timed("lockstep", lambda: judge_lockstep(refs, stepped))
