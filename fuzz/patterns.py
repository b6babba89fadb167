"""Which rewrite patterns MLIR tries on a case, asked now and then: half a second of another process each.

What the answer is made of is `compiler.actions`' business.
"""

from __future__ import annotations

import subprocess
import sys

from fuzz.process import ROOT
from oracles.case import Case, print_case

SECONDS = 120.0
SAMPLED = 8  # batches; of one in so many one case is asked about
_POSITION = 2  # the first case of a batch that is lowered by a drawn pipeline


def is_sampled(batch: int, position: int) -> bool:
    """Whether the case at this place is asked about."""
    return batch % SAMPLED == 0 and position == _POSITION


def patterns_of(case: Case) -> list[str]:
    """Names of patterns, each with an op; none where MLIR fails on the case, which its verdict says."""
    command = [sys.executable, "-m", "compiler.actions", case.pipeline]
    try:
        done = subprocess.run(
            command, input=print_case(case), cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []
