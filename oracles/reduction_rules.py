"""Rounding rules of what sums or compares along an axis: matmul, sum, softmax, max, argmax. The frame is in `bounds`.

Every partial sum, in any order, lies between the sum N of all negative terms and the sum P of all positive ones, so
each of the n - 1 additions errs by at most u·max(P, -N), which is half of Σ|x| + |Σx|; a scalar product errs by
u·Σ|a||b| more where its products are rounded, and by less where they are fused (Higham, "Accuracy and Stability of
Numerical Algorithms", 4.2, whose Σ|partial sums| this bounds). F16 and BF16 are accumulated in F32 and rounded once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from compiler.types import F64
from oracles.bounds import Bound, Rule, Step, Work, accumulated, discrete, exactly, parts, settle, spread, sure_sign
from oracles.engine import Array
from oracles.exactness import exact_products, exact_sums, negative_zeros, quantum
from oracles.rounding import LIBM_ULPS, TINY, rounded
from oracles.verdict import Reason

DEEPEST = 1000.0  # e^-1000 is below every dtype's subnormals: the error of a deeper exponent does not matter
CANCELLED = 2.0**-40  # of two float64 sums of at most 2**12 terms: what their difference may have lost
FARTHEST = 0.25  # what operands may do to a probability before softmax counts as ill-conditioned there
FEW_ROUNDINGS = 2.0**-44  # of a sum of probabilities in float64, generously


def _axis(work: Work) -> int:
    return cast("int", work.attrs["axis"])


def _full(work: Work, index: int = 0) -> Array:
    """An operand's bound as an array of its own shape."""
    err = work.errs[index]
    return np.zeros(work.args[index].shape) if isinstance(err, float) else err


def matmul_rule(work: Work) -> Step:
    """(A + δA)(B + δB) = AB + δA·B + A·δB + δA·δB."""
    left, right = work.args
    if work.dtype.kind != "float":
        return discrete(work, _any(work, 0, -1) + _any(work, 1, -2))
    if not work.tame:
        return _wild_matmul(work)
    size_left, size_right = np.abs(left), np.abs(right)
    magnitude = size_left @ size_right
    if work.exact:
        return _exact_matmul(work, magnitude)
    carried: Bound = 0.0
    remainder: Bound = 0.0
    if not isinstance(work.errs[0], float):
        carried = work.errs[0] @ size_right
    if not isinstance(work.errs[1], float):
        carried = carried + size_left @ work.errs[1]
    if not isinstance(work.errs[0], float) and not isinstance(work.errs[1], float):
        remainder = work.errs[0] @ work.errs[1]
    return _dot(work, left.shape[-1] - 1, magnitude, carried, remainder)


def _any(work: Work, index: int, axis: int) -> Bound:
    """Is anything unknown in a row or column? Keeps the axis as size 1."""
    err = work.errs[index]
    return err if isinstance(err, float) else np.asarray(err.max(axis=axis, keepdims=True))


def _dot(work: Work, additions: int, magnitude: Array, carried: Bound, remainder: Bound, products: bool = True) -> Step:
    """So many additions of terms, rounded `products` or not, that add up to `magnitude` at the reference's operands."""
    units = work.units
    count = additions + products
    reach = magnitude + carried + remainder
    growth = 1 + count * units.inner
    partial = ((magnitude + np.abs(work.value)) / 2 + carried + remainder) * growth**8  # the additions' own errors
    gain = additions * partial + products * reach + count * units.inner_tiny / units.inner
    local = np.where(reach == 0, 0.0, accumulated(units, gain, np.abs(work.value) + carried + remainder))
    if (reach * growth).max() < units.inner_limit:
        return settle(work, carried, local, remainder)
    return _overflowing_dot(work, reach, growth, local, carried, remainder)


def _overflowing_dot(work: Work, reach: Array, growth: float, local: Bound, carried: Bound, remainder: Bound) -> Step:
    """A partial sum may overflow. It comes to the same infinity in every order if all terms of the other sign together
    stay finite; the terms of both signs add up to `reach` at most, to |value| less both bounds at least.
    """
    size, limit = np.abs(work.value), work.units.inner_limit
    wide = carried + remainder
    minority = ((reach - size + wide) / 2 + CANCELLED * reach) * growth
    certain = (minority < limit) & (size - (wide + local) >= limit) & (work.dtype is not F64)
    unknown = (reach * growth >= limit) & ~certain
    return settle(work, carried, local, remainder, unknown=unknown, reason="overflow")


def _exact_matmul(work: Work, magnitude: Array) -> Step:
    left, right = work.args
    if not work.units.narrow and not (rounded(work.value, work.dtype) == work.value).any():
        return _dot(work, left.shape[-1] - 1, magnitude, 0.0, 0.0)  # most often: no sum is even representable
    proved = exact_products(left, right, magnitude, work.dtype)
    step = _dot(work, left.shape[-1] - 1, magnitude, 0.0, 0.0)
    unsigned = (magnitude == 0) & negative_zeros(left, right) if (magnitude == 0).any() else None
    if unsigned is not None and not unsigned.any():
        unsigned = None
    return _with_exact_sums(work, step, proved, unsigned)


def _with_exact_sums(work: Work, step: Step, proved: Array, unsigned: Array | None) -> Step:
    """Bits where the sum was proved exact, rounded once if the dtype is narrow. A zero is +0 unless all are -0."""
    value = np.where(proved, rounded(work.value + 0.0, work.dtype), step.value)
    if proved.all() and unsigned is None:
        return exactly(value)
    err, source = parts(step)
    open_ = 0.0 if unsigned is None else np.where(unsigned, TINY, 0.0)
    return replace(step, value=value, err=np.where(proved, open_, err), source=np.where(proved, 0.0, source))


def _wild_matmul(work: Work) -> Step:
    """Infinities, NaN or unknown operands: each product is looked at by itself, [.., M, K, N]."""
    left, right = work.args[0][..., :, :, None], work.args[1][..., None, :, :]
    err_left, err_right = _full(work, 0)[..., :, :, None], _full(work, 1)[..., None, :, :]
    return _wild_sum(
        work,
        axis=-2,
        terms=left * right,
        special=~(np.isfinite(left) & np.isfinite(right)),
        known=sure_sign(left, err_left) & sure_sign(right, err_right),
        carried=err_left * np.abs(right) + np.abs(left) * err_right,
        remainder=err_left * err_right,
        lost=np.isinf(err_left) | np.isinf(err_right),
    )


def _wild_sum(
    work: Work, axis: int, terms: Array, special: Array, known: Array, carried: Array, remainder: Array, lost: Array
) -> Step:
    """A sum with special terms is certain if their signs are; the finite rest is an ordinary one."""
    plain, touched = ~(special | lost), special.any(axis)
    step = _dot(
        replace(work, value=np.where(touched, 0.0, work.value)),
        terms.shape[axis] - 1,
        np.where(plain, np.abs(terms), 0.0).sum(axis),
        np.where(plain, carried, 0.0).sum(axis),
        np.where(plain, remainder, 0.0).sum(axis),
    )
    doomed = (np.isnan(terms) & special & known).any(axis)
    hopeless = (lost | (special & ~known)).any(axis) & ~doomed  # a certain NaN outdoes all that is unknown
    value = np.where(touched, np.where(special, terms, 0.0).sum(axis), step.value)
    err, source = parts(step)
    err = np.where(doomed, 0.0, np.where(hopeless | np.isinf(err), np.inf, np.where(touched, 0.0, err)))
    source = np.where(touched | hopeless, 0.0, source)
    reason = step.reason
    if reason is None and not np.isinf(spread(work.errs)) and np.isinf(err).any():
        reason = "ill-conditioned"
    return Step(value, err, source, reason, bool(np.isfinite(value).all() and np.isfinite(err).all()))


def sum_rule(work: Work) -> Step:
    """Linear; n - 1 roundings. No underflow, but `_dot` allows for it: a product may be fused into the sum."""
    (x,), axis = work.args, _axis(work)
    if work.dtype.kind != "float":
        err = work.errs[0]
        return discrete(work, err if isinstance(err, float) else np.asarray(err.max(axis=axis)))
    if not work.tame:
        full = _full(work)
        lost = np.isinf(full)
        fused = np.broadcast_to(np.asarray(work.unfused), x.shape)
        return _wild_sum(work, axis, x, ~np.isfinite(x), ~lost, full, fused, lost)
    magnitude = np.asarray(np.abs(x).sum(axis))
    if not work.exact:
        fused = np.broadcast_to(np.asarray(work.unfused), x.shape).sum(axis)
        return _dot(work, x.shape[axis] - 1, magnitude, np.asarray(_full(work).sum(axis)), fused, products=False)
    step = _dot(work, x.shape[axis] - 1, magnitude, 0.0, 0.0, products=False)
    proved = exact_sums(magnitude, quantum(x, axis).reshape(magnitude.shape), work.dtype)
    unsigned = np.asarray((magnitude == 0) & np.signbit(x).all(axis))
    return _with_exact_sums(work, step, proved, unsigned if unsigned.any() else None)


def softmax_rule(work: Work) -> Step:
    """y_j = e^(x_j - m)/Σ: each step's relative error, and y_j(δ_j - Σ y_i δ_i) with a bounded second derivative.

    Relative to y_j the computed value errs by u·|x_j - m| + 2k·u (subtraction, exp) and by their mean under y, n - 1
    (sum), 1 (division) and 1 more (a reciprocal that is multiplied); underflow adds k + 1 subnormal steps.
    """
    (x,), axis, y, units = work.args, _axis(work), work.value, work.units
    err = _full(work)
    worst = err.max(axis=axis, keepdims=True)
    growth = np.exp(2 * worst)
    depth = np.minimum(x.max(axis=axis, keepdims=True) - x, DEEPEST) + 2 * worst
    mean_depth = (y * depth).sum(axis=axis, keepdims=True) * growth
    gain = depth + mean_depth + 4 * LIBM_ULPS["exp"] + x.shape[axis] + 1
    carried, remainder = (0.0, 0.0) if work.exact else _softmax_carried(y, err, axis, worst, growth)
    reach = y + carried + remainder
    floor = (2 * LIBM_ULPS["exp"] + 2) * units.inner_tiny / units.inner
    local = accumulated(units, gain * reach * (1 + gain * units.inner) + floor, reach)
    far = np.isinf(worst) | (carried + remainder > FARTHEST)
    if work.tame and x.shape[axis] > 1 and not far.any():
        return settle(work, carried, local, remainder)
    exact = (x == -np.inf) | np.isnan(y) | (x.shape[axis] == 1)
    return settle(work, carried, local, remainder, exact=exact & ~far, unknown=far & np.ones_like(exact))


def _softmax_carried(y: Array, err: Array, axis: int, worst: Array, growth: Array) -> tuple[Array, Array]:
    """|J|·E and the remainder: |y_j''| <= y_j·max(a_j², v) along the way from x to x + δ.

    There a_j bounds |δ_j - Σ y_i δ_i|, by E_j + Σ y_i E_i and by 2·max E·Σ' y_i over the others, and v the variance, by
    Σ y_i E_i² and by (2·max E)²·Σ' y_i over all but the largest; y itself grows by at most `growth` = e^(2·max E).
    """
    mean = (y * err).sum(axis=axis, keepdims=True)
    first = y * ((1 - 2 * y) * err + mean)
    others = y.sum(axis=axis, keepdims=True) - y + FEW_ROUNDINGS
    least = others.min(axis=axis, keepdims=True)
    slope = np.minimum(err + mean * growth, 2 * worst * others * growth)
    variance = np.minimum((y * err * err).sum(axis=axis, keepdims=True), 4 * worst * worst * least) * growth
    return np.maximum(first, 0.0), y * np.maximum(slope * slope, variance) * (growth / 2)


def max_rule(work: Work) -> Step:
    """The bound of whichever element may be the largest; the winner's slope is right unless another overtakes it."""
    (x,), axis = work.args, _axis(work)
    if work.exact:
        return Step(work.value, tame=work.tame)
    err = _full(work)
    if work.dtype.kind != "float":
        return discrete(work, np.asarray(err.max(axis=axis)))
    if not work.tame:
        return _wild_max(work, x, err, axis)
    low = (x - err).max(axis=axis, keepdims=True)
    may_win = x + err >= low
    bound = np.where(may_win, err, 0.0).max(axis=axis)
    alone = may_win.sum(axis=axis) == 1
    overlap = np.where(alone, 0.0, np.where(may_win, x + err, -np.inf).max(axis=axis) - work.value + bound)
    return Step(work.value, np.asarray(bound), np.asarray(overlap))


def _wild_max(work: Work, x: Array, err: Array, axis: int) -> Step:
    """Rows with an unknown element are unknown, rows with a NaN are NaN; -inf never wins unless it is alone."""
    lost, special = np.isinf(err).any(axis=axis), np.isnan(work.value) | np.isinf(work.value)
    low = (x - err).max(axis=axis, keepdims=True)
    may_win = (x + err >= low) & np.isfinite(x)
    bound = np.where(may_win, err, 0.0).max(axis=axis)
    overlap = np.where(may_win, x + err, -np.inf).max(axis=axis) - work.value + bound
    alone = may_win.sum(axis=axis) == 1
    source = np.where(lost | special | alone, 0.0, overlap)
    bound = np.where(lost, np.inf, np.where(special, 0.0, bound))
    return Step(work.value, bound, source, tame=not (lost | special).any())


def argmax_rule(work: Work) -> Step:
    """Certain if the winner's least value beats every other's greatest, or if all are exact."""
    if work.exact:
        return Step(work.value)
    may_win = contenders(work.args[0], work.errs[0], _axis(work))
    open_ = may_win.sum(axis=_axis(work)) > 1
    if not open_.any():
        return Step(work.value)
    reason: Reason | None = None if np.isinf(spread(work.errs)) else "near-tie"
    return Step(work.value, np.where(open_, np.inf, 0.0), None, reason, tame=False, contenders=may_win)


def contenders(x: Array, err: Bound, axis: int) -> Array:
    """Which elements may be the first largest of their row. Of elements that are exact and equal only the first may.

    The first NaN wins over all, infinity too; what is unknown may be NaN.
    """
    full = np.broadcast_to(np.asarray(err), x.shape)
    is_nan = np.isnan(x) & (full == 0)
    lost = np.cumsum(is_nan, axis=axis) > is_nan  # an earlier one is NaN
    rank = np.where(np.isnan(x), np.inf, np.where(is_nan.any(axis=axis, keepdims=True), -np.inf, x))
    low = np.where(np.isinf(full), -np.inf, rank - np.where(np.isinf(rank), 0.0, full))
    high = np.where(np.isinf(full), np.inf, rank + np.where(np.isinf(rank), 0.0, full))
    best = low.max(axis=axis, keepdims=True)
    may_win = high >= best
    settled = (full == 0) & (high == best)
    first = np.cumsum(settled, axis=axis) == 1
    return np.asarray(may_win & (~settled | first) & ~lost)


REDUCTIONS: dict[str, Rule] = {
    "matmul": matmul_rule,
    "sum": sum_rule,
    "softmax": softmax_rule,
    "max": max_rule,
    "argmax": argmax_rule,
}
