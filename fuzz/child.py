"""The sandbox's side of a child: `python -m fuzz.child SOCKET_FD ENGINE MEMORY_BYTES FILE_BYTES`.

Two kinds of process. The nursery imports the engine once and then only forks: a child that crashed is replaced in
milliseconds. The child is the only place where a program is compiled or run: it confines itself, answers requests until
its pipe closes, and dies with the nursery, as the nursery does with the lane. Neither knows torch or Hypothesis.
The side that asks for births, and that turns a death into an outcome, is `nursery` and `sandbox`.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import os
import socket
import sys
import tempfile
import time
import traceback
from typing import NoReturn, cast

from fuzz import mark, wire
from fuzz.engines import Engine, Request
from fuzz.nursery import LONGEST_ORDER
from fuzz.outcomes import message_of
from fuzz.process import confine, die_with_parent

_POLL_SECONDS = 0.005


def main() -> None:
    """The nursery: import the engine, then work off orders until the socket closes."""
    limits = int(sys.argv[3]), int(sys.argv[4])
    die_with_parent()
    faulthandler.enable()  # a crash leaves the Python stack in the log, and with it what was at work
    engine = cast(Engine, importlib.import_module(sys.argv[2]))
    with socket.socket(fileno=int(sys.argv[1])) as orders:
        orders.sendall(json.dumps(engine.BUILDS).encode())
        while True:
            received, fds, _, _ = socket.recv_fds(orders, LONGEST_ORDER, 4)
            if not received:
                return
            order = json.loads(received)
            if "folder" in order:
                answer: int | None = _birth(orders, engine, fds, order["folder"], limits)
            else:
                answer = _end(order["pid"], order["seconds"])
            orders.sendall(json.dumps(answer).encode())


def _birth(orders: socket.socket, engine: Engine, fds: list[int], folder: str, limits: tuple[int, int]) -> int:
    """Fork a child on (its end to read, its end to write, its mark, its log); the child's process id."""
    pid = os.fork()
    if pid == 0:
        orders.close()
        _live(engine, fds, folder, limits)
    for fd in fds:
        os.close(fd)
    return pid


def _end(pid: int, seconds: float) -> int | None:
    """The exit status of a child, as `subprocess` gives it, if it ends within the time."""
    until = time.monotonic() + seconds
    with contextlib.suppress(ChildProcessError):  # it was asked before
        while time.monotonic() < until:
            reaped, status = os.waitpid(pid, os.WNOHANG)
            if reaped:
                return os.waitstatus_to_exitcode(status)
            time.sleep(_POLL_SECONDS)
    return None


def _live(engine: Engine, fds: list[int], folder: str, limits: tuple[int, int]) -> NoReturn:
    """A child's whole life. It never returns into the nursery's code."""
    read_fd, write_fd, mark_fd, log = fds
    status = 1
    try:
        os.setsid()
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        os.chdir(folder)
        tempfile.tempdir = folder
        confine(*limits)
        while True:
            _serve(engine, wire.receive(read_fd), write_fd, mark_fd)
    except wire.Closed:
        status = 0
    except BaseException:  # noqa: BLE001 (an engine's exception: its words are the log's last, the status says the rest)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


class _Clock:
    """Leaves the progress marks and adds up the seconds of each stage."""

    def __init__(self, mark_fd: int) -> None:
        self.mark_fd, self.seconds = mark_fd, dict[str, float]()
        self.stage, self.since = "", time.perf_counter()

    def __call__(self, stage: str, variants: tuple[str, ...], culprit: str = "") -> None:
        if stage != self.stage:
            self.stop()
            self.stage = stage
        mark.write(self.mark_fd, stage=stage, variants=variants, culprit=culprit)

    def stop(self) -> None:
        now = time.perf_counter()
        if self.stage:
            self.seconds[self.stage] = self.seconds.get(self.stage, 0.0) + now - self.since
        self.stage, self.since = "", now


def _serve(engine: Engine, message: wire.Message, write_fd: int, mark_fd: int) -> None:
    fields = message.fields
    request = Request(fields["text"], fields["pipeline"], tuple(fields["variants"]), message.arrays)
    clock = _Clock(mark_fd)
    for variant, outcome in engine.run_case(request, clock):
        wire.send(write_fd, message_of(variant, outcome))
    clock.stop()
    wire.send(write_fd, wire.Message("done", {"seconds": clock.seconds}))


if __name__ == "__main__":
    main()
