"""Which rewrite patterns MLIR tries on a program: `python -m compiler.actions PIPELINE`, its text on standard input.

Prints one name a line, from the log of actions that `mlir-opt` keeps. Whether a pattern that was tried also applied,
the log does not say. A pattern is named by its C++ type and the op that it was tried on. The process confines itself.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

import mlir
from mlir import ir

from compiler.checker import check
from compiler.lowering import lower
from compiler.parser import parse
from compiler.passtext import parse_items
from compiler.pipeline import OURS, compose

MEMORY = 4 << 30  # bytes, for this process and for mlir-opt each
SECONDS = 60
_TOOL = Path(mlir.__path__[0]) / "bin" / "mlir-opt"
_TRIED = re.compile(r"Action `apply-pattern pattern: (.+?) \((?:%\S+(?:, %\S+)* = )?\"?([\w.]+)")


def main() -> None:
    """The command."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    print("\n".join(tried(sys.stdin.read(), sys.argv[1])))


def tried(text: str, pipeline: str) -> list[str]:
    """The names, sorted. Empty where the tool fails on the program, which is not what it is asked about here."""
    module = str(lower(check(parse(text)), ir.Context()))
    passes = ",".join(one.text for one in compose(parse_items(pipeline)).passes if one.name not in OURS)
    command = [str(_TOOL), "--mlir-disable-threading", "--log-actions-to=-", "-o", "/dev/null"]
    command.append(f"--pass-pipeline=builtin.module({passes})")
    done = subprocess.run(command, input=module, capture_output=True, text=True, timeout=SECONDS, check=False)
    return sorted({f"{name} {op}" for name, op in _TRIED.findall(done.stdout)})


if __name__ == "__main__":
    main()
