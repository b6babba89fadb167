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
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The processes share the cores among themselves, so none may start threads of its own; a fixed hash seed keeps what
# they do repeatable.
_ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1") | {
    "PYTHONHASHSEED": "0"
}
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Pipes:
    """A pipe in each direction between two processes; `read_fd` and `write_fd` are this side's ends."""

    def __init__(self) -> None:
        self._their_read, self.write_fd = os.pipe()
        self.read_fd, self._their_write = os.pipe()

    @contextlib.contextmanager
    def theirs(self) -> Iterator[tuple[int, int]]:
        """The other side's ends (read, write), to be handed over; closed here at the end."""
        try:
            yield self._their_read, self._their_write
        finally:
            os.close(self._their_read)
            os.close(self._their_write)

    def close(self) -> None:
        os.close(self.read_fd)
        os.close(self.write_fd)


def start(
    module: str, arguments: Sequence[str], log: Path, folder: Path, fds: Sequence[int]
) -> subprocess.Popen[bytes]:
    """`python -m module arguments..` in `folder` and in a session of its own, stdout and stderr appended to `log`."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": path},
            pass_fds=fds,
            start_new_session=True,
        )


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process started by `start` and its whole group, and wait for it. Harmless when done twice."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


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


def cpu_seconds(pid: int) -> float | None:
    """The processor time of a process and its dead children so far; None where the system does not tell (no /proc)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # utime, stime, cutime, cstime


def last_words(log: Path, size: int = 8 << 10) -> str:
    """The last `size` bytes of a process's log."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - size))
        return stream.read().decode(errors="replace").strip()
