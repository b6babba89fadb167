"""Verdicts and a run's reach in words, for people: what `check`, `replay` and `stats` print.

The live display and the summary of a campaign are `display`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fuzz.display import finding_line, share, time_shares
from fuzz.store import Snapshot
from fuzz.trial import Trial
from oracles.verdict import Agree, Disagree, Undecided, Verdict


def verdict_words(verdict: Verdict) -> str:
    """One verdict with its margin."""
    match verdict:
        case Agree():
            exact = f"{verdict.exact} of {verdict.elements} elements bitwise"
            return f"agree ({exact}, the worst other one at {verdict.closest:.3g} of the legal error)"
        case Undecided():
            return str(verdict)
        case Disagree():
            return f"DISAGREE {verdict}"


def trial_words(path: Path, trial: Trial) -> str:
    """A case's verdicts, one line for each variant."""
    lines = [f"  {variant}: {verdict_words(verdict)}" for variant, verdict in trial.verdicts.items()]
    return "\n".join([f"{path}: {trial.verdict}", *lines])


def stats_words(snapshot: Snapshot) -> str:
    """What a run reached: verdicts, variants, ops, time, findings."""
    verdicts = snapshot.of("verdict")
    total = sum(verdicts.values())
    programs = snapshot.counts.get(("program", "run"), 0)
    lines = [f"{total} cases of {programs} programs in {snapshot.batches} batches"]
    lines += [f"  {name}: {n} ({share(n, total)})" for name, n in verdicts.items()]
    for title, kind in (
        ("variants judged", "variant"),
        ("undecided", "undecided"),
        ("claims", "claim"),
        ("uses of ops", "op"),
    ):
        lines += [f"{title}:", *_columns(snapshot.of(kind))]
    lines.append(f"time: {time_shares(snapshot.of('microseconds'))}")
    lines += [f"{len(snapshot.findings)} findings:", *(f"  {finding_line(finding)}" for finding in snapshot.findings)]
    return "\n".join(lines)


def _columns(counts: Mapping[str, int]) -> list[str]:
    width = max((len(name) for name in counts), default=0)
    return [f"  {name:<{width}}  {n}" for name, n in counts.items()]
