"""What a campaign shows: a live table on a terminal, plain lines elsewhere, and the summary at the end.

Only words and layout. The numbers are those of `counters`, added up by `campaign`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from fuzz.store import Finding

LINE_SECONDS = 5.0  # between two lines where there is no terminal
COMPILER_STAGES = ("parse", "check", "lower", "passes", "codegen", "run")


@dataclass(frozen=True, slots=True)
class Status:
    """A moment of a session. Seconds are wall time; `remaining` is inf without a limit.

    `new` are the session's findings, `known` counts the hits on failures that the corpus expects.
    """

    elapsed: float
    remaining: float
    counts: Counter[tuple[str, str]]
    new: list[Finding]
    known: Mapping[str, int]
    minimising: list[str]
    lanes: int

    def of(self, kind: str) -> dict[str, int]:
        """The counters of one kind, largest first."""
        named = ((name, n) for (its_kind, name), n in self.counts.items() if its_kind == kind)
        return dict(sorted(named, key=lambda pair: (-pair[1], pair[0])))

    @property
    def checked(self) -> int:
        return sum(self.of("verdict").values())

    @property
    def programs(self) -> int:
        """Each is run on several inputs: so many cases."""
        return self.counts["program", "run"]

    @property
    def fully(self) -> int:
        """Cases with nothing left undecided, by a compiler that did not refuse them."""
        return self.checked - sum(self.counts["verdict", other] for other in ("undecided", "refused", "internal error"))


def share(part: float, whole: float) -> str:
    """A percentage; of nothing, 0 %."""
    return f"{100 * part / whole if whole else 0:.1f} %"


def duration(seconds: float) -> str:
    """`59s`, `2m05s`, `3h07m`; `no limit` for inf."""
    if seconds == float("inf"):
        return "no limit"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes_left:02d}m"
    return f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"


def time_shares(microseconds: Mapping[str, int]) -> str:
    """Where the processors' time went, largest share first: `codegen 61.0 %, references 14.2 %, ..`."""
    total = sum(microseconds.values())
    inside = sum(n for stage, n in microseconds.items() if stage in COMPILER_STAGES)
    parts = ", ".join(f"{stage} {share(n, total)}" for stage, n in microseconds.items())
    return f"{share(inside, total)} inside the compiler ({parts})"


def plain_line(status: Status) -> str:
    """The state in one line."""
    verdicts = ", ".join(f"{n} {name}" for name, n in status.of("verdict").items()) or "no case yet"
    return (
        f"[{duration(status.elapsed)}, {duration(status.remaining)} left] {verdicts}; "
        f"{status.fully / max(status.elapsed, 1e-9):.1f} fully checked/s; "
        f"{len(status.new)} new, {len(status.known)} known findings"
    )


def table(status: Status) -> RenderableType:
    """The state as a table, and a line for each finding."""
    grid = Table.grid(padding=(0, 2))
    for name, value in _rows(status):
        grid.add_row(Text(name, "dim"), value)
    return Group(grid, *(Text(f"  {finding_line(finding)}", "red") for finding in status.new))


def _rows(status: Status) -> Iterator[tuple[str, str]]:
    rate = status.fully / max(status.elapsed, 1e-9)
    yield "time", f"{duration(status.elapsed)} elapsed, {duration(status.remaining)} left, {status.lanes} lanes"
    if not status.checked:
        yield "programs", "lanes are starting"
    else:
        yield "programs", f"{status.programs} run, {status.programs / max(status.elapsed, 1e-9):.1f}/s"
        yield "cases", f"{status.checked} checked, {rate:.1f} fully checked/s"
    for verdict, n in status.of("verdict").items():
        yield verdict, f"{n}  ({share(n, status.checked)})"
    for reason, n in status.of("undecided").items():
        yield "", f"{n} variants undecided: {reason}"
    yield "findings", f"{len(status.new)} new, {len(status.minimising)} being minimised, {len(status.known)} known"
    yield "time share", time_shares(status.of("microseconds"))


def finding_line(finding: Finding) -> str:
    """Signature, state and where it is kept."""
    where = f" -> {finding.path}" if finding.path else ""
    return f"{finding.signature} [{finding.state}, seen at case {finding.place}]{where}"


def summary(status: Status, resume: str) -> str:
    """The end of a session in words. `resume` is the command that goes on with the run."""
    undecided = status.counts["verdict", "undecided"]
    lines = [
        f"{status.checked} cases of {status.programs} programs checked in {duration(status.elapsed)}, "
        f"{status.fully} of them fully: "
        f"{status.fully / max(status.elapsed, 1e-9):.2f} per second",
        f"undecided: {undecided} ({share(undecided, status.checked)})",
        *(f"  {n} variants: {reason}" for reason, n in status.of("undecided").items()),
        f"time: {time_shares(status.of('microseconds'))}",
        *(f"known failure, seen in {n} cases: {signature}" for signature, n in status.known.items()),
        f"{len(status.new)} new findings" + (":" if status.new else ""),
        *(f"  {finding_line(finding)}" for finding in status.new),
    ]
    if any(finding.state == "new" for finding in status.new):
        lines.append(f"some are not minimised yet; `{resume}` goes on with them")
    return "\n".join(lines)


@contextmanager
def showing(console: Console) -> Iterator[Callable[[Status], None]]:
    """A function to call with every new status: it redraws a table on a terminal, else prints a line now and then."""
    if console.is_terminal:
        with Live(console=console, refresh_per_second=4) as live:
            yield lambda status: live.update(table(status))
        return
    due = time.monotonic() + LINE_SECONDS

    def show(status: Status) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + LINE_SECONDS
            console.print(plain_line(status), highlight=False, markup=False, soft_wrap=True)

    yield show
