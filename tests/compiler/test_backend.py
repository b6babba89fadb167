"""Machine code: every build of a program does the same, stands on its own, and goes when it is closed."""

from __future__ import annotations

import _ctypes
import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from mlir import ir

from compiler import backend, pipeline
from compiler.arrays import Array
from compiler.backend import BackendError, Compiled
from compiler.checker import check, signature
from compiler.llvm import LlvmError
from compiler.lowering import lower
from compiler.parser import parse
from tests.compiler.built import example

V = "tensor<F32, [2], @host>"
M = "tensor<F32, [5, 7], @host>"
# Small integers: exact in any order of summing, fused or not, so that every build must give the same bits.
MIXED = f"""
let f = fn(a: {M}, b: {M}) -> (tensor<F32, [5, 5], @host>, tensor<F32, [5, 14], @host>, tensor<I64, [5], @host>) {{
  let c = concat[axis=1] a b;
  (a @ transpose(b, perm=[1, 0]), c, argmax(c, axis=1))
}}
"""
A = (np.arange(35, dtype=np.float32) % 11 - 5).reshape(5, 7)
B = (np.arange(35, dtype=np.float32) % 7 - 3).reshape(5, 7)
BOTH = np.concatenate([A, B], axis=1)
MIXED_RESULTS = (A @ B.T, BOTH, BOTH.argmax(axis=1))

CONTEXT = ir.Context()


def in_llvm(text: str) -> tuple[ir.Module, backend.Signatures]:
    checked = check(parse(text))
    module = lower(checked, CONTEXT)
    pipeline.run(module, pipeline.DEFAULT)
    return module, {fn.name: signature(checked, fn.name) for fn in checked.program.fns}


def check_call(compiled: Compiled, name: str, arguments: tuple[Array, ...], expected: tuple[Array, ...]) -> None:
    results = compiled.call(name, *arguments)
    assert [result.tobytes() for result in results] == [wanted.tobytes() for wanted in expected]


@pytest.mark.parametrize("opt_level", range(4))
def test_the_jit_is_right_at_every_level(opt_level: int) -> None:
    with closing(backend.compile_jit(*in_llvm(MIXED), opt_level)) as compiled:
        check_call(compiled, "f", (A, B), MIXED_RESULTS)


@pytest.mark.parametrize("opt_level", [0, 2, 3])
def test_a_shared_object_is_right_at_every_level(opt_level: int, tmp_path: Path) -> None:
    module, signatures = in_llvm(MIXED)
    with closing(backend.load_so(backend.build_so(module, tmp_path, opt_level), signatures)) as compiled:
        check_call(compiled, "f", (A, B), MIXED_RESULTS)


def test_one_module_serves_many_builds_and_stays_as_it_is(tmp_path: Path) -> None:
    module, signatures = in_llvm(MIXED)
    before = str(module)
    with (
        closing(backend.compile_jit(module, signatures, 0)) as plain,
        closing(backend.compile_jit(module, signatures, 2)) as fast,
        closing(backend.load_so(backend.build_so(module, tmp_path), signatures)) as shared,
    ):
        for compiled in (plain, fast, shared, plain):
            check_call(compiled, "f", (A, B), MIXED_RESULTS)
    assert str(module) == before


def functions_of_c() -> str:
    """Fns with the names of C's and the runtime's functions, some called by the code that MLIR makes."""
    names = ["malloc", "free", "aligned_alloc", "memcpy", "expf", "memrefCopy", "release", "ring", "runtime_release"]
    fns = [f"let {name} = fn(x: {V}) -> {V} {{ x + x }}" for name in names]
    calls = "x"
    for name in names:
        calls = f"{name}({calls})"
    return "\n".join([*fns, f"let last = fn(x: {V}) -> {V} {{ {calls} }}"])


@pytest.mark.parametrize("build", ["jit", "so"])
def test_a_fn_may_have_the_name_of_a_function_of_c(build: str, tmp_path: Path) -> None:
    module, signatures = in_llvm(functions_of_c())
    x = np.array([1, -3], np.float32)
    make: dict[str, Callable[[], Compiled]] = {
        "jit": lambda: backend.compile_jit(module, signatures, 0),
        "so": lambda: backend.load_so(backend.build_so(module, tmp_path), signatures),
    }
    with closing(make[build]()) as compiled:
        for name in signatures:
            check_call(compiled, name, (x,), (x * 2 ** (9 if name == "last" else 1),))


def test_a_file_that_is_built_anew_is_loaded_anew(tmp_path: Path) -> None:
    """The system's loader knows libraries by name, and would hand out the old one while that is open."""
    x = np.array([1, -3], np.float32)
    for factor in (2, 3):
        module, signatures = in_llvm(f"let f = fn(x: {V}) -> {V} {{ {' + '.join('x' * factor)} }}")
        with closing(backend.load_so(backend.build_so(module, tmp_path), signatures)) as compiled:
            check_call(compiled, "f", (x,), (x * factor,))


def test_a_shared_object_needs_no_compiler_to_be_loaded(tmp_path: Path) -> None:
    """By a process that has neither MLIR nor NumPy, strided copies (memrefCopy) and libm (exp) included."""
    program = example("storylm0_kv_step")
    module = lower(check(program), CONTEXT)
    pipeline.run(module, pipeline.DEFAULT)
    path = backend.build_so(module, tmp_path)
    script = "import ctypes, sys; ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)._mlir_ciface_kina_kv_step"
    subprocess.run([sys.executable, "-I", "-c", script, str(path)], check=True, timeout=60)


def test_closing_unloads_a_shared_object(tmp_path: Path) -> None:
    module, signatures = in_llvm(MIXED)
    path = backend.build_so(module, tmp_path)
    compiled = backend.load_so(path, signatures)
    assert loaded(path)
    compiled.close()
    assert not loaded(path)


def loaded(path: Path) -> bool:
    """Whether the system's loader has the file open: RTLD_NOLOAD finds it or fails."""
    try:
        library = ctypes.CDLL(str(path), mode=0x4 if sys.platform == "linux" else 0x10)
    except OSError:
        return False
    _ctypes.dlclose(library._handle)
    return True


def test_a_fn_that_is_not_in_a_shared_object_is_named(tmp_path: Path) -> None:
    module, signatures = in_llvm(MIXED)
    path = backend.build_so(module, tmp_path)
    with pytest.raises(BackendError, match=r"kina\.so: .*kina_other"):
        backend.load_so(path, {"other": signatures["f"]})
    assert not loaded(path)


def test_a_jit_serves_one_program_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_IDLE", idle := list[int]())
    first = backend.compile_jit(*in_llvm(MIXED), 0)
    second = backend.compile_jit(*in_llvm(MIXED), 0)
    for compiled in (first, second, first, second):
        compiled.close()
    assert len(set(idle)) == len(idle) == 2
    with closing(backend.compile_jit(*in_llvm(MIXED), 0)) as compiled:
        assert len(idle) == 1
        check_call(compiled, "f", (A, B), MIXED_RESULTS)


def test_a_program_that_cannot_be_linked_leaves_the_jit_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_IDLE", idle := list[int]())
    module, signatures = in_llvm(MIXED)
    with pytest.raises(LlvmError, match="kina_other"):
        backend.compile_jit(module, {"other": signatures["f"]}, 0)
    assert len(idle) == 1
    with closing(backend.compile_jit(module, signatures, 0)) as compiled:
        assert not idle
        check_call(compiled, "f", (A, B), MIXED_RESULTS)


def test_what_is_no_shared_object_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kina.so"
    path.write_text("not one")
    with pytest.raises(OSError, match=r"kina\.so"):
        backend.load_so(path, {})


def test_without_a_linker_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module, _ = in_llvm(MIXED)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackendError, match="install one that answers to `cc`"):
        backend.build_so(module, tmp_path)


def test_the_linker_s_own_words_are_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module, _ = in_llvm(MIXED)
    linker = tmp_path / "cc"
    linker.write_text("#!/bin/sh\necho no room left >&2\nexit 1\n")
    linker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(BackendError, match="no room left"):
        backend.build_so(module, tmp_path)


def resident() -> int:
    """Bytes of memory this process has now."""
    command = ["/bin/ps", "-o", "rss=", "-p", str(os.getpid())]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) * 1024


def test_one_context_serves_module_after_module_without_growing() -> None:
    """A program that is not let go of keeps 24 KiB, so that 100 of them are more than 2 MiB."""

    def once() -> None:
        backend.compile_jit(*in_llvm(MIXED), 0).close()

    for _ in range(10):
        once()
    before = resident()
    for _ in range(100):
        once()
    assert resident() - before < 1 << 20
