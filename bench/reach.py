"""`python -m bench.reach [--programs N] [--seed S] [--json]`: what so many drawn programs reach, and never do.

Draws as a campaign does, steered by what was drawn before, and compiles nothing. Every program goes through the
checker: one that it refuses is a bug in one of the two, and makes the exit status 1, as what was never reached does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from compiler.checker import check
from compiler.ops import OPS
from compiler.recipes import KINDS
from compiler.source import CompileError
from compiler.syntax import Apply, walk_block
from fuzz.counters import seen_in
from fuzz.generate.families import Drawn, draw_programs
from fuzz.generate.pipelines import DRAWN
from fuzz.novelty import legal_pairs, pair_of
from fuzz.reach import accepted, uses
from fuzz.reductions.trees import count_ops

STEERED_TOGETHER = 200  # programs


@dataclass(slots=True)
class Reached:
    """What was drawn so far. `sizes`: ops of each op graph."""

    seen: Counter[str] = field(default_factory=Counter)
    uses: set[str] = field(default_factory=set)
    in_fns: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    sizes: list[int] = field(default_factory=list)
    programs: int = 0
    refused: int = 0

    def add(self, drawn: Drawn) -> None:
        """One program and its pipelines."""
        program = drawn.case.program
        self.programs += 1
        try:
            check(program)
        except CompileError:
            self.refused += 1
            return
        self.uses.update(map(str, uses(program)))
        self.kinds.update(recipe.kind for recipe in drawn.case.recipes.values())
        for fn in program.fns:
            self.in_fns.update(expr.callee for expr in walk_block(fn.body) if isinstance(expr, Apply))
        for case in drawn.cases():
            self.seen.update(seen_in(case, first=case.pipeline == "default"))
        if drawn.case.why.startswith("op graph"):
            self.sizes.append(count_ops(program))


def main() -> int:
    """Draw, print, and say by the exit status whether everything was reached."""
    parser = argparse.ArgumentParser(prog="python -m bench.reach", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--programs", type=int, default=20_000, help="how many are drawn (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    options = parser.parse_args()
    reached = Reached()
    for batch in range(-(-options.programs // STEERED_TOGETHER)):
        for drawn in draw_programs(reached.seen, 2, options.seed * 2**32 + batch, STEERED_TOGETHER):
            reached.add(drawn)
    figures = {
        "programs": reached.programs,
        "refused by the checker": reached.refused,
        "median ops of an op graph": median(reached.sizes),
        **dict(shares(reached)),
    }
    print(json.dumps(figures, indent=2) if options.json else "\n".join(f"{name}: {figures[name]}" for name in figures))
    return int(reached.refused > 0 or any(isinstance(part, dict) and part["never"] for part in figures.values()))


def shares(reached: Reached) -> Iterator[tuple[str, dict[str, Any]]]:
    """How much of each kind was reached, and what never was."""
    names = set(reached.seen)
    for title, met, there in (
        ("op x dtype x rank", reached.uses, set(map(str, accepted()))),
        ("ops in fns", reached.in_fns, set(OPS)),
        ("kinds of inputs", reached.kinds, set(KINDS)),
        ("pairs of ops", {pair_of(name) for name in names if name.startswith("pair ")}, set(legal_pairs())),
        ("passes that are not guarded", names, {row.name for row in DRAWN}),
    ):
        yield title, {"reached": len(met & there), "of": len(there), "never": sorted(there - met)}


if __name__ == "__main__":
    sys.exit(main())
