"""A lane: `python -m fuzz.lane READ_FD WRITE_FD FOLDER ENGINE`. Draws cases, has them run, judges them, minimises.

It works off jobs that the campaign sends and reports each case as soon as it is judged. It keeps nothing: what must
outlive it is in the run folder (a case's file is there before the case runs) or with the campaign.

| the campaign sends | the lane answers |
| --- | --- |
| draw: batch, skip, seed, count, text ("", or the case to run at position `skip` instead) | judged .., then idle |
| minimise: signature, variants, text, seconds | smaller .., minimised or vanished, then idle |
| pause | the job at work ends after its present case |
| end of the pipe | the lane exits |

`trouble` instead of an answer means that no lane can work here: no space left, an engine that does not start.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from compiler.recipes import KINDS
from compiler.syntax import Apply, walk_block
from fuzz import wire
from fuzz.generate.draw import draw_cases
from fuzz.generate.families import CASES
from fuzz.minimize import minimize
from fuzz.nursery import SandboxError
from fuzz.process import die_with_parent
from fuzz.reach import uses
from fuzz.sandbox import Sandbox
from fuzz.store import Place
from fuzz.trial import Trial, try_case
from oracles.case import Case, parse_case, print_case
from oracles.verdict import Agree, Signature, Undecided

CASES_OF_A_PROGRAM = 2  # the drawn one and `with_other_numbers`


class _Paused(Exception):
    """The campaign wants the lane to stop what it does."""


@dataclass(frozen=True, slots=True)
class _Lane:
    read_fd: int
    write_fd: int
    inflight: Path
    sandbox: Sandbox

    def say(self, kind: str, **fields: Any) -> None:  # noqa: ANN401 (JSON)
        wire.send(self.write_fd, wire.Message(kind, fields))

    @property
    def paused(self) -> bool:
        return wire.waiting(self.read_fd)


def main() -> None:
    """Work off jobs until the pipe closes."""
    die_with_parent()
    read_fd, write_fd, folder, engine = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    with Sandbox(engine, folder=folder / "tmp") as sandbox:
        lane = _Lane(read_fd, write_fd, folder / "inflight", sandbox)
        try:
            lane.say("idle")
            while True:
                _serve(lane, wire.receive(read_fd))
        except wire.Closed:
            return
        except (SandboxError, OSError) as error:
            lane.say("trouble", message=str(error))


def _serve(lane: _Lane, message: wire.Message) -> None:
    if message.kind == "draw":
        complete = _draw(lane, **message.fields)
        lane.say("idle", complete=complete)
    elif message.kind == "minimise":
        _minimise(lane, **message.fields)
        lane.say("idle")


def _draw(lane: _Lane, batch: int, skip: int, seed: int, count: int, text: str) -> bool:
    """Judge the cases of one batch from position `skip` on; whether the batch came to its end."""
    if text:
        _judge(lane, Place(batch, skip), parse_case(text, f"{batch}.{skip}"), 0.0)
        skip += 1
    began = time.perf_counter()
    programs = draw_cases(CASES, seed, count)
    cases = [case for program in programs for case in (program, with_other_numbers(program))]
    drawing = (time.perf_counter() - began) / max(1, len(cases))
    for position in range(skip, len(cases)):
        if lane.paused:
            return False
        _judge(lane, Place(batch, position), cases[position], drawing)
    return True


def with_other_numbers(case: Case) -> Case:
    """The case on other inputs of the same kinds: compiling costs more than all the rest, so a program is run twice."""
    recipes = {
        name: replace(recipe, seed=recipe.seed ^ 1) if "seed" in KINDS[recipe.kind].words else recipe
        for name, recipe in case.recipes.items()
    }
    return replace(case, recipes=recipes)


def _judge(lane: _Lane, place: Place, case: Case, drawing: float) -> None:
    """Put the case on disk, run and judge it, and report it."""
    path = lane.inflight / f"{place}.kina"
    unfinished = path.with_suffix(".part")
    unfinished.write_text(print_case(case))
    unfinished.rename(path)
    builds = lane.sandbox.builds
    turn = place.batch + place.position // CASES_OF_A_PROGRAM
    try:
        trial = try_case(lane.sandbox, case, builds[turn % len(builds)], drawn=True)
    except (SandboxError, OSError):
        raise
    except Exception:  # noqa: BLE001 (an oracle's own failure: reported as a finding, and the lane goes on)
        lane.say("failed", place=str(place), text=print_case(case), message=traceback.format_exc())
        return
    counts = _counts(case, trial, drawing)
    counts["program", "run"] += place.position % CASES_OF_A_PROGRAM == 0
    lane.say("judged", place=str(place), counts=[[*key, n] for key, n in counts.items()], findings=_findings(trial))


def _counts(drawn: Case, trial: Trial, drawing: float) -> Counter[tuple[str, str]]:
    """What the run's statistics learn from one case; the kinds are those of `display`."""
    counts: Counter[tuple[str, str]] = Counter()
    counts["verdict", trial.verdict] += 1
    counts["claim", "judged"] += len(trial.case.claims)
    counts["claim", "dropped, both sides equal by accident"] += len(drawn.claims) - len(trial.case.claims)
    for variant, verdict in trial.verdicts.items():
        counts["variant", f"{variant} {type(verdict).__name__.lower()}"] += 1
        if isinstance(verdict, Undecided):
            counts["undecided", f"{verdict.reason} at {verdict.op}"] += 1
    program = trial.case.program
    for block in (*(fn.body for fn in program.fns), *filter(None, (program.main,))):
        callees = (expr.callee for expr in walk_block(block) if isinstance(expr, Apply))
        counts.update(("op", callee) for callee in callees if program.fn(callee) is None)
    if any(isinstance(verdict, Agree) for verdict in trial.verdicts.values()):
        counts.update(("use", str(use)) for use in uses(program))
    seconds = {"draw": drawing} | trial.seconds
    counts.update({("microseconds", stage): round(1e6 * value) for stage, value in seconds.items()})
    return counts


def _findings(trial: Trial) -> list[dict[str, str]]:
    return [
        {
            "signature": str(signature),
            "variants": " ".join(variants),
            "message": str(trial.verdicts[variants[0]]),
            "text": print_case(trial.case),
        }
        for signature, variants in trial.signatures().items()
    ]


def _minimise(lane: _Lane, signature: str, variants: str, text: str, seconds: float) -> None:
    """Make the case smaller as long as one variant goes on to show the signature; then see which variants do."""
    wanted = Signature.parse(signature)
    one_variant = variants.split()[-1:]  # of a build's two the one that compiles all: what it shows needs no fn

    def shows(case: Case) -> bool:
        if lane.paused:
            raise _Paused
        seen = wanted in try_case(lane.sandbox, case, one_variant).signatures()
        if seen:
            lane.say("smaller", signature=signature, text=print_case(case))
        return seen

    case = parse_case(text, signature)
    try:
        if not shows(case):
            lane.say("vanished", signature=signature)
            return
        smallest = minimize(case, shows, seconds)
    except _Paused:
        return
    everywhere = [variant for build in lane.sandbox.builds for variant in build]
    last = try_case(lane.sandbox, smallest, everywhere)
    where = last.signatures().get(wanted, [])
    words = {"where": " ".join(where), "why": str(last.verdicts[where[0]])} if where else {}
    lane.say("minimised", signature=signature, text=print_case(smallest), **words)


if __name__ == "__main__":
    main()
