"""The campaign: hands work to its lanes, keeps what they report, and goes on whatever dies.

Who works on what is decided here. What becomes of a finding is `findings`' business; how a case is judged is `lane`'s
and `trial`'s; what is remembered is `store`'s and what is shown `display`'s.
"""

from __future__ import annotations

import contextlib
import selectors
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz import wire
from fuzz.display import Status
from fuzz.findings import Findings
from fuzz.process import Pipes, kill_group, last_words, start
from fuzz.store import Place, Store

BATCH = 30  # programs; drawing them at once spreads Hypothesis' fixed cost
BATCHES_OF_A_SEED = 1 << 32  # batch b of seed s is drawn with Hypothesis' seed s * this + b
EPOCH = 20  # batches that are steered alike, by what all epochs but the last before theirs have reached
MINIMISE_SECONDS = 120.0  # for one finding; what is not smaller by then is kept as it is
GRACE_SECONDS = 90.0  # after the time is over, for findings that are not minimised yet
MESSAGE_SECONDS = 30.0  # between a message's first byte and its last
STALL_SECONDS = 300.0  # a lane that says nothing for so long is replaced
DEATHS_IN_A_ROW = 4  # of lanes, or two of each, with no case judged between them: no lane can live here
TICK_SECONDS = 0.25


class CampaignError(Exception):
    """The environment does not let a campaign run; the message says why."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a campaign is told. `seconds` inf: until it is interrupted; `pipelines`: drawn for each program."""

    seed: int
    workers: int
    seconds: float
    corpus: Path
    engine: str
    pipelines: int


@dataclass(frozen=True, slots=True)
class Job:
    """What a lane works on: a batch to be drawn, or (batch None) the finding `signature` to be minimised."""

    batch: int | None = None
    signature: str = ""


@dataclass(slots=True)
class Lane:
    """A lane's process, its job (None: idle or starting) and when it last said something."""

    process: subprocess.Popen[bytes]
    pipes: Pipes
    log: Path
    job: Job | None = None
    heard: float = field(default_factory=time.monotonic)
    paused: bool = False
    waiting: bool = False  # for what the next batch is steered by


class Campaign:
    """One session of a run. `run` returns when the time is over or `interrupt` was called."""

    def __init__(self, options: Options, store: Store, show: Callable[[Status], None]) -> None:
        self.options, self.store, self.show = options, store, show
        self.findings = Findings(store, options.corpus)
        self.lanes: list[Lane] = []
        self.selector = selectors.DefaultSelector()
        self.counts: Counter[tuple[str, str]] = Counter()
        self.deaths: Counter[Job | Place] = Counter()
        self.deaths_in_a_row = 0
        self.began = time.monotonic()
        self.draw_until = self.began + options.seconds
        self.work_until = self.draw_until + GRACE_SECONDS

    def run(self) -> Status:
        """Work until the end, and say what was reached. Raises `CampaignError` and `StoreError`."""
        try:
            for number in range(self.options.workers):
                self._start_lane(self.store.folder / f"lane-{number}.log")
            while self.lanes:
                for lane in self._speaking():
                    self._hear(lane)
                self._look_after_lanes()
                self.show(self.status())
        finally:
            for lane in self.lanes:
                kill_group(lane.process)
        return self.status()

    def interrupt(self) -> None:
        """End soon: the cases at work are finished; findings not minimised yet are left to the next session."""
        self.draw_until = self.work_until = time.monotonic()

    def status(self) -> Status:
        """What there is to show."""
        return Status(
            elapsed=time.monotonic() - self.began,
            remaining=max(0.0, self.draw_until - time.monotonic()),
            counts=Counter(self.counts),
            new=self.findings.new(),
            known=self.findings.known_hits,
            minimising=[lane.job.signature for lane in self.lanes if lane.job and lane.job.signature],
            lanes=len(self.lanes),
        )

    def _start_lane(self, log: Path) -> None:
        log.write_text("")
        folder = self.store.folder.resolve()
        pipes = Pipes()
        with pipes.theirs() as fds:
            process = start("fuzz.lane", [*map(str, fds), str(folder), self.options.engine], log, folder, fds)
        lane = Lane(process, pipes, log)
        self.lanes.append(lane)
        self.selector.register(lane.pipes.read_fd, selectors.EVENT_READ, lane)

    def _speaking(self) -> Iterator[Lane]:
        for key, _ in self.selector.select(TICK_SECONDS):
            yield key.data

    def _hear(self, lane: Lane) -> None:
        """Act on one message of a lane, or on its end."""
        try:
            message = wire.receive(lane.pipes.read_fd, time.monotonic() + MESSAGE_SECONDS)
        except (wire.Closed, wire.Garbage, wire.TimedOut) as error:
            self._bury(lane, str(error))
            return
        lane.heard = time.monotonic()
        fields = message.fields
        match message.kind:
            case "judged":
                self._judged(Place.parse(fields["place"]), fields)
            case "failed":
                self._failed(Place.parse(fields["place"]), fields["text"], fields["message"], fields["seen"])
            case "smaller" | "minimised" | "vanished":
                self.findings.hear(message.kind, **fields)
            case "idle":
                self._idle(lane, complete=bool(fields.get("complete")))
            case "trouble":
                raise CampaignError(fields["message"])

    def _judged(self, place: Place, fields: dict[str, Any]) -> None:
        self.deaths_in_a_row = 0
        counts = Counter({(kind, name): n for kind, name, n in fields["counts"]})
        met = self.findings.met(place, fields["findings"])
        self.store.record(place, counts, met, place.batch // EPOCH, fields["seen"])
        self.store.landed(place)
        self.counts += counts

    def _failed(self, place: Place, text: str, words: str, seen: Sequence[str] = ()) -> None:
        """This project failed on the case: seen and kept, and the campaign goes on."""
        counts = Counter({("verdict", "internal error"): 1})
        self.store.record(place, counts, self.findings.internal(place, text, words), place.batch // EPOCH, seen)
        self.store.landed(place)
        self.counts += counts

    def _idle(self, lane: Lane, complete: bool) -> None:
        """A lane has finished its job: give it the next one, or let it go."""
        if complete and lane.job is not None and lane.job.batch is not None:
            self.store.complete(lane.job.batch)
        lane.job, lane.paused = None, False
        job = self._next_job()
        lane.waiting = job is None and time.monotonic() < self.draw_until
        if lane.waiting:
            return
        if job is None:
            self._remove(lane)
            return
        lane.job = job
        with contextlib.suppress(wire.Closed):  # its end is heard next
            wire.send(lane.pipes.write_fd, self._order(job))

    def _next_job(self) -> Job | None:
        """Minimising comes first, but while there is time to draw one lane of several goes on drawing."""
        now = time.monotonic()
        at_work = {lane.job for lane in self.lanes}
        minimising = sum(1 for job in at_work if job is not None and job.signature)
        drawing = now < self.draw_until
        if now < self.work_until and (not drawing or minimising < max(1, len(self.lanes) - 1)):
            for signature in self.findings.to_minimise():
                if Job(signature=signature) not in at_work:
                    return Job(signature=signature)
        return self._next_batch(at_work) if drawing else None

    def _next_batch(self, at_work: set[Job | None]) -> Job | None:
        """A batch that was begun and is nobody's, else a new one; None while one that steers it is unfinished."""
        unfinished = self.store.unfinished()
        for batch in unfinished:
            if Job(batch) not in at_work:
                return Job(batch)
        batch = self.store.next_batch()
        if any(other // EPOCH < batch // EPOCH - 1 for other in unfinished):
            return None
        self.store.begin(batch)
        return Job(batch)

    def _order(self, job: Job) -> wire.Message:
        if job.batch is None:
            finding = self.findings.by_signature[job.signature]
            asked = {"signature": finding.signature, "variants": finding.variants, "text": finding.smallest}
            return wire.Message("minimise", asked | {"seconds": MINIMISE_SECONDS})
        skip = self.store.unfinished()[job.batch]
        seed = self.options.seed * BATCHES_OF_A_SEED + job.batch
        seen = self.store.seen(job.batch // EPOCH - 1)
        fields: dict[str, Any] = {
            "batch": job.batch,
            "skip": skip,
            "seed": seed,
            "count": BATCH,
            "pipelines": self.options.pipelines,
            "seen": seen,
        }
        return wire.Message("draw", fields)

    def _look_after_lanes(self) -> None:
        """Pause those whose job has no time left; replace those that have gone silent."""
        now = time.monotonic()
        for lane in list(self.lanes):
            if lane.waiting:
                self._idle(lane, complete=False)
            elif now - lane.heard > STALL_SECONDS:
                self._bury(lane, f"no word for {STALL_SECONDS:g} s")
            elif now > (self.work_until if lane.job is None or lane.job.signature else self.draw_until):
                self._pause(lane)

    def _pause(self, lane: Lane) -> None:
        if lane.job is None:  # still starting: it has nothing to finish
            self._remove(lane)
        elif not lane.paused:
            lane.paused = True
            with contextlib.suppress(wire.Closed):
                wire.send(lane.pipes.write_fd, wire.Message("pause"))

    def _remove(self, lane: Lane) -> None:
        self.lanes.remove(lane)
        self.selector.unregister(lane.pipes.read_fd)
        kill_group(lane.process)
        lane.pipes.close()

    def _bury(self, lane: Lane, cause: str) -> None:
        """A lane died. Its job is done again by the next one; the second death over one job is a finding."""
        self._remove(lane)
        words = last_words(lane.log) or cause
        self.deaths_in_a_row += 1
        if self.deaths_in_a_row >= max(DEATHS_IN_A_ROW, 2 * self.options.workers):
            raise CampaignError(f"the lanes die one after the other; the last one's words:\n{words}")
        self._blame(lane.job, words)
        self._start_lane(lane.log)

    def _blame(self, job: Job | None, words: str) -> None:
        if job is None:
            return
        if job.batch is None:
            self.deaths[job] += 1
            if self.deaths[job] > 1:
                self.findings.give_up(job.signature)
            return
        place = Place(job.batch, self.store.unfinished()[job.batch])
        self.deaths[place] += 1
        if self.deaths[place] > 1:
            text = self.store.in_flight().get(place, "")
            self._failed(place, text, words)
            if not text:  # it died drawing, and would again
                self.store.complete(job.batch)


@contextlib.contextmanager
def ending_on_signals(campaign: Campaign) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the campaign soon; the second one at once (KeyboardInterrupt)."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        campaign.interrupt()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
