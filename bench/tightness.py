"""How much wider are the bounds than the errors that legal implementations really make?

For each element: its bound over the largest error of all schedules, 1 being as tight as can be seen. Three ways of
judging are measured: from the final outputs, and in lockstep by steps of `@main` and by single ops. Elements whose
bound is 0, or of which no schedule erred, say nothing and are only counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from bench.programs import FAMILIES
from bench.schedules import Parted, Runs, run_schedules
from bench.soundness import matched, pairs
from compiler.syntax import Apply, Expr, Program
from fuzz.blame import exposed
from oracles.case import Case
from oracles.compare import Allowed, ratio
from oracles.engine import Array
from oracles.judge import judge, references
from oracles.traced import Trace
from oracles.tracing import trace
from oracles.verdict import Undecided

Key = tuple[str, str]  # an op (or "outputs") and a dtype


@dataclass(slots=True)
class Tightness:
    """`looseness`: bound / largest error seen, by op and dtype. `undecided`: cases by `reason at op`."""

    cases: int = 0
    still: int = 0
    looseness: dict[Key, list[float]] = field(default_factory=dict)
    undecided: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Tightness) -> Tightness:
        keys = self.looseness.keys() | other.looseness.keys()
        both = {key: self.looseness.get(key, []) + other.looseness.get(key, []) for key in keys}
        return Tightness(self.cases + other.cases, self.still + other.still, both, self.undecided + other.undecided)

    def note(self, key: Key, nearest: Array, bound: Array | None) -> None:
        """`nearest`: the largest error of each element, in units of the bound."""
        if bound is None:
            return
        loose = np.isfinite(bound) & (bound > 0)
        moved = loose & (nearest > 0)
        self.still += int((loose & ~moved).sum())
        self.looseness.setdefault(key, []).extend((1 / nearest[moved]).tolist())

    def ratios(self, op: str = "", dtype: str = "") -> list[float]:
        """All elements of an op, of a dtype, or all."""
        return [v for (o, d), values in self.looseness.items() if op in ("", o) and dtype in ("", d) for v in values]

    def median(self, op: str = "", dtype: str = "") -> float:
        """NaN where there are none."""
        chosen = self.ratios(op, dtype)
        return float(np.median(chosen)) if chosen else float("nan")


def tightness(family: str, seed: int, programs: int, schedules: int) -> Tightness:
    """From the final outputs: the sharp bounds that the judge uses."""
    total, rng = Tightness(), np.random.default_rng([seed, 3])
    for case, inputs in FAMILIES[family](seed, programs):
        try:
            runs = run_schedules(case.program, inputs, rng, schedules)
        except Parted:
            continue
        refs = references(case, inputs)
        total.cases += 1
        verdict = judge(refs, runs.observe(0))
        if isinstance(verdict, Undecided):
            total.undecided[f"{verdict.reason} at {verdict.op}"] += 1
        run, which, _ = max(matched(refs, runs), key=lambda match: len(match[1]))
        _outputs(case, run, runs, which, total)
    return total


def _outputs(case: Case, run: Trace, runs: Runs, which: Array, total: Tightness) -> None:
    """The results of `@main` under "outputs", its lets under the op that made each."""
    ops = dict(_ops(case.program))
    names = {id(value): ops.get(name, "input") for name, value in run.lets.items()}
    results = {id(value) for value in run.results}
    both = list(pairs(run, runs))
    for (value, target), bound in zip(both, run.bounds([value for value, _ in both]), strict=True):
        if value.dtype.kind != "float":
            continue
        nearest = ratio(target[which], Allowed(value.array, value.dtype, bound)).max(0)
        total.note((names.get(id(value), "result"), value.dtype.name), nearest, bound)
        if id(value) in results:
            total.note(("outputs", value.dtype.name), nearest, bound)


def _ops(program: Program) -> Iterator[tuple[str, str]]:
    for let in program.main.lets if program.main is not None else ():
        yield from ((name, _callee(let.value)) for name in let.names)


def _callee(expr: Expr) -> str:
    return expr.callee if isinstance(expr, Apply) else "input"


def lockstep(family: str, seed: int, programs: int, schedules: int, by_op: bool) -> Tightness:
    """Each let of `@main` from the schedule's own values before it; `by_op`: with all fns opened."""
    total, rng = Tightness(), np.random.default_rng([seed, 4])
    for case, inputs in FAMILIES[family](seed, programs):
        if by_op:
            case = exposed(case, {fn.name for fn in case.program.fns})
        try:
            runs = run_schedules(case.program, inputs, rng, schedules)
        except Parted:
            continue
        total.cases += 1
        _steps(case, inputs, runs, total)
    return total


def _steps(case: Case, inputs: Mapping[str, Array], runs: Runs, total: Tightness) -> None:
    fns, ops = {fn.name for fn in case.program.fns}, dict(_ops(case.program))
    nearest: dict[str, Array] = {}
    last: dict[str, Array | None] = {}
    for index in range(runs.count):
        seen = runs.observe(index)
        run = trace(case.program, inputs, given=seen.lets)
        values = {name: value for name, value in run.pinned.items() if value.dtype.kind == "float"}
        for (name, value), bound in zip(values.items(), run.bounds(list(values.values())), strict=True):
            error = ratio(seen.lets[name], Allowed(value.array, value.dtype, bound))
            nearest[name] = np.maximum(nearest.get(name, 0.0), error)
            last[name] = bound
    for name, bound in last.items():
        op = "step" if ops.get(name) in fns else ops.get(name, "input")
        total.note((op, run.pinned[name].dtype.name), nearest[name], bound)
