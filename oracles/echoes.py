"""What disturbed runs of the reference come to: a lower bound of the sharp bound, for the price of a forward pass.

Each op's result is disturbed by half of its source, up or down by chance. That leaves the other half for what is not
linear, so a disturbed run is one that the induction of `bounds` allows, and no sharp bound is below how far it gets
(were a remainder more than half of a source, by that much). A target that errs less than the farthest of some such runs
needs no backward pass, and nearly all do: a source is several times what a rounding really comes to.
"""

from __future__ import annotations

import numpy as np

from oracles.batched import apply_batched
from oracles.engine import Array
from oracles.traced import Trace, Traced, ancestry

RUNS = 8
CERTAINLY = 1 - 2.0**-20  # float64's own rounding, in a run that is compared with another
KINKS = frozenset({"max", "maximum", "minimum", "abs"})
"""Ops whose source is a kink's, not a rounding: nothing is disturbed there."""


def echo_bound(run: Trace, value: Traced) -> Array:
    """A number for each element of a value that was made; where it is known, the sharp bound is not below it."""
    if value.made is None:
        return np.zeros(value.array.shape)
    with np.errstate(all="ignore"):
        far = np.abs(_echo(run, value) - value.array).max(axis=0) * CERTAINLY
    err = np.zeros(value.array.shape) if value.err is None else value.err
    known = np.isfinite(value.array) & np.isfinite(far) & (err > 0)
    return np.where(known, np.minimum(far, err), 0.0)


def _echo(run: Trace, value: Traced) -> Array:
    """The value in each of the disturbed runs, [RUNS, *shape]."""
    for each in ancestry(value, run.echoes):
        run.echoes[each] = _disturbed(run, each)
    return run.echoes[value]


def _disturbed(run: Trace, value: Traced) -> Array:
    made = value.made
    assert made is not None  # noqa: S101 (`ancestry` yields no other)
    operands = [
        run.echoes[arg] if arg.made is not None else np.broadcast_to(arg.array, (RUNS, *arg.array.shape))
        for arg in made.operands
    ]
    result = apply_batched(made.op, operands, made.attrs)
    if value.source is not None and made.op not in KINKS:
        result = result + np.where(_coins(value.serial, result.shape), value.source, -value.source) * 0.5
    if made.tame or value.err is None:
        return result
    return np.where(np.isfinite(value.array) & np.isfinite(value.err) & (value.err > 0), result, value.array)


def _coins(serial: int, shape: tuple[int, ...]) -> Array:
    """Heads or tails, the same in every run of the program."""
    return np.random.default_rng(serial).integers(0, 2, size=shape, dtype=np.bool_)
