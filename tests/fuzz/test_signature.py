"""Two messages of one bug have one Signature, messages of two bugs have two."""

from __future__ import annotations

import pytest

from fuzz.signature import normalise, signature_of
from oracles.verdict import Disagree, Signature

ASSERTION = (
    "python3: /build/llvm-project/mlir/lib/Dialect/Affine/Utils/LoopFusionUtils.cpp:317: "
    'void mlir::affine::fuse(unsigned int, int): Assertion `op && "no parent op"\' failed.'
)
DUMP = "PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/ and include the crash backtrace."


def check_message(message: str, normal: str) -> None:
    assert normalise(message) == normal
    assert normalise(normal) == normal


def check_same(*messages: str) -> None:
    assert len({normalise(message) for message in messages}) == 1


def check_distinct(*messages: str) -> None:
    assert len({normalise(message) for message in messages}) == len(messages)


@pytest.mark.parametrize(
    ("message", "normal"),
    [
        ("", ""),
        ("\n  \n", ""),
        ("exit status 3", "exit status N"),
        ("signal 11 at 0x7f12a0", "signal N at N"),
        (ASSERTION, 'Assertion `op && "no parent op"\' failed.'),
        (f"{DUMP}\n{ASSERTION}\n #0 0x000055d0 main", 'Assertion `op && "no parent op"\' failed.'),
        (
            "error: 'linalg.generic' op expected 3 operands, got %arg0 : tensor<1x2x2x4xf32>",
            "error: 'linalg.generic' op expected N operands, got %_ : tensor<f32>",
        ),
        (
            "runs/7/case.mlir:12:5: error: 'memref.subview' op result memref<2x3xf32, strided<[6, 1], offset: 4>>",
            "error: 'memref.subview' op result memref<f32>",
        ),
        (
            "`concat` on axis 3 needs equal sizes on every other axis, got 2 and 3 on axis 1",
            "`concat` on axis N needs equal sizes on every other axis, got N on axis N",
        ),
    ],
)
def test_what_stays_of_a_message(message: str, normal: str) -> None:
    check_message(message, normal)


@pytest.mark.parametrize(
    "piece", ["a", "a/", "[1 ", "(1 ", "1,", "1", "N:", "loc(", "tensor<", "tensor<1x", "é.", "\x1b["]
)
def test_a_hostile_line_takes_no_time(piece: str) -> None:
    """Rules that look at all of it would take hours; the assertion's text is found wherever it stands."""
    line = piece * (400_000 // len(piece))
    assert len(normalise(line)) <= 200
    assert len(normalise(f"error: {line}")) <= 200
    assert normalise(f"f({line}): Assertion `op' failed.") == "Assertion `op' failed."


def test_the_name_of_the_let_does_not_matter() -> None:
    words = "'linalg.generic' op inferred input/output operand #1 has shape's dimension #0 to be 2, but found 3"
    check_same(f'error: "q_flat": {words}', f'error: "a b": {words}', f"error: {words}")


def test_shapes_and_ranks_do_not_matter() -> None:
    check_same(
        "error: 'tensor.insert_slice' op expected type to be 'tensor<1x2xf32>', got [1, 2]",
        "error: 'tensor.insert_slice' op expected type to be 'tensor<3x2x4xf32>', got [3, 2, 4]",
    )


def test_names_and_machines_do_not_matter() -> None:
    check_same(ASSERTION, ASSERTION.replace("/build/llvm-project", "/home/me/src").replace("317", "320"))
    check_same("error: symbol @decode_s3 in %12#1", "error: symbol @prefill in %arg4")
    check_same("Stack dump: 0x00007ffd in /opt/a/b/libMLIR.so", "Stack dump: 0x00006ffe in /usr/lib/libMLIR.so")


def test_words_dtypes_and_ops_do_matter() -> None:
    check_distinct(
        "error: 'linalg.generic' op expected 3 operands",
        "error: 'linalg.matmul' op expected 3 operands",
        "error: 'linalg.generic' op expected 3 results",
        "error: 'arith.addf' op operand tensor<2xf32>",
        "error: 'arith.addf' op operand tensor<2xf16>",
    )
    check_distinct(ASSERTION, ASSERTION.replace("no parent op", "no block"))


def test_the_signature_of_a_verdict() -> None:
    crash = Disagree("passes", "crash", "affine-loop-fusion", ASSERTION)
    assert signature_of(crash) == Signature("passes", "crash", "affine-loop-fusion", normalise(ASSERTION))


def test_the_signature_of_a_wrong_value_has_no_numbers() -> None:
    first = Disagree("run", "wrong-value", "concat", "k4[0, 1] = 0.5, allowed 0.25", value="k4", index=(0, 1))
    second = Disagree("run", "wrong-value", "concat", "k9[2, 3] = 7, allowed 0.125", value="k9", index=(2, 3))
    assert signature_of(first) == signature_of(second) == Signature("run", "wrong-value", "concat", "")
