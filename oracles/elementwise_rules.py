"""Rounding rules of the arithmetic that works on each element by itself. The frame is in `bounds`.

Sources: one IEEE rounding per `+ - * /` and sqrt; F16 and BF16 go through F32, where the second rounding does no harm
(Figueroa, "When is double rounding innocuous?", SIGNUM 1995). A product may stay unrounded where it is fused into a
sum, so an inexact product is never taken for exact; a sum, quotient or root of exact operands has one correct result.
The sum may see the product unrounded while others see it rounded, so a sum adds the product's rounding once more.
Library functions err by the ulps of `rounding.LIBM_ULPS`, and their special values are those of ISO C, annex F.
"""

from __future__ import annotations

import numpy as np

from compiler.types import F64
from oracles.bounds import Bound, Rule, Step, Work, discrete, exactly, once_rounded, settle, sure_sign
from oracles.engine import Array
from oracles.rounding import LIBM_ULPS, rounded


def _is_discrete(work: Work) -> bool:
    return work.dtype.kind != "float"


def _any_special(*arrays: Array) -> Array:
    """Where an operand is infinite or NaN."""
    special = ~np.isfinite(arrays[0])
    for array in arrays[1:]:
        special = special | ~np.isfinite(array)
    return special


def sum_rule(work: Work) -> Step:
    """`a + b`, `a - b`: linear, no underflow (a subnormal sum is exact)."""
    if _is_discrete(work):
        return discrete(work, work.errs[0] + work.errs[1])
    if work.exact and isinstance(work.unfused, float):
        return exactly(rounded(work.value, work.dtype))
    carried = work.errs[0] + work.errs[1]
    local = work.units.unit * (np.abs(work.value) + carried) + work.unfused
    exact = None if work.tame else _any_special(*work.args) & np.isfinite(carried + work.unfused)
    return settle(work, carried, local, exact=exact)


def mul_rule(work: Work) -> Step:
    """(a + δa)(b + δb) = ab + bδa + aδb + δaδb."""
    (a, b), (err_a, err_b) = work.args, work.errs
    if _is_discrete(work):
        return discrete(work, err_a + err_b)
    if work.exact:
        return _exact_product(work)
    carried = err_a * np.abs(b) + err_b * np.abs(a)
    remainder = err_a * err_b
    local = once_rounded(work.units, np.abs(work.value) + carried + remainder)
    zero = ((a == 0) & (np.asarray(err_a) == 0)) | ((b == 0) & (np.asarray(err_b) == 0))
    if work.tame and not zero.any():
        return settle(work, carried, local, remainder)
    special = _any_special(a, b)
    known = sure_sign(a, err_a) & sure_sign(b, err_b)
    local = np.where(zero & ~special, 0.0, local)  # a zero, though perhaps not of a certain sign
    return settle(work, carried, local, remainder, exact=(zero | special) & known, unknown=special & ~known)


def _exact_product(work: Work) -> Step:
    """Exact where it is representable: then it does not matter whether it is rounded or fused into a sum.

    Elsewhere it errs by its one rounding, or not at all where it is fused: so whoever sees it can tell its bits. The
    reference's product is exact but for F64.
    """
    nearest = rounded(work.value, work.dtype)
    representable = nearest == work.value
    if work.dtype is F64:  # the reference itself may have rounded
        representable &= _digits(work.args[0]) + _digits(work.args[1]) <= F64.precision
        representable &= np.abs(work.value) >= F64.smallest_normal
    representable |= (work.args[0] == 0) | (work.args[1] == 0) | _any_special(*work.args)
    if representable.all():
        return exactly(work.value)
    local = once_rounded(work.units, np.abs(work.value))
    if work.dtype is not F64:
        local = np.where(np.isfinite(nearest), np.abs(nearest - work.value), local)
    return settle(work, 0.0, local, exact=representable)


def _digits(array: Array) -> Array:
    """Significant bits of each element: 53 less the trailing zeros of its significand."""
    fraction = np.frexp(np.where(np.isfinite(array), array, 0.0))[0]
    integer = np.ldexp(fraction, F64.precision).astype(np.int64)
    lowest = np.frexp((integer & -integer).astype(np.float64))[1] - 1
    return np.asarray(F64.precision - lowest)


def div_rule(work: Work) -> Step:
    """With q = a/b: (a + δa)/(b + δb) - q = (δa - qδb)/b - (δa - qδb)·δb / (b(b + δb)), for E_b <= |b|/2."""
    if work.exact:
        return exactly(rounded(work.value, work.dtype))
    (a, b), (err_a, err_b) = work.args, work.errs
    size = np.abs(b)
    numerator = err_a + np.abs(work.value) * err_b
    carried = numerator / size
    remainder = carried * err_b / (size - err_b)
    local = once_rounded(work.units, np.abs(work.value) + carried + remainder)
    far = size >= 2 * np.asarray(err_b)
    zero_above = (a == 0) & (np.asarray(err_a) == 0)
    if work.tame and far.all() and not ((b == 0) | zero_above).any():
        return settle(work, carried, local, remainder)
    known = sure_sign(a, err_a) & sure_sign(b, err_b)
    special = _any_special(a, b) | (b == 0)
    return settle(
        work,
        carried,
        local,
        remainder,
        exact=(special | zero_above) & known,
        unknown=special & ~known | ~special & ~far,
    )


def rem_rule(work: Work) -> Step:
    """fmod is exact: a - nb with n = trunc(a/b), linear as long as n is certain (ISO C, F.10.7.1)."""
    if work.exact:
        return exactly(work.value)
    (a, b), (err_a, err_b) = work.args, work.errs
    size = np.abs(work.value)
    count = np.abs(np.trunc(a / b))
    carried = err_a + count * err_b
    steady = ((size > carried) | (count == 0)) & (np.abs(b) - err_b > size + carried) & (count < 2.0**52)
    own = np.asarray((np.asarray(err_a) == 0) & (np.asarray(err_b) == 0))
    special = _any_special(*work.args) | (b == 0)
    if not work.tame:
        far = np.isinf(b) & (np.asarray(err_b) == 0) & np.isfinite(a)  # fmod(a, inf) is a
        carried = np.where(far, err_a, carried)
        steady, special = steady | far, special & ~far & np.isfinite(carried)
    exact = own | special & sure_sign(b, err_b)
    return settle(work, carried, 0.0, exact=exact, unknown=~steady & ~exact, reason="remainder-boundary")


def exp_rule(work: Work) -> Step:
    """e^(x+δ) = e^x(1 + δ + ...), the rest at most e^x·E²/2·e^E."""
    (x,), (err,) = work.args, work.errs
    carried = work.value * err
    remainder = carried * err * (np.exp(err) / 2)
    points = None if work.tame and not work.exact else _still(err, (x == 0) | ~np.isfinite(x))
    if points is not None or np.isinf(work.value).any():  # e^710 is beyond every dtype
        points = (x - err > 710) | (np.False_ if points is None else points)
    far = None if work.exact else _beyond(err, 1.0)
    return _library(work, "exp", carried, remainder, points, far)


def log_rule(work: Work) -> Step:
    """log(x+δ) = log x + δ/x - ..., the rest at most E²/(2(x - E)²) for E <= x/2."""
    (x,), (err,) = work.args, work.errs
    if work.exact:
        return _library(work, "log", 0.0, 0.0, (x == 1) | (x <= 0) | ~np.isfinite(x), None)
    carried = err / x
    remainder = (err / (x - err)) ** 2 / 2
    far = x >= 2 * np.asarray(err)
    if work.tame and far.all() and (x > 0).all():
        return _library(work, "log", carried, remainder, None, None)
    negative = x + err < 0
    points = _still(err, (x <= 0) | ~np.isfinite(x)) | negative
    return _library(work, "log", carried, remainder, points, ~points & ~far)


def tanh_rule(work: Work) -> Step:
    """tanh' = 1 - y²; |tanh''| <= 4/sqrt(27), and tanh'(x + δ) <= tanh'(x)·e^(2E)."""
    (x,), (err,) = work.args, work.errs
    slope = 1.0 - work.value**2
    remainder = np.square(err) * np.minimum(0.385, slope * np.exp(2 * np.asarray(err)))
    points = None if work.tame and not work.exact else _still(err, (x == 0) | ~np.isfinite(x))
    far = None if work.exact else _beyond(err, 1.0)
    return _library(work, "tanh", slope * err, remainder, points, far)


def sqrt_rule(work: Work) -> Step:
    """sqrt(x+δ) = y + δ/(2y) - ..., the rest at most E²/(8(x - E)^1.5) for E <= x/2. Correctly rounded."""
    if work.exact:
        return exactly(rounded(work.value, work.dtype))
    (x,), (err,) = work.args, work.errs
    carried = err / (2 * work.value)
    remainder = np.square(err) / (8 * np.abs(x - err) ** 1.5)
    local = work.units.unit * (work.value + carried)
    far = x >= 2 * np.asarray(err)
    if work.tame and far.all() and (x > 0).all():
        return settle(work, carried, local, remainder)
    points = _still(err, (x <= 0) | ~np.isfinite(x)) | (x + err < 0)
    return settle(work, carried, local, remainder, exact=points, unknown=~points & ~far)


def _still(err: Bound, points: Array) -> Array:
    """Those of `points` whose operand is exact."""
    return np.asarray(points & (np.asarray(err) == 0))


def _beyond(err: Bound, limit: float) -> Array | None:
    """Where the operand is too uncertain for a first-order bound to mean anything."""
    far = np.asarray(err) > limit
    return far if far.any() else None


def _library(
    work: Work, name: str, carried: Bound, remainder: Bound, points: Array | None, unknown: Array | None
) -> Step:
    """A libm function: k ulps of the dtype, an ulp being at most 2u|r| and at least the smallest subnormal."""
    local = 2 * LIBM_ULPS[name] * once_rounded(work.units, np.abs(work.value) + carried + remainder)
    return settle(work, carried, local, remainder, exact=points, unknown=unknown)


def neg_rule(work: Work) -> Step:
    """Flips the sign bit: nothing is rounded."""
    err = work.errs[0]
    if isinstance(err, float):
        return Step(work.value, tame=work.tame)
    return Step(work.value, err, None, tame=work.tame)


def abs_rule(work: Work) -> Step:
    """||x+δ| - |x| - sgn(x)δ| <= 2·max(0, E - |x|)."""
    err = work.errs[0]
    if isinstance(err, float) or _is_discrete(work):
        return neg_rule(work)
    kink = 2 * np.fmax(0.0, err - work.value)  # of a NaN there is none, nor of what is unknown
    kink = kink if work.tame else np.where(np.isinf(err), 0.0, kink)
    return Step(work.value, err, kink if kink.any() else None, tame=work.tame)


def extremum_rule(work: Work) -> Step:
    """`maximum`, `minimum`: the winner's bound where it is certain; |max(a+δa, b+δb) - max - δ_winner| <= overlap.

    Of equal operands each has half the slope (torch.maximum), which halves that; not of zeros, which are added up.
    """
    (a, b), (err_a, err_b) = work.args, work.errs
    if work.exact:
        return Step(work.value, tame=work.tame)
    if _is_discrete(work):
        return discrete(work, err_a + err_b)
    gap = np.abs(a - b)
    overlap = np.maximum(0.0, err_a + err_b - gap) * np.where((gap == 0) & (a != 0), 0.5, 1.0)
    wins = (a > b) if work.op == "maximum" else (a < b)
    err = np.where(overlap > 0, np.maximum(err_a, err_b), np.where(wins, err_a, err_b))
    if work.tame:
        return Step(work.value, err, overlap)
    return _wild_extremum(work, np.where(np.isnan(overlap), 0.0, overlap), err)


def _wild_extremum(work: Work, overlap: Array, err: Array) -> Step:
    """A NaN wins over any number; two equal infinities are exact; an unknown operand leaves all unknown."""
    known = np.isfinite(work.errs[0] + np.zeros_like(err)) & np.isfinite(work.errs[1] + np.zeros_like(err))
    err = np.where(known, np.where(np.isfinite(work.value), err, 0.0), np.inf)
    overlap = np.where(known & np.isfinite(work.value), overlap, 0.0)
    return Step(work.value, err, overlap, tame=bool(np.isfinite(work.value).all() and known.all()))


ELEMENTWISE: dict[str, Rule] = {
    "add": sum_rule,
    "sub": sum_rule,
    "mul": mul_rule,
    "div": div_rule,
    "rem": rem_rule,
    "neg": neg_rule,
    "abs": abs_rule,
    "exp": exp_rule,
    "log": log_rule,
    "tanh": tanh_rule,
    "sqrt": sqrt_rule,
    "maximum": extremum_rule,
    "minimum": extremum_rule,
}
