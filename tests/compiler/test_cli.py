"""The command line as a person meets it: what is printed, where, and the exit code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from compiler.__main__ import main
from compiler.backend import load_so
from compiler.checker import check, signature
from compiler.parser import parse
from tests.compiler.built import EXAMPLES

KV_STEP = EXAMPLES / "storylm0_kv_step.kina"
DOUBLE = """\
// inputs: x = [1, -2]
let double = fn(x: tensor<F32, [2], @host>) -> tensor<F32, [2], @host> { x + x }
@main { let x = tensor<F32, [2], @host>; let y = double(x); (x, y) }
"""
ENDLESS = "@main { let n = while (i: tensor<I64, [], @host> = tensor<I64, [], @host>0) i == i { i }; n }"
GREEDY = """\
// inputs: x = ones
@main { let x = tensor<F64, [1], @host>; let a = broadcast(x, shape=[8192, 8192]); (a * a, a + a, a - a, a / a) }
"""


@pytest.fixture
def double(tmp_path: Path) -> Path:
    return written(tmp_path, DOUBLE)


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "program.kina"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def check_cli(code: int, *arguments: object, out: str = "", err: str = "") -> None:
    """Exit code, and what standard output and standard error say, in a process of its own. Never a traceback."""
    command = [sys.executable, "-m", "compiler", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    assert (done.returncode, out in done.stdout, err in done.stderr) == (code, True, True), done


def check_here(capsys: pytest.CaptureFixture[str], code: int, *arguments: object, out: str = "", err: str = "") -> None:
    """`check_cli` for what needs no child."""
    assert main([*map(str, arguments)]) == code
    said = capsys.readouterr()
    assert out in said.out
    assert err in said.err


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    check_here(capsys, 0, "check", KV_STEP, out="ok\n")


def test_types(capsys: pytest.CaptureFixture[str], double: Path) -> None:
    of_double = "double\n  x: tensor<F32, [2], @host>\n  -> tensor<F32, [2], @host>\n"
    check_here(
        capsys, 0, "emit", "--stage", "types", double, out=f"{of_double}@main\n  x: tensor<F32, [2], @host>\n  y: "
    )


@pytest.mark.parametrize("command", ["check", "emit", "build", "run"])
def test_a_refused_program(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str) -> None:
    path = written(tmp_path, "@main { x }")
    check_here(capsys, 1, command, path, err=f"{path}:1:9\n  |\n1 | @main {{ x }}\n")


def test_no_such_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    check_here(capsys, 2, "run", tmp_path / "none.kina", err="none.kina: No such file or directory\n")
    check_here(capsys, 2, "check", tmp_path, err="Is a directory\n")


def test_not_utf8(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    check_here(capsys, 2, "check", written(tmp_path, b"let \xff"), err="error[encoding]: a program is UTF-8 text")


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["chek", "x"], ["run", "x", "-O", "9"], ["run", "x", "--seconds", "-1"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2
        assert "usage: python -m compiler" in capsys.readouterr().err


def test_help_lists_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["run", "--help"])
    assert stopped.value.code == 0
    assert "exit codes:\n  0    done\n  1    the program is refused" in capsys.readouterr().out


def test_without_mlir(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compiler.__main__.NEEDED", ("no_such_library",))
    check_here(capsys, 2, "emit", KV_STEP, err="not installed: no_such_library; run `make setup`")


def test_emit_mlir() -> None:
    check_cli(0, "emit", KV_STEP, out=Path("tests/golden/mlir/storylm0_kv_step.mlir").read_text())


def test_emit_buffers(double: Path) -> None:
    check_cli(0, "emit", "--stage", "bufferized", double, out="func.func @kina_double(%arg0: memref<2xf32, strided<[?]")


def test_emit_llvm(double: Path) -> None:
    check_cli(0, "emit", "--stage", "llvm", double, out="llvm.func @_mlir_ciface_kina_double(%arg0: !llvm.ptr")


def test_emit_llvm_ir(double: Path) -> None:
    check_cli(0, "emit", "--stage", "llvm-ir", double, out="define void @_mlir_ciface_kina_double(ptr %0, ptr %1)")


def test_run_main(double: Path) -> None:
    check_cli(0, "run", double, out="y: tensor<F32, [2], @host>\n[ 2. -4.]\n")


def test_run_a_fn_from_a_file_into_a_file(double: Path, tmp_path: Path) -> None:
    given, made = tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(given, x=np.array([0.5, 3], np.float32))
    check_cli(0, "run", "--fn", "double", "-O", "0", "--inputs", given, "--out", made, double)
    with np.load(made, allow_pickle=False) as file:
        assert {name: array.tolist() for name, array in file.items()} == {"result0": [1.0, 6.0]}


def test_run_an_unknown_fn(double: Path) -> None:
    message = "the program has no fn `doubel`; it has double, main; did you mean `double`?\n"
    check_cli(2, "run", "--fn", "doubel", double, err=message)


def test_inputs_that_do_not_fit(double: Path, tmp_path: Path) -> None:
    given = tmp_path / "in.npz"
    np.savez(given, x=np.array([1, 2]))
    check_cli(
        2, "run", "--inputs", given, double, err=f"kina: {given}: `x` is int64 [2], wanted tensor<F32, [2], @host>"
    )


def test_build(double: Path, tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    check_cli(0, "build", "-o", path, double, out=f"{path}: double, main\n")
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["lib.so", "program.kina"]
    compiled = load_so(path, {"double": signature(check(parse(DOUBLE)), "double")})
    assert compiled.call("double", np.array([1, 2], np.float32))[0].tolist() == [2, 4]
    compiled.close()


def test_build_without_a_linker(double: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    check_cli(2, "build", "-o", tmp_path / "lib.so", double, err="kina: no C compiler: install one")


def test_an_endless_program(tmp_path: Path) -> None:
    check_cli(3, "run", "--seconds", "1.5", written(tmp_path, ENDLESS), err="kina: the limit of 1.5 s was reached")


def test_a_program_that_needs_too_much_memory(tmp_path: Path) -> None:
    check_cli(3, "run", "--memory", "1.5", written(tmp_path, GREEDY), err="ran out of --memory\n")


@pytest.mark.parametrize(("status", "words"), [(-6, "SIGABRT"), (-36, "signal 36"), (7, "exit code 7")])
def test_a_death_is_named(
    status: int, words: str, double: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real-time signals have no name."""
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, status))
    check_here(capsys, 3, "run", double, err=f"died ({words})")
