"""The figures of `make bench-oracle`: from what was measured to rows, and from rows to tables.

A section of the figures is a list of rows, a row maps the names of its columns to numbers and words: the same for the
tables and for JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.cost import Cost
from bench.functions import Measured
from bench.sensitivity import JUDGED, Caught, Steps
from bench.soundness import Soundness
from bench.tightness import Tightness
from oracles.rounding import LIBM_ULPS
from oracles.rules import RULES

Row = dict[str, str | float | int]
Figures = dict[str, Any]
DTYPES = ("F16", "BF16", "F32", "F64")
CORRECTLY_ROUNDED = {"sqrt": 0.5, "div": 0.5}


def figures_of(results: Mapping[str, Any]) -> Figures:
    """Every section's rows, and `outside`: whatever was found outside its bound, in words."""
    figures: Figures = {
        "soundness: simulated legal schedules": [*_soundness(_of(results, "sound", Soundness))],
        "library functions against mpmath, largest error in ulps": [
            _function(measured) for measured in results.values() if isinstance(measured, Measured)
        ],
        "tightness: bound / largest error seen, median": [*_tightness(_of(results, "tight", Tightness))],
        "tightness in lockstep": [*_tightness(_of(results, "lockstep", Tightness))],
        "tightness by op, each value of a program": [*_by_op(_of(results, "tight", Tightness).values())],
        "tightness by op, in lockstep by ops": [*_by_op(_of(results, "lockstep by ops", Tightness).values())],
        "undecided": [*_undecided(_of(results, "tight", Tightness))],
        "faults: a relative error in one F32 result of a StoryLM case": [*_faults(_of(results, "faults", Caught))],
        "one element of a correct output moved by one ulp": [*_steps(_of(results, "ulps", Steps))],
        "cost: CPU milliseconds of a case on one core": [*_cost(results["cost"])],
    }
    known = {title: [_without_gaps(row) for row in rows] for title, rows in figures.items()}
    return known | {"outside": _outside(results)}


def _without_gaps(row: Row) -> Row:
    """A median of nothing is left out: JSON has no NaN."""
    return {column: value for column, value in row.items() if value == value}


def _of(results: Mapping[str, Any], part: str, kind: type) -> dict[str, Any]:
    """The results of one part, by what follows its name."""
    return {
        name.partition(" ")[2]: result
        for name, result in results.items()
        if name.startswith(part) and isinstance(result, kind)
    }


def _outside(results: Mapping[str, Any]) -> list[str]:
    return [words for result in results.values() for words in getattr(result, "outside", [])]


def _soundness(parts: Mapping[str, Soundness]) -> Iterator[Row]:
    for family, part in {**parts, "all": sum(parts.values(), Soundness())}.items():
        yield {
            "programs": family,
            "drawn": part.programs,
            "schedules": part.schedules,
            "elements compared": part.elements,
            "exact %": _percent(part.exact, part.elements),
            "unknown %": _percent(part.unknown, part.elements),
            "closest to the bound": round(part.closest, 3),
            "before the judge": part.judged,
            "outside": len(part.outside),
        }


def _function(measured: Measured) -> Row:
    granted: Mapping[str, float] = LIBM_ULPS | CORRECTLY_ROUNDED
    row: Row = {"function": measured.name, "dtype": measured.dtype, "points": measured.points}
    row |= {"granted": granted.get(measured.name, "by depth")}
    row |= {who: round(worst, 3) for who, worst in measured.worst.items()}
    return row | {"outside": len(measured.outside)}


def _tightness(parts: Mapping[str, Tightness]) -> Iterator[Row]:
    for name, part in parts.items():
        row: Row = {"programs": name}
        op = "outputs" if ("outputs", "F32") in part.looseness else ""
        ratios = part.ratios(op)
        row |= {"cases": part.cases, "elements": len(ratios), "median": round(part.median(op), 1)}
        row |= {"90 %": round(float(np.percentile(ratios, 90)), 1) if ratios else float("nan")}
        row |= {dtype: round(part.median(op, dtype), 1) for dtype in DTYPES}
        yield row | {"no error seen": part.still}


def _by_op(parts: Iterable[Tightness]) -> Iterator[Row]:
    """Calls of fns are left out: their names mean nothing."""
    total = sum(parts, Tightness())
    for op in sorted({op for op, _ in total.looseness} & RULES.keys()):
        row: Row = {"op": op, "elements": len(total.ratios(op)), "median": round(total.median(op), 1)}
        yield row | {dtype: round(total.median(op, dtype), 1) for dtype in DTYPES}


def _undecided(parts: Mapping[str, Tightness]) -> Iterator[Row]:
    for family, part in parts.items():
        count = sum(part.undecided.values())
        yield {"programs": family, "reason": "all", "cases": count, "%": _percent(count, part.cases)}
        for reason, cases in part.undecided.most_common(8):
            yield {"programs": family, "reason": reason, "cases": cases, "%": _percent(cases, part.cases)}


def _faults(parts: Mapping[str, Caught]) -> Iterator[Row]:
    for epsilon, part in parts.items():
        for kind in sorted(part.injected):
            yield _fault(epsilon, kind, part, [kind])
        for form in ("whole result", "one element"):
            yield _fault(epsilon, f"all, {form}", part, [kind for kind in part.injected if kind.endswith(form)])


def _fault(epsilon: str, words: str, part: Caught, kinds: Sequence[str]) -> Row:
    injected, met, caught = (sum(counts[kind] for kind in kinds) for counts in (part.injected, part.met, part.caught))
    row: Row = {"error": epsilon, "judged": JUDGED[epsilon], "of": words, "injected": injected, "changed a bit": met}
    return row | {"caught": caught, "caught %": _percent(caught, met)}


def _steps(parts: Mapping[str, Steps]) -> Iterator[Row]:
    for family, part in parts.items():
        row: Row = {"programs": family, "exact": part.exact, "caught %": _percent(part.exact_caught, part.exact)}
        row |= {"certified": part.moved, "of them caught %": _percent(part.caught, part.moved)}
        widths = {dtype: part.widths.get(dtype, []) for dtype in DTYPES}
        yield row | {f"{d} ulp / bound": round(float(np.median(w)), 3) for d, w in widths.items() if w}


def _cost(cost: Cost) -> Iterator[Row]:
    for stage, times in cost.milliseconds.items():
        yield {"stage": stage, "cases": len(times), "median": _median(times), "90 %": _median(times, 90)}


def _median(times: Sequence[float], percent: float = 50) -> float:
    return round(float(np.percentile(times, percent)), 2)


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 2) if whole else float("nan")


def show(figures: Figures) -> None:
    """Prints all sections."""
    console = Console(width=150)
    for title, rows in figures.items():
        if not isinstance(rows, list):
            console.print(f"{title}: {rows}")
        elif title == "outside":
            console.print(f"outside: {len(rows)}", *rows[:20], sep="\n")
        else:
            console.print(_table(title, rows))


def _table(title: str, rows: Sequence[Row]) -> Table:
    table = Table(title=title, title_justify="left")
    columns = list(dict.fromkeys(column for row in rows for column in row))
    for column in columns:
        words = all(isinstance(row.get(column, ""), str) for row in rows)
        table.add_column(column, justify="left" if words else "right")
    for row in rows:
        table.add_row(
            *(
                f"{row.get(column, ''):,}" if isinstance(row.get(column), int) else str(row.get(column, ""))
                for column in columns
            )
        )
    return table
