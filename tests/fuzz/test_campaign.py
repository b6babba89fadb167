"""The loop as a whole, on an engine without a compiler, so that it is quick; and what it survives."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fuzz import corpus
from fuzz.campaign import EPOCH, Campaign, Job, Lane, Options
from fuzz.process import ROOT
from fuzz.store import Place, Snapshot, Store, StoreError, read

PATIENCE = 180.0  # seconds that a very busy machine may take for what takes some


class Run:
    """A run folder and a corpus of its own, and the command line on them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.corpus = folder / "run", folder / "corpus"
        self.corpus.mkdir()

    @contextmanager
    def started(self, fault: str = "", workers: int = 1, limit: str = "600s") -> Iterator[subprocess.Popen[str]]:
        options = ["--engine", "tests.fuzz.numpy_engine", "--run", str(self.folder), "--corpus", str(self.corpus)]
        command = [sys.executable, "-m", "fuzz", "run", "--time", limit, "--workers", str(workers), *options]
        environment = {**os.environ, "KINA_TEST_FAULT": fault}
        out, err = subprocess.PIPE, subprocess.STDOUT
        with subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=out, stderr=err) as process:
            try:
                yield process
            finally:
                process.kill()

    def run_until(self, condition: Callable[[], object], fault: str = "", workers: int = 1) -> tuple[int, str]:
        """Exit code and output of a session that Ctrl-C ends once the condition holds."""
        with self.started(fault, workers) as process:
            wait_for(lambda: condition() or process.poll() is not None)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=PATIENCE)
            return process.returncode, output

    def snapshot(self) -> Snapshot:
        try:
            return read(self.folder)
        except StoreError:  # not there yet
            return Snapshot({}, {}, [], 0)

    def judged(self) -> int:
        return sum(self.snapshot().of("verdict").values())


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def wait_for(condition: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def check_sound(run: Run) -> None:
    """Every case of a batch was judged once, whatever was killed meanwhile."""
    with Store(run.folder, 0) as store:
        snapshot = store.snapshot()
        done = store._db.execute("SELECT sum(done) FROM batches").fetchone()[0]
    assert sum(snapshot.of("verdict").values()) == done
    assert {"internal error", "disagree"}.isdisjoint(snapshot.of("verdict"))


def test_a_sound_engine_gives_no_finding_ctrl_c_ends_it_and_the_next_session_goes_on(run: Run) -> None:
    code, output = run.run_until(lambda: run.judged() > 5, workers=2)
    assert code == 0, output
    assert "a new run" in output
    assert "programs checked in" in output
    assert "0 new findings" in output
    assert "Traceback" not in output
    assert list((run.folder / "inflight").iterdir()) == []
    first = run.judged()
    code, output = run.run_until(lambda: run.judged() > first + 2)
    assert code == 0, output
    assert f"resuming at case {first}" in output
    assert run.judged() > first
    check_sound(run)
    assert corpus.paths(run.corpus) == []


def test_a_fault_is_found_minimised_saved_and_known_from_then_on(run: Run) -> None:
    fault = "transpose: abort"  # the worst one: each step of the minimiser kills a child
    code, output = run.run_until(lambda: corpus.paths(run.corpus), fault)
    assert code == 1, output
    path = corpus.paths(run.corpus)[0]
    assert str(path) in output
    expect = corpus.entry(run.corpus, path).expect
    assert (expect.kind, expect.detail.split("/")[1]) == ("fails", "crash")
    run.folder = run.folder.parent / "another"
    code, output = run.run_until(lambda: run.snapshot().of("verdict").get("disagree"), fault)
    assert re.search(rf"known failure, seen in \d+ cases: {re.escape(expect.detail)}", output)


def test_kill_9_of_a_lane_and_of_a_sandbox(run: Run) -> None:
    with run.started() as process:
        wait_for(lambda: run.judged() > 2)
        (lane,) = children(process.pid)
        os.kill(children(lane)[0], signal.SIGKILL)
        before = run.judged()
        wait_for(lambda: run.judged() > before + 2)
        os.kill(lane, signal.SIGKILL)
        before = run.judged()
        wait_for(lambda: run.judged() > before + 2)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, output
    check_sound(run)


def test_kill_9_of_the_campaign_loses_nothing_and_leaves_nobody_alive(run: Run) -> None:
    with run.started("softmax: wrong") as process:
        wait_for(lambda: run.snapshot().findings)
        lanes = children(process.pid)
        everyone = lanes + [child for lane in lanes for child in children(lane)]
        process.kill()
    found = [finding.signature for finding in run.snapshot().findings]
    wait_for(lambda: not any(map(alive, everyone)))
    code, output = run.run_until(lambda: len(corpus.paths(run.corpus)) >= len(found), "softmax: wrong")
    assert code == 1, output
    assert "resuming at case" in output
    for signature in found:
        assert signature in output


def test_the_end_of_the_time_leaves_nothing_in_flight(run: Run) -> None:
    with run.started(limit="8s") as process:
        output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert "time 8s" in output
    assert "programs checked in" in output
    assert list((run.folder / "inflight").iterdir()) == []


def test_a_second_ctrl_c_ends_at_once(run: Run) -> None:
    with run.started() as process:
        wait_for(lambda: children(process.pid))
        lanes = children(process.pid)
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, 130)  # 0: the first one was quick enough
    wait_for(lambda: not any(map(alive, lanes)))


def test_an_engine_that_does_not_start_ends_the_campaign(run: Run) -> None:
    command = [sys.executable, "-m", "fuzz", "run", "--engine", "no.such.engine", "--run", str(run.folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert "the engine `no.such.engine` does not start" in done.stderr
    assert "Traceback" not in done.stdout


@pytest.fixture
def campaign(run: Run) -> Iterator[Campaign]:
    """A campaign that is not running: for what it would hand out."""
    with Store(run.folder, 3) as store:
        yield Campaign(Options(3, 2, 3600.0, run.corpus, "none", 2), store, lambda _: None)


def test_what_is_drawn_depends_on_seed_and_batch_alone(campaign: Campaign) -> None:
    jobs = [campaign._next_job() for _ in range(3)]
    assert jobs == [Job(0), Job(0), Job(0)]  # nobody works on it yet
    orders = []
    for _ in range(3):
        job = campaign._next_job()
        assert job is not None
        campaign.lanes.append(Lane.__new__(Lane))
        campaign.lanes[-1].job = job
        orders.append(campaign._order(job).fields)
    assert [order["batch"] for order in orders] == [0, 1, 2]
    assert [order["seed"] for order in orders] == [3 * 2**32, 3 * 2**32 + 1, 3 * 2**32 + 2]
    assert {order["skip"] for order in orders} == {0}


def test_a_batch_that_was_begun_goes_on_with_the_case_in_flight(campaign: Campaign) -> None:
    campaign.store.begin(0)
    for position in range(4):
        campaign.store.record(Place(0, position), {}, [])
    (campaign.store.inflight / "0.4.kina").write_text("the case")
    assert campaign._order(Job(0)).fields["skip"] == 4  # drawn again, it is the same


def test_the_second_death_over_one_case_is_a_finding(campaign: Campaign) -> None:
    campaign.store.begin(0)
    (campaign.store.inflight / "0.0.kina").write_text("the case")
    campaign._blame(Job(0), "Killed")
    assert campaign.findings.new() == []
    campaign._blame(Job(0), "Killed")
    (finding,) = campaign.findings.new()
    assert (finding.state, finding.text, finding.place) == ("internal", "the case", "0.0")
    assert campaign.store.unfinished() == {0: 1}


def test_two_deaths_while_drawing_give_up_the_batch(campaign: Campaign) -> None:
    campaign.store.begin(0)
    campaign._blame(Job(0), "MemoryError")
    campaign._blame(Job(0), "MemoryError")
    assert campaign.store.unfinished() == {}
    assert len(campaign.findings.new()) == 1


def test_a_batch_waits_for_those_that_steer_it(campaign: Campaign) -> None:
    """What is drawn must not depend on how fast which lane was."""
    for batch in range(2 * EPOCH):
        campaign.store.begin(batch)
        if batch:
            campaign.store.complete(batch)
    campaign.lanes.append(Lane.__new__(Lane))
    campaign.lanes[-1].job = Job(0)
    assert campaign._next_job() is None
    campaign.store.record(Place(0, 0), {}, [], 0, ["cse", "cse"])
    campaign.store.record(Place(EPOCH, 0), {}, [], 1, ["cse"])
    campaign.store.complete(0)
    job = campaign._next_job()
    assert job == Job(2 * EPOCH)
    assert campaign._order(job).fields["seen"] == {"cse": 2}
