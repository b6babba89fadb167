"""Hunts a seeded fault: the campaign runs in a copy of the tree that has the fault, until it has kept a finding.

`python -m tests.faults.hunt [NAME ...]` hunts the faults named, or all, and prints a table: found after how many
seconds, how many ops the smallest case has, its culprit. What must hold in CI is in `test_faults.py`.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from compiler.syntax import Apply, walk_block
from oracles.case import Case, parse_case
from oracles.verdict import Signature
from tests.faults.faults import FAULTS, Fault, plant

ROOT = Path(__file__).resolve().parent.parent.parent
FINISH_SECONDS = 120  # what the campaign may take to make its findings smaller and to end, once its time is up


@dataclass(frozen=True, slots=True)
class Catch:
    """A case that the campaign kept."""

    signature: Signature
    ops: int
    seconds: float
    text: str


def copy_tree(folder: Path) -> Path:
    """The packages and an empty corpus, below `folder`."""
    for package in ("compiler", "oracles", "fuzz"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "corpus").mkdir()
    return folder


def hunt(fault: Fault, folder: Path, seconds: int = 60) -> list[Catch]:
    """Plants the fault in the tree at `folder` and runs the campaign there until it keeps a case or its time is up.

    On the default pipeline alone: the bugs of other passes are MLIR's, and would be found too.
    """
    plant(fault, folder)
    began = time.monotonic()
    told = {"--time": f"{seconds}s", "--seed": "0", "--workers": "2", "--pipelines": "0"}
    command = [sys.executable, "-m", "fuzz", "run", *(word for pair in told.items() for word in pair)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as campaign:
        while campaign.poll() is None and not any((folder / "corpus").glob("*.kina")):
            if time.monotonic() - began > seconds + FINISH_SECONDS:
                campaign.kill()
            time.sleep(0.2)
        took = time.monotonic() - began
        campaign.send_signal(signal.SIGINT)
    return [_catch(path, took) for path in sorted((folder / "corpus").glob("*.kina"))]


def _catch(path: Path, seconds: float) -> Catch:
    case = parse_case(path.read_text(), path.name)
    return Catch(Signature.parse(case.expect.detail), count_ops(case), seconds, path.read_text())


def count_ops(case: Case) -> int:
    """Applications of ops, calls of fns not counted."""
    program = case.program
    blocks = [*(fn.body for fn in program.fns), *([program.main] if program.main else [])]
    calls = (expr for block in blocks for expr in walk_block(block) if isinstance(expr, Apply))
    return sum(program.fn(call.callee) is None for call in calls)


def main() -> int:
    """Prints a line for each fault; 1 if one was missed."""
    wanted = [fault for fault in FAULTS if not sys.argv[1:] or fault.name in sys.argv[1:]]
    missed = 0
    for fault in wanted:
        with tempfile.TemporaryDirectory() as folder:
            catches = hunt(fault, copy_tree(Path(folder)))
        missed += not catches
        best = min(catches, key=lambda catch: catch.ops, default=None)
        words = f"{best.seconds:5.0f} s, {best.ops} ops, {best.signature}" if best else "MISSED"
        print(f"{fault.name:20s} {words}", flush=True)
        if best and "-v" in sys.argv:
            print(best.text)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
