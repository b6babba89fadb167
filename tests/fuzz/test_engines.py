"""The Kina compiler as an engine, in this process: all variants, and what each kind of failure becomes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler import backend, llvm, pipeline
from fuzz.engines import Request, kina
from oracles.engine import Array, Failure, Observation, Outcome

VARIANTS = tuple(variant for build in kina.BUILDS for variant in build)
INPUTS: dict[str, Array] = {"x": np.array([[1.5, -2], [0, 4]], np.float32), "ids": np.array([1, 0, 1], np.int64)}
PROGRAM = """
let pair = fn(x: tensor<F32, [2, 2], @host>) -> (tensor<F32, [2, 2], @host>, tensor<F32, [2, 1], @host>) {
  (x + x, slice(x, axis=1, start=0, stop=1))
}
@main {
  let x = tensor<F32, [2, 2], @host>;
  let ids = tensor<I64, [3], @host>;
  let (twice, left) = pair(x);
  let rows = gather(twice, ids);
  let best = argmax(rows, axis=1);
  let unseen = rows + rows;
  (x, rows, pair(x @ x), best)
}
"""


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    """Each test compiles anew."""
    kina.forget()


def run(
    text: str, variants: tuple[str, ...] = VARIANTS, inputs: dict[str, Array] = INPUTS, pipeline: str = "default"
) -> dict[str, Outcome]:
    return dict(kina.run_case(Request(text, pipeline, variants, inputs), lambda *_: None))


def check_failure(outcomes: dict[str, Outcome], stage: str, symptom: str, culprit: str, words: str) -> None:
    """All variants failed alike."""
    assert set(outcomes) == set(VARIANTS)
    for outcome in outcomes.values():
        assert isinstance(outcome, Failure)
        assert (outcome.stage, outcome.symptom, outcome.culprit) == (stage, symptom, culprit)
        assert words in outcome.message


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    return run(PROGRAM)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_computes_the_program(variant: str, outcomes: dict[str, Outcome]) -> None:
    outcome = outcomes[variant]
    assert isinstance(outcome, Observation)
    x, ids = INPUTS["x"], INPUTS["ids"]
    rows = (x + x)[ids]
    expected = (x, rows, x @ x + x @ x, (x @ x)[:, :1], np.argmax(rows, axis=1))
    for result, wanted in zip(outcome.results, expected, strict=True):
        assert result.dtype == wanted.dtype
        np.testing.assert_array_equal(result, wanted)


def test_a_stepped_run_shows_every_let_a_whole_one_those_it_returns(outcomes: dict[str, Outcome]) -> None:
    stepped, whole = outcomes["so/stepped"], outcomes["so/whole"]
    assert isinstance(stepped, Observation)
    assert isinstance(whole, Observation)
    assert set(stepped.lets) == {"x", "ids", "twice", "left", "rows", "best", "unseen"}
    assert set(whole.lets) == {"x", "rows", "best"}
    for outcome in (stepped, whole):
        assert outcome.results[1] is outcome.lets["rows"]
        np.testing.assert_array_equal(outcome.results[4], outcome.lets["best"])


def test_the_host_rounds_to_the_dtype_after_each_of_its_ops() -> None:
    text = "@main { let a = tensor<F32, [1], @host>; let b = a + a * a; (b) }"
    a = np.array([1 + 2**-20], np.float32)
    outcome = run(text, ("jit-O0/stepped",), {"a": a})["jit-O0/stepped"]
    assert isinstance(outcome, Observation)
    np.testing.assert_array_equal(outcome.lets["b"], a + a * a)


def test_callers_arrays_are_not_written() -> None:
    before = {name: array.copy() for name, array in INPUTS.items()}
    run(PROGRAM, ("jit-O0/whole",))
    for name, array in INPUTS.items():
        np.testing.assert_array_equal(array, before[name])


def test_progress_tells_what_would_be_lost() -> None:
    marks: list[tuple[str, tuple[str, ...]]] = []
    wanted = ("jit-O0/whole", "so/stepped", "so/whole")

    def progress(stage: str, variants: tuple[str, ...], culprit: str = "") -> None:
        marks.append((stage, variants)) if not culprit else None

    for _ in kina.run_case(Request(PROGRAM, "default", wanted, INPUTS), progress):
        continue
    assert [stage for stage, _ in marks] == [
        "parse",
        "check",
        "lower",
        "passes",
        "codegen",
        "run",
        "codegen",
        *["run"] * 2,
    ]
    assert {variants for _, variants in marks[:4]} == {wanted}
    assert [variants for _, variants in marks[4:]] == [wanted[:1], wanted[:1], wanted[1:], wanted[1:2], wanted[2:]]


def test_a_program_that_does_not_parse() -> None:
    check_failure(run("@main { let x = ; }"), "parse", "refused", "syntax", "expected")


def test_a_program_that_does_not_check() -> None:
    text = "@main { let x = tensor<F32, [2], @host>; (x @ x) }"
    check_failure(run(text), "check", "refused", "matmul-rank", "`@` needs operands of one rank")


def raising(error: Exception) -> Callable[..., None]:
    def function(*_: object, **__: object) -> None:
        raise error

    return function


@pytest.mark.parametrize(
    ("module", "name", "error", "expected"),
    [
        (kina, "lower", AssertionError("a bug"), ("lower", "crash", "", "AssertionError: a bug")),
        (pipeline, "run", pipeline.PipelineError("cse", "invalid-ir", "bad"), ("passes", "invalid-ir", "cse", "bad")),
        (pipeline, "run", pipeline.PipelineError("cse", "refused", "no"), ("passes", "refused", "cse", "no")),
        (pipeline, "run", MemoryError(), ("passes", "oom", "", "MemoryError")),
        (llvm, "object_code", llvm.InvalidModule("no such type"), ("codegen", "invalid-ir", "", "no such type")),
        (llvm, "object_code", llvm.LlvmError("no such target"), ("codegen", "crash", "", "no such target")),
    ],
)
def test_what_the_compiler_raises_becomes_a_failure(
    module: object, name: str, error: Exception, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, raising(error))
    check_failure(run(PROGRAM), *expected)


def test_a_build_that_fails_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "build_so", raising(backend.BackendError("`cc` cannot link")))
    outcomes = run(PROGRAM)
    for variant, outcome in outcomes.items():
        if variant.startswith("so/"):
            assert isinstance(outcome, Failure)
            assert (outcome.stage, outcome.symptom) == ("codegen", "crash")
        else:
            assert isinstance(outcome, Observation)


def test_a_run_that_fails_leaves_the_other_mode_alone() -> None:
    outcomes = run("@main { let x = tensor<F32, [2], @host>; (x) }", VARIANTS[:2], {"x": np.zeros(3, np.float32)})
    stepped, whole = outcomes["jit-O0/stepped"], outcomes["jit-O0/whole"]
    assert isinstance(stepped, Observation)
    assert isinstance(whole, Failure)
    assert (whole.stage, whole.symptom) == ("run", "crash")


def test_no_file_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run(PROGRAM, ("so/whole",))
    assert list(tmp_path.iterdir()) == []


def marks(text: str, inputs: dict[str, Array], pipeline: str = "default") -> list[str]:
    """The stages that were gone through, and the passes."""
    seen: list[str] = []

    def progress(stage: str, variants: tuple[str, ...], culprit: str = "") -> None:
        seen.append(culprit or stage)

    for _ in kina.run_case(Request(text, pipeline, VARIANTS[:2], inputs), progress):
        continue
    return seen


def names(text: str) -> list[str]:
    return [pass_.name for pass_ in pipeline.parse(text).passes]


ONCE = ["parse", "check", "lower", "passes", *names("default"), "codegen", "run", "run"]


def test_a_program_that_comes_again_is_not_compiled_again() -> None:
    assert marks("// inputs: x = exact seed 1\n" + PROGRAM, INPUTS) == ONCE
    other = INPUTS | {"x": -INPUTS["x"]}
    assert marks("// inputs: x = exact seed 2\n" + PROGRAM, other) == ["run", "run"]
    again = run(PROGRAM, ("jit-O0/whole", "so/whole"), other)
    for outcome in again.values():
        assert isinstance(outcome, Observation)
        np.testing.assert_array_equal(outcome.lets["rows"], (2 * other["x"])[INPUTS["ids"]])
    assert marks(PROGRAM.replace("rows + rows", "rows"), INPUTS) == ONCE
    assert len(kina._LATEST) == 1


def test_another_pipeline_begins_with_the_program_on_tensors() -> None:
    drawn = "default + tensor:cse + convert-linalg-to-affine-loops + affine-scalrep"
    assert marks(PROGRAM, INPUTS) == ONCE
    assert marks(PROGRAM, INPUTS, drawn) == ["passes", *names(drawn), "codegen", "run", "run"]
    assert marks(PROGRAM, INPUTS, drawn) == ["run", "run"]
    assert marks(PROGRAM, INPUTS) == ["passes", *names("default"), "codegen", "run", "run"]


def test_a_pipeline_that_there_is_not() -> None:
    check_failure(run(PROGRAM, pipeline="default + cze"), "passes", "refused", "pipeline", "did you mean `cse`?")


def test_a_pipeline_that_fails_leaves_the_next_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(pipeline, "run", raising(pipeline.PipelineError("cse", "refused", "no")))
        check_failure(run(PROGRAM, pipeline="default + tensor:cse"), "passes", "refused", "cse", "no")
    assert isinstance(run(PROGRAM, VARIANTS[:1], pipeline="default + tensor:cse")[VARIANTS[0]], Observation)
