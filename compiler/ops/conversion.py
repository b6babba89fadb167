"""`cast`: between any two dtypes.

Float to int truncates towards zero and saturates, NaN gives 0; int to a narrower int wraps; anything to BOOL is
"differs from zero", so NaN gives true; the rest rounds once, to nearest even. How a scalar is converted is the
builder's, since narrow floats are rounded there after every op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compiler.ops.table import Attr, Attrs, Op
from compiler.types import DTYPES, TensorType

if TYPE_CHECKING:
    from compiler.builder import Builder, Value


def _infer_cast(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    return types[0].with_dtype(DTYPES[str(attrs["dtype"])])


def _lower_cast(b: Builder, args: Sequence[Value], _attrs: Attrs, result: TensorType) -> Value:
    return b.convert(args[0], result.dtype)


CONVERSIONS = (Op("cast", (1, 1), _infer_cast, _lower_cast, (Attr("dtype", "dtype"),)),)
