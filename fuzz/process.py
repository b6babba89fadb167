"""Starting, confining and ending the processes of a campaign. Every one has a private pipe in each direction.

What goes through the pipes is `wire`'s business; what the processes do is `lane`'s and `child`'s.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The processes share the cores among themselves, so none may start threads of its own; a fixed hash seed keeps what
# they do repeatable.
_ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1") | {
    "PYTHONHASHSEED": "0"
}
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(slots=True)
class Worker:
    """A process in a session of its own, and this side's ends of its pipes (-1 once closed)."""

    process: subprocess.Popen[bytes]
    read_fd: int
    write_fd: int


def spawn(
    module: str, arguments: Sequence[str], log: Path, folder: Path, environment: Mapping[str, str] | None = None
) -> Worker:
    """`python -m module READ_FD WRITE_FD arguments..` in `folder`, its stdout and stderr appended to `log`."""
    their_read, write_fd = os.pipe()
    read_fd, their_write = os.pipe()
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    try:
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", module, str(their_read), str(their_write), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=folder,
                env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": path, **(environment or {})},
                pass_fds=(their_read, their_write),
                start_new_session=True,
            )
    finally:
        os.close(their_read)
        os.close(their_write)
    return Worker(process, read_fd, write_fd)


def kill(worker: Worker) -> None:
    """Kill the process and its whole group, wait for it and close the pipes. Harmless when done twice."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.wait()
    for fd in {worker.read_fd, worker.write_fd} - {-1}:
        os.close(fd)
    worker.read_fd = worker.write_fd = -1


def die_with_parent() -> None:
    """Ask the kernel for SIGKILL when the parent dies. Elsewhere than on Linux the end of the pipe has to do."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died in between
        os.kill(os.getpid(), signal.SIGKILL)


def confine(memory: int, file_size: int) -> None:
    """Limit this process: address space and file size in bytes, no core dumps, death with the parent."""
    die_with_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def last_words(log: Path, size: int = 8 << 10) -> str:
    """The last `size` bytes of a process's log."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - size))
        return stream.read().decode(errors="replace").strip()
