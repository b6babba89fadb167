"""What one op does to errors: a table of rules, one for each op, and the frame they share.

A value of a run is the reference's number r and a bound E: a correct implementation has some r̂ with |r̂ - r| <= E.
With δ = r̂ - r the induction over a program is, for an op r = f(x),

    δ_r = f'(x)·δ_x + rem(x, δ_x) + round,      |round| <= local,   |rem| <= remainder     (for all |δ_x| <= E_x)

where f' is taken at the reference's own x. Both `local` and `remainder` are *sources*; the linear part is carried. A
rule gives the carried bound |f'(x)|·E_x, the remainder and the local rounding, each in closed form, and `settle` adds
them up: that sum is the forward bound E, sound and loose. `transport` carries the sources to the outputs exactly, and
since the remainder is a source no second-order term is left out there.

E is 0 (None for a whole array) if and only if the value is proved to be the very number that every correct
implementation computes, bit for bit; E is inf where nothing can be said, for the reason that the step names. The rules
live in `elementwise_rules`, `reduction_rules` and `layout_rules`; the rounding model in `rounding`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from compiler.syntax import AttrValue
from compiler.types import F64, DType
from oracles.engine import Array
from oracles.rounding import TINY, UNITS, Units
from oracles.verdict import Reason

Bound = Array | float
"""An array of bounds, or the number 0.0 for a value that is exact throughout."""

SLACK = 1.0 + 2.0**-40  # the bounds are themselves computed in float64: at most 2**12 roundings for each op


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """One application of an op: what its rule may look at.

    `value` is the NumPy reference's result, `args` and `errs` the operands and their bounds. `tame`: every operand is
    finite and every bound too, so that the rule may skip its special cases. `unfused`: the rounding errors of operands
    that are products, which a sum may be fused with.
    """

    op: str
    dtype: DType
    value: Array
    args: Sequence[Array]
    errs: Sequence[Bound]
    attrs: Mapping[str, AttrValue]
    dtypes: Sequence[DType]
    tame: bool
    unfused: Bound = 0.0

    @property
    def exact(self) -> bool:
        """Is every operand exact throughout?"""
        return all(isinstance(err, float) for err in self.errs)

    @property
    def units(self) -> Units:
        return UNITS[self.dtype.name]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A rule's answer: the value to go on with, its forward bound, its own share of it (None: nothing).

    `value` is the reference's, but for what every correct implementation makes of it: rounded where that is certain,
    infinite beyond the range. `reason` says why bounds are inf that no operand's bound explains. `contenders`: for an
    argmax that is open, which elements of the operand may be the one.
    """

    value: Array
    err: Array | None = None
    source: Array | None = None
    reason: Reason | None = None
    tame: bool = True
    contenders: Array | None = None


Rule = Callable[[Work], Step]


def exactly(value: Array) -> Step:
    """Every correct implementation computes these bits."""
    return Step(value, tame=bool(np.isfinite(value).all()))


def settle(
    work: Work,
    carried: Bound,
    local: Bound,
    remainder: Bound = 0.0,
    *,
    value: Array | None = None,
    exact: Array | None = None,
    unknown: Array | None = None,
    reason: Reason = "ill-conditioned",
) -> Step:
    """Adds up a rule's parts. `exact` and `unknown` mark elements that the parts do not describe.

    The result is one rounding of a number in value ± bound, so that an overflow can be certain. Where the value is not
    finite it must be marked `exact`, or it counts as unknown.
    """
    value = work.value if value is None else value
    source = np.asarray(local + remainder)
    if source.shape != value.shape:
        source = np.broadcast_to(source, value.shape)
    err = np.maximum((carried + source) * SLACK, TINY)
    if exact is not None:
        err, source = np.where(exact, 0.0, err), np.where(exact, 0.0, source)
    if unknown is None and (np.abs(value) + err).max() < work.units.limit:
        return Step(value, err, source)
    return _settle_wild(work, value, err, source, unknown, reason)


def _settle_wild(work: Work, value: Array, err: Array, source: Array, unknown: Array | None, reason: Reason) -> Step:
    """The rare case: something is infinite, NaN, beyond the range, or unknown."""
    limit = work.units.limit
    size = np.abs(value)
    lost = np.isnan(err) | (np.isnan(value) & (err > 0)) | (np.isinf(value) & (err > 0))
    if unknown is not None:
        lost = lost | unknown
    over = ~lost & np.isfinite(value) & (err > 0) & (size + err >= limit)
    sure = over & (size - err >= limit) if work.dtype is not F64 else np.zeros_like(over)
    value = np.where(sure, np.copysign(np.inf, value), value)
    fresh = over & ~sure | (lost & np.isinf(value))  # the operands were finite and the reference itself overflowed
    err = np.where(sure, 0.0, np.where(lost | over, np.inf, err))
    source = np.where(np.isfinite(err) & ~sure, source, 0.0)
    known = spread(work.errs)
    own: Reason | None = None
    if np.isinf(err).any() and np.isfinite(known):
        own = "overflow" if fresh.any() and (unknown is None or not unknown.any()) else reason
    return Step(value, err, source, own, bool(np.isfinite(value).all() and np.isfinite(err).all()))


def parts(step: Step) -> tuple[Array, Array]:
    """A step's bound and source as arrays."""
    zero = np.zeros(step.value.shape)
    return (zero if step.err is None else step.err), (zero if step.source is None else step.source)


def spread(errs: Sequence[Bound]) -> float:
    """The largest of all operands' bounds."""
    return max((float(np.max(err)) for err in errs), default=0.0)


def discrete(work: Work, err: Bound) -> Step:
    """Integers, bools: a value is exact or unknown. `err` is 0 or inf for each element of the result."""
    if isinstance(err, float) and err == 0.0:
        return Step(work.value)
    full = np.broadcast_to(np.asarray(err), work.value.shape)
    return Step(work.value, np.where(full > 0, np.inf, 0.0), tame=not (full > 0).any())


def sure_sign(value: Array, err: Bound) -> Array:
    """Where the sign of a value is certain, a zero's too."""
    return np.asarray((np.abs(value) > err) | (np.asarray(err) == 0))


def once_rounded(units: Units, magnitude: Array) -> Array:
    """One IEEE rounding of a number of at most `magnitude` (Higham, "Accuracy and Stability", 2nd ed., thm 2.2)."""
    return np.maximum(units.unit * magnitude, units.tiny)


def accumulated(units: Units, gain: Bound, magnitude: Array) -> Array:
    """`gain` in units of the inner roundoff, then the final rounding to a narrow dtype.

    `magnitude` bounds the exact result.
    """
    inner = units.inner * gain
    if not units.narrow:
        return np.asarray(inner)
    return np.asarray(inner + once_rounded(units, magnitude + inner))
