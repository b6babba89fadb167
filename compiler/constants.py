"""Kina's numbers as MLIR attributes, bit for bit.

Tensors go through bytes, never through `==`: 0.0 equals -0.0 and NaN equals nothing, but each is a constant of its own.
Values arrive already rounded to their dtype (`compiler.syntax.Literal`).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from mlir import ir

from compiler.types import BF16, DType, TensorType

_FORMATS = {"F16": "<e", "F32": "<f", "F64": "<d", "I32": "<i", "I64": "<q", "BOOL": "<?"}


def dense(type_: TensorType, values: Sequence[float], mlir_type: ir.Type) -> ir.Attribute:
    """The elements attribute of a tensor constant, values in row-major order; a splat when all bits are equal."""
    packed = [_bytes(type_.dtype, value) for value in values]
    payload = packed[0] if len(set(packed)) == 1 else b"".join(packed)
    return ir.Attribute.parse(f'dense<"0x{payload.hex()}"> : {mlir_type}')


def _bytes(dtype: DType, value: float) -> bytes:
    """Little-endian, as on every platform the wheels of MLIR exist for. BF16 is the upper half of F32."""
    return struct.pack("<f", value)[2:] if dtype == BF16 else struct.pack(_FORMATS[dtype.name], value)


def scalar_attribute(dtype: DType, mlir_type: ir.Type, value: float) -> ir.Attribute:
    """The attribute of a scalar constant."""
    if dtype.kind == "float":
        return ir.FloatAttr.get(mlir_type, float(value))
    return ir.IntegerAttr.get(mlir_type, int(value))
