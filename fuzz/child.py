"""The sandbox child: `python -m fuzz.child READ_FD WRITE_FD ENGINE MEMORY_BYTES FILE_BYTES`. One engine, warm.

The only process in which a program is compiled or run. It confines itself before it imports the engine, answers
requests until its pipe closes, and dies with its parent. It knows neither torch nor Hypothesis. The side that starts
it, and that turns its death into an outcome, is `sandbox`.
"""

from __future__ import annotations

import faulthandler
import importlib
import sys
import time
from typing import cast

from fuzz import wire
from fuzz.engines import Engine, Request
from fuzz.outcomes import message_of
from fuzz.process import confine


def main() -> None:
    """Serve requests until the pipe closes."""
    read_fd, write_fd, memory, file_size = map(int, (*sys.argv[1:3], *sys.argv[4:6]))
    confine(memory, file_size)
    faulthandler.enable()  # a crash leaves the Python stack in the log, and with it what was at work
    engine = cast(Engine, importlib.import_module(sys.argv[3]))
    wire.send(write_fd, wire.Message("ready", {"builds": engine.BUILDS}))
    while True:
        try:
            message = wire.receive(read_fd)
        except wire.Closed:
            return
        _serve(engine, message, write_fd)


class _Clock:
    """Sends the progress marks and adds up the seconds of each stage."""

    def __init__(self, write_fd: int) -> None:
        self.write_fd, self.seconds = write_fd, dict[str, float]()
        self.stage, self.since = "", time.perf_counter()

    def __call__(self, stage: str, variants: tuple[str, ...]) -> None:
        self.stop()
        self.stage = stage
        wire.send(self.write_fd, wire.Message("progress", {"stage": stage, "variants": variants}))

    def stop(self) -> None:
        now = time.perf_counter()
        if self.stage:
            self.seconds[self.stage] = self.seconds.get(self.stage, 0.0) + now - self.since
        self.stage, self.since = "", now


def _serve(engine: Engine, message: wire.Message, write_fd: int) -> None:
    fields = message.fields
    request = Request(fields["text"], fields["pipeline"], tuple(fields["variants"]), message.arrays)
    clock = _Clock(write_fd)
    for variant, outcome in engine.run_case(request, clock):
        wire.send(write_fd, message_of(variant, outcome))
    clock.stop()
    wire.send(write_fd, wire.Message("done", {"seconds": clock.seconds}))


if __name__ == "__main__":
    main()
