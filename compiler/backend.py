"""Machine code: a module in the LLVM dialect becomes functions to call, by LLVM's JIT or as a shared object.

The passes before are `compiler.pipeline`'s, generating code is `compiler.llvm`'s, the host boundary `compiler.abi`'s.
"""

from __future__ import annotations

import _ctypes
import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from mlir import ir

from compiler import abi, llvm
from compiler.abi import Entry, Signature
from compiler.arrays import Array
from compiler.lowering import PREFIX
from compiler.runtime import DEFINITIONS, RELEASE

Signatures = Mapping[str, Signature]
_LINK_SECONDS = 60


class BackendError(Exception):
    """Machine code could not be made: the message says what to do or what the linker said."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """Functions of a compiled module by name. `close` when done, more often does no harm; no call may follow."""

    signatures: Signatures
    entries: Mapping[str, Entry]
    release: Entry
    close: Callable[[], None]

    def call(self, name: str, *arrays: Array) -> tuple[Array, ...]:
        """The results of a fn, or of `main`, as fresh arrays; `abi.CallError` says what does not fit."""
        return abi.call(self.entries[name], self.release, name, self.signatures[name], arrays)


_IDLE: list[int] = []
"""JITs that hold nothing but the runtime: making one costs more than linking a small program."""


def compile_jit(module: ir.Module, signatures: Signatures, opt_level: int) -> Compiled:
    """The module in this process. Raises `llvm.LlvmError`."""
    code = llvm.object_code(module, opt_level)
    jit = _IDLE.pop() if _IDLE else _new_jit()
    added = llvm.add(jit, code)  # a JIT that refuses it is not used again

    def give_back() -> None:
        llvm.remove(added)
        _IDLE.append(jit)

    return _loaded(signatures, partial(llvm.find, jit), give_back)


def _new_jit() -> int:
    jit = llvm.new_jit()
    llvm.add(jit, _runtime())
    return jit


@lru_cache(maxsize=1)
def _runtime() -> bytes:
    """The runtime's object code."""
    context = ir.Context()
    context.enable_multithreading(False)  # this process may be one that is forked
    return llvm.object_code(ir.Module.parse(DEFINITIONS, context), 2)


def build_so(module: ir.Module, directory: Path, opt_level: int = 2) -> Path:
    """A shared object in `directory`, linked by `cc`. Raises `BackendError`, `llvm.LlvmError`."""
    linker = shutil.which("cc")
    if linker is None:
        raise BackendError("no C compiler: install one that answers to `cc`, it links shared objects")
    path = directory / "kina.so"
    with tempfile.TemporaryDirectory(prefix="kina-") as scratch:
        program, runtime = Path(scratch) / "kina.o", Path(scratch) / "runtime.o"
        program.write_bytes(llvm.object_code(module, opt_level))
        runtime.write_bytes(_runtime())
        libraries = [str(llvm.RUNTIME), f"-Wl,-rpath,{llvm.RUNTIME.parent}", "-lm"]
        command = [linker, "-shared", "-o", str(path), str(program), str(runtime), *libraries]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LINK_SECONDS, check=False)
    if done.returncode:
        raise BackendError(f"`cc` cannot link the shared object:\n{done.stderr.strip()}")
    return path


def load_so(path: Path, signatures: Signatures) -> Compiled:
    """Loads a shared object of `build_so`; raises OSError where it is none, `BackendError` where a fn is not in it."""
    library = ctypes.CDLL(str(path))

    def find(symbol: str) -> int:
        try:
            return ctypes.cast(library[symbol], ctypes.c_void_p).value or 0
        except AttributeError as error:
            raise BackendError(f"{path}: {error}") from error

    return _loaded(signatures, find, lambda: _ctypes.dlclose(library._handle))


def _loaded(signatures: Signatures, find: Callable[[str], int], unload: Callable[[], None]) -> Compiled:
    """`unload` is called once: when the result is closed, or here if something is not found."""
    loaded = ExitStack()
    loaded.callback(unload)
    try:
        entries = {
            name: abi.entry(find(f"_mlir_ciface_{PREFIX}{name}"), signature) for name, signature in signatures.items()
        }
        release = abi.entry(find(f"_mlir_ciface_{RELEASE}"), None)
    except BaseException:
        loaded.close()
        raise
    return Compiled(signatures, entries, release, loaded.close)
