"""Claims of a case: two values of `@main` that must be equal, or must not be.

`a == b`, by different routes, holds within the sum of both bounds, bitwise where both are exact. `a === b`, by one
route (`routes`), holds bitwise. `a != b` is a control that must come out different. A claim that the references
themselves do not bear out is the case's fault, not the target's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compiler.types import F64
from oracles.case import Case, Claim
from oracles.compare import Allowed, how_far, ratio, widened
from oracles.echoes import echo_bound
from oracles.engine import Array, Observation
from oracles.evaluator import EvaluationError
from oracles.routes import same_route
from oracles.traced import Trace, Traced
from oracles.verdict import Disagree, Undecided

NOISE = 2.0**-16  # of the bounds, which count roundings to 24 bits at most, those to 53 bits being the noise


def judge_claims(case: Case, run: Trace, outcome: Observation) -> Disagree | Undecided | None:
    """The first claim that is broken, else the first that cannot be decided."""
    undecided: Undecided | None = None
    for claim in case.claims:
        if claim.relation == "===":
            verdict = _judge_bitwise(claim, case, run, outcome)
        else:
            verdict = _judge_claim(claim, run, outcome)
        if isinstance(verdict, Disagree):
            return verdict
        undecided = undecided or verdict
    return undecided


def unseparated(claims: Sequence[Claim], run: Trace) -> list[Claim]:
    """The controls whose two sides the references cannot tell apart."""
    if run.stopped:
        return []
    return [claim for claim in claims if claim.relation == "!=" and not _separated(*_sides(claim, run), run)]


def _sides(claim: Claim, run: Trace) -> tuple[Traced, Traced]:
    for name in (claim.left, claim.right):
        if name not in run.lets:
            raise EvaluationError(f"a claim names `{name}`, which is no let of @main")
    return run.lets[claim.left], run.lets[claim.right]


def _judge_claim(claim: Claim, run: Trace, outcome: Observation) -> Disagree | Undecided | None:
    left, right = _sides(claim, run)
    words = str(claim)
    if claim.relation == "!=" and not _separated(left, right, run):
        return left.unknown or right.unknown or Undecided("control-not-separated", "!=")
    if claim.relation == "==":
        reach = _furthest(left.array, right.array, left, right, run)
        if reach > 1:
            return Disagree("oracle", "claim-false", "==", f"{words} is false by {how_far(reach)}", words)
    if claim.left not in outcome.lets or claim.right not in outcome.lets:
        return left.unknown or right.unknown  # not seen: the values that were have been judged
    reach = _furthest(outcome.lets[claim.left], outcome.lets[claim.right], left, right, run)
    if (claim.relation == "==") == (reach > 1):
        message = f"{words} is broken: {how_far(reach)}"
        return Disagree("run", "claim-broken", claim.relation, message, words)
    return left.unknown or right.unknown


def _judge_bitwise(claim: Claim, case: Case, run: Trace, outcome: Observation) -> Disagree | Undecided | None:
    """The same bits: a NaN is any NaN, and the sign of a zero counts where the bounds leave only one."""
    left, right = _sides(claim, run)
    words = str(claim)
    if not _one_route(case, run, claim):
        return Disagree("oracle", "claim-false", "===", f"{words} compares bits of different routes", words)
    reach = _furthest(left.array, right.array, left, right, run)
    if reach > 1 and not run.follow:  # choices of the target that were followed may be what differs
        return Disagree("oracle", "claim-false", "===", f"{words} is false by {how_far(reach)}", words)
    if _apart(left, right) and not run.follow:
        return Disagree("oracle", "claim-false", "===", f"{words} is false: the references' sides differ", words)
    if claim.left not in outcome.lets or claim.right not in outcome.lets:
        return left.unknown or right.unknown
    a, b = outcome.lets[claim.left], outcome.lets[claim.right]
    differs = ratio(a, Allowed(widened(b) if left.dtype.kind == "float" else b, left.dtype)) > 0
    bound = np.broadcast_to(sum(value.err for value in (left, right) if value.err is not None), a.shape)
    unknown = differs & np.isinf(bound)
    zeros = differs & (a == 0) & (b == 0) & (bound > 0) if left.dtype.kind == "float" else False
    broken = differs & ~(unknown | zeros)
    if broken.any():
        index = tuple(int(i) for i in np.argwhere(broken)[0])
        message = f"{words} is broken: at {list(index)} {a[index]!s} is not {b[index]!s}"
        return Disagree("run", "claim-broken", "===", message, words)
    return (left.unknown or right.unknown) if unknown.any() else None


def _apart(left: Traced, right: Traced) -> bool:
    """Whether the references' own sides differ by more than the order of their float64 sums explains.

    That is far below what a narrower dtype may be off; of F64 it cannot be told.
    """
    if left.dtype.kind != "float" or left.dtype is F64 or left.err is None or right.err is None:
        return False  # exact sides were compared, and integers may be the target's choices
    finite = np.isfinite(left.array) & np.isfinite(right.array)
    with np.errstate(invalid="ignore"):
        return bool((finite & (np.abs(left.array - right.array) > NOISE * (left.err + right.err))).any())


def _one_route(case: Case, run: Trace, claim: Claim) -> bool:
    def is_exact(left: str, right: str) -> bool:
        a, b = run.lets[left], run.lets[right]
        same_form = a.dtype is b.dtype and a.array.shape == b.array.shape
        exact = (value.dtype.kind != "float" or value.err is None or not value.err.any() for value in (a, b))
        return same_form and all(exact)  # an unknown choice makes what follows unknown, and that breaks no claim

    return case.program.main is not None and same_route(case.program.main, claim.left, claim.right, is_exact)


def _separated(left: Traced, right: Traced, run: Trace) -> bool:
    return _furthest(left.array, right.array, left, right, run, 2.0) > 2


def _furthest(a: Array, b: Array, left: Traced, right: Traced, run: Trace, limit: float = 1.0) -> float:
    """The largest distance of `a` and `b` in units of both bounds together; sharp if it decides about `limit`."""
    if left.array.shape != right.array.shape or left.dtype is not right.dtype:
        return np.inf
    loose = _distance(a, b, left, left.err, right.err)
    if loose > limit or left.dtype.kind != "float":
        return loose
    if _distance(a, b, left, run.least_bound(left), run.least_bound(right)) <= limit:
        return loose
    doubt = _distances(a, b, left, echo_bound(run, left), echo_bound(run, right)) > limit
    run.sharpen([(left, doubt), (right, doubt)])
    return _distance(a, b, left, run.bound(left), run.bound(right))


def _distance(a: Array, b: Array, like: Traced, bound_a: Array | None, bound_b: Array | None) -> float:
    return float(_distances(a, b, like, bound_a, bound_b).max())


def _distances(a: Array, b: Array, like: Traced, bound_a: Array | None, bound_b: Array | None) -> Array:
    bounds = [bound for bound in (bound_a, bound_b) if bound is not None]
    bound = np.asarray(sum(bounds)) if bounds else None
    value = widened(b) if like.dtype.kind == "float" else b
    return ratio(a, Allowed(value, like.dtype, bound))
