"""The second reference: each op phrased by PyTorch's own operator, floats in float64, differentiable throughout.

As in `numpy_reference` nothing is rounded to the dtype. No function here works in place, so autograd can follow; how
many threads torch may use is the caller's affair.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from compiler.types import DTYPES, DType
from oracles import numpy_reference
from oracles.engine import Array
from oracles.evaluator import Library

HELD: dict[str, torch.dtype] = {"F16": torch.float64, "BF16": torch.float64, "F32": torch.float64, "F64": torch.float64}
HELD |= {"I32": torch.int32, "I64": torch.int64, "BOOL": torch.bool}
"""How a value of each Kina dtype is held here."""


def hold(array: Array) -> Tensor:
    """A fresh tensor: any float as float64 (exact), ints and bools as they are."""
    return torch.from_numpy(numpy_reference.hold(array))


def _rem(a: Tensor, b: Tensor) -> Tensor:
    """torch.fmod, whose vector code returns NaN where a / b overflows (seen in 2.13.0).

    There it is asked three times, for the remainders of b * 2**1800, b * 2**900 and b: each is exact, and a remainder
    of a multiple has the same remainder. The last one is scaled, because b may be subnormal.
    """
    far = torch.isinf(a / b)
    step = torch.where(far, torch.full_like(b, 2.0**900), torch.ones_like(b))
    scale = torch.where(far, torch.full_like(b, 2.0**54), torch.ones_like(b))
    a = torch.fmod(torch.fmod(a, b * step * step), b * step)
    return torch.fmod(a * scale, b * scale) / scale


def _maximum(a: Tensor, b: Tensor) -> Tensor:
    """torch.maximum, which is free to return either of two zeros: their sum has the greater one's sign."""
    return torch.where((a == 0) & (b == 0), a + b, torch.maximum(a, b))


def _minimum(a: Tensor, b: Tensor) -> Tensor:
    """torch.minimum; of two zeros the lesser one is that with any minus: -(-a + -b)."""
    return torch.where((a == 0) & (b == 0), -(-a + -b), torch.minimum(a, b))


def _max(x: Tensor, axis: int) -> Tensor:
    """torch.amax; where it is a zero, +0 if there is one (x + 0 turns -0 into +0 and keeps the rest)."""
    top = torch.amax(x, dim=axis)
    has_positive_zero = torch.any((x == 0) & ~torch.signbit(x), dim=axis)
    return torch.where((top == 0) & has_positive_zero, top + 0, top)


def _gather(table: Tensor, ids: Tensor) -> Tensor:
    rows = torch.index_select(table, 0, ids.clamp(0, table.shape[0] - 1).reshape(-1))
    return rows.reshape(ids.shape + table.shape[1:])


def _pad(x: Tensor, axis: int, low: int, high: int) -> Tensor:
    """torch's pad lists (low, high) from the last axis to the first."""
    amounts = [(low, high) if at == axis else (0, 0) for at in reversed(range(x.ndim))]
    return torch.nn.functional.pad(x, [amount for pair in amounts for amount in pair])


def _cast(x: Tensor, dtype: str) -> Tensor:
    """Float to int truncates, saturates and makes 0 of NaN; to BOOL is "differs from 0"; to a float changes nothing."""
    target = DTYPES[dtype]
    if target.kind == "int" and x.dtype.is_floating_point:
        return _saturated(x, target)
    if target.kind == "float" and target.bits < 64 and x.dtype == torch.int64:
        return _to_odd_float64(x)
    return x.to(HELD[dtype])


def _to_odd_float64(x: Tensor) -> Tensor:
    """int64 to float64; beyond 2**53 the bits that have no room make the last one odd.

    What is then rounded to a narrower float is rounded as if once (see `numpy_reference.quantize`).
    """
    dropped = 11  # 64 bits less the 53 of a float64
    odd = (x >> dropped) | ((x & (1 << dropped) - 1) != 0)
    wide = x.to(torch.float64)
    return torch.where(wide.abs() < 2.0**53, wide, odd.to(torch.float64) * 2.0**dropped)


def _saturated(x: Tensor, target: DType) -> Tensor:
    """Compared with powers of two: the largest I64 has no float64 of its own."""
    low, high = target.int_range
    limit = 2.0 ** (target.bits - 1)
    values = torch.where(x.abs() < limit, x, 0.0).to(HELD[target.name])  # NaN gives 0; `to` truncates
    values = torch.where(x >= limit, torch.full_like(values, high), values)
    return torch.where(x <= -limit, torch.full_like(values, low), values)


TABLE: dict[str, Callable[..., Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "rem": _rem,
    "neg": torch.neg,
    "matmul": torch.matmul,
    "log": torch.log,
    "exp": torch.exp,
    "sqrt": torch.sqrt,
    "tanh": torch.tanh,
    "abs": torch.abs,
    "maximum": _maximum,
    "minimum": _minimum,
    "sum": lambda x, axis: torch.sum(x, dim=axis, dtype=x.dtype),
    "max": _max,
    "less": torch.lt,
    "less_equal": torch.le,
    "equal": torch.eq,
    "select": torch.where,
    "cast": _cast,
    "gather": _gather,
    "reshape": lambda x, shape: torch.reshape(x, shape),
    "transpose": lambda x, perm: torch.permute(x, perm),
    "broadcast": lambda x, shape: torch.broadcast_to(x, shape),
    "slice": lambda x, axis, start, stop: torch.narrow(x, axis, start, stop - start),
    "concat": lambda *parts, axis: torch.cat(parts, dim=axis),
    "pad": _pad,
    "softmax": lambda x, axis: torch.softmax(x, dim=axis),
    "argmax": lambda x, axis: torch.argmax(x, dim=axis),
}
LIBRARY: Library[Tensor] = Library(TABLE, hold)
