"""The passes as data, and running them: what each stage leaves behind, and who is named when one of them fails."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import mlir
import pytest
from mlir import ir

from compiler import pipeline
from compiler.checker import check
from compiler.lowering import PREFIX, lower
from compiler.parser import parse
from compiler.passrow import STAGES, Stage
from compiler.pipeline import DEFAULT, OURS, Pass, Pipeline, PipelineError
from tests.compiler.built import EXAMPLES, example

MLIR_OPT = Path(mlir.__path__[0]) / "bin" / "mlir-opt"
CONTEXT = ir.Context()
CONTEXT.allow_unregistered_dialects = True


def module(name: str = "storylm0_kv_step") -> ir.Module:
    return lower(check(example(name)), CONTEXT)


def dialects(op: ir.Operation) -> set[str]:
    """The dialects of all ops inside, `builtin` aside."""
    found: set[str] = set()

    def look(inner: ir.Operation) -> ir.WalkResult:
        found.add(inner.name.partition(".")[0])
        return ir.WalkResult.ADVANCE

    op.walk(look)
    return found - {"builtin"}


def check_stage(last: Stage, *gone: str) -> None:
    """At the end of a stage, some dialects are gone; whatever example one takes."""
    for path in sorted(EXAMPLES.glob("*.kina")):
        lowered = module(path.stem)
        pipeline.run(lowered, DEFAULT.until(last))
        assert not dialects(lowered.operation) & set(gone), path


def test_each_stage_completes_its_lowering() -> None:
    check_stage("buffers", "tensor", "bufferization")
    check_stage("loops", "tensor", "bufferization", "linalg", "affine")
    lowered = module()
    pipeline.run(lowered, DEFAULT)
    assert dialects(lowered.operation) == {"llvm"}


def test_stages_ascend_and_until_ends_with_one() -> None:
    order = [STAGES.index(pass_.stage) for pass_ in DEFAULT.passes]
    assert order == sorted(order)
    assert DEFAULT.until("llvm") == DEFAULT
    assert DEFAULT.until("tensor") == Pipeline(())
    assert {pass_.stage for pass_ in DEFAULT.until("loops").passes} == {"buffers", "affine", "loops"}


def test_a_pass_is_named_without_its_options_and_its_nest() -> None:
    names = {
        "cse": "cse",
        "canonicalize{a=1 b={c}}": "canonicalize",
        "func.func(cse)": "cse",
        "func.func(x-y{z=1})": "x-y",
    }
    assert {text: Pass(text, "loops").name for text in names} == names


def test_stock_mlir_opt_takes_the_same_passes() -> None:
    """But for our own, which come last: a bug report needs no Python."""
    texts = [pass_.text for pass_ in DEFAULT.passes]
    assert [pass_.name for pass_ in DEFAULT.passes[-len(OURS) :]] == list(OURS)
    given = f"--pass-pipeline=builtin.module({','.join(texts[: -len(OURS)])})"
    done = subprocess.run(
        [str(MLIR_OPT), given, "--verify-each", "-"], input=str(module()), capture_output=True, text=True, check=True
    )
    expected = module()
    pipeline.run(expected, Pipeline(DEFAULT.passes[: -len(OURS)]))
    assert str(ir.Module.parse(done.stdout, CONTEXT)) == str(expected)


def test_a_slice_of_a_parameter_is_returned_as_a_view() -> None:
    """Section 21, 3: "a view of the logits buffer (not a fresh allocation)"."""
    lowered = module("storylm0_prefill")
    pipeline.run(lowered, DEFAULT.until("buffers"))
    (last_logits,) = re.findall(r"func\.func @kina_last_logits.*?\n  }", str(lowered), re.DOTALL)
    assert "memref.subview" in last_logits
    assert not re.search(r"alloc|copy|clone", last_logits)


def test_only_the_interfaces_are_exported() -> None:
    """So that no fn can take the place of a C function, whatever its name."""
    lowered = module("storylm0_prefill")
    pipeline.run(lowered, DEFAULT)
    defined = [op for op in lowered.body if op.operation.name == "llvm.func" and any(op.regions[0])]
    exported = {
        str(op.attributes["sym_name"].value) for op in defined if "internal" not in str(op.attributes["linkage"])
    }
    fns = ["prefill", "last_logits", "decode_s3", "greedy_one", "main"]
    assert exported == {f"_mlir_ciface_{name}" for name in (PREFIX + fn for fn in fns)}


UNKNOWN = (
    'func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n %y = "who.knows"(%x) : (tensor<2xf32>) -> tensor<2xf32>\n'
)


def check_fails(text: str, passes: Pipeline, name: str, kind: str, *facts: str) -> None:
    with pytest.raises(PipelineError) as failed:
        pipeline.run(ir.Module.parse(text, CONTEXT), passes)
    assert (failed.value.pass_name, failed.value.kind) == (name, kind)
    for fact in (name, *facts):
        assert fact in str(failed.value)


def test_a_pass_that_says_no_is_named_with_its_words() -> None:
    text = f"{UNKNOWN} return %y : tensor<2xf32>\n}}"
    check_fails(text, DEFAULT, "one-shot-bufferize", "refused", "op was not bufferized", "who.knows")


@pytest.mark.parametrize(
    ("text", "name", "fact"),
    [
        ("no-such-pass", "no-such-pass", "does not refer to a registered pass"),
        ("func.func(no-such-pass)", "no-such-pass", "does not refer to a registered pass"),
        ("canonicalize{no-such-option=1}", "canonicalize", "no such option no-such-option"),
        ("canonicalize{", "canonicalize", "missing closing '}'"),
    ],
)
def test_a_pass_that_there_is_not_is_named(text: str, name: str, fact: str) -> None:
    check_fails(EMPTY, Pipeline((Pass("cse", "loops"), Pass(text, "loops"))), name, "refused", fact)


def _drop_terminators(op: ir.Operation) -> None:
    for function in op.regions[0].blocks[0]:
        function.regions[0].blocks[0].operations[-1].operation.erase()


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Pass:
    """A pass that leaves functions without their ends."""
    monkeypatch.setitem(OURS, "break-ends", _drop_terminators)
    return Pass("break-ends", "loops")


EMPTY = "func.func @f() { return }"


@pytest.mark.parametrize("before", [(), ("cse",), ("cse", "canonicalize")])
def test_the_pass_that_broke_the_module_is_named_not_the_last(before: tuple[str, ...], breaking: Pass) -> None:
    """Verifying comes at the end, the blame does not."""
    passes = (*(Pass(text, "loops") for text in before), breaking, Pass("symbol-privatize", "loops"))
    check_fails(EMPTY, Pipeline(passes), "break-ends", "invalid-ir", "terminator")


def test_a_pass_that_says_no_to_what_another_one_broke_is_not_blamed(
    breaking: Pass, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(op: ir.Operation) -> None:
        ir.Module.parse("no such op", op.context)

    monkeypatch.setitem(OURS, "refuse", refuse)
    check_fails(EMPTY, Pipeline((breaking, Pass("refuse", "loops"))), "break-ends", "invalid-ir", "terminator")


def test_a_pass_of_ours_may_say_no(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(op: ir.Operation) -> None:
        ir.Module.parse("no such op", op.context)

    monkeypatch.setitem(OURS, "refuse", refuse)
    check_fails(EMPTY, Pipeline((Pass("refuse", "loops"),)), "refuse", "refused")


def test_a_pass_that_reports_an_error_and_succeeds_is_no_failure() -> None:
    """Layouts that are not the identity are beyond affine-super-vectorize: it says so, and leaves the loop as it is."""
    added = "default + convert-linalg-to-affine-loops + affine-super-vectorize{virtual-vector-size=4}"
    lowered = module()
    pipeline.run(lowered, pipeline.parse(added))
    assert dialects(lowered.operation) == {"llvm"}
    assert not CONTEXT.emit_error_diagnostics


def test_what_added_passes_blow_up_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "MOST_OPS", 20)
    pipeline.run(module(), DEFAULT)
    check_fails(str(module()), pipeline.parse("default + loops:cse"), "growth", "refused", "at most 20")


def test_what_doubles_again_and_again_is_refused_before_it_takes_for_ever() -> None:
    peeled = " + scf-for-loop-peeling{peel-front=true}" * 12
    text = "let f = fn(x: tensor<F32, [9, 9, 9, 9], @host>) -> tensor<F32, [9, 9, 9, 9], @host> { exp(x) }"
    lowered = lower(check(parse(text)), CONTEXT)
    seen: list[str] = []
    with pytest.raises(PipelineError) as failed:
        pipeline.run(lowered, pipeline.parse(f"default{peeled}"), seen.append)
    assert (failed.value.pass_name, failed.value.kind) == ("growth", "refused")
    assert seen[-1] == "scf-for-loop-peeling", "the passes after it take as long as there are ops"


def test_the_pass_at_work_is_told_before_it_runs() -> None:
    seen: list[str] = []
    pipeline.run(ir.Module.parse(EMPTY, CONTEXT), pipeline.parse("default + cf:sccp"), seen.append)
    assert seen == [pass_.name for pass_ in pipeline.parse("default + cf:sccp").passes]


def test_with_added_passes_each_one_is_verified(breaking: Pass) -> None:
    """So that what follows a broken one is not blamed for what it makes of it."""
    (item,) = pipeline.parse("default + loops:cse").added
    passes = Pipeline((breaking, Pass("no-such-pass", "loops")), (item,))
    check_fails(EMPTY, passes, "break-ends", "invalid-ir", "terminator")


def test_passes_are_parsed_once_for_a_context() -> None:
    text = str(module())
    pipeline.run(ir.Module.parse(text, CONTEXT), DEFAULT)
    parsed = pipeline._manager.cache_info().misses
    pipeline.run(ir.Module.parse(text, CONTEXT), DEFAULT)
    assert pipeline._manager.cache_info().misses == parsed


def test_the_default_pipeline_takes_an_empty_program() -> None:
    empty = lower(check(parse("")), CONTEXT)
    pipeline.run(empty, DEFAULT)
    assert not list(empty.body)
