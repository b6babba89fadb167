"""Which errors does the judge see? Faults of known size are put into legal runs of StoryLM cases.

A fault multiplies the result of one op (one application of it, drawn) by 1 + ε and rounds it to F32 again: the whole
tensor, or one element of it. It counts as met if it changes a bit of what is observed: a score behind a mask, or the
noise of a sample that keeps its winner, changes nothing that anybody could see.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from bench.programs import FAMILIES, stories_of
from bench.rounded_sums import Generator
from bench.schedules import Change, Parted, run_schedule
from compiler.types import F32
from fuzz.blame import exposed
from oracles.case import Case
from oracles.compare import widened
from oracles.engine import Array, Observation
from oracles.judge import References, judge, judge_lets, references
from oracles.verdict import Agree, Disagree

OPS = ("softmax", "matmul", "log")
FINAL = "from the final outputs"
JUDGED = {"1e-4": FINAL, "1e-6": "in lockstep by ops"}
"""How an error of each size is to be caught."""

Inputs = dict[str, Array]


@dataclass(slots=True)
class Caught:
    """Faults by kind: how many were injected, changed something, and were called wrong."""

    injected: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    caught: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Caught) -> Caught:
        return Caught(self.injected + other.injected, self.met + other.met, self.caught + other.caught)


def scaled_result(op: str, which: int, factor: float, element: float | None) -> Change:
    """Multiplies the result of the `which`-th `op`; if `element` is given (0 to 1), only that place of it."""
    seen = Counter[str]()

    def change(name: str, result: Array) -> Array:
        seen[name] += 1
        if name != op or seen[name] != which + 1:
            return result
        if element is None:
            return result * factor
        changed = result.copy()
        changed.reshape(-1)[int(element * result.size)] *= factor
        return changed

    return change


def faults(epsilon: str, seed: int, programs: int) -> Caught:
    """Both forms of the fault in each op of each F32 case, judged by its `JUDGED`."""
    lockstep = JUDGED[epsilon] != FINAL
    total, rng = Caught(), np.random.default_rng([seed, 5])
    for case, inputs in stories_of(F32, seed, programs):
        subject = exposed(case, {fn.name for fn in case.program.fns}) if lockstep else case
        try:
            counts = _counts(subject, inputs)
        except Parted:
            continue
        for op in OPS:
            for form in ("whole result", "one element"):
                if counts[op]:
                    place = None if form == "whole result" else float(rng.random())
                    change = scaled_result(op, int(rng.integers(counts[op])), 1 + float(epsilon), place)
                    _try(subject, inputs, change, f"{op}, {form}", lockstep, int(rng.integers(2**31)), total)
    return total


def _counts(case: Case, inputs: Inputs) -> Counter[str]:
    """How often each op is applied in a run."""
    seen = Counter[str]()

    def count(name: str, result: Array) -> Array:
        seen[name] += 1
        return result

    run_schedule(case.program, inputs, np.random.default_rng(0), count)
    return seen


def _try(case: Case, inputs: Inputs, change: Change, kind: str, lockstep: bool, seed: int, total: Caught) -> None:
    clean = run_schedule(case.program, inputs, np.random.default_rng(seed))
    faulty = run_schedule(case.program, inputs, np.random.default_rng(seed), change)
    total.injected[kind] += 1
    if lockstep:
        differs = any(_differ(clean.lets[name], faulty.lets[name]) for name in clean.lets)
        verdict = judge_lets(case.program, inputs, faulty) if differs else None
    else:
        differs = any(_differ(a, b) for a, b in zip(clean.results, faulty.results, strict=True))
        verdict = judge(references(case, inputs), replace(faulty, lets={})) if differs else None
    total.met[kind] += differs
    total.caught[kind] += isinstance(verdict, Disagree)


def _differ(a: Array, b: Array) -> bool:
    return a.tobytes() != b.tobytes()


@dataclass(slots=True)
class Steps:
    """One element of a correct output moved by one ulp: in the exact lane, and in the certified one.

    `widths`: the ulp in units of the bound, by dtype; `caught` of `moved` were called wrong.
    """

    exact: int = 0
    exact_caught: int = 0
    moved: int = 0
    caught: int = 0
    widths: dict[str, list[float]] = field(default_factory=dict)

    def __add__(self, other: Steps) -> Steps:
        keys = self.widths.keys() | other.widths.keys()
        widths = {key: self.widths.get(key, []) + other.widths.get(key, []) for key in keys}
        return Steps(
            self.exact + other.exact,
            self.exact_caught + other.exact_caught,
            self.moved + other.moved,
            self.caught + other.caught,
            widths,
        )


def single_ulps(family: str, seed: int, programs: int) -> Steps:
    """One exact and one certified element of each result of each case is moved, away from the reference's value."""
    total, rng = Steps(), np.random.default_rng([seed, 6])
    for case, inputs in FAMILIES[family](seed, programs):
        try:
            seen = run_schedule(case.program, inputs, rng)
        except Parted:
            continue
        refs = references(case, inputs)
        if not isinstance(judge(refs, seen), Agree):  # an argmax that went another way than the references at first
            continue
        for at, value in enumerate(refs.base.results):
            if value.dtype.kind == "float":
                (bound,) = refs.base.bounds([value])
                _move_one(refs, seen, at, np.zeros(value.array.shape) if bound is None else bound, rng, total)
    return total


def _move_one(refs: References, seen: Observation, at: int, bound: Array, rng: Generator, total: Steps) -> None:
    """An element of result `at` for each lane that it has elements of."""
    value, native = refs.base.results[at], seen.results[at]
    finite = np.isfinite(value.array) & np.isfinite(widened(native))
    for mask in (finite & (bound == 0), finite & (bound > 0) & np.isfinite(bound)):
        places = np.flatnonzero(mask)
        if not places.size:
            continue
        place = np.unravel_index(int(rng.choice(places)), native.shape)
        moved = native.copy()
        away = np.inf if widened(native)[place] >= value.array[place] else -np.inf
        moved[place] = np.nextafter(native[place], native.dtype.type(away))
        results = (*seen.results[:at], moved, *seen.results[at + 1 :])
        found = isinstance(judge(refs, Observation({}, results)), Disagree)
        if bound[place] == 0:
            total.exact += 1
            total.exact_caught += found
        else:
            step = abs(float(widened(moved)[place]) - float(widened(native)[place]))
            total.moved += 1
            total.caught += found
            total.widths.setdefault(value.dtype.name, []).append(step / float(bound[place]))
