"""What a run's statistics learn from one case: counters by (kind, name).

| kind | name |
| --- | --- |
| program | `run`: each once, though it is run on several inputs and pipelines |
| verdict | of the case, the worst of its variants' |
| variant | variant and verdict |
| undecided | reason and op |
| refused | a pass that said no |
| claim | judged; dropped |
| op | in the program's text |
| use | one of `fuzz.reach`, where it was judged right |
| pair | one of `fuzz.novelty` and the lane it was judged in |
| pass | an added pass |
| passes | two added passes, `a > b`, one run after the other |
| pass pair | an added pass and a pair of ops (maker>taker) that was lowered with it |
| pattern | a rewrite pattern of MLIR's and an op that it was tried on, in the cases that are sampled |
| microseconds | stage |

How they are added up is `campaign`'s, how they are shown `display`'s and `report`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from compiler.passtext import in_order, parse_items
from compiler.syntax import Apply, walk_block
from fuzz.novelty import features, pair_of
from fuzz.reach import uses
from fuzz.trial import Trial
from oracles.case import Case
from oracles.verdict import Agree, Undecided

Counts = Counter[tuple[str, str]]


def seen_in(case: Case, first: bool) -> list[str]:
    """What steers later draws away from what a case has reached, whatever became of it.

    Features of its program, if it is the `first` case of that, its added passes, and pairs of them.
    """
    names = _added(case)
    program = sorted(features(case.program)) if first else []
    return [*program, *names, *(f"{one} > {then}" for one, then in pairwise(names))]


def _added(case: Case) -> list[str]:
    """The names of the added passes, in running order."""
    return [item.name for item in in_order(parse_items(case.pipeline))]


def counted(trial: Trial, drawn: Case, first: bool) -> Counts:
    """The counters of one case; `drawn` is the case before accidental claims were dropped, `first` its program's."""
    counts: Counts = Counter()
    counts["verdict", trial.verdict] += 1
    counts["claim", "judged"] += len(trial.case.claims)
    counts["claim", "dropped, both sides equal by accident"] += len(drawn.claims) - len(trial.case.claims)
    for variant, verdict in trial.verdicts.items():
        counts["variant", f"{variant} {type(verdict).__name__.lower()}"] += 1
        if isinstance(verdict, Undecided):
            refused = verdict.reason == "refused"
            key = ("refused", verdict.op) if refused else ("undecided", f"{verdict.reason} at {verdict.op}")
            counts[key] += 1
    if first:
        counts.update(_of_program(trial))
    counts.update(_of_pipeline(trial))
    counts.update({("microseconds", stage): round(1e6 * value) for stage, value in trial.seconds.items()})
    return counts


def _of_program(trial: Trial) -> Iterator[tuple[str, str]]:
    program = trial.case.program
    yield "program", "run"
    for block in (*(fn.body for fn in program.fns), *filter(None, (program.main,))):
        callees = (expr.callee for expr in walk_block(block) if isinstance(expr, Apply))
        yield from (("op", callee) for callee in callees if program.fn(callee) is None)
    if any(isinstance(verdict, Agree) for verdict in trial.verdicts.values()):
        yield from (("use", str(use)) for use in uses(program))
    lane = lane_of(trial)
    yield from (("pair", f"{feature} {lane}") for feature in features(program))


def _of_pipeline(trial: Trial) -> Iterator[tuple[str, str]]:
    names = _added(trial.case)
    yield from (("pass", name) for name in names)
    yield from (("passes", f"{first} > {then}") for first, then in pairwise(names))
    if names:
        pairs = {pair_of(feature) for feature in features(trial.case.program)}
        yield from (("pass pair", f"{name} {pair}") for name in set(names) for pair in pairs)


def lane_of(trial: Trial) -> str:
    """By which of the judge's three lanes the case was judged; "undecided" where nothing was."""
    agreed = [verdict for verdict in trial.verdicts.values() if isinstance(verdict, Agree)]
    if not agreed:
        return "undecided"
    if any(verdict.exact < verdict.elements for verdict in agreed):
        return "certified"
    return "tags" if any(recipe.kind == "tags" for recipe in trial.case.recipes.values()) else "exact"
