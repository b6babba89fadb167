"""An engine for tests: the text of a case says, one line for each variant, what its variants do."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from fuzz import wire
from fuzz.engines import Progress, Request
from fuzz.outcomes import message_of
from oracles.engine import Failure, Observation, Outcome

BUILDS = (("a", "b"), ("c", "d"))


def run_case(request: Request, progress: Progress) -> Iterator[tuple[str, Outcome]]:
    deeds = dict(line.split(": ", 1) for line in request.text.splitlines())
    progress("parse", request.variants)
    if "all" in deeds:
        DEEDS[deeds["all"]]()
    for variant in request.variants:
        progress("run", (variant,))
        progress("run", (variant,), "fuse")
        deed = deeds.get(variant, "answer")
        if deed.startswith("die while "):
            _die_while(deed)
            deed = "answer"
        outcome = DEEDS[deed]()
        yield variant, outcome or Observation(dict(request.inputs), tuple(request.inputs.values()))


def _abort() -> None:
    print("python: Fusion.cpp:7: void fuse(): Assertion `depth > 0' failed.", file=sys.stderr, flush=True)
    os.abort()


def _die_while(deed: str) -> None:
    """`die while FILE`: by SIGKILL, one word of the file less each time; with the last one the file goes."""
    left = Path(deed.removeprefix("die while "))
    words = left.read_text().split() if left.exists() else []
    if words[1:]:
        left.write_text(" ".join(words[1:]))
    else:
        left.unlink(missing_ok=True)
    if words:
        os.kill(os.getpid(), signal.SIGKILL)


def _segfault() -> None:
    ctypes.string_at(0)


def _hang() -> None:
    while True:
        pass


def _sleep() -> None:
    while True:
        time.sleep(1)


def _nap() -> None:
    time.sleep(2.5)


def _eat_memory() -> None:
    kept = []
    while True:
        kept.append(np.ones(1 << 24))


def _pipe() -> int:
    """The end of the private pipe that this process writes to, found as hostile code would find it."""
    ends = [fd for fd in range(3, 50) if os.path.exists(f"/proc/self/fd/{fd}") and stat.S_ISFIFO(os.fstat(fd).st_mode)]
    return next(fd for fd in ends if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY)


def _garble_pipe() -> None:
    os.write(_pipe(), b"Segmentation fault? " * 100)


def _flood_pipe() -> None:
    while True:
        wire.send(_pipe(), message_of("b", _refuse()))


def _shout() -> None:
    print("KINA\0\0\0garbage" * 5000, flush=True)


def _fill_disk() -> None:
    while True:
        print("x" * (1 << 20))


def _close_pipe() -> None:
    os.close(_pipe())
    time.sleep(60)


def _spoil_mark() -> None:
    (mark,) = (fd for fd in range(3, 50) if os.path.realpath(f"/proc/self/fd/{fd}").endswith("/mark"))
    os.pwrite(mark, b'{"stage": "run", "variants": 7}\0', 0)
    os.abort()


def _raise() -> None:
    raise ZeroDivisionError("inside the engine")


def _slow_clock() -> None:
    wire.send(_pipe(), wire.Message("done", {"seconds": {"run": "long"}}))
    time.sleep(60)


def _refuse() -> Failure:
    return Failure("check", "refused", "concat-dims", "`concat` needs equal sizes")


DEEDS: dict[str, Callable[[], Outcome | None]] = {
    "answer": lambda: None,
    "refuse": _refuse,
    "abort": _abort,
    "segfault": _segfault,
    "hang": _hang,
    "sleep": _sleep,
    "nap": _nap,
    "eat memory": _eat_memory,
    "garble": _garble_pipe,
    "flood": _flood_pipe,
    "shout": _shout,
    "fill disk": _fill_disk,
    "exit": lambda: os._exit(3),
    "die": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "close": _close_pipe,
    "spoil mark": _spoil_mark,
    "raise": _raise,
    "real-time": lambda: os.kill(os.getpid(), signal.SIGRTMIN + 2),
    "odd seconds": _slow_clock,
}
