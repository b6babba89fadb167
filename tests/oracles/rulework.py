"""One application of a rounding rule by itself, for the tests of the rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from compiler.syntax import AttrValue
from compiler.types import DType
from oracles import numpy_reference
from oracles.bounds import Bound, Step, Work, parts
from oracles.engine import Array
from oracles.evaluator import Val, result_dtype
from oracles.numpy_reference import TABLE, quantize
from oracles.rules import RULES

Attrs = dict[str, AttrValue]
AXIS_1: Attrs = {"axis": 1}


def apply_rule(
    op: str,
    args: Sequence[Array],
    dtypes: Sequence[DType],
    errs: Sequence[Bound] | None = None,
    attrs: Attrs | None = None,
) -> Step:
    """The rule's answer for operands as the tracer holds them; without `errs` they are exact."""
    values = [Val(arg, dtype) for arg, dtype in zip(args, dtypes, strict=True)]
    bounds = [0.0] * len(args) if errs is None else errs
    attrs = attrs or {}
    tame = all(np.isfinite(array).all() for array in [*args, *bounds])
    dtype = result_dtype(op, values, attrs)
    work = Work(op, dtype, TABLE[op](*args, **attrs), args, bounds, attrs, dtypes, tame)
    with np.errstate(all="ignore"):
        return RULES[op](work)


def run(op: str, of: DType, *args: ArrayLike, errs: Sequence[Bound] | None = None, attrs: Attrs | None = None) -> Step:
    """The rule's answer for operands given as numbers, rounded to the dtype `of`."""
    arrays = [numpy_reference.hold(quantize(np.asarray(arg, np.float64), of)) for arg in args]
    return apply_rule(op, arrays, [of] * len(arrays), errs, attrs)


def check_certain(step: Step, value: ArrayLike) -> None:
    """Exact throughout, with these bits."""
    expected = np.asarray(value, np.float64)
    assert not parts(step)[0].any()
    assert np.array_equal(step.value, expected, equal_nan=True)
    finite = ~np.isnan(expected)
    assert np.array_equal(np.signbit(step.value)[finite], np.signbit(expected)[finite])
