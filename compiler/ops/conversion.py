"""`cast`, and how a scalar of any dtype becomes one of another.

Float to int truncates towards zero and saturates, NaN gives 0; int to a narrower int wraps; a number is true if it
differs from zero, so NaN is true; the rest rounds once, to nearest even. Conversions to F16 and BF16 are where a
second rounding lurks: LLVM's own F64 to BF16 goes through F32 on some runtimes (MLIR's float16 library does), and
I64 to BF16 through F32 rounds twice everywhere. So such a value is first rounded to its final precision in F64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from compiler.ops.table import Attr, Attrs, Op
from compiler.types import BF16, DTYPES, F16, F32, F64, I32, I64, DType, TensorType

if TYPE_CHECKING:
    from compiler.builder import Builder, Scalar, Value


def _infer_cast(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    return types[0].with_dtype(DTYPES[str(attrs["dtype"])])


def _lower_cast(b: Builder, args: Sequence[Value], _attrs: Attrs, result: TensorType) -> Value:
    return b.convert(args[0], result.dtype)


def convert_scalar(b: Builder, x: Scalar, source: DType, target: DType) -> Scalar:
    """x of dtype `source` as a scalar of dtype `target`, both as stored."""
    return x if source == target else _CONVERSIONS[source.kind, target.kind](b, x, source, target)


def _float_to_float(b: Builder, x: Scalar, source: DType, target: DType) -> Scalar:
    if source.bits == 16:  # F32 holds every F16 and BF16
        return convert_scalar(b, b.emit("arith.extf", x, result=b.element(F32)), F32, target)
    if target.bits > source.bits:
        return b.emit("arith.extf", x, result=b.element(target))
    if target == F32:
        return b.emit("arith.truncf", x, result=b.element(F32))
    if source == F64:
        x = b.emit("arith.truncf", _round_in_f64(b, x, target), result=b.element(F32))  # exact by now
    return b.emit("arith.truncf", x, result=b.element(F16)) if target == F16 else _f32_to_bf16(b, x)


def _round_in_f64(b: Builder, x: Scalar, target: DType) -> Scalar:
    """An F64 rounded to `target`'s precision and smallest quantum, to nearest even, still as an F64.

    Adding and subtracting 1.5 * 2**52 quanta rounds to a multiple of the quantum, which comes from x's power of two;
    that is kept above `target`'s subnormals and below where the sum would overflow. copysign restores a -0.
    """
    exponent = b.emit("arith.andi", _bitcast(b, x, I64), b.scalar(I64, 0x7FF0000000000000))
    power = b.emit("arith.maximumf", _bitcast(b, exponent, F64), b.scalar(F64, target.smallest_normal))
    power = b.emit("arith.minimumf", power, b.scalar(F64, math.ldexp(1.0, 200)))
    quanta = b.emit("arith.mulf", power, b.scalar(F64, 1.5 * math.ldexp(1.0, 53 - target.precision)))
    rounded = b.emit("arith.subf", b.emit("arith.addf", x, quanta), quanta)
    return b.emit("math.copysign", rounded, x)


def _f32_to_bf16(b: Builder, x: Scalar) -> Scalar:
    """The upper half of the bits, rounded to nearest even; a NaN becomes the default one.

    arith.truncf would become a call of __truncsfbf2 on x86-64 without AVX512-BF16, which GCC 12's runtime lacks.
    """
    bits, sixteen = _bitcast(b, x, I32), b.scalar(I32, 16)
    odd = b.emit("arith.andi", b.emit("arith.shrui", bits, sixteen), b.scalar(I32, 1))
    carry = b.emit("arith.addi", odd, b.scalar(I32, 0x7FFF))
    upper = b.emit("arith.shrui", b.emit("arith.addi", bits, carry), sixteen)
    kept = b.select(b.compare("ne", F32, x, x), b.scalar(I32, 0x7FC0), upper)
    return b.emit("arith.bitcast", b.emit("arith.trunci", kept, result=b.bits16), result=b.element(BF16))


def _bitcast(b: Builder, x: Scalar, dtype: DType) -> Scalar:
    return b.emit("arith.bitcast", x, result=b.element(dtype))


def _float_to_int(b: Builder, x: Scalar, source: DType, target: DType) -> Scalar:
    """arith.fptosi is poison outside the range, so it sees 0 there and the limits are chosen afterwards."""
    if source.bits == 16:
        return convert_scalar(b, convert_scalar(b, x, source, F32), F32, target)
    least, greatest = target.int_range
    low, high = b.scalar(source, float(least)), b.scalar(source, float(greatest + 1))
    above, outside_below = b.compare("ge", source, x, high), b.compare("ult", source, x, low)  # NaN counts as below
    safe = b.select(b.emit("arith.ori", above, outside_below), b.scalar(source, 0), x)
    number = b.emit("arith.fptosi", safe, result=b.element(target))
    number = b.select(above, b.scalar(target, greatest), number)
    return b.select(b.compare("lt", source, x, low), b.scalar(target, least), number)


def _int_to_float(b: Builder, x: Scalar, source: DType, target: DType) -> Scalar:
    if target.bits > 16:
        return b.emit("arith.sitofp", x, result=b.element(target))
    exact = _odd_beyond_f64(b, x) if source == I64 else x
    return convert_scalar(b, b.emit("arith.sitofp", exact, result=b.element(F64)), F64, target)


def _odd_beyond_f64(b: Builder, x: Scalar) -> Scalar:
    """An I64 of more than 53 bits rounded to odd, so that F64 holds it and no midpoint of a 16-bit float is hit.

    The lowest 11 bits give way to one bit that says whether any of them was set.
    """
    none, low = b.scalar(I64, 0), b.emit("arith.andi", x, b.scalar(I64, 0x7FF))
    sticky = b.select(b.compare("ne", I64, low, none), b.scalar(I64, 0x400), none)
    odd = b.emit("arith.ori", b.emit("arith.andi", x, b.scalar(I64, ~0x7FF)), sticky)
    shifted = b.emit("arith.addi", x, b.scalar(I64, 1 << 53))
    return b.select(b.compare("ugt", I64, shifted, b.scalar(I64, 1 << 54)), odd, x)


def _int_to_int(b: Builder, x: Scalar, source: DType, target: DType) -> Scalar:
    return b.emit("arith.extsi" if target.bits > source.bits else "arith.trunci", x, result=b.element(target))


def _to_bool(b: Builder, x: Scalar, source: DType, _target: DType) -> Scalar:
    return b.byte(b.compare("ne", source, x, b.scalar(source, 0)))


def _bool_to_int(b: Builder, x: Scalar, _source: DType, target: DType) -> Scalar:
    return b.emit("arith.extui", x, result=b.element(target))


def _bool_to_float(b: Builder, x: Scalar, _source: DType, target: DType) -> Scalar:
    return b.select(b.bit(x), b.scalar(target, 1), b.scalar(target, 0))


_CONVERSIONS: dict[tuple[str, str], Callable[[Builder, Scalar, DType, DType], Scalar]] = {
    ("float", "float"): _float_to_float,
    ("float", "int"): _float_to_int,
    ("float", "bool"): _to_bool,
    ("int", "float"): _int_to_float,
    ("int", "int"): _int_to_int,
    ("int", "bool"): _to_bool,
    ("bool", "float"): _bool_to_float,
    ("bool", "int"): _bool_to_int,
}

CONVERSIONS = (Op("cast", (1, 1), _infer_cast, _lower_cast, (Attr("dtype", "dtype"),)),)
