"""A lane: `python -m fuzz.lane READ_FD WRITE_FD FOLDER ENGINE`. Draws cases, has them run, judges them, minimises.

It works off jobs that the campaign sends and reports each case as soon as it is judged. It keeps nothing: what must
outlive it is in the run folder (a case's file is there before the case runs) or with the campaign.

| the campaign sends | the lane answers |
| --- | --- |
| draw: batch, skip, seed, count, pipelines, seen | judged or failed .., then idle |
| minimise: signature, variants, text, seconds | smaller .., minimised or vanished, then idle |
| pause | the job at work ends after its present case |
| end of the pipe | the lane exits |

`trouble` instead of an answer means that no lane can work here: no space left, an engine that does not start.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from compiler.recipes import KINDS
from fuzz import corpus, wire
from fuzz.counters import counted, seen_in
from fuzz.generate.families import Drawn, draw_programs
from fuzz.minimize import NotFailing, minimize
from fuzz.nursery import SandboxError
from fuzz.patterns import is_sampled, patterns_of
from fuzz.process import die_with_parent
from fuzz.sandbox import Sandbox
from fuzz.store import Place
from fuzz.trial import Trial, try_case
from oracles.case import Case, parse_case, print_case
from oracles.judge import References
from oracles.verdict import Signature

HANG_SECONDS = 5.0  # for a case that is tried while minimising; what is only slow is asked for in the end once more


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


def _draw(lane: _Lane, batch: int, skip: int, seed: int, count: int, pipelines: int, seen: dict[str, int]) -> bool:
    """Judge the cases of one batch from position `skip` on; whether the batch came to its end."""
    began = time.perf_counter()
    drawn = draw_programs(seen, pipelines, seed, count)
    todo = [run for at, program in enumerate(drawn) for run in runs(program, batch + at)]
    drawing = (time.perf_counter() - began) / max(1, len(todo))
    known: dict[int, References] = {}  # of the program at work, by the inputs
    for position, run in enumerate(todo[skip:], skip):
        if lane.paused:
            return False
        if run.first:
            known.clear()
        _judge(lane, Place(batch, position), run, drawing, known)
    return True


@dataclass(frozen=True, slots=True)
class Run:
    """A case that is to be judged: of a program (`first` or not) the one on these `inputs`, numbered.

    `turn` chooses the build: every other time the first, which is the cheapest; else each in turn. The default pipeline
    is run in all of a build's modes; what a pass adds shows in either.
    """

    case: Case
    turn: int
    inputs: int
    first: bool

    def variants(self, builds: Sequence[Sequence[str]]) -> Sequence[str]:
        build = builds[0 if self.turn % 2 else self.turn // 2 % len(builds)]
        return build if self.case.pipeline == "default" else (build[self.inputs % len(build)],)


def runs(drawn: Drawn, turn: int) -> Iterator[Run]:
    """Pipeline after pipeline, so that the child compiles each once."""
    given = (drawn.case, with_other_numbers(drawn.case))
    for at, pipeline in enumerate(("default", *drawn.pipelines)):
        for inputs, case in enumerate(given):
            yield Run(replace(case, pipeline=pipeline), turn + at, inputs, first=at == inputs == 0)


def with_other_numbers(case: Case) -> Case:
    """The case on other inputs of the same kinds: compiling costs more than all the rest, so a program is run twice."""
    recipes = {
        name: replace(recipe, seed=recipe.seed ^ 1) if "seed" in KINDS[recipe.kind].words else recipe
        for name, recipe in case.recipes.items()
    }
    return replace(case, recipes=recipes)


def _judge(lane: _Lane, place: Place, run: Run, drawing: float, known: dict[int, References]) -> None:
    """Put the case on disk, run and judge it, and report it. `known` are the program's references so far."""
    references = known.get(run.inputs)
    case = replace(references.case, pipeline=run.case.pipeline) if references else run.case
    path = lane.inflight / f"{place}.kina"
    unfinished = path.with_suffix(".part")
    unfinished.write_text(print_case(case))
    unfinished.rename(path)
    try:
        trial = try_case(lane.sandbox, case, run.variants(lane.sandbox.builds), drawn=True, known=references)
    except (SandboxError, OSError):
        raise
    except Exception:  # noqa: BLE001 (an oracle's own failure: reported as a finding, and the lane goes on)
        words = traceback.format_exc()
        lane.say("failed", place=str(place), text=print_case(case), message=words, seen=seen_in(case, run.first))
        return
    if trial.references is not None:
        known[run.inputs] = trial.references
    counts = counted(trial, run.case, run.first)
    counts["microseconds", "draw"] += round(1e6 * drawing)
    if is_sampled(place.batch, place.position):
        counts.update(("pattern", name) for name in patterns_of(case))
    lane.say(
        "judged",
        place=str(place),
        counts=[[*key, n] for key, n in counts.items()],
        findings=_findings(trial),
        seen=seen_in(case, run.first),
    )


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
        with lane.sandbox.patient(HANG_SECONDS):
            smallest = _smaller(case, shows, seconds)
        where, why = _shown(lane, smallest, wanted) if shows(smallest) else ([], "")
    except _Paused:
        return
    if where:
        every = [variant for build in lane.sandbox.builds for variant in build]
        lane.say("minimised", signature=signature, text=print_case(smallest), where=corpus.where(where, every), why=why)
    else:
        lane.say("vanished", signature=signature)


def _smaller(case: Case, shows: Callable[[Case], bool], seconds: float) -> Case:
    """Minimised, or as it is where the minimiser cannot work on it: a drawn program that the checker refuses."""
    try:
        return minimize(case, shows, seconds)
    except NotFailing:
        return case


def _shown(lane: _Lane, case: Case, wanted: Signature) -> tuple[list[str], str]:
    """The variants that show the signature, and its words; none if they do not say the same when asked again.

    No replay could rely on such a case: what it shows depends on more than the case, memory that is read after it was
    freed, say.
    """
    asked: list[dict[str, str]] = []
    for _ in range(1 if wanted.symptom == "hang" else 2):
        shown: dict[str, str] = {}
        for build in lane.sandbox.builds:
            if lane.paused:
                raise _Paused
            with lane.sandbox.patient(HANG_SECONDS):
                trial = try_case(lane.sandbox, case, build)
            lane.say("smaller", signature=str(wanted), text=print_case(case))  # still at work
            shown |= {variant: str(trial.verdicts[variant]) for variant in trial.signatures().get(wanted, [])}
        asked.append(shown)
    where = list(asked[0])
    return (where, asked[0][where[0]]) if where and where == list(asked[-1]) else ([], "")


if __name__ == "__main__":
    main()
