"""The sandbox: whatever a child does, every variant has an outcome, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from fuzz.engines import Request
from fuzz.nursery import Nursery, SandboxError
from fuzz.process import cpu_seconds
from fuzz.sandbox import Limits, Sandbox
from oracles.engine import Failure, Observation, Outcome

# Address space for Python and NumPy, and not much more. Seconds: for deeds that end by themselves on a busy machine.
LIMITS = Limits(seconds=20, memory=400 << 20, file_size=8 << 20)
INPUTS = {"x": np.ones((2, 3), np.float32), "y": np.array(3, ml_dtypes.bfloat16)}


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    with Sandbox("tests.fuzz.fake_engine", LIMITS, tmp_path_factory.mktemp("sandbox")) as made:
        yield made


def request(deeds: str) -> Request:
    return Request(deeds, "default", ("a", "b", "c"), INPUTS)


def check_answer(outcome: Outcome) -> None:
    assert isinstance(outcome, Observation)
    assert {name: array.tolist() for name, array in outcome.lets.items()} == {
        name: array.tolist() for name, array in INPUTS.items()
    }


def check_deed(sandbox: Sandbox, deed: str, stage: str, symptom: str, words: str) -> Failure:
    """Variant `b` does something wrong: it alone fails, as said, and the other two answer."""
    report = sandbox.run(request(f"b: {deed}"))
    assert set(report.outcomes) == {"a", "b", "c"}
    check_answer(report.outcomes["a"])
    check_answer(report.outcomes["c"])
    failure = report.outcomes["b"]
    assert isinstance(failure, Failure)
    assert (failure.stage, failure.symptom) == (stage, symptom)
    if stage == "run" and deed != "flood":
        assert failure.culprit == "fuse"  # what the child last said that it was at
    assert words in failure.message.splitlines()[0]
    return failure


def test_builds_and_answers(sandbox: Sandbox) -> None:
    assert sandbox.builds == (("a", "b"), ("c", "d"))
    report = sandbox.run(request(""))
    for outcome in report.outcomes.values():
        check_answer(outcome)
    assert report.seconds.keys() == {"parse", "run"}


def test_a_child_is_kept_while_it_lives(sandbox: Sandbox) -> None:
    sandbox.run(request(""))
    pid = sandbox.child.pid
    sandbox.run(request("b: refuse"))
    sandbox.run(request("b: shout"))
    assert sandbox.child.pid == pid


def test_what_the_engine_says_itself(sandbox: Sandbox) -> None:
    failure = check_deed(sandbox, "refuse", "check", "refused", "`concat` needs")
    assert failure.culprit == "concat-dims"


def test_abort_names_the_assertion(sandbox: Sandbox) -> None:
    failure = check_deed(sandbox, "abort", "run", "crash", "Assertion `depth > 0' failed")
    assert "killed by SIGABRT" in failure.message


@pytest.mark.parametrize(
    ("deed", "symptom", "words"),
    [
        ("segfault", "crash", "killed by SIGSEGV"),
        ("real-time", "crash", f"killed by signal {signal.SIGRTMIN + 2}"),
        ("exit", "crash", "exited with status 3"),
        ("raise", "crash", "ZeroDivisionError: inside the engine"),
        ("die", "oom", "killed by SIGKILL"),
        ("eat memory", "oom", "Unable to allocate"),
        ("fill disk", "crash", "exited with status"),
    ],
)
def test_deaths(sandbox: Sandbox, deed: str, symptom: str, words: str) -> None:
    check_deed(sandbox, deed, "run", symptom, words)


def test_garbage_on_the_pipe(sandbox: Sandbox) -> None:
    check_deed(sandbox, "garble", "protocol", "garbage", "expected a message")


def test_a_mark_that_is_none(sandbox: Sandbox) -> None:
    check_deed(sandbox, "spoil mark", "protocol", "garbage", "not a mark")


def test_seconds_that_are_none(sandbox: Sandbox) -> None:
    check_deed(sandbox, "odd seconds", "protocol", "garbage", "not seconds")


def test_garbage_on_stdout_disturbs_nobody(sandbox: Sandbox) -> None:
    for outcome in sandbox.run(request("b: shout")).outcomes.values():
        check_answer(outcome)


@pytest.mark.parametrize("deed", ["hang", "sleep", "flood"])
def test_a_child_that_does_not_come_to_an_end(deed: str, tmp_path: Path) -> None:
    with Sandbox("tests.fuzz.fake_engine", replace(LIMITS, seconds=1), tmp_path) as hasty:
        check_deed(hasty, deed, "run", "hang", "no answer within 1 s")


@pytest.mark.skipif(cpu_seconds(os.getpid()) is None, reason="this system does not tell a process's processor time")
def test_a_child_that_only_waited_has_more_time_than_the_limit(tmp_path: Path) -> None:
    """As one does that gets no processor: it answers after 2.5 s, of which it has used almost none of its one."""
    with Sandbox("tests.fuzz.fake_engine", replace(LIMITS, seconds=1), tmp_path) as hasty:
        for outcome in hasty.run(request("b: nap")).outcomes.values():
            check_answer(outcome)


def test_a_death_before_the_variants_part_is_all_of_theirs(sandbox: Sandbox) -> None:
    began = time.monotonic()
    report = sandbox.run(request("all: abort"))
    assert {type(outcome) for outcome in report.outcomes.values()} == {Failure}
    assert {outcome.stage for outcome in report.outcomes.values() if isinstance(outcome, Failure)} == {"parse"}
    assert time.monotonic() - began < LIMITS.seconds


def test_kill_9_from_outside_is_no_finding(sandbox: Sandbox) -> None:
    sandbox.run(request(""))
    os.kill(sandbox.child.pid, signal.SIGKILL)
    for outcome in sandbox.run(request("")).outcomes.values():
        check_answer(outcome)


def test_kill_9_of_one_child_after_the_other_is_no_finding(tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.write_text("dies three times")
    with Sandbox("tests.fuzz.fake_engine", LIMITS, tmp_path) as sandbox:
        for outcome in sandbox.run(request(f"b: die while {left}")).outcomes.values():
            check_answer(outcome)
    assert not left.exists()


def test_kill_9_of_a_nursery_that_starts_is_no_finding(tmp_path: Path) -> None:
    with Sandbox("tests.fuzz.fake_engine", LIMITS, tmp_path) as sandbox:
        os.kill(sandbox._nursery._process.pid, signal.SIGKILL)
        assert sandbox.builds == (("a", "b"), ("c", "d"))


def test_kill_9_of_the_nursery_is_no_finding(sandbox: Sandbox) -> None:
    sandbox.run(request(""))
    os.kill(sandbox._nursery._process.pid, signal.SIGKILL)
    for outcome in sandbox.run(request("")).outcomes.values():
        check_answer(outcome)


def test_a_late_answer_is_not_taken_for_that_to_the_next_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nursery = Nursery("tests.fuzz.fake_engine", LIMITS.memory, LIMITS.file_size, tmp_path)
    with closing(nursery):
        child = nursery.birth()
        with monkeypatch.context() as hasty:
            hasty.setattr("fuzz.nursery._ANSWER_SECONDS", 0.05)
            assert nursery.exit_status(child, 0.2) == -signal.SIGKILL
        with pytest.raises(SandboxError):
            nursery.birth()


def test_a_birth_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with closing(Nursery("tests.fuzz.fake_engine", LIMITS.memory, LIMITS.file_size, tmp_path)) as nursery:
        assert nursery.builds
        os.kill(nursery._process.pid, signal.SIGKILL)
        with pytest.raises(SandboxError):
            nursery.birth()
        assert not list(tmp_path.glob("*/child-*"))
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_a_case_that_was_never_finished_leaves_nothing_behind(sandbox: Sandbox) -> None:
    sandbox.start(request("b: refuse"))
    for outcome in sandbox.run(request("")).outcomes.values():
        check_answer(outcome)


def test_a_child_is_replaced_after_so_many_cases(tmp_path: Path) -> None:
    with Sandbox("tests.fuzz.fake_engine", replace(LIMITS, cases=2), tmp_path) as sandbox:
        pids = set()
        for _ in range(4):
            pids.add(sandbox.child.pid)
            sandbox.run(request(""))
        assert len(pids) == 2


def test_nothing_is_left_on_disk_nor_alive(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with Sandbox("tests.fuzz.fake_engine", LIMITS, tmp_path) as sandbox:
        sandbox.run(request("b: abort"))
        pid = sandbox.child.pid
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == len(before)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_an_engine_that_does_not_start_is_no_verdict(tmp_path: Path) -> None:
    with (
        Sandbox("tests.fuzz.no_such_engine", LIMITS, tmp_path) as sandbox,
        pytest.raises(SandboxError, match="No module named"),
    ):
        sandbox.run(request(""))
    assert list(tmp_path.iterdir()) == []


def test_the_child_knows_neither_torch_nor_hypothesis(sandbox: Sandbox) -> None:
    sandbox.run(request(""))
    maps = Path(f"/proc/{sandbox.child.pid}/maps").read_text()
    assert "numpy" in maps
    assert "torch" not in maps
    assert "hypothesis" not in maps
