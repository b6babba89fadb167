"""Does every legal implementation lie within the bounds? Counts the simulated schedules that do not.

Every let of `@main` and every result is compared, by its sharp bound. Where an argmax is open, the references follow
each schedule's own choice, as the judge does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from bench.programs import FAMILIES, Drawn
from bench.rounded_sums import Generator
from bench.schedules import Parted, Runs, run_schedules
from oracles.compare import Allowed, ratio
from oracles.engine import Array
from oracles.judge import References, judge, judge_lets, references
from oracles.traced import Trace, Traced
from oracles.verdict import Disagree

MOST_CHOICES = 12  # sets of choices at open argmaxes that are followed for one program; each takes a run of its own
JUDGED = 2  # schedules of each program that are also put before the judge itself, in full and in lockstep


@dataclass(slots=True)
class Soundness:
    """`elements` were compared, of which `exact` bitwise and `unknown` not at all; `outside` says which were wrong."""

    programs: int = 0
    schedules: int = 0
    judged: int = 0
    elements: int = 0
    exact: int = 0
    unknown: int = 0
    closest: float = 0.0
    outside: list[str] = field(default_factory=list)

    def __add__(self, other: Soundness) -> Soundness:
        return Soundness(
            self.programs + other.programs,
            self.schedules + other.schedules,
            self.judged + other.judged,
            self.elements + other.elements,
            self.exact + other.exact,
            self.unknown + other.unknown,
            max(self.closest, other.closest),
            self.outside + other.outside,
        )


def soundness(family: str, seed: int, programs: int, schedules: int) -> Soundness:
    """`schedules` runs of each of `programs` programs."""
    total = Soundness()
    rng = np.random.default_rng([seed, 2])
    for drawn in FAMILIES[family](seed, programs):
        total += check_program(drawn, rng, schedules)
    return total


def check_program(drawn: Drawn, rng: Generator, schedules: int) -> Soundness:
    """One program. Where a `while` parts the schedules there is nothing to compare."""
    case, inputs = drawn
    try:
        runs = run_schedules(case.program, inputs, rng, schedules)
    except Parted:
        return Soundness(programs=1)
    refs = references(case, inputs)
    tally = Soundness(programs=1)
    for run, which, faults in matched(refs, runs):
        tally.outside += faults
        _compare(run, runs, which, tally)
    for index in range(min(JUDGED, schedules)):
        seen = runs.observe(index)
        verdicts = judge(refs, seen), judge_lets(case.program, inputs, seen)
        tally.outside += [str(verdict) for verdict in verdicts if isinstance(verdict, Disagree)]
        tally.judged += len(verdicts)
    return tally


Match = tuple[Trace, Array, list[str]]
"""A run of the references, the schedules that made the same choices, and what is wrong with these choices."""


def matched(refs: References, runs: Runs) -> Iterator[Match]:
    """Parts the schedules by what they chose where an argmax is open; what is beyond `MOST_CHOICES` is left out."""
    return islice(_parted(refs, runs, {}, np.arange(runs.count), []), MOST_CHOICES)


def _parted(
    refs: References, runs: Runs, follow: Mapping[int, Array], which: Array, faults: list[str]
) -> Iterator[Match]:
    run = refs.run(follow)
    for value, target in pairs(run, runs):
        if value.contenders is None or value.serial in follow:
            continue
        legal = np.moveaxis(value.contenders[0], value.contenders[1], -1)
        choices, group = np.unique(target[which].reshape(len(which), -1), axis=0, return_inverse=True)
        for index, choice in enumerate(choices):
            chosen = choice.reshape(value.array.shape)
            mine, wrong = which[group.reshape(-1) == index], _inadmissible(legal, chosen)
            yield from _parted(refs, runs, {**follow, value.serial: chosen}, mine, faults + wrong)
        return
    yield run, which, faults


def _inadmissible(legal: Array, chosen: Array) -> list[str]:
    fine = np.take_along_axis(legal, chosen[..., None], -1).all()
    return [] if fine else [f"an argmax chose {chosen.tolist()}, which it may not"]


def pairs(run: Trace, runs: Runs) -> Iterator[tuple[Traced, Array]]:
    """The references' values beside the schedules', without the results that are lets."""
    seen = set()
    for name, value in run.lets.items():
        seen.add(id(value))
        yield value, runs.lets[name]
    for value, target in zip(run.results, runs.results, strict=True):
        if id(value) not in seen:
            yield value, target


def _compare(run: Trace, runs: Runs, which: Array, tally: Soundness) -> None:
    """These schedules against the sharp bounds of one run."""
    both = list(pairs(run, runs))
    bounds = run.bounds([value for value, _ in both])
    for (value, target), bound in zip(both, bounds, strict=True):
        error = ratio(target[which], Allowed(value.array, value.dtype, bound))
        full = np.zeros(value.array.shape) if bound is None else bound
        tally.elements += error.size
        tally.exact += int((full == 0).sum()) * len(which)
        tally.unknown += int(np.isinf(full).sum()) * len(which)
        tally.closest = max(tally.closest, float(error[error <= 1].max(initial=0)))
        tally.outside += [_words(run, value, target, bound, which, error)] if (error > 1).any() else []
    tally.schedules += len(which)


def _words(run: Trace, value: Traced, target: Array, bound: Array | None, which: Array, error: Array) -> str:
    names = [name for name, let in run.lets.items() if let is value]
    at = tuple(int(i) for i in np.unravel_index(int(error.argmax()), error.shape))
    limit = 0.0 if bound is None else bound[at[1:]]
    got, wanted = target[which][at], value.array[at[1:]]
    count = int((error > 1).reshape(len(which), -1).any(1).sum())
    return f"{value.dtype} {names}{list(at[1:])} = {got!r}, {wanted!r} ± {limit!r} ({count} schedules)"
