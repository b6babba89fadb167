"""The bench of speed: the command-line tools are asked for what the engine does. No figure is asserted."""

from __future__ import annotations

import subprocess

from bench.speed import PLAIN_PASSES, tool


def test_the_tools_know_every_pass() -> None:
    command = [tool("mlir", "mlir-opt"), f"--pass-pipeline=builtin.module({PLAIN_PASSES})"]
    module = "func.func @f(%x: memref<2xf32>) { return }"
    done = subprocess.run(command, input=module, capture_output=True, text=True, timeout=60, check=True)
    assert "llvm.func @f" in done.stdout
