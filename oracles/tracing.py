"""One run of both references side by side, op by op, with the bounds of every value.

Each op is computed by NumPy and by PyTorch from the same operands, so that the two must agree within their own float64
rounding at every single op, and the one that errs is known at once. What a value may be in the end is asked of the
`Trace`; what a target made of it is the judge's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import torch

from compiler.syntax import Program
from compiler.types import F64
from oracles import numpy_reference, torch_reference
from oracles.bounds import Step, Work
from oracles.compare import form_difference
from oracles.engine import Array
from oracles.evaluator import Attrs, Hooks, Site, Val, apply_table, evaluate
from oracles.rounding import LIBM_ULPS, UNITS
from oracles.rules import RULES
from oracles.traced import Check, Contradiction, Done, Made, Trace, Traced
from oracles.transport import MOVES, RISKY, tensor
from oracles.verdict import Undecided


def trace(
    program: Program,
    inputs: Mapping[str, Array],
    follow: Mapping[int, Array] | None = None,
    given: Mapping[str, Array] | None = None,
    before: Trace | None = None,
) -> Trace:
    """Runs `@main` on native inputs. Raises `EvaluationError` where the references cannot follow the program.

    `before`: another run of the program on these inputs, which saves work. What it found stays found.
    """
    run = Trace(follow or {}, before, given=given or {})
    hooks = Hooks(apply=_Tracer(run).apply, bind=_Tracer(run).bind)
    with np.errstate(all="ignore"):
        done = evaluate(program, inputs, numpy_reference.QUIET, hooks)
        run.contradiction = _first_contradiction(run.checks) or (before.contradiction if before else None)
    run.checks.clear()
    run.lets = {name: traced(value) for name, value in done.lets.items()}
    run.results = tuple(traced(value) for value in done.results)
    run.moves.clear()
    return run


def traced(value: Val[Array]) -> Traced:
    """An input or a literal is exact."""
    if isinstance(value, Traced):
        return value
    return Traced(value.array, value.dtype, tame=bool(np.isfinite(value.array).all()))


def local_step(op: str, operands: Sequence[Traced], attrs: Attrs) -> tuple[Work, Step]:
    """One op by NumPy, whose warnings the caller silences, with its bounds. Raises `EvaluationError`."""
    plain = apply_table(numpy_reference.QUIET, op, operands, attrs)
    work = Work(
        op,
        plain.dtype,
        plain.array,
        [arg.array for arg in operands],
        [0.0 if arg.err is None else arg.err for arg in operands],
        attrs,
        [arg.dtype for arg in operands],
        all(arg.tame for arg in operands),
        _unfused(op, operands),
    )
    return work, _as_arrays(RULES[op](work))


@dataclass(frozen=True, slots=True)
class _Tracer:
    """The hooks of a run."""

    run: Trace

    def apply(self, op: str, args: Sequence[Val[Array]], attrs: Attrs, site: Site) -> Val[Array]:
        """One op; what only moves the same values in the same way again is not computed again."""
        if op not in MOVES:
            return self._applied(op, args, attrs, site)
        key = (op, *attrs.items(), *(id(arg) for arg in args))
        known = self.run.moves.get(key)
        if known is None:
            known = self._applied(op, args, attrs, site), args
            self.run.moves[key] = known
        return known[0]

    def _applied(self, op: str, args: Sequence[Val[Array]], attrs: Attrs, site: Site) -> Traced:
        run, operands = self.run, tuple(traced(arg) for arg in args)
        value = run.taken_over(op, attrs, operands) or self._computed(op, operands, attrs, site)
        run.steps.append(Done(op, attrs, operands, value))
        return value

    def _computed(self, op: str, operands: tuple[Traced, ...], attrs: Attrs, site: Site) -> Traced:
        run = self.run
        work, step = local_step(op, operands, attrs)
        if not run.given or run.before is None:  # in lockstep nobody asks again: the same ops were compared before
            other = torch_reference.TABLE[op](*(tensor(arg.array) for arg in operands), **attrs)
            run.checks.append(Check(work, step, site.path, other))
        choice = None if step.contenders is None else (step.contenders, cast("int", attrs["axis"]))
        value = Traced(
            step.value,
            work.dtype,
            step.err,
            step.source,
            _made(op, attrs, operands, work, step),
            _why_unknown(op, operands, step),
            step.tame,
            (op, attrs, operands) if op in MOVES else None,
            choice,
            product_error(op, operands, step),
            len(run.steps),
        )
        return self._followed(value)

    def _followed(self, value: Traced) -> Traced:
        """An open argmax as the target decided it."""
        run = self.run
        if run.lost is not None:
            return replace(value, err=np.full(value.array.shape, np.inf), made=None, unknown=run.lost, tame=False)
        choice = run.follow.get(value.serial)
        if choice is None:
            return value
        return Traced(np.where(value.err == np.inf, choice, value.array), value.dtype, serial=value.serial)

    def bind(self, site: Site, value: Val[Array]) -> Val[Array]:
        """Notes where a `while` decided on something unknown: what comes after may be anything."""
        known = traced(value)
        if ".cond@" in site.path and known.err is not None and self.run.lost is None:
            self.run.lost = known.unknown
        target = self.run.given.get(site.path)
        return known if target is None else self._pinned(site.path, known, target)

    def _pinned(self, name: str, known: Traced, target: Array) -> Traced:
        """The target's own value from here on, exact by definition, unless it has another form."""
        self.run.pinned[name] = known
        if form_difference(name, target, known.dtype, known.array.shape) is not None:
            return known
        value = numpy_reference.hold(target)
        if known.err is None and value.tobytes() == known.array.tobytes():
            return known
        return Traced(value, known.dtype, tame=bool(np.isfinite(value).all()), product=known.fusable())


def product_error(op: str, operands: Sequence[Traced], step: Step) -> Array | None:
    """The rounding error of a product; infinite where it overflowed, which fused into a sum it need not."""
    if op != "mul":
        return operands[0].fusable() if op == "neg" else None
    if step.tame or not np.isinf(step.value).any():
        return step.source
    overflow = np.isinf(step.value) & np.isfinite(operands[0].array) & np.isfinite(operands[1].array)
    return np.where(overflow, np.inf, 0.0 if step.source is None else step.source)


def _unfused(op: str, operands: Sequence[Traced]) -> Array | float:
    """What the products among a sum's operands may differ by from their rounded values."""
    if op not in ("add", "sub", "sum"):
        return 0.0
    errors = [error for error in (arg.fusable() for arg in operands) if error is not None]
    return sum(errors, start=0.0)


def _as_arrays(step: Step) -> Step:
    """NumPy turns results of rank 0 into scalars, which are floats and would pass for "exact throughout"."""
    if step.value.ndim:
        return step
    err, source = (None if part is None else np.asarray(part) for part in (step.err, step.source))
    return replace(step, value=np.asarray(step.value), err=err, source=source)


def _made(op: str, attrs: Attrs, operands: tuple[Traced, ...], work: Work, step: Step) -> Made | None:
    if step.err is None or work.dtype.kind != "float":
        return None
    singular = op in RISKY and bool(np.any(step.err == 0))
    return Made(op, attrs, operands, work.tame and step.tame and not singular)


def _why_unknown(op: str, operands: Sequence[Traced], step: Step) -> Undecided | None:
    """An operand's reason goes before the op's own."""
    if step.tame or step.err is None or not np.isinf(step.err).any():
        return None
    inherited = next((arg.unknown for arg in operands if arg.unknown is not None), None)
    if inherited is not None and step.reason is None:
        return inherited
    return Undecided(step.reason or "ill-conditioned", op)


def _first_contradiction(checks: Sequence[Check]) -> Contradiction | None:
    """The first op on whose result the libraries contradict each other."""
    for check in _unequal(checks):
        problem = _contradiction(check.work, check.step, check.other.numpy())
        if problem:
            return Contradiction(check.work.op, check.path, problem)
    return None


def _unequal(checks: Sequence[Check]) -> list[Check]:
    """Those that are not the same throughout, in order. All are compared in one go for each dtype: they are many."""
    found = [check for check in checks if tuple(check.other.shape) != check.work.value.shape]
    groups: dict[object, list[Check]] = {}
    for check in checks:
        if tuple(check.other.shape) == check.work.value.shape:
            groups.setdefault((check.work.value.dtype, check.other.dtype), []).append(check)
    for group in groups.values():
        mine = np.concatenate([check.work.value.reshape(-1) for check in group])
        other = torch.cat([check.other.reshape(-1) for check in group]).numpy()
        ends = np.cumsum([check.work.value.size for check in group])
        places = np.unique(np.searchsorted(ends, np.flatnonzero(mine != other), side="right"))
        found += [group[place] for place in places]
    order = {id(check): at for at, check in enumerate(checks)}
    return sorted(found, key=lambda check: order[id(check)])


# How far two float64 libraries may lie apart where the rule asks for one certain result: PyTorch's sqrt (MKL's) errs in
# the last place, and an exponential beyond the dtype's range is certain to be infinite, not to have certain digits.
LIBRARY_ULPS = {"sqrt": 1.0, "exp": 2 * LIBM_ULPS["exp"], "log": 2 * LIBM_ULPS["log"], "tanh": 2 * LIBM_ULPS["tanh"]}


def _contradiction(work: Work, step: Step, other: Array) -> str:
    """What is wrong with PyTorch's result beside NumPy's, or nothing."""
    mine = work.value
    if other.shape != mine.shape:
        return f"`{work.op}` has shape {list(mine.shape)} by NumPy and {list(other.shape)} by PyTorch"
    slack = LIBRARY_ULPS.get(work.op, 0.0) * 2 * F64.unit_roundoff * np.abs(mine)
    if step.source is not None:
        slack = slack + 2 * F64.unit_roundoff / UNITS[work.dtype.name].inner * step.source
    same = (other == mine) | ((other != other) & (mine != mine))
    beyond = np.isinf(step.value) & np.isfinite(mine)
    lost = beyond if step.err is None else beyond | np.isinf(step.err)
    wrong = ~(same | (np.abs(other - mine) <= slack) | lost)
    if not wrong.any():
        return ""
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"`{work.op}` at {list(index)} is {mine[index]!r} by NumPy and {other[index]!r} by PyTorch"
