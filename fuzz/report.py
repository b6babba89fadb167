"""Verdicts and a run's reach, for people: what `check`, `replay` and `stats` print.

The live display and the summary of a campaign are `display`'s; which uses there are, `reach`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from compiler.passes import ROWS
from compiler.types import DTYPES
from fuzz.display import finding_line, share, time_shares
from fuzz.novelty import legal_pairs, pair_of
from fuzz.reach import RANKS, Use, accepted
from fuzz.store import Snapshot
from fuzz.trial import Trial
from oracles.verdict import Agree, Disagree, Undecided, Verdict

MOST_NAMES = 40  # of what never was


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
    """A case's verdicts, each with the variants that it is of."""
    variants: dict[str, list[str]] = {}
    for variant, verdict in trial.verdicts.items():
        variants.setdefault(verdict_words(verdict), []).append(variant)
    lines = [
        f"  {'all variants' if len(shown) == len(trial.verdicts) > 1 else ', '.join(shown)}: {words}"
        for words, shown in variants.items()
    ]
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
        ("passes that said no", "refused"),
        ("uses of ops", "op"),
    ):
        lines += [f"{title}:", *_columns(snapshot.of(kind))]
    lines.append(f"time: {time_shares(snapshot.of('microseconds'))}")
    lines += [f"{len(snapshot.findings)} findings:", *(f"  {finding_line(finding)}" for finding in snapshot.findings)]
    return "\n".join(lines)


def uses_of(snapshot: Snapshot) -> dict[Use, int]:
    """In how many cases of a run each use was judged."""
    return {Use.parse(name): n for name, n in snapshot.of("use").items()}


def reach_table(counts: Mapping[Use, int]) -> Table:
    """Rows of `reach` × dtypes; in each cell the ranks that were judged as digits, a dot for each that never was.

    A rank that the checker does not accept is left blank. "cases": where the row was judged in its commonest use.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("", *DTYPES):
        table.add_column(heading, no_wrap=True)
    table.add_column("cases", justify="right")
    for what in dict.fromkeys(use.what for use in sorted(accepted())):
        cells = [_cell([Use(what, dtype, rank) for rank in RANKS], counts) for dtype in DTYPES]
        most = max((n for use, n in counts.items() if use.what == what), default=0)
        table.add_row(what, *cells, str(most))
    return table


def novelty_words(snapshot: Snapshot) -> str:
    """Which pairs of ops and which passes met, and which never did."""
    features = snapshot.of("pair")
    pairs = {pair_of(feature) for feature in features} & legal_pairs()
    passes = snapshot.of("pass")
    return "\n".join(
        [
            f"pairs of ops, one taking what the other made: {len(pairs)} of {len(legal_pairs())} that may;"
            f" by dtype, rank class and lane: {len(features)}",
            f"  never: {_some(sorted(legal_pairs() - pairs))}",
            f"passes beside the default ones: {len(passes)} of {len(ROWS)};"
            f" pairs in a row: {len(snapshot.of('passes'))}; with pairs of ops: {len(snapshot.of('pass pair'))}",
            f"  never: {_some([name for name in ROWS if name not in passes])}",
            f"rewrite patterns that MLIR tried, in the cases sampled: {len(snapshot.of('pattern'))}",
        ]
    )


def _some(names: Sequence[str]) -> str:
    """The names, as many as fit a few lines."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return (", ".join(names[:MOST_NAMES]) or "none") + more


def reach_words(counts: Mapping[Use, int]) -> str:
    """How much of the language was judged, what never was in any way, and how to read `reach_table`."""
    there = accepted()
    reached = there & counts.keys()
    rows = sorted({use.what for use in there} - {use.what for use in reached})
    dtypes = [dtype for dtype in DTYPES if dtype not in {use.dtype for use in reached}]
    return "\n".join(
        [
            f"op × dtype × rank: {len(reached)} of {len(there)} that the checker accepts were judged"
            f" ({share(len(reached), len(there))}); the tests compile and judge each once",
            f"  never in any dtype: {', '.join(rows) or 'none'}",
            f"  never in any op: {', '.join(dtypes) or 'none'}",
            "  below: a digit is a rank that was judged, a dot one that never was, a blank one that is refused",
        ]
    )


def _cell(ranks: Sequence[Use], counts: Mapping[Use, int]) -> Text:
    text = Text()
    for use in ranks:
        if use not in accepted():
            text.append(" ")
        elif use in counts:
            text.append(str(use.rank), "green")
        else:
            text.append("·", "red")
    return text


def _columns(counts: Mapping[str, int]) -> list[str]:
    width = max((len(name) for name in counts), default=0)
    return [f"  {name:<{width}}  {n}" for name, n in counts.items()]
