"""What the oracle costs for a StoryLM case: CPU seconds of one core, references and judge apart.

Each program is judged as a lane judges it: on two sets of inputs, each for the two variants of one build, of which the
stepped one is judged in lockstep as well. It is a simulated legal schedule that is judged, so nothing is exact by luck.
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
from oracles.engine import Array, Observation
from oracles.inputs import make_inputs
from oracles.judge import judge, judge_lockstep, references

T = TypeVar("T")


REPEATS = 3  # of which the fastest counts: what else the machine does only slows things down


@dataclass(slots=True)
class Cost:
    """Milliseconds of each stage, a number for each case."""

    milliseconds: dict[str, list[float]] = field(default_factory=dict)


def cost(family: str, seed: int, programs: int) -> Cost:
    """Both cases of each program; the first programs warm the libraries up and are not counted."""
    measured, rng = Cost(), np.random.default_rng([seed, 7])
    for number, (drawn, _) in enumerate(FAMILIES[family](seed, programs + WARM)):
        for case in (drawn, with_other_numbers(drawn)):
            inputs = make_inputs(case)
            try:
                stepped = run_schedule(case.program, inputs, rng)
            except Parted:
                continue
            tries = [_measured(case, inputs, stepped) for _ in range(REPEATS)]
            for stage in tries[0] if number >= WARM else ():
                measured.milliseconds.setdefault(stage, []).append(min(each[stage] for each in tries))
    return measured


WARM = 3


def _measured(case: Case, inputs: dict[str, Array], stepped: Observation) -> dict[str, float]:
    """Each stage once, and all together."""
    times: dict[str, float] = {}

    def timed(stage: str, work: Callable[[], T]) -> T:
        began = time.process_time()
        result = work()
        times[stage] = 1e3 * (time.process_time() - began)
        return result

    timed("print", lambda: print_case(case))
    refs = timed("references", lambda: references(case, inputs))
    timed("judge, first variant", lambda: judge(refs, stepped))
    timed("judge, another variant with the same bits", lambda: judge(refs, replace(stepped, lets={})))
    timed("judge, in lockstep", lambda: judge_lockstep(refs, stepped))
    return times | {"all": sum(times.values())}
