"""Births and deaths of sandbox children, from the side that asks for them.

A `Nursery` is a process that has imported one engine and forks a child on demand, so that a crash costs milliseconds
and not another import of MLIR. What the nursery and its children do is `child`'s; what a child is asked, and what its
death means, is `sandbox`'s.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz import mark
from fuzz.process import Pipes, kill_group, last_words, start

# Orders and answers are JSON and strictly one after the other; a local socket delivers what is this short in one piece.
LONGEST_ORDER = 8192
_START_SECONDS = 60.0  # importing MLIR takes half a second; the rest is for a machine that swaps
_ANSWER_SECONDS = 30.0
_REAP_SECONDS = 5.0


class SandboxError(Exception):
    """No child can be had: the environment or the engine's module is at fault, not a case. Has the nursery's words."""


@dataclass(slots=True)
class Child:
    """A child, this side's ends of its pipes, its mark, and the folder that holds its log and what it writes."""

    pid: int
    pipes: Pipes
    mark_fd: int
    folder: Path
    cases: int = 0
    reaped: bool = False

    @property
    def log(self) -> Path:
        return self.folder / "child.log"


class Nursery:
    """A process that has imported `engine`, a module's name, started at once. `folder` holds all that it makes."""

    def __init__(self, engine: str, memory: int, file_size: int, folder: Path) -> None:
        self._engine, self._folder = engine, Path(tempfile.mkdtemp(prefix="kina-", dir=folder))
        self._log = self._folder / "nursery.log"
        self._builds: tuple[tuple[str, ...], ...] = ()
        self._socket, theirs = socket.socketpair()
        with theirs:
            arguments = [str(theirs.fileno()), engine, str(memory), str(file_size)]
            self._process = start("fuzz.child", arguments, self._log, self._folder, (theirs.fileno(),))

    @property
    def builds(self) -> tuple[tuple[str, ...], ...]:
        """The engine's variants, grouped by what one compilation serves. Raises `SandboxError`."""
        if not self._builds:
            self._builds = tuple(map(tuple, self._answer(_START_SECONDS)))
        return self._builds

    def birth(self) -> Child:
        """A new child. Raises `SandboxError`."""
        self.builds  # noqa: B018 (the first thing it says)
        with contextlib.ExitStack() as made:
            folder = Path(tempfile.mkdtemp(prefix="child-", dir=self._folder))
            made.callback(shutil.rmtree, folder, ignore_errors=True)
            pipes = Pipes()
            made.callback(pipes.close)
            mark_fd = mark.new(folder)
            made.callback(os.close, mark_fd)
            with pipes.theirs() as theirs, (folder / "child.log").open("ab") as log:
                pid: int = self._ask({"folder": str(folder)}, (*theirs, mark_fd, log.fileno()))
            made.pop_all()
        return Child(pid, pipes, mark_fd, folder)

    def exit_status(self, child: Child, seconds: float) -> int | None:
        """How the child ended (negative: by which signal), or None if it goes on living for `seconds`."""
        try:
            status: int | None = self._ask({"pid": child.pid, "seconds": seconds})
        except SandboxError:  # the nursery is dead, and its children died with it
            return -signal.SIGKILL
        child.reaped = status is not None
        return status

    def kill(self, child: Child) -> None:
        """Kill the child and its process group, and wait for its end. Harmless when it is dead."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # a linker that it started, too
        if not child.reaped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)  # it may have had no group of its own yet
            self.exit_status(child, _REAP_SECONDS)  # or it would stay as a zombie

    def end(self, child: Child) -> None:
        """Kill the child, close its pipes, remove its folder."""
        self.kill(child)
        child.pipes.close()
        os.close(child.mark_fd)
        shutil.rmtree(child.folder, ignore_errors=True)

    def close(self) -> None:
        """End the nursery; its children die with it."""
        self._socket.close()
        kill_group(self._process)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(self, order: dict[str, str | int | float], fds: Sequence[int] = ()) -> Any:  # noqa: ANN401 (JSON)
        try:
            socket.send_fds(self._socket, [json.dumps(order).encode()], fds)
        except OSError as error:
            raise self._gone(error) from error
        return self._answer(_ANSWER_SECONDS)

    def _answer(self, seconds: float) -> Any:  # noqa: ANN401 (JSON)
        try:
            self._socket.settimeout(seconds)
            answer = self._socket.recv(LONGEST_ORDER)
            if not answer:
                raise EOFError("it ended without an answer")
            return json.loads(answer)
        except (OSError, ValueError, EOFError) as error:
            raise self._gone(error) from error

    def _gone(self, error: Exception) -> SandboxError:
        """Ends the nursery: an answer that came after all would be taken for that to the next order."""
        self._socket.close()
        kill_group(self._process)
        return SandboxError(f"the engine `{self._engine}` does not start ({error!r})\n{last_words(self._log)}")
