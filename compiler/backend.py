"""Machine code: a module in the LLVM dialect becomes functions to call, by LLVM's JIT or as a shared object.

The passes before are `compiler.pipeline`'s, the host boundary is `compiler.abi`'s.
"""

from __future__ import annotations

import _ctypes
import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import mlir
from mlir import ir
from mlir.execution_engine import ExecutionEngine

from compiler import abi
from compiler.abi import Signature
from compiler.arrays import Array
from compiler.lowering import PREFIX
from compiler.runtime import RELEASE

Signatures = Mapping[str, Signature]
_RUNTIME = Path(mlir.__path__[0]) / "lib" / "libmlir_c_runner_utils.so"  # has memrefCopy, for strided copies
_PACKED = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_LINK_SECONDS = 60


class BackendError(Exception):
    """Machine code could not be made: the message says what to do or what the linker said."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """Functions of a compiled module by name. `close` when done; no call may follow."""

    signatures: Signatures
    entries: Mapping[str, Callable[[int], None]]
    release: Callable[[int], None]
    close: Callable[[], None]

    def call(self, name: str, *arrays: Array) -> tuple[Array, ...]:
        """The results of a fn, or of `main`, as fresh arrays; `abi.CallError` says what does not fit."""
        return abi.call(self.entries[name], self.release, name, self.signatures[name], arrays)


def compile_jit(module: ir.Module, signatures: Signatures, opt_level: int) -> Compiled:
    """The module in this process."""
    engine = [_engine(module, opt_level, dump=False)]
    return _loaded(signatures, lambda symbol: _PACKED(engine[0].raw_lookup(symbol)), engine.clear)


def build_so(module: ir.Module, directory: Path, opt_level: int = 2) -> Path:
    """A shared object in `directory`, linked by `cc`. Raises `BackendError`."""
    linker = shutil.which("cc")
    if linker is None:
        raise BackendError("no C compiler: install one that answers to `cc`, it links shared objects")
    path = directory / "kina.so"
    with tempfile.TemporaryDirectory(prefix="kina-") as scratch:
        object_file = Path(scratch) / "kina.o"
        engine = _engine(module, opt_level, dump=True)
        engine.raw_lookup(f"_mlir_ciface_{RELEASE}")  # code is made at the first look
        engine.dump_to_object_file(str(object_file))
        libraries = [str(_RUNTIME), f"-Wl,-rpath,{_RUNTIME.parent}", "-lm"]
        command = [linker, "-shared", "-o", str(path), str(object_file), *libraries]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LINK_SECONDS, check=False)
    if done.returncode:
        raise BackendError(f"`cc` cannot link the shared object:\n{done.stderr.strip()}")
    return path


def load_so(path: Path, signatures: Signatures) -> Compiled:
    """Loads a shared object of `build_so`; raises OSError where it is none."""
    library = ctypes.CDLL(str(path))
    return _loaded(
        signatures, lambda symbol: _PACKED((f"_mlir_{symbol}", library)), lambda: _ctypes.dlclose(library._handle)
    )


def _loaded(
    signatures: Signatures, find: Callable[[str], Callable[[int], None]], close: Callable[[], None]
) -> Compiled:
    entries = {name: find(f"_mlir_ciface_{PREFIX}{name}") for name in signatures}
    return Compiled(signatures, entries, find(f"_mlir_ciface_{RELEASE}"), close)


def _engine(module: ir.Module, opt_level: int, dump: bool) -> ExecutionEngine:
    with _unoptimised(module, opt_level == 0):
        return ExecutionEngine(
            module, opt_level=opt_level, shared_libs=[str(_RUNTIME)], enable_object_dump=dump, enable_pic=True
        )


@contextmanager
def _unoptimised(module: ir.Module, wanted: bool) -> Iterator[None]:
    """Marks every function optnone while an engine is made.

    The engine generates code at the default level whatever `opt_level` says; optnone is what makes -O0 be -O0.
    """
    with module.context:
        functions = [op for op in module.body if wanted and op.operation.name == "llvm.func"]
        marks = ir.ArrayAttr.get([ir.StringAttr.get("noinline"), ir.StringAttr.get("optnone")])
        for function in functions:
            function.attributes["passthrough"] = marks
        try:
            yield
        finally:
            for function in functions:
                del function.attributes["passthrough"]
