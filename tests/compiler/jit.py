"""Runs ops, or a whole program, for the tests of the op table: a fixed pipeline, LLVM's JIT, NumPy arrays.

It stands beside `compiler.backend` so that a fault there does not look like a fault of an op: MLIR's own engine, with
all features of the processor. Nothing is ever freed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import mlir
import numpy as np
from mlir import ir
from mlir.execution_engine import ExecutionEngine
from mlir.passmanager import PassManager

from compiler.arrays import NUMPY, Array, numpy_dtype
from compiler.checker import check
from compiler.lowering import PREFIX, lower
from compiler.ops import OPS
from compiler.syntax import Apply, AttrValue, Block, Fn, Name, Param, Program
from compiler.types import DTYPES, TensorType

_PASSES = (
    "one-shot-bufferize{bufferize-function-boundaries=true}",
    "convert-linalg-to-loops",
    "expand-strided-metadata",
    "lower-affine",
    "convert-scf-to-cf",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "convert-arith-to-llvm",
    "convert-func-to-llvm",
    "convert-cf-to-llvm",
    "convert-index-to-llvm",
    "finalize-memref-to-llvm",
    "reconcile-unrealized-casts",
)
_RUNTIME = str(Path(mlir.__path__[0]) / "lib" / "libmlir_c_runner_utils.so")
_CONTEXT = ir.Context()
_CONTEXT.enable_multithreading(False)


class Use(NamedTuple):
    """One op applied to arrays of its operands' dtypes and shapes."""

    op: str
    arrays: tuple[Array, ...]
    attrs: dict[str, AttrValue]


def use(op: str, *arrays: Array, **attrs: AttrValue) -> Use:
    return Use(op, arrays, attrs)


def type_of(array: Array) -> TensorType:
    dtype = next(name for name, dtype in NUMPY.items() if dtype == array.dtype)
    return TensorType(DTYPES[dtype], array.shape)


def fn_of(name: str, op: str, types: Sequence[TensorType], attrs: dict[str, AttrValue]) -> Fn:
    """A fn that applies one op to its parameters."""
    params = tuple(Param(f"x{i}", type_) for i, type_ in enumerate(types))
    apply = Apply(op, tuple(Name(param.name) for param in params), tuple(attrs.items()))
    return Fn(name, params, (OPS[op].infer(types, attrs),), Block((), (apply,)))


def run_uses(uses: Sequence[Use], opt_level: int = 0) -> list[Array]:
    """The results of many uses of ops, compiled as one module."""
    fns = [fn_of(f"f{i}", x.op, [type_of(array) for array in x.arrays], x.attrs) for i, x in enumerate(uses)]
    engine = jit(Program(tuple(fns)), opt_level)
    return [call(engine, fn, *x.arrays)[0] for fn, x in zip(fns, uses, strict=True)]


def run_op(op: str, *arrays: Array, opt_level: int = 0, **attrs: AttrValue) -> Array:
    return run_uses([use(op, *arrays, **attrs)], opt_level)[0]


def emitted(program: Program) -> str:
    """The text of the verified module."""
    return str(lower(check(program), _CONTEXT))


def jit(program: Program, opt_level: int = 0) -> ExecutionEngine:
    module = lower(check(program), _CONTEXT)
    with _CONTEXT:
        PassManager.parse(f"builtin.module({','.join(_PASSES)})").run(module.operation)
        return ExecutionEngine(module, opt_level=opt_level, shared_libs=[_RUNTIME])


def call(engine: ExecutionEngine, fn: Fn, *arrays: Array) -> list[Array]:
    """The results of a fn, copied out of the buffers it returned."""
    operands = [_descriptor(type_of(array))(*_fields(array)) for array in arrays]
    results = _results(fn.results)
    engine.invoke(PREFIX + fn.name, *(ctypes.pointer(ctypes.pointer(x)) for x in (results, *operands)))
    fields = [results] if len(fn.results) == 1 else [getattr(results, f"r{i}") for i in range(len(fn.results))]
    return [_array(field, type_) for field, type_ in zip(fields, fn.results, strict=True)]


def _descriptor(type_: TensorType) -> type[ctypes.Structure]:
    """MLIR's ranked memref descriptor: allocated and aligned pointer, offset, sizes, strides."""
    dims = ctypes.c_int64 * type_.rank
    fields: list[Any] = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64)]
    fields += [("sizes", dims), ("strides", dims)] if type_.rank else []
    return type("Descriptor", (ctypes.Structure,), {"_fields_": fields})


def _fields(array: Array) -> list[Any]:
    strides = [stride // array.itemsize for stride in array.strides]
    dims = ctypes.c_int64 * array.ndim
    return [array.ctypes.data, array.ctypes.data, 0, *((dims(*array.shape), dims(*strides)) if array.ndim else ())]


def _results(types: Sequence[TensorType]) -> ctypes.Structure:
    """One result is a descriptor, several are a structure of them."""
    if len(types) == 1:
        return _descriptor(types[0])()
    fields = [(f"r{i}", _descriptor(type_)) for i, type_ in enumerate(types)]
    structure: type[ctypes.Structure] = type("Results", (ctypes.Structure,), {"_fields_": fields})
    return structure()


def _array(descriptor: ctypes.Structure, type_: TensorType) -> Array:
    dtype = numpy_dtype(type_)
    strides = [stride * dtype.itemsize for stride in descriptor.strides] if type_.rank else []
    last = sum(stride * (dim - 1) for stride, dim in zip(strides, type_.shape, strict=True))
    start = descriptor.aligned + descriptor.offset * dtype.itemsize
    memory = (ctypes.c_char * (last + dtype.itemsize)).from_address(start)
    return np.ndarray(type_.shape, dtype, memory, strides=strides).copy()
