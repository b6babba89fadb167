"""`python -m bench.endurance`: a worker's memory over many programs, and what a program costs by its number of ops.

Memory: the cases of a campaign, drawn and judged by this process and run by one child that is never replaced, where a
campaign replaces it after 2,000 cases: a context of MLIR keeps every type, name and constant that it has ever seen,
3 KB for each new program. Cost: op graphs of 5 to 100 ops through the whole loop, on the default pipeline; the exponent
is that of ops in the cost, fitted to all of them: 1 is linear, less where what every program costs is still felt.
Figures are of one run on one machine: nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.speed import ENGINE, WARM, loop
from compiler.checker import check
from fuzz.generate.families import Drawn, draw_programs
from fuzz.generate.graphs import sized
from fuzz.reductions.trees import count_ops
from fuzz.sandbox import Limits, Sandbox
from oracles.case import Case

STOPS = 10
BATCH = 30  # programs, as a campaign draws them
LETS = (5, 8, 12, 20, 30, 45, 65, 100)
OF_EACH = 24  # op graphs of so many lets
SMALL, LARGE = 10, 80  # ops: up to and from where a program counts as such in the cost of one op


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.endurance", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--programs", type=_positive, default=20_000, help="for the memory (%(default)s)")
    parser.add_argument("--pipelines", type=int, default=0, help="drawn for each program (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    options = parser.parse_args()
    figures = {
        "memory": memory(options.seed, options.programs, options.pipelines),
        "cost": cost(options.seed),
    }
    print(json.dumps(figures, indent=2)) if options.json else show(figures)


def _positive(text: str) -> int:
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def memory(seed: int, count: int, pipelines: int) -> list[dict[str, float]]:
    """MiB of resident memory of both processes, at so many stops."""
    stops: list[dict[str, float]] = []
    with Sandbox(ENGINE, replace(Limits(), cases=2**62)) as sandbox:
        child, done = sandbox.child.pid, 0
        while done < count:
            programs = draw_programs({}, pipelines, seed * 2**32 + done, min(BATCH, count - done))
            for turn, drawn in enumerate(programs, done):
                loop(sandbox, drawn, turn)
            done += len(programs)
            if sandbox.child.pid != child:
                raise SystemExit("a child died: its memory began anew, and says nothing; try another --seed")
            if done * STOPS >= count * (len(stops) + 1):
                here, there = map(resident, (os.getpid(), child))
                stops.append({"programs": done, "judging": here, "compiling": there})
    return stops


def resident(pid: int) -> float:
    """MiB that a process has in memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def cost(seed: int) -> dict[str, Any]:
    """What op graphs of each size cost, and how it grows."""
    ops: list[int] = []
    seconds: list[float] = []
    with Sandbox(ENGINE) as sandbox:
        for number in range(-WARM, OF_EACH):
            for lets in LETS:
                case = sized(seed * 2**32 + number + WARM + 1, lets)
                spent = sum(part for stage, part in loop(sandbox, Drawn(case, ()), 1).items() if stage != "cases")
                if number >= 0:
                    ops.append(ops_of(case))
                    seconds.append(spent)
    fitted = np.polyfit(np.log(ops), np.log(seconds), 1)
    each = [(n, 1e3 * s / n) for n, s in zip(ops, seconds, strict=True)]
    return {
        "programs": len(ops),
        "ops of the smallest and of the largest": [min(ops), max(ops)],
        "exponent": float(fitted[0]),
        f"milliseconds an op, median, up to {SMALL} ops": median(ms for n, ms in each if n <= SMALL),
        f"milliseconds an op, median, from {LARGE} ops": median(ms for n, ms in each if n >= LARGE),
    }


def ops_of(case: Case) -> int:
    """How many ops a program applies; at least 1, for the logarithm."""
    return max(1, count_ops(check(case.program).program))


def show(figures: dict[str, Any]) -> None:
    """The figures as two tables."""
    stops = Table(*figures["memory"][0], title="MiB resident, after so many programs", box=None)
    for stop in figures["memory"]:
        stops.add_row(*(f"{value:.0f}" for value in stop.values()))
    grows = Table("", "", title="cost by ops", box=None, show_header=False)
    for name, value in figures["cost"].items():
        grows.add_row(name, f"{value:.3g}" if isinstance(value, float) else str(value))
    Console().print(stops, grows)


if __name__ == "__main__":
    main()
