"""The bench in small: what `make bench-oracle` shows holds for a few programs too."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench.cost import cost
from bench.functions import SPELLED, measure, truths
from bench.oracle import FULL, QUICK, tasks
from bench.points import WORST_F64, operands
from bench.programs import FAMILIES
from bench.sensitivity import faults, single_ulps
from bench.soundness import soundness
from bench.tables import figures_of
from bench.tightness import lockstep, tightness
from compiler.types import DTYPES, F64
from oracles.rounding import LIBM_ULPS


@pytest.mark.parametrize(("family", "programs"), [("StoryLM", 2), ("op graphs", 12), ("hostile graphs", 12)])
def test_no_simulated_schedule_is_outside(family: str, programs: int) -> None:
    assert family in FAMILIES
    found = soundness(family, 3, programs, 100)
    assert found.outside == []
    assert found.programs == programs
    assert found.schedules >= 90 * programs
    assert found.unknown < 0.2 * found.elements


def test_bounds_are_tight() -> None:
    assert tightness("StoryLM", 3, 2, 40).median("outputs") < 30
    assert tightness("op graphs", 3, 10, 40).median("outputs") < 30
    assert lockstep("StoryLM", 3, 1, 10, by_op=True).median() < 10


def test_faults_are_seen() -> None:
    for epsilon in ("1e-4", "1e-6"):
        found = faults(epsilon, 3, 3)
        whole = [kind for kind in found.met if kind.endswith("whole result")]
        assert sum(found.met[kind] for kind in whole) >= 3
        assert sum(found.caught[kind] for kind in whole) >= 0.9 * sum(found.met[kind] for kind in whole)


def test_one_ulp_is_seen_in_the_exact_lane() -> None:
    found = single_ulps("op graphs", 3, 8)
    assert found.exact_caught == found.exact > 5


def test_the_tasks_of_a_run_cover_what_was_promised() -> None:
    names = [name for name, _, _ in tasks(FULL, 1)]
    assert {f"{name} {dtype}" for name in SPELLED for dtype in ("F16", "BF16", "F32", "F64")} <= set(names)
    assert sum(FULL.sound.values()) * FULL.schedules >= 10**6
    assert FULL.points == 10**5
    assert len({name for name, _, _ in tasks(QUICK, 1)}) == len(set(names))


def test_figures_are_rows_of_words_and_numbers() -> None:
    results = {
        "cost": cost("op graphs", 3, 1),
        "sound op graphs": soundness("op graphs", 3, 2, 20),
        "tight op graphs": tightness("op graphs", 3, 2, 10),
        "lockstep by ops, op graphs": lockstep("op graphs", 3, 1, 4, by_op=True),
        "faults 1e-6": faults("1e-6", 3, 1),
        "ulps op graphs": single_ulps("op graphs", 3, 2),
    }
    figures = json.loads(json.dumps(figures_of(results)))
    assert figures["outside"] == []
    rows = [row for section, rows in figures.items() if section != "outside" for row in rows]
    assert len(rows) > 8
    assert all(isinstance(value, str | int | float) for row in rows for value in row.values())


@pytest.mark.parametrize("name", SPELLED)
@pytest.mark.parametrize("dtype", ["F16", "F32", "F64"])
def test_the_truth_and_its_points(name: str, dtype: str) -> None:
    xs = operands(name, DTYPES[dtype], np.random.default_rng(1), 400)
    assert all(x.size >= 390 for x in xs)
    (exact,) = truths(name, xs, (F64,))
    assert exact.known.mean() > 0.5
    assert np.abs(exact.low).max() <= 0.5


@pytest.mark.parametrize(("name", "dtype"), [("exp", "F32"), ("tanh", "F64"), ("softmax", "F16"), ("log", "BF16")])
def test_compiled_code_and_both_references_lie_within_the_bounds(name: str, dtype: str) -> None:
    found = measure(name, dtype, 3, 300)
    assert found.outside == []
    assert set(found.worst) == {"kina", "numpy", "torch"}
    assert name == "softmax" or max(found.worst.values()) <= LIBM_ULPS[name]


@pytest.mark.parametrize("name", WORST_F64)
def test_the_worst_case_of_a_function_is_hard_to_round(name: str) -> None:
    (exact,) = truths(name, [np.array([float.fromhex(WORST_F64[name][0])])], (F64,))
    tie = abs(abs(float(exact.low[0])) - 0.5), abs(float(exact.low[0]))
    assert min(tie) < 2.0**-50
