"""Rounding rules of what moves values, chooses among them or converts them. The frame is in `bounds`.

Data movement is exact: a bound moves with its value, by the same op.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from compiler.types import F32, F64, DType
from oracles.bounds import Rule, Step, Work, once_rounded, settle, spread
from oracles.engine import Array
from oracles.numpy_reference import QUIET
from oracles.rounding import UNITS, rounded, rounded_integers
from oracles.verdict import Reason


def move_rule(work: Work) -> Step:
    """reshape, transpose, broadcast, slice, concat, pad: the op itself, applied to the bounds."""
    if work.exact:
        return Step(work.value, tame=work.tame)
    pairs = zip(work.errs, work.args, strict=True)
    errs = [np.zeros(arg.shape) if isinstance(err, float) else err for err, arg in pairs]
    return Step(work.value, QUIET.table[work.op](*errs, **work.attrs), tame=work.tame)


def gather_rule(work: Work) -> Step:
    """Rows move with their bounds; a row chosen by an unknown id is unknown."""
    if work.exact:
        return Step(work.value, tame=work.tame)
    (table, ids), (err, err_ids) = work.args, work.errs
    moved = QUIET.table["gather"](np.broadcast_to(np.asarray(err), table.shape), ids)
    by_id = np.broadcast_to(np.asarray(err_ids), ids.shape).reshape(ids.shape + (1,) * (table.ndim - 1))
    return Step(work.value, moved + by_id, tame=work.tame)


def select_rule(work: Work) -> Step:
    """The chosen side's bound, if it is certain which one that is."""
    if work.exact:
        return Step(work.value, tame=work.tame)
    err_cond, err_a, err_b = work.errs
    err = np.where(work.args[0], err_a, err_b) + err_cond
    return Step(work.value, np.broadcast_to(err, work.value.shape), tame=work.tame)


def compare_rule(work: Work) -> Step:
    """`< <= ==`: certain if both sides are exact, or farther apart than their bounds together."""
    if work.exact:
        return Step(work.value)
    (a, b), (err_a, err_b) = work.args, work.errs
    both = np.asarray(err_a + err_b)
    gap = np.abs(a - b) if a.dtype.kind == "f" else np.zeros(a.shape)
    certain = (both == 0) | (gap > both) | (np.isfinite(both) & (np.isnan(a) | np.isnan(b)))
    return _certain(work, certain, "near-condition")


def _certain(work: Work, certain: Array, reason: Reason) -> Step:
    if certain.all():
        return Step(work.value)
    own = None if np.isinf(spread(work.errs)) else reason
    return Step(work.value, np.where(certain, 0.0, np.inf), None, own, tame=False)


def cast_rule(work: Work) -> Step:
    """To a float: one rounding, none where the dtype is wider. To an integer or BOOL: certain or not."""
    (source,) = work.dtypes
    if work.dtype.kind == "float":
        return _cast_to_float(work, source)
    (err,) = work.errs
    if isinstance(err, float) or source.kind != "float":
        return Step(work.value, None if isinstance(err, float) else err, tame=isinstance(err, float))
    return _cast_to_discrete(work, err)


def _cast_to_discrete(work: Work, err: Array) -> Step:
    """The conversion does not decrease, so it is certain where both ends of the interval convert alike."""
    (x,) = work.args
    low, high = np.nextafter(x - err, -np.inf), np.nextafter(x + err, np.inf)
    alike = QUIET.table["cast"](low, **work.attrs) == QUIET.table["cast"](high, **work.attrs)
    if work.dtype.kind == "bool":  # not monotonic: both ends may differ from zero
        alike = np.abs(x) > err
    return _certain(work, (err == 0) | (alike & np.isfinite(err)), "cast-boundary")


def _cast_to_float(work: Work, source: DType) -> Step:
    (x,), (err,) = work.args, work.errs
    if work.exact:
        return _exact_cast(work, source)
    if source.kind != "float":  # some are unknown integers, the others exact
        step = _exact_cast(work, source)
        return replace(step, err=np.asarray(err if step.err is None else err + step.err), tame=False)
    if work.dtype.precision >= source.precision and work.dtype.max_exponent >= source.max_exponent:
        return Step(x, np.asarray(err), tame=work.tame)
    reach = np.abs(x) + err
    local = once_rounded(work.units, reach)
    if source is F64 and work.units.narrow:  # a conversion by way of F32 rounds twice
        local = once_rounded(work.units, reach * (1 + F32.unit_roundoff)) + once_rounded(UNITS["F32"], reach)
    exact = None if work.tame else ~np.isfinite(x) & (np.asarray(err) == 0)
    return settle(work, err, local, value=x, exact=exact)


def _exact_cast(work: Work, source: DType) -> Step:
    """One correct result, unless it is reached by way of F32 and the two roundings give another one."""
    (x,) = work.args
    convert = rounded if source.kind == "float" else rounded_integers
    value = convert(x, work.dtype) if source.kind != "bool" else x.astype(np.float64)
    if not work.units.narrow or source.bits <= 16:
        return Step(value, tame=bool(np.isfinite(value).all()))
    twice = rounded(convert(x, F32), work.dtype)
    same = (value == twice) | np.isnan(value)
    gap = np.where(same, 0.0, np.abs(np.where(same, 0.0, value) - np.where(same, 0.0, twice)))
    if not gap.any():
        return Step(value, tame=bool(np.isfinite(value).all()))
    return settle(work, 0.0, gap, value=value, exact=gap == 0)


LAYOUT: dict[str, Rule] = {
    **dict.fromkeys(("reshape", "transpose", "broadcast", "slice", "concat", "pad"), move_rule),
    "gather": gather_rule,
    "select": select_rule,
    "less": compare_rule,
    "less_equal": compare_rule,
    "equal": compare_rule,
    "cast": cast_rule,
}
