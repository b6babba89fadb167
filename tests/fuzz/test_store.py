"""What a run remembers: every case once, every signature once, whatever happens to the process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fuzz.process import ROOT
from fuzz.store import Finding, Place, Store, StoreError, read

FINDING = Finding("run/wrong-value/concat/", "new", "0.1", "so/whole", "words", "first", "first")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "run", 7) as store:
        store.begin(0)
        yield store


@contextmanager
def reopened(store: Store) -> Iterator[Store]:
    """The store as the next session sees it."""
    store.close()
    with Store(store.folder, store.seed) as again:
        yield again


def test_a_case_counts_once_with_all_that_belongs_to_it(store: Store) -> None:
    store.record(Place(0, 0), {("verdict", "agree"): 1, ("op", "concat"): 3}, [])
    store.record(Place(0, 1), {("verdict", "disagree"): 1, ("op", "concat"): 2}, [FINDING])
    with reopened(store) as again:
        snapshot = again.snapshot()
    assert snapshot.of("verdict") == {"agree": 1, "disagree": 1}
    assert snapshot.of("op") == {"concat": 5}
    assert snapshot.findings == [FINDING]


def test_a_signature_is_one_finding_however_often_it_shows(store: Store) -> None:
    for position in range(3):
        store.record(Place(0, position), {}, [FINDING])
    (kept,) = store.snapshot().findings
    assert kept.hits == 3


def test_what_is_done_with_a_finding_is_kept(store: Store) -> None:
    store.record(Place(0, 0), {}, [FINDING])
    store.update(Finding("run/wrong-value/concat/", "saved", "0.1", "so/whole", "words", "first", "least", "a.kina"))
    with reopened(store) as again:
        (kept,) = again.snapshot().findings
    assert (kept.state, kept.text, kept.smallest, kept.path) == ("saved", "first", "least", "a.kina")


def test_batches_go_on_where_they_were(store: Store) -> None:
    store.record(Place(0, 0), {}, [])
    store.begin(1)
    store.complete(1)
    assert store.unfinished() == {0: 1}
    with reopened(store) as again:
        assert again.unfinished() == {0: 1}
        assert again.next_batch() == 2


def test_cases_in_flight_are_those_without_a_verdict(store: Store) -> None:
    for position in range(3):
        (store.inflight / f"0.{position}.kina").write_text(f"case {position}")
    store.record(Place(0, 0), {}, [])
    store.record(Place(0, 1), {}, [])
    with reopened(store) as again:
        assert again.in_flight() == {Place(0, 2): "case 2"}
        again.landed(Place(0, 2))
        again.landed(Place(0, 2))
        assert list(again.inflight.iterdir()) == []


@pytest.mark.parametrize("name", ["x.y", "1.2.3", "-1.0", "1", "1.²", "1. 2"])
def test_files_that_are_no_cases_in_flight(name: str, store: Store) -> None:
    (store.inflight / f"{name}.kina").write_text("stray")
    (store.inflight / "0.1.kina").write_text("case 1")
    assert store.in_flight() == {Place(0, 1): "case 1"}


def test_another_seed_is_another_run(store: Store) -> None:
    store.close()
    with pytest.raises(StoreError, match="seed 7, not 8"):
        Store(store.folder, 8)


def test_one_campaign_at_a_time(store: Store) -> None:
    with pytest.raises(StoreError, match="another campaign is at work"):
        Store(store.folder, 7)


def test_a_file_that_is_no_database(store: Store) -> None:
    store.close()
    for leftover in store.folder.glob("run.sqlite*"):
        leftover.unlink()
    (store.folder / "run.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError, match="cannot be used as a run's record"):
        Store(store.folder, 7)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be used as a run folder"):
        Store(tmp_path / "file", 0)


def test_reading_needs_no_lock_and_changes_nothing(store: Store, tmp_path: Path) -> None:
    store.record(Place(0, 0), {("verdict", "agree"): 1}, [FINDING])
    assert read(store.folder) == store.snapshot()
    with pytest.raises(StoreError, match="no run is recorded there"):
        read(tmp_path / "elsewhere")


def test_no_space_left_is_said_and_loses_nothing(store: Store) -> None:
    store.record(Place(0, 0), {}, [FINDING])
    (pages,) = store._db.execute("PRAGMA page_count").fetchone()
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="full"):
        store.record(Place(0, 1), {("op", "x" * 100_000): 1}, [])
    store._db.execute("PRAGMA max_page_count = 100000")
    store.record(Place(0, 1), {("op", "x"): 1}, [])
    snapshot = store.snapshot()
    assert snapshot.findings == [FINDING]
    assert snapshot.of("op") == {"x": 1}


WRITER = """
import sys
from pathlib import Path
from fuzz.store import Finding, Place, Store
store = Store(Path(sys.argv[1]), 7)
for position in range(10**9):
    store.begin(0)
    name = f"run/crash//{position}"
    store.record(Place(0, position), {("verdict", "disagree"): 1}, [Finding(name, "new", "", "", "", "t" * 500, "t")])
    print(position, flush=True)
"""


def test_kill_9_in_the_middle_of_writing_loses_nothing_that_was_recorded(tmp_path: Path) -> None:
    for _ in range(3):
        command = [sys.executable, "-c", WRITER, str(tmp_path / "run")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as writer:
            assert writer.stdout is not None
            said = [int(writer.stdout.readline()) for _ in range(50)]
            os.kill(writer.pid, signal.SIGKILL)
            said += [int(line) for line in writer.stdout if line.endswith("\n")]
        snapshot = read(tmp_path / "run")
        recorded = {finding.signature for finding in snapshot.findings}
        assert {f"run/crash//{position}" for position in said} <= recorded
        assert sum(finding.hits for finding in snapshot.findings) == snapshot.of("verdict")["disagree"]


def test_what_was_seen_is_kept_by_epochs(store: Store) -> None:
    store.record(Place(0, 0), {("op", "exp"): 7}, [], 0, ["exp>log", "cse"])
    store.record(Place(20, 0), {}, [], 1, ["exp>log", "exp>log"])
    store.record(Place(20, 1), {}, [], 1, ["exp>log"])
    assert [store.seen(end) for end in (-1, 0)] == [{}, {}]
    assert store.seen(1) == {"exp>log": 1, "cse": 1}
    assert store.seen(2) == {"exp>log": 4, "cse": 1}


def test_the_case_that_first_reached_something_is_kept(store: Store) -> None:
    store.begin(0)
    store.record(Place(0, 2), {("pair", "exp>log"): 1}, [])
    store.record(Place(0, 3), {("pair", "exp>log"): 1, ("pass", "cse"): 1}, [])
    assert store.snapshot().first == {("pair", "exp>log"): "0.2", ("pass", "cse"): "0.3"}


def test_a_finding_is_replaced_but_for_its_hits(store: Store) -> None:
    first = Finding("a/b//", "new", "0.0", "one", "words", "text", "text")
    store.begin(0)
    store.record(Place(0, 0), {}, [first])
    store.record(Place(0, 1), {}, [first])
    store.update(Finding("a/b//", "minimised", "0.7", "one two", "other words", "old", "small", "path", hits=9))
    (kept,) = store.snapshot().findings
    assert kept == Finding("a/b//", "minimised", "0.7", "one two", "other words", "old", "small", "path", hits=2)
