"""The MLIR of every example, word for word, and that stock `mlir-opt` accepts it.

`tests/golden/mlir/NAME.mlir` is what `python -m compiler emit --stage mlir` prints of `compiler/examples/NAME.kina`.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import mlir
import pytest
from mlir import ir

from compiler.checker import check
from compiler.lowering import lower
from tests.compiler.built import EXAMPLES, example

GOLDEN = Path("tests/golden/mlir")
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.kina"))
MLIR_OPT = Path(mlir.__path__[0]) / "bin" / "mlir-opt"


def emitted(name: str) -> str:
    return str(lower(check(example(name)), ir.Context()))


def bless() -> None:
    """Rewrites the golden files from what the compiler emits now."""
    for path in GOLDEN.glob("*.mlir"):
        path.unlink()
    for name in NAMES:
        (GOLDEN / f"{name}.mlir").write_text(emitted(name))


def verified(text: str) -> subprocess.CompletedProcess[str]:
    command = [str(MLIR_OPT), "--verify-each", "--canonicalize", "-"]  # a pass after which there is something to verify
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)


def check_results(name: str, fn: str, results: str) -> None:
    """The golden file's result types of a fn, as its section states them."""
    text = (GOLDEN / f"{name}.mlir").read_text()
    found = re.search(rf"func\.func @kina_{fn}\(.*\) -> (.*) attributes", text)
    assert found, f"{name}.mlir has no {fn}"
    assert found[1] == results


def test_no_golden_file_is_left_over() -> None:
    assert sorted(path.stem for path in GOLDEN.iterdir()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_golden(name: str) -> None:
    assert emitted(name) == (GOLDEN / f"{name}.mlir").read_text(), "look at the change, then `make bless`"


@pytest.mark.parametrize("name", NAMES)
def test_mlir_opt_accepts(name: str) -> None:
    done = verified((GOLDEN / f"{name}.mlir").read_text())
    assert done.returncode == 0, done.stderr


def test_mlir_opt_refuses_another_type() -> None:
    """So that to be accepted means something."""
    text = (GOLDEN / "storylm0_kv_step.mlir").read_text()
    assert verified(text.replace("tensor<1x2x2x4xf32>", "tensor<1x2x2x5xf32>", 1)).returncode != 0


def test_results_of_section_19() -> None:
    check_results("storylm0_kv_step", "kv_step", "(tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x2x1x2xf32>)")


def test_results_of_section_20() -> None:
    name = "storylm0_generate"
    check_results(name, "decode_self", "(tensor<1x2x2x1xf32>, tensor<1x2x1x2xf32>, tensor<1x1x8xf32>)")
    check_results(name, "decode_s1", "(tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x1x8xf32>)")
    check_results(name, "decode_s2", "(tensor<1x2x2x3xf32>, tensor<1x2x3x2xf32>, tensor<1x1x8xf32>)")
    check_results(name, "greedy_one", "tensor<1x1xi64>")


def test_results_of_section_21() -> None:
    name = "storylm0_prefill"
    check_results(name, "prefill", "(tensor<1x2x2x3xf32>, tensor<1x2x3x2xf32>, tensor<1x3x8xf32>)")
    check_results(name, "last_logits", "tensor<1x1x8xf32>")
    check_results(name, "decode_s3", "(tensor<1x2x2x4xf32>, tensor<1x2x4x2xf32>, tensor<1x1x8xf32>)")
    check_results(name, "greedy_one", "tensor<1x1xi64>")
