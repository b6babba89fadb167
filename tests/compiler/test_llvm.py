"""LLVM by its C interface: what it refuses is said, several modules live side by side, no subnormal is flushed."""

from __future__ import annotations

import ctypes
from contextlib import closing

import ml_dtypes
import numpy as np
import pytest
from mlir import ir

from compiler import backend, llvm, pipeline
from compiler.checker import check, signature
from compiler.lowering import lower
from compiler.parser import parse

CONTEXT = ir.Context()


def answering(number: int) -> ir.Module:
    text = f"llvm.func @answer() -> i32 {{\n %n = llvm.mlir.constant({number} : i32) : i32\n llvm.return %n : i32\n}}"
    return ir.Module.parse(text, CONTEXT)


def call(jit: int) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int32)(llvm.find(jit, "answer"))())


@pytest.mark.parametrize("level", range(4))
def test_an_object_file_is_made_at_every_level_and_the_module_stays(level: int) -> None:
    module = answering(42)
    before = str(module)
    code = llvm.object_code(module, level)
    assert code.startswith(b"\x7fELF")
    assert str(module) == before
    assert code == llvm.object_code(module, level)


def test_the_levels_are_levels() -> None:
    text = "let f = fn(x: tensor<F32, [9, 9], @host>) -> tensor<F32, [9, 9], @host> { x @ x }"
    module = lower(check(parse(text)), CONTEXT)
    pipeline.run(module, pipeline.DEFAULT)
    assert llvm.object_code(module, 0) != llvm.object_code(module, 2)


def test_modules_with_the_same_symbols_live_in_two_jits_and_in_one_after_the_other() -> None:
    jits = [llvm.new_jit(), llvm.new_jit()]
    added = [llvm.add(jit, llvm.object_code(answering(n), 0)) for jit, n in zip(jits, (1, 2), strict=True)]
    assert [call(jit) for jit in jits] == [1, 2]
    llvm.remove(added[0])
    llvm.add(jits[0], llvm.object_code(answering(3), 0))
    assert [call(jit) for jit in jits] == [3, 2]


def test_a_symbol_that_is_not_there_or_there_twice_is_named() -> None:
    jit = llvm.new_jit()
    with pytest.raises(llvm.LlvmError, match="no_such_symbol"):
        llvm.find(jit, "no_such_symbol")
    llvm.add(jit, llvm.object_code(answering(1), 0))
    with pytest.raises(llvm.LlvmError, match="answer"):
        llvm.add(jit, llvm.object_code(answering(2), 0))


def calling(name: str) -> ir.Module:
    text = f"llvm.func @{name}() -> i32\nllvm.func @answer() -> i32 {{\n %n = llvm.call @{name}() : () -> i32\n"
    return ir.Module.parse(f"{text} llvm.return %n : i32\n}}", CONTEXT)


def test_what_cannot_be_linked_is_named_and_the_jit_goes_on() -> None:
    jit = llvm.new_jit()
    added = llvm.add(jit, llvm.object_code(calling("nowhere_to_be_found"), 0))
    with pytest.raises(llvm.LlvmError, match="nowhere_to_be_found"):
        llvm.find(jit, "answer")
    llvm.remove(added)
    llvm.add(jit, llvm.object_code(answering(5), 0))
    assert call(jit) == 5


def test_the_text_of_a_module_is_llvm_s() -> None:
    assert "define i32 @answer() {\n  ret i32 42\n}" in llvm.ir_text(answering(42))


def test_a_module_without_a_translation_is_refused() -> None:
    module = ir.Module.parse("func.func @f() { return }", CONTEXT)
    with pytest.raises(llvm.InvalidModule, match=r"no translation to LLVM IR[\s\S]*func\.func"):
        llvm.object_code(module, 0)


def test_what_llvm_s_verifier_refuses_is_said() -> None:
    """MLIR's verifier lets a function return a value that LLVM's calling convention has no place for."""
    text = "llvm.func amdgpu_kernelcc @f() -> i32 {\n %n = llvm.mlir.constant(1 : i32) : i32\n llvm.return %n : i32\n}"
    with pytest.raises(llvm.InvalidModule, match="error: LLVM's verifier: Calling convention requires void return"):
        llvm.object_code(ir.Module.parse(text, CONTEXT), 0)


SUBNORMALS = np.array([0.0, 2.8e-40, -2.8e-40, 9.2e-41, 1e-39, -9.1e-39, 1.0, -0.0] * 8).astype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("level", range(4))
def test_no_conversion_to_bf16_flushes_subnormals(level: int) -> None:
    """AVX512-BF16's would, on processors that have it."""
    text = (
        "let f = fn(x: tensor<BF16, [64], @host>, y: tensor<BF16, [64], @host>) -> tensor<BF16, [64], @host> { x * y }"
    )
    checked = check(parse(text))
    module = lower(checked, CONTEXT)
    pipeline.run(module, pipeline.DEFAULT)
    with closing(backend.compile_jit(module, {"f": signature(checked, "f")}, level)) as compiled:
        (result,) = compiled.call("f", SUBNORMALS, np.ones(64, ml_dtypes.bfloat16))
    assert result.tobytes() == SUBNORMALS.tobytes()


def test_the_features_that_flush_are_switched_off() -> None:
    """By the last words: LLVM takes them in order, and avx10.1 would bring AVX512-BF16 with it."""
    host = "+avx2,+avx512bf16,-avx10.2,+avx10.1"
    assert llvm.usable_features(host) == f"{host},-avx512bf16,-avx10.2"
    assert llvm.usable_features("+neon,-sve") == "+neon,-sve"


def test_an_unknown_processor_is_refused_with_those_that_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "abacus")
    llvm._c.cache_clear()
    try:
        with pytest.raises(llvm.LlvmError, match="abacus, only for x86_64"):
            llvm._c()
    finally:
        llvm._c.cache_clear()
