"""LLVM by its C interface: a module in the LLVM dialect becomes object code, object code becomes functions to call.

MLIR's own ExecutionEngine is not used: it makes a target machine and a JIT for each module, which costs more than the
code of most programs, generates code at the default level whatever level is asked for, and takes the features of the
processor as they come. What is made here of a module is `compiler.backend`'s business, the passes before are
`compiler.pipeline`'s.
"""

from __future__ import annotations

import ctypes
import os
import platform
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import llvm
import mlir
from mlir import ir

from compiler.diagnosed import diagnosed

RUNTIME = Path(mlir.__path__[0]) / "lib" / "libmlir_c_runner_utils.so"  # has memrefCopy, for strided copies

_OUT = POINTER(c_void_p)
_FUNCTIONS: Mapping[str, tuple[Any, ...]] = {  # the type of the result, then of the parameters
    "LLVMContextCreate": (c_void_p,),
    "LLVMContextDispose": (None, c_void_p),
    "LLVMDisposeModule": (None, c_void_p),
    "LLVMSetTarget": (None, c_void_p, c_char_p),
    "LLVMSetModuleDataLayout": (None, c_void_p, c_void_p),
    "LLVMPrintModuleToString": (c_void_p, c_void_p),
    "LLVMDisposeMessage": (None, c_void_p),
    "LLVMGetErrorMessage": (c_void_p, c_void_p),
    "LLVMDisposeErrorMessage": (None, c_void_p),
    "LLVMGetDefaultTargetTriple": (c_void_p,),
    "LLVMGetHostCPUName": (c_void_p,),
    "LLVMGetHostCPUFeatures": (c_void_p,),
    "LLVMGetTargetFromTriple": (c_int, c_char_p, _OUT, _OUT),
    "LLVMCreateTargetMachine": (c_void_p, c_void_p, c_char_p, c_char_p, c_char_p, c_int, c_int, c_int),
    "LLVMCreateTargetDataLayout": (c_void_p, c_void_p),
    "LLVMCreatePassBuilderOptions": (c_void_p,),
    "LLVMPassBuilderOptionsSetLoopUnrolling": (None, c_void_p, c_int),
    "LLVMPassBuilderOptionsSetSLPVectorization": (None, c_void_p, c_int),
    "LLVMRunPasses": (c_void_p, c_void_p, c_char_p, c_void_p, c_void_p),
    "LLVMTargetMachineEmitToMemoryBuffer": (c_int, c_void_p, c_void_p, c_int, _OUT, _OUT),
    "LLVMGetBufferStart": (c_void_p, c_void_p),
    "LLVMGetBufferSize": (c_size_t, c_void_p),
    "LLVMDisposeMemoryBuffer": (None, c_void_p),
    "LLVMCreateMemoryBufferWithMemoryRangeCopy": (c_void_p, c_char_p, c_size_t, c_char_p),
    "LLVMOrcCreateLLJIT": (c_void_p, _OUT, c_void_p),
    "LLVMOrcLLJITGetExecutionSession": (c_void_p, c_void_p),
    "LLVMOrcExecutionSessionSetErrorReporter": (None, c_void_p, c_void_p, c_void_p),
    "LLVMOrcLLJITGetMainJITDylib": (c_void_p, c_void_p),
    "LLVMOrcJITDylibCreateResourceTracker": (c_void_p, c_void_p),
    "LLVMOrcLLJITAddObjectFileWithRT": (c_void_p, c_void_p, c_void_p, c_void_p),
    "LLVMOrcLLJITLookup": (c_void_p, c_void_p, POINTER(c_uint64), c_char_p),
    "LLVMOrcResourceTrackerRemove": (c_void_p, c_void_p),
    "LLVMOrcReleaseResourceTracker": (None, c_void_p),
}
_OBJECT_FILE, _PIC, _DEFAULT_CODE_MODEL = 1, 2, 0  # of LLVM's enumerations

# The conversions of F32 to BF16 by these features flush subnormal numbers to zero, operands and results, whatever the
# processor's mode is (Intel's manual, VCVTNEPS2BF16); LLVM 22.1.8 uses them where it must not. AVX10.2's arithmetic on
# BF16 is of the same kind.
_FLUSHING = {"avx512bf16", "avxneconvert", "avx10.2"}

_FAMILIES = {"x86_64": "X86", "aarch64": "AArch64", "arm64": "AArch64"}  # LLVM's names


class LlvmError(Exception):
    """LLVM said no; its own words."""


class InvalidModule(LlvmError):
    """The module has no translation to LLVM IR, or LLVM's verifier refuses what came of it."""


def object_code(module: ir.Module, level: int) -> bytes:
    """An object file for this processor, position-independent, of a module in the LLVM dialect, which stays as it is.

    `level` 0 to 3 is LLVM's -O, of its passes and of its code generator. Loops are not unrolled: LLVM would unroll
    loops of a few trips to the last one, and take twice the time at -O2. Raises `LlvmError`.
    """
    c, machine = _c(), _machine(level)
    with _translation(module) as translated:
        c.LLVMSetTarget(translated, machine.triple)
        c.LLVMSetModuleDataLayout(translated, machine.layout)
        if level:
            _check(c.LLVMRunPasses(translated, b"default<O%d>" % level, machine.handle, machine.options))
        return _emitted(machine, translated)


def ir_text(module: ir.Module) -> str:
    """The LLVM IR of a module in the LLVM dialect, as LLVM's own tools read it. Raises `InvalidModule`."""
    with _translation(module) as translated:
        return _words(_c().LLVMPrintModuleToString(translated)).decode()


def new_jit() -> int:
    """A JIT that links object code to this process's symbols; a handle, kept for as long as the process lives."""
    c, jit = _c(), c_void_p()
    _check(c.LLVMOrcCreateLLJIT(byref(jit), None))
    c.LLVMOrcExecutionSessionSetErrorReporter(c.LLVMOrcLLJITGetExecutionSession(jit), _REPORTER, None)
    return _handle(jit.value)


def add(jit: int, code: bytes) -> int:
    """Puts object code into a JIT; a handle, for `remove`. No two may define the same symbol. Raises `LlvmError`."""
    c = _c()
    tracker = c.LLVMOrcJITDylibCreateResourceTracker(c.LLVMOrcLLJITGetMainJITDylib(jit))
    buffer = c.LLVMCreateMemoryBufferWithMemoryRangeCopy(code, len(code), b"kina")
    error = c.LLVMOrcLLJITAddObjectFileWithRT(jit, tracker, buffer)  # takes the buffer
    if error:
        c.LLVMOrcReleaseResourceTracker(tracker)
    _check(error)
    return int(tracker)


def find(jit: int, symbol: str) -> int:
    """A symbol's address; what defines it is linked now, at the latest. Raises `LlvmError`."""
    address = c_uint64()
    _REPORTED.clear()
    try:
        _check(_c().LLVMOrcLLJITLookup(jit, byref(address), symbol.encode()))
    except LlvmError as error:
        raise LlvmError("\n".join(_REPORTED) or str(error)) from error
    return address.value


def remove(added: int) -> None:
    """Takes object code out of its JIT again; nothing of it may be called any more."""
    error = _c().LLVMOrcResourceTrackerRemove(added)
    _c().LLVMOrcReleaseResourceTracker(added)
    _check(error)


_REPORTED: list[str] = []
"""Why the last link failed, in a JIT's words: the failure itself only lists what could not be had for it."""


def _report(_: int | None, error: int | None) -> None:
    _REPORTED.append(_message(error))


_REPORTER = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)(_report)


@dataclass(frozen=True, slots=True)
class _Machine:
    """What code is generated for, at one level: handles of LLVM's, kept for as long as the process lives."""

    handle: int
    triple: bytes
    layout: int
    options: int


@lru_cache(maxsize=4)
def _machine(level: int) -> _Machine:
    c, target, error = _c(), c_void_p(), c_void_p()
    triple = _words(c.LLVMGetDefaultTargetTriple())
    if c.LLVMGetTargetFromTriple(triple, byref(target), byref(error)):
        raise LlvmError(_words(error.value).decode())
    cpu, features = _words(c.LLVMGetHostCPUName()), usable_features(_words(c.LLVMGetHostCPUFeatures()).decode())
    made = c.LLVMCreateTargetMachine(target, triple, cpu, features.encode(), level, _PIC, _DEFAULT_CODE_MODEL)
    options = c.LLVMCreatePassBuilderOptions()
    c.LLVMPassBuilderOptionsSetLoopUnrolling(options, False)
    c.LLVMPassBuilderOptionsSetSLPVectorization(options, True)
    return _Machine(_handle(made), triple, c.LLVMCreateTargetDataLayout(made), options)


def usable_features(host: str) -> str:
    """The processor's features, and then without those that flush: LLVM goes by the last word on each."""
    names = host.split(",")
    return ",".join(names + [f"-{name[1:]}" for name in names if name[1:] in _FLUSHING])


@contextmanager
def _translation(module: ir.Module) -> Iterator[int]:
    """The module as LLVM IR, a handle, while it is needed. Raises `InvalidModule`."""
    c = _c()
    context = c.LLVMContextCreate()
    try:
        translated = _translated(module, context)
        try:
            yield translated
        finally:
            c.LLVMDisposeModule(translated)
    finally:
        c.LLVMContextDispose(context)


def _translated(module: ir.Module, context: int) -> int:
    """MLIR has LLVM's verifier look at what comes of it."""
    operation = _capsule_pointer(module.operation._CAPIPtr, b"mlir.ir.Operation._CAPIPtr")
    with diagnosed(module.context) as said:
        translated = _translate(operation, context)
        if translated is None and not said:  # it is LLVM's verifier that refuses: its words go to the standard error
            with _standard_error() as caught:
                _translate(operation, context)
            said.append(f"error: LLVM's verifier: {caught[0].strip()}")
    if translated is None:
        raise InvalidModule("\n".join(["the module has no translation to LLVM IR", *said]))
    return int(translated)


@contextmanager
def _standard_error() -> Iterator[list[str]]:
    """What native code writes to the standard error meanwhile, known afterwards."""
    caught: list[str] = []
    before = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield caught
        finally:
            os.dup2(before, 2)
            os.close(before)
            file.seek(0)
            caught.append(file.read().decode(errors="replace"))


def _emitted(machine: _Machine, translated: int) -> bytes:
    c, buffer, error = _c(), c_void_p(), c_void_p()
    if c.LLVMTargetMachineEmitToMemoryBuffer(machine.handle, translated, _OBJECT_FILE, byref(error), byref(buffer)):
        raise LlvmError(_words(error.value).decode(errors="replace"))
    try:
        return ctypes.string_at(c.LLVMGetBufferStart(buffer), c.LLVMGetBufferSize(buffer))
    finally:
        c.LLVMDisposeMemoryBuffer(buffer)


def _check(error: int | None) -> None:
    """Raises what an LLVMErrorRef says, if it is one."""
    if error:
        raise LlvmError(_message(error))


def _message(error: int | None) -> str:
    """What an LLVMErrorRef says, which is gone with it."""
    message = _c().LLVMGetErrorMessage(error)
    words = ctypes.string_at(message).decode(errors="replace")
    _c().LLVMDisposeErrorMessage(message)
    return words


def _words(message: int | None) -> bytes:
    """A string that LLVM has made for the caller, which is given back."""
    words = ctypes.string_at(message) if message else b""
    _c().LLVMDisposeMessage(message)
    return words


def _handle(made: int | None) -> int:
    if made is None:
        raise LlvmError("LLVM made nothing and gave no reason")
    return made


@lru_cache(maxsize=1)
def _c() -> ctypes.CDLL:
    """LLVM's library, the one that MLIR's bindings use, ready for this processor."""
    library = ctypes.CDLL(str(Path(llvm.__path__[0]) / "lib" / "libLLVM.so"))
    for name, (result, *parameters) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    family = _FAMILIES.get(platform.machine())
    if family is None:
        raise LlvmError(f"no code can be generated for {platform.machine()}, only for {', '.join(_FAMILIES)}")
    for part in ("TargetInfo", "Target", "TargetMC", "AsmPrinter"):
        getattr(library, f"LLVMInitialize{family}{part}")()
    ctypes.CDLL(str(RUNTIME), mode=ctypes.RTLD_GLOBAL)
    return library


# PyDLL: what hears the diagnostics is in Python, and needs its lock.
_BINDINGS = ctypes.PyDLL(str(Path(mlir.__path__[0]) / "_mlir_libs" / "libMLIRPythonCAPI.so"))
_translate = _BINDINGS.mlirTranslateModuleToLLVMIR
_translate.restype, _translate.argtypes = c_void_p, [c_void_p, c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
