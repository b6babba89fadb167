"""What a run remembers: one folder with an SQLite file and the cases in flight, safe against kill -9 at any moment.

One transaction for each case holds its counters, its place in its batch and its finding, so a case counts once or not
at all. A case's file is written before it runs and removed after its transaction; what a killed run leaves there runs
first in the next one. What a verdict means, and when a finding is minimised, is the campaign's business.
"""

from __future__ import annotations

import contextlib
import fcntl
import re
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Literal

VERSION = "2"  # of the tables below; a run folder of another version is refused, not converted

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (batch INTEGER PRIMARY KEY, done INTEGER NOT NULL, complete INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS counts (
  kind TEXT NOT NULL, name TEXT NOT NULL, n INTEGER NOT NULL, place TEXT NOT NULL,
  PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seen (
  epoch INTEGER NOT NULL, name TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (epoch, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS findings (
  signature TEXT PRIMARY KEY, state TEXT NOT NULL, place TEXT NOT NULL, variants TEXT NOT NULL, message TEXT NOT NULL,
  text TEXT NOT NULL, smallest TEXT NOT NULL, path TEXT NOT NULL, hits INTEGER NOT NULL);
"""

# new: not minimised to the end yet; minimised: not in the corpus yet; saved: in the corpus; flaky: did not show a
# second time; internal: this project failed on the case, so there is nothing to minimise.
State = Literal["new", "minimised", "saved", "flaky", "internal"]


class StoreError(Exception):
    """The run folder cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a case stands in the campaign: the position in its batch, which is a function of (seed, batch)."""

    batch: int
    position: int

    def __str__(self) -> str:
        return f"{self.batch}.{self.position}"

    @staticmethod
    def parse(text: str) -> Place:
        batch, position = map(int, text.split("."))
        return Place(batch, position)


@dataclass(frozen=True, slots=True)
class Finding:
    """One signature: the case that showed it first, the smallest so far, and where it is kept."""

    signature: str
    state: State
    place: str
    variants: str
    message: str
    text: str
    smallest: str
    path: str = ""
    hits: int = 1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a run has recorded: counters by (kind, name) and the place of the case that each was first counted at,
    findings in order of discovery, batches begun.
    """

    counts: dict[tuple[str, str], int]
    first: dict[tuple[str, str], str]
    findings: list[Finding]
    batches: int

    def of(self, kind: str) -> dict[str, int]:
        """The counters of one kind, largest first."""
        return {name: n for (its_kind, name), n in self.counts.items() if its_kind == kind}


def read(folder: Path) -> Snapshot:
    """What is recorded in a run folder, a campaign at work or not. Raises `StoreError`."""
    path = folder / "run.sqlite"
    if not path.is_file():
        how = f"python -m fuzz run --time 60s --run {folder}"
        raise StoreError(f"{folder}: no run is recorded there; `{how}` records one")
    try:
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        with contextlib.closing(db):
            return _snapshot(db)
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error


class Store:
    """The run folder `folder`, made if need be, for this process alone.

    The cases of a run depend on its seed and on how many `pipelines` are drawn for each program.

    It and every change raise `StoreError` when the folder cannot be used: no permission, no space left, another seed,
    another campaign at work in it.
    """

    def __init__(self, folder: Path, seed: int, pipelines: int = 2) -> None:
        self.folder, self.seed = folder, seed
        self.inflight, self.scratch = folder / "inflight", folder / "tmp"
        with contextlib.ExitStack() as made:
            made.enter_context(_locked(folder))
            try:
                self.inflight.mkdir(exist_ok=True)
                shutil.rmtree(self.scratch, ignore_errors=True)  # what the children of a killed run left behind
                self.scratch.mkdir()
            except OSError as error:
                raise StoreError(f"{folder}: cannot be used as a run folder: {error}") from error
            self._db = made.enter_context(_opened(folder / "run.sqlite"))
            self._agree_on("version", VERSION)
            self._agree_on("seed", str(seed))
            self._agree_on("pipelines", str(pipelines))
            self._made = made.pop_all()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder. No other method may be called any more."""
        self._made.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def record(
        self,
        place: Place,
        counts: Mapping[tuple[str, str], int],
        findings: Iterable[Finding],
        epoch: int = 0,
        seen: Iterable[str] = (),
    ) -> None:
        """One judged case: its counters, its place, its findings (a known signature gets one more hit).

        What was `seen` in it counts for its epoch, so that later ones can be steered by it.
        """
        with self._transaction():
            self._db.executemany(_ADD_SEEN, [(epoch, name) for name in seen])
            self._db.executemany(_ADD_COUNT, [(kind, name, n, str(place)) for (kind, name), n in counts.items()])
            self._db.execute(_SET_DONE, (place.position + 1, place.batch))
            self._db.executemany(_ADD_FINDING, [astuple(finding) for finding in findings])

    def begin(self, batch: int) -> None:
        """A batch is handed out. From now on it is unfinished until `complete`."""
        with self._transaction():
            self._db.execute("INSERT OR IGNORE INTO batches VALUES (?, 0, 0)", (batch,))

    def complete(self, batch: int) -> None:
        with self._transaction():
            self._db.execute("UPDATE batches SET complete = 1 WHERE batch = ?", (batch,))

    def seen(self, end: int) -> dict[str, int]:
        """What was seen in the epochs before `end`, and how often."""
        rows = self._db.execute("SELECT name, sum(n) FROM seen WHERE epoch < ? GROUP BY name ORDER BY name", (end,))
        return dict(rows.fetchall())

    def unfinished(self) -> dict[int, int]:
        """The batches that were begun and not completed: how many cases of each are done."""
        return dict(self._db.execute("SELECT batch, done FROM batches WHERE NOT complete ORDER BY batch"))

    def next_batch(self) -> int:
        (last,) = self._db.execute("SELECT max(batch) FROM batches").fetchone()
        return 0 if last is None else int(last) + 1

    def in_flight(self) -> dict[Place, str]:
        """The cases that were handed to a sandbox and have no verdict yet. Files of recorded cases are removed."""
        texts: dict[Place, str] = {}
        done = self.unfinished()
        for path in sorted(self.inflight.glob("*.kina")):
            if not re.fullmatch(r"[0-9]+\.[0-9]+", path.stem):
                continue  # somebody else's
            place = Place.parse(path.stem)
            if place.position >= done.get(place.batch, place.position + 1):
                texts[place] = path.read_text(errors="replace")
            else:
                path.unlink()
        return texts

    def landed(self, place: Place) -> None:
        """The case at `place` is recorded: its file in flight is not needed any more."""
        (self.inflight / f"{place}.kina").unlink(missing_ok=True)

    def snapshot(self) -> Snapshot:
        """All that has been recorded."""
        return _snapshot(self._db)

    def update(self, finding: Finding) -> None:
        """Replace what is kept of the finding with this signature, but for its hits."""
        with self._transaction():
            self._db.execute(
                "UPDATE findings SET state = ?, place = ?, variants = ?, message = ?, text = ?, smallest = ?, path = ?"
                " WHERE signature = ?",
                (*astuple(finding)[1:-1], finding.signature),
            )

    def _agree_on(self, key: str, value: str) -> None:
        with self._transaction():
            self._db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (key, value))
            (kept,) = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        if kept != value:
            raise StoreError(f"{self.folder}: this run has {key} {kept}, not {value}: choose another --run folder")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing."""
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.folder}: the run cannot be recorded: {error}") from error


_COLUMNS = "signature, state, place, variants, message, text, smallest, path, hits"
_ADD_COUNT = "INSERT INTO counts VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n"
_ADD_SEEN = "INSERT INTO seen VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1"
_SET_DONE = "UPDATE batches SET done = max(done, ?) WHERE batch = ?"
_ADD_FINDING = (
    f"INSERT INTO findings ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET hits = hits + 1"  # noqa: S608 (a constant)
)


def _snapshot(db: sqlite3.Connection) -> Snapshot:
    rows = db.execute("SELECT kind, name, n, place FROM counts ORDER BY kind, n DESC, name").fetchall()
    counts = {(kind, name): n for kind, name, n, _ in rows}
    first = {(kind, name): place for kind, name, _, place in rows}
    findings = [Finding(*row) for row in db.execute(f"SELECT {_COLUMNS} FROM findings ORDER BY rowid")]  # noqa: S608
    (batches,) = db.execute("SELECT count(*) FROM batches").fetchone()
    return Snapshot(counts, first, findings, batches)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
    except BlockingIOError as error:
        raise StoreError(f"{folder}: another campaign is at work in this run folder") from error
    except OSError as error:
        raise StoreError(f"{folder}: cannot be used as a run folder: {error}") from error


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """WAL with synchronous=NORMAL: safe against a killed process, and cheap enough for a commit after each case."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.executescript(_TABLES)
        except sqlite3.Error as error:
            raise StoreError(f"{path}: cannot be used as a run's record: {error}") from error
        yield db
