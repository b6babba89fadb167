"""The command line: `python -m fuzz run|check|minimize|replay|stats`. `make` calls it; people may too.

| exit code | run | check | minimize | replay | stats |
| --- | --- | --- | --- | --- | --- |
| 0 | no new finding | all agree | a smaller case is written | every entry met its expectation | printed |
| 1 | new findings | one disagrees | nothing to minimise: it does not disagree | one did not | |
| 2 | the environment, or how it was called | not a valid case | not a valid case | no corpus | no such run |
| 3 | | one is undecided | | | |

130: a second Ctrl-C. The first one ends `run` with its summary and one of the codes above.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from fuzz import corpus, store
from fuzz.campaign import Campaign, CampaignError, Options, ending_on_signals
from fuzz.corpus import CorpusError
from fuzz.display import duration, showing, summary
from fuzz.minimize import NotFailing, minimize
from fuzz.nursery import SandboxError
from fuzz.report import novelty_words, reach_table, reach_words, stats_words, trial_words, uses_of
from fuzz.sandbox import Sandbox
from fuzz.signature import telling_line
from fuzz.store import Store, StoreError
from fuzz.trial import Trial, try_case
from oracles import judge
from oracles.case import Case, Expect, print_case
from oracles.inputs import make_inputs

ROOT = Path(__file__).resolve().parent.parent
ENGINE = "fuzz.engines.kina"
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except (CorpusError, StoreError, CampaignError, SandboxError, OSError) as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 2
    except NotFailing as error:
        print(f"fuzz: {options.file}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m fuzz", description="Differential fuzzer for the Kina compiler.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = _command(commands, "run", _run, "draw programs, judge them, minimise and save what disagrees")
    run.add_argument("--time", type=_seconds, default=float("inf"), help="60s, 5m, 8h; without it until Ctrl-C")
    run.add_argument("--seed", type=_natural, default=0, help="names the run: the same seed draws the same cases")
    run.add_argument("--workers", type=_positive, default=2, help="lanes, each with a compiler process of its own")
    run.add_argument("--pipelines", type=_natural, default=2, help="drawn for each program beside the default one")
    run.add_argument("--run", type=Path, help="folder of the run (runs/seed-SEED); an old one is gone on with")
    run.add_argument("--corpus", type=Path, default=ROOT / "corpus", help="where findings are saved")
    check = _command(commands, "check", _check, "judge case files on all variants")
    check.add_argument("files", type=Path, nargs="+", metavar="FILE")
    small = _command(commands, "minimize", _minimize, "make a case that disagrees smaller")
    small.add_argument("file", type=Path, metavar="FILE")
    small.add_argument("--output", type=Path, help="where to write the smaller case (standard output)")
    small.add_argument("--time", type=_seconds, default=60.0, help="budget (60s)")
    replay = _command(commands, "replay", _replay, "run every corpus entry on every variant")
    replay.add_argument("--corpus", type=Path, default=ROOT / "corpus", help="the folder to replay")
    stats = commands.add_parser("stats", help="what a run has reached")
    stats.add_argument("run", type=Path, nargs="?", default=ROOT / "runs" / "seed-0", help="folder of the run")
    stats.set_defaults(command=_stats)
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    function: Callable[[argparse.Namespace], int],
    text: str,
) -> argparse.ArgumentParser:
    """A command that runs programs, and so needs an engine."""
    parser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--engine", default=ENGINE, help="module of the compiler under test (%(default)s)")
    parser.set_defaults(command=function)
    return parser


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration: write 60s, 5m or 8h")
    return float(match[1]) * _UNITS[match[2]]


def _natural(text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no integer in [0, 10**9)")
    return int(text)


def _positive(text: str) -> int:
    if not 1 <= (number := _natural(text)) <= 256:
        raise argparse.ArgumentTypeError(f"{text!r}: between 1 and 256 lanes")
    return number


def _run(options: argparse.Namespace) -> int:
    folder = options.run or ROOT / "runs" / f"seed-{options.seed}"
    console = Console()
    told = Options(options.seed, options.workers, options.time, options.corpus, options.engine, options.pipelines)
    with Store(folder, options.seed, options.pipelines) as run:
        _say(console, _greeting(options, folder, sum(run.snapshot().of("verdict").values())))
        with showing(console) as show:
            campaign = Campaign(told, run, show)
            with ending_on_signals(campaign):
                status = campaign.run()
    same = f"--seed {options.seed} --pipelines {options.pipelines} --run {folder}"
    _say(console, summary(status, f"python -m fuzz run {same}"))
    return 1 if status.new else 0


def _greeting(options: argparse.Namespace, folder: Path, done: int) -> str:
    start = f"resuming at case {done}" if done else "a new run"
    return f"seed {options.seed}, {options.workers} lanes, time {duration(options.time)}, {folder}: {start}"


def _say(console: Console, text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def _check(options: argparse.Namespace) -> int:
    cases = [(path, corpus.load(path)) for path in options.files]
    verdicts: set[str] = set()
    with Sandbox(options.engine) as sandbox:
        for path, case in cases:
            trial = _on_all_variants(sandbox, path, case)
            print(trial_words(path, trial), flush=True)
            verdicts.add(trial.verdict)
    return 1 if "disagree" in verdicts else 0 if verdicts == {"agree"} else 3


def _on_all_variants(sandbox: Sandbox, path: Path, case: Case) -> Trial:
    """The trial of a case in a file. Raises `CorpusError` where the references cannot follow it: it never ends, say."""
    known = None
    if case.expect.kind != "error":
        known = judge.references(case, make_inputs(case))
        if known.base.stopped and not case.expect.detail.startswith("oracle/"):
            raise CorpusError(f"{path}: {known.base.stopped}")
    return try_case(sandbox, case, [variant for build in sandbox.builds for variant in build], known=known)


def _minimize(options: argparse.Namespace) -> int:
    case = corpus.load(options.file)
    if case.expect.kind == "error":
        raise CorpusError(f"{options.file}: a case that expects an error is not minimised")
    with Sandbox(options.engine) as sandbox:
        seen = _on_all_variants(sandbox, options.file, case).signatures()
        if not seen:
            raise NotFailing("no variant disagrees: there is nothing to minimise")
        wanted, variants = next(iter(seen.items()))
        variants = sorted(variants, key=lambda name: not name.endswith("/whole"))  # what it shows needs no fn
        print(f"minimising {wanted} on {variants[0]}", file=sys.stderr)
        smallest = minimize(
            case, lambda candidate: wanted in try_case(sandbox, candidate, variants[:1]).signatures(), options.time
        )
        trial = _on_all_variants(sandbox, options.file, smallest)
        where = trial.signatures().get(wanted, variants[:1])
        expect = Expect("fails", str(wanted), corpus.where(where, trial.verdicts))
        smallest = replace(smallest, why=telling_line(str(trial.verdicts[where[0]])), expect=expect)
    if options.output is None:
        print(print_case(smallest), end="")
    else:
        options.output.write_text(print_case(smallest), "utf-8")
    return 0


def _replay(options: argparse.Namespace) -> int:
    paths = corpus.paths(options.corpus)
    if not paths:
        raise CorpusError(f"{options.corpus}: no entry to replay")
    met = 0
    with Sandbox(options.engine) as sandbox:
        for number, path in enumerate(paths, 1):
            unmet = _unmet(sandbox, options.corpus, path)
            met += not unmet
            print(f"[{number}/{len(paths)}] {path.name}: {'FAILED' if unmet else 'ok'}", flush=True)
            print(*(f"    {line}" for line in unmet), sep="\n", end="\n" if unmet else "", flush=True)
    print(f"{met} of {len(paths)} entries met their expectation")
    return 0 if met == len(paths) else 1


def _unmet(sandbox: Sandbox, folder: Path, path: Path) -> list[str]:
    try:
        case = corpus.entry(folder, path)
        return corpus.unmet(case, _on_all_variants(sandbox, path, case))
    except CorpusError as error:
        return [str(error)]


def _stats(options: argparse.Namespace) -> int:
    snapshot, console = store.read(options.run), Console()
    uses = uses_of(snapshot)
    _say(console, f"{stats_words(snapshot)}\n{novelty_words(snapshot)}\n{reach_words(uses)}")
    console.print(reach_table(uses), highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
