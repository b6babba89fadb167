"""`make bench-oracle`: what the oracle promises, measured: soundness, tightness, sensitivity and cost in one run.

`python -m bench.oracle [--quick] [--json] [--seed N] [--workers N]`. Each part is a list of tasks, a function and its
arguments, spread over processes. The exit status is 1 if anything lies outside its bound. What is measured is the
siblings'; how figures are shown is `tables`'.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.cost import cost
from bench.functions import SPELLED, measure
from bench.sensitivity import faults, single_ulps
from bench.soundness import soundness
from bench.tables import figures_of, show
from bench.tightness import lockstep, tightness

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: programs of each family in each part, and points of each function."""

    sound: dict[str, int]
    schedules: int
    points: int
    tight: dict[str, int]
    steps: int
    faults: int
    cost: int
    chunks: int


FULL = Size(
    {"StoryLM": 150, "StoryLM, every dtype": 160, "op graphs": 700, "hostile graphs": 800},
    schedules=600,
    points=100_000,
    tight={"StoryLM": 150, "op graphs": 400, "hostile graphs": 400},
    steps=20,
    faults=250,
    cost=60,
    chunks=10,
)
QUICK = Size(
    {"StoryLM": 12, "StoryLM, every dtype": 12, "op graphs": 30, "hostile graphs": 60},
    schedules=250,
    points=1_000,
    tight={"StoryLM": 16, "op graphs": 40, "hostile graphs": 60},
    steps=2,
    faults=14,
    cost=20,
    chunks=2,
)
"""Figures of the same form, from too few programs to mean much."""

SEEN = 40  # schedules from which the largest error is taken

Task = tuple[str, Callable[..., Any], tuple[Any, ...]]


def tasks(size: Size, seed: int) -> Iterator[Task]:
    """Every task of a run but the cost's, by the name of its part; the long ones first."""
    for name in SPELLED:
        for dtype in ("F64", "F32", "F16", "BF16"):
            yield f"{name} {dtype}", measure, (name, dtype, seed, size.points)
    parts: list[tuple[str, Callable[..., Any], dict[str, int], tuple[float, ...]]] = [
        ("sound", soundness, size.sound, (size.schedules,)),
        ("tight", tightness, size.tight, (SEEN,)),
        ("lockstep by steps,", lockstep, dict.fromkeys(size.tight, size.steps), (SEEN, False)),
        ("lockstep by ops,", lockstep, dict.fromkeys(size.tight, size.steps), (SEEN, True)),
        ("faults", faults, dict.fromkeys(("1e-4", "1e-6"), size.faults), ()),
        ("ulps", single_ulps, size.tight, ()),
    ]
    for part, work, families, more in parts:
        for family, programs in families.items():
            for chunk in range(size.chunks):
                seeds = size.chunks * seed + chunk
                yield f"{part} {family}", work, (family, seeds, programs // size.chunks, *more)


def _run(task: Task) -> tuple[str, Any]:
    name, work, arguments = task
    return name, work(*arguments)


def collect(work: Sequence[Task], workers: int) -> dict[str, Any]:
    """The results of all tasks, those of one part added up."""
    results: dict[str, Any] = {}
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for done, (name, result) in enumerate(pool.imap_unordered(_run, work), start=1):
            print(f"{done} of {len(work)}: {name}", file=sys.stderr)
            results[name] = results[name] + result if name in results else result
    return results


def main() -> int:
    """Measure, show, and say whether all bounds held."""
    parser = argparse.ArgumentParser(prog="python -m bench.oracle", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="about a minute instead of fifteen")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of tables")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    os.environ.update(ONE_THREAD)  # for the workers, which are started afresh
    began, size = time.monotonic(), QUICK if options.quick else FULL
    results = collect([("cost", cost, ("StoryLM", options.seed, size.cost))], 1)
    results |= collect(list(tasks(size, options.seed)), options.workers)
    figures = figures_of(results) | {"seconds": round(time.monotonic() - began)}
    print(json.dumps(figures, indent=1)) if options.json else show(figures)
    return 1 if figures["outside"] else 0


if __name__ == "__main__":
    sys.exit(main())
