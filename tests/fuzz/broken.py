"""A compiler for tests, in Python: the NumPy reference with one op broken, and the bug that it shows as a predicate.

It stands for the stepped engine, whose fn calls run compiled while the ops of `@main` run on the host, or for the
whole one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracles.case import Case
from oracles.engine import Array
from oracles.evaluator import Attrs, Evaluation, EvaluationError, Hooks, Site, Val, apply_table, evaluate
from oracles.inputs import make_inputs
from oracles.numpy_reference import LIBRARY, TABLE

Operator = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Broken:
    """`operator` computes `op`: in fns, and in `@main` if it is compiled as a whole."""

    op: str
    operator: Operator
    whole: bool = False

    def outcome(self, case: Case) -> str:
        """`refused` where the broken op makes another shape, `wrong` where a let of `@main` differs, else `agree`."""
        inputs = make_inputs(case)
        try:
            target = evaluate(case.program, inputs, LIBRARY, Hooks(apply=self._apply))
        except EvaluationError:
            return "refused"
        return "wrong" if _differ(evaluate(case.program, inputs, LIBRARY), target) else "agree"

    def _apply(self, op: str, args: Sequence[Val[Array]], attrs: Attrs, site: Site) -> Val[Array]:
        right = apply_table(LIBRARY, op, args, attrs)
        if op != self.op or not (self.whole or "#" in site.path):
            return right
        try:
            with np.errstate(all="ignore"):
                wrong = np.asarray(self.operator(*(arg.array for arg in args), **attrs))
        except (ValueError, IndexError) as error:
            raise EvaluationError(str(error)) from error
        if wrong.shape != right.array.shape:
            raise EvaluationError("another shape")
        return Val(wrong, right.dtype)


def _differ(reference: Evaluation[Array], target: Evaluation[Array]) -> bool:
    return any(
        not np.array_equal(value.array, target.lets[name].array, equal_nan=value.array.dtype.kind == "f")
        for name, value in reference.lets.items()
    ) or any(
        not np.array_equal(right.array, wrong.array, equal_nan=right.array.dtype.kind == "f")
        for right, wrong in zip(reference.results, target.results, strict=True)
    )


def _concat(*parts: Array, axis: int) -> Array:
    """Each part but the first goes in one place too early."""
    out = TABLE["concat"](*parts, axis=axis).copy()
    start = 0
    for part in parts:
        at = max(0, start - 1)
        out[tuple(slice(at, at + part.shape[a]) if a == axis else slice(None) for a in range(out.ndim))] = part
        start += part.shape[axis]
    return out


def _softmax_without_max(x: Array, axis: int) -> Array:
    weights = np.exp(x.astype(np.float32))
    shares: Array = weights / weights.sum(axis=axis, keepdims=True)
    right = TABLE["softmax"](x, axis=axis)
    return np.where(np.isnan(shares), shares, right)


def _argmax_last(x: Array, axis: int) -> Array:
    return np.asarray(x.shape[axis] - 1 - np.argmax(np.flip(x, axis), axis=axis))


def _broadcast_left(x: Array, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(x.reshape(x.shape + (1,) * (len(shape) - x.ndim)), shape)


def _slice_early(x: Array, axis: int, start: int, stop: int) -> Array:
    shift = min(start, 1)
    return TABLE["slice"](x, axis=axis, start=start - shift, stop=stop - shift)


def _gather_clamped(table: Array, ids: Array) -> Array:
    return TABLE["gather"](table, np.minimum(ids, max(0, table.shape[0] - 2)))


def _matmul_swapped(left: Array, right: Array) -> Array:
    return right @ left if left.shape == right.shape else left @ right


FAULTS: Mapping[str, Broken] = {
    "concat-offset": Broken("concat", _concat),
    "transpose-inverted": Broken("transpose", lambda x, perm: np.transpose(x, np.argsort(perm))),
    "softmax-without-max": Broken("softmax", _softmax_without_max),
    "softmax-axis": Broken("softmax", lambda x, axis: TABLE["softmax"](x, axis=max(0, axis - 1))),
    "argmax-last-tie": Broken("argmax", _argmax_last),
    "slice-start": Broken("slice", _slice_early),
    "broadcast-side": Broken("broadcast", _broadcast_left),
    "gather-row": Broken("gather", _gather_clamped),
    "matmul-swapped": Broken("matmul", _matmul_swapped),
}
