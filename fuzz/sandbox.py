"""Runs cases in a child process that may abort, hang, eat its memory or write garbage, and says what it did.

`Sandbox` owns one warm child of one engine and replaces it after a death or after some thousands of cases. Every
variant asked for comes back as an outcome: a death becomes the `Failure` of the variants that were at work in it, and
the others are run in the replacement. What runs inside the child is `child` and an engine module.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from fuzz import mark, wire
from fuzz.engines import Request
from fuzz.nursery import Child, Nursery, SandboxError
from fuzz.outcomes import STAGES, outcome_of
from fuzz.process import cpu_seconds, last_words
from oracles.engine import Failure, Outcome, Stage

_DRAIN_SECONDS = 1.0  # a child that has answered in time may still have to push its answer through the pipe
_START: Stage = "parse"
_PATIENCE = 3  # times the limit: so long a child may take that waits for a processor, not in vain but in a crowd
_KILLS = 3  # of one case, until it is the case's fault
_EXIT_SECONDS = 5.0  # between the end of the pipe and the end of the process

_TELLING = re.compile(
    r"^.*(Assertion .* failed|LLVM ERROR|terminate called|UNREACHABLE|free\(\): ).*|^[\w.]+(Error|Exception): .*",
    re.MULTILINE,
)
_STARVED = re.compile("out of memory|bad_alloc|MemoryError|Cannot allocate memory", re.IGNORECASE)


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one child may use. A case of the default campaign takes some tenths of a second and 0.5 GiB.

    The `seconds` of a case are those that the child had a processor for, where the system tells.
    """

    seconds: float = 20.0
    memory: int = 4 << 30
    file_size: int = 256 << 20
    cases: int = 2000


@dataclass(frozen=True, slots=True)
class Report:
    """One outcome for each variant asked for, and the seconds that the child spent in each stage."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


class Sandbox:
    """A child of `engine` (a module's name), replaced as needed. Use as a context manager.

    `folder` is where it keeps its files while it lives, the system's place for such by default.
    """

    def __init__(self, engine: str, limits: Limits | None = None, folder: Path | None = None) -> None:
        self._engine, self._limits = engine, limits or Limits()
        self._seconds = self._limits.seconds
        self._folder = folder or Path(tempfile.gettempdir())
        self._request: Request | None = None
        self._deadline, self._last_deadline, self._worked_before = 0.0, 0.0, 0.0
        self._kills = 0  # of the case at work
        self._nursery = self._new_nursery()
        self._child: Child | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def builds(self) -> tuple[tuple[str, ...], ...]:
        """The engine's variants, grouped by what one compilation serves. Raises `SandboxError`."""
        return self._twice(lambda: self._nursery.builds)

    @contextlib.contextmanager
    def patient(self, seconds: float) -> Iterator[None]:
        """Within it a case has so many seconds, if that is less than the limit."""
        self._seconds = min(seconds, self._limits.seconds)
        try:
            yield
        finally:
            self._seconds = self._limits.seconds

    @property
    def child(self) -> Child:
        """The child that lives now, or a new one. Raises `SandboxError`."""
        if self._child is None:
            self._child = self._twice(lambda: self._nursery.birth())
        return self._child

    def _twice(self, asked: Callable[[], T]) -> T:
        """What the nursery is asked for. If somebody killed it, or it never lived, the second try tells which."""
        try:
            return asked()
        except SandboxError:
            self._nursery.close()
            self._nursery = self._new_nursery()
            return asked()

    def run(self, request: Request) -> Report:
        """One outcome for each variant of `request`. Raises `SandboxError` when no child can be started."""
        self.start(request)
        return self.finish()

    def start(self, request: Request) -> None:
        """Hand the case to the child and return, so that the caller can work meanwhile. `finish` must follow."""
        if self._request is not None:  # its `finish` was never called: the answers in the pipe are another case's
            self._end_child()
        self._kills = 0
        self._send(request)

    def finish(self) -> Report:
        """What became of the case handed over by `start`."""
        report = Report()
        while self._request is not None:
            self._collect(self._request, report)
            left = tuple(variant for variant in self._request.variants if variant not in report.outcomes)
            rest, self._request = replace(self._request, variants=left), None
            if left:
                self._send(rest)
        if self.child.cases >= self._limits.cases:
            self._end_child()
        return report

    def close(self) -> None:
        """Kill all processes of the sandbox and remove its files."""
        self._end_child()
        self._nursery.close()

    def _new_nursery(self) -> Nursery:
        return Nursery(self._engine, self._limits.memory, self._limits.file_size, self._folder)

    def _end_child(self) -> None:
        if self._child is not None:
            self._nursery.end(self._child)
            self._child = None

    def _send(self, request: Request) -> None:
        child = self.child
        self._request = request
        self._deadline = time.monotonic() + self._seconds
        self._last_deadline = time.monotonic() + _PATIENCE * self._seconds
        self._worked_before = cpu_seconds(child.pid) or 0.0
        child.cases += 1
        os.truncate(child.log, 0)
        mark.clear(child.mark_fd)
        fields = {"text": request.text, "pipeline": request.pipeline, "variants": request.variants}
        with contextlib.suppress(wire.Closed):  # it died meanwhile: `finish` sees the same end of the pipe
            wire.send(child.pipes.write_fd, wire.Message("run", fields, request.inputs))

    def _collect(self, request: Request, report: Report) -> None:
        """Read the child's answers into `report`; if it dies, blame the variants that were at work and replace it."""
        self._deadline = max(self._deadline, time.monotonic() + _DRAIN_SECONDS)
        self._last_deadline = max(self._last_deadline, self._deadline)
        try:
            for message in self._messages():
                if message.kind == "done":
                    report.seconds.update(_seconds(message))
                else:
                    variant, outcome = outcome_of(message)
                    report.outcomes[_known(variant, request)] = outcome
            missing = set(request.variants) - set(report.outcomes)
            if missing:
                raise wire.Garbage(f"no outcome for {', '.join(sorted(missing))}")
        except (wire.TimedOut, wire.Garbage, wire.Closed) as error:
            unanswered = tuple(variant for variant in request.variants if variant not in report.outcomes)
            failure, at_work = self._failure(request, unanswered[:1] or request.variants[-1:], error)
            self._end_child()
            if failure.symptom == "oom" and self._kills < _KILLS:  # somebody's kill -9, or the kernel's: ask again
                self._kills += 1
                at_work = ()
            report.outcomes.update(dict.fromkeys(at_work, failure))

    def _messages(self) -> Iterator[wire.Message]:
        """The child's messages, "done" last."""
        while True:
            while not wire.readable(self.child.pipes.read_fd, self._deadline):
                self._wait_on()
            message = wire.receive(self.child.pipes.read_fd, self._deadline)
            yield message
            if message.kind == "done":
                return
            if time.monotonic() > self._deadline:  # a flood of messages is no progress
                raise wire.TimedOut

    def _wait_on(self) -> None:
        """More time for a child that had no processor for most of its time. Raises `TimedOut`."""
        worked = cpu_seconds(self.child.pid)
        now = time.monotonic()
        left = 0.0 if worked is None else self._seconds - (worked - self._worked_before)
        if left < self._seconds / 10 or now >= self._last_deadline:
            raise wire.TimedOut
        self._deadline = min(now + left, self._last_deadline)

    def _failure(self, request: Request, next_: tuple[str, ...], error: Exception) -> tuple[Failure, tuple[str, ...]]:
        """What became of the child, and the variants that were at work in it.

        Where what it says is garbage, its mark does not tell: it may have gone on. Then it is the `next_` to answer.
        """
        if isinstance(error, wire.Garbage):
            return Failure("protocol", "garbage", "", str(error)), next_
        if isinstance(error, wire.TimedOut):  # it may be writing just now
            self._nursery.kill(self.child)
        try:
            stage, at_work, culprit = _mark(mark.read(self.child.mark_fd), request)
        except wire.Garbage as garbage:
            return Failure("protocol", "garbage", "", str(garbage)), next_
        if isinstance(error, wire.TimedOut):
            return Failure(stage, "hang", culprit, f"no answer within {self._seconds:g} s"), at_work
        status = self._nursery.exit_status(self.child, _EXIT_SECONDS)
        if status is None:
            return Failure("protocol", "garbage", culprit, "the child closed its pipe and lives on"), at_work
        words = last_words(self.child.log)
        starved = status == -signal.SIGKILL or _STARVED.search(words)  # nobody but the kernel sends it SIGKILL here
        return Failure(stage, "oom" if starved else "crash", culprit, _epitaph(words, status)), at_work


def _mark(fields: dict[str, Any] | None, request: Request) -> tuple[Stage, tuple[str, ...], str]:
    """(stage, variants at work, what is at work) of a mark. Raises `Garbage`."""
    if fields is None:
        return _START, request.variants, ""
    variants, culprit = fields.get("variants"), fields.get("culprit", "")
    if not isinstance(variants, list) or not variants or not isinstance(culprit, str):
        raise wire.Garbage(f"not a mark: {fields}")
    known = tuple(_known(str(variant), request) for variant in variants)
    return _stage(str(fields.get("stage"))), known, culprit


def _stage(name: str) -> Stage:
    for stage in STAGES:
        if stage == name:
            return stage
    raise wire.Garbage(f"not a stage: {name!r}")


def _known(variant: str, request: Request) -> str:
    if variant not in request.variants:
        raise wire.Garbage(f"an answer for {variant!r}, which was not asked for")
    return variant


def _seconds(message: wire.Message) -> dict[str, float]:
    seconds = message.fields.get("seconds")
    if not isinstance(seconds, dict):
        raise wire.Garbage(f"not a list of seconds: {message.fields}")
    if not all(isinstance(value, float) and math.isfinite(value) for value in seconds.values()):
        raise wire.Garbage(f"not seconds: {seconds}")
    return seconds


def _signal(number: int) -> str:
    """Its name; real-time signals have none."""
    return next((known.name for known in signal.Signals if known == number), f"signal {number}")


def _epitaph(words: str, status: int) -> str:
    """One telling line (an assertion's text names the bug), then how the process ended and the rest of its words."""
    ended = f"killed by {_signal(-status)}" if status < 0 else f"exited with status {status}"
    telling = _TELLING.search(words)
    first = telling.group().strip() if telling else ended
    return "\n".join(filter(None, dict.fromkeys((first, ended, words))))
