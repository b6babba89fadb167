"""What kinds of numbers a graph runs on: four regimes, each with its recipes by kind of dtype.

A regime is drawn for a whole program: numbers that are drawn one input at a time almost never leave a chain of ops
exact. What a recipe makes lives in `compiler.recipes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from compiler.ops.indexing import INDEXING
from compiler.ops.layout import LAYOUT
from compiler.recipes import Recipe
from compiler.types import DType
from oracles.traced import Traced

MOVERS = frozenset({"select", *(op.name for op in (*LAYOUT, *INDEXING))})
"""Ops that change no bit of what they move."""

Draw = Callable[[Random], Recipe]


def _seeded(kind: str, *scales: float) -> Draw:
    return lambda rng: Recipe(kind, rng.randrange(1000), rng.choice(scales or (1.0,)))


def _ids(kind: str) -> Draw:
    return lambda rng: Recipe(kind, rng.randrange(1000), bound=rng.choice((2, 3, 5, 8)))


def _number(*values: float) -> Draw:
    return lambda rng: Recipe("fill", values=(rng.choice(values),))


def _plain(*kinds: str) -> Draw:
    return lambda rng: Recipe(rng.choice(kinds))


Shares = Sequence[tuple[int, Draw]]


@dataclass(frozen=True, slots=True)
class Regime:
    """`share` of the programs; recipes by kind of dtype, each with its share; which ops there are (none named: all).

    `exact`: ops that round are seldom taken. `wild`: infinities and NaN may come up, as long as numbers are left.
    """

    name: str
    share: int
    floats: Shares
    ints: Shares
    ops: frozenset[str] = frozenset()
    exact: bool = False
    wild: bool = False


BOOLS: Shares = ((6, _seeded("exact")), (2, _plain("iota", "ones", "zeros")))
INTS: Shares = (
    (3, _seeded("exact")),
    (3, _ids("tokens")),
    (1, _ids("ids")),
    (2, _seeded("normal", 0.1, 1.0)),
    (1, _seeded("ties", 0.1)),
    (1, _plain("iota", "ones", "zeros")),
)
ODD_INTS: Shares = (*INTS, (2, _seeded("edge")), (1, _ids("ids")), (1, _seeded("powers")), (1, _seeded("cancel")))
CONSTANTS: Shares = ((1, _plain("iota", "ones", "zeros")), (1, _number(0.5, 2.0, -1.0, 4.0)))

REGIMES: tuple[Regime, ...] = (
    Regime(
        "moves", 15, ((8, _seeded("tags")), (1, _seeded("edge")), (1, _seeded("masked"))), ODD_INTS, MOVERS, wild=True
    ),
    Regime("exact", 35, ((8, _seeded("exact")), (1, _seeded("powers")), *CONSTANTS), ODD_INTS, exact=True),
    Regime(
        "ordinary",
        37,
        (
            (8, _seeded("normal", 0.3, 0.5, 1.0, 2.0)),
            (1, _seeded("normal", 10.0, 40.0)),
            (2, _seeded("uniform")),
            (1, _seeded("exact")),
            (1, _seeded("ties")),
            (1, _seeded("cancel")),
            (1, _number(0.1, 3.0, -0.7)),
            *CONSTANTS,
        ),
        INTS,
    ),
    Regime(
        "hostile",
        13,
        (
            (4, _seeded("normal", 1.0, 4.0)),
            (4, _seeded("edge", 0.5, 1.0)),
            (2, _seeded("masked", 0.0, 1.0, 4.0)),
            (1, _seeded("ties")),
            (1, _seeded("cancel")),
            (1, _seeded("powers")),
            (1, _seeded("exact")),
            (1, _number(math.inf, -0.0, -1.0, 0.1)),
        ),
        ODD_INTS,
        wild=True,
    ),
)


def recipe(rng: Random, regime: Regime, dtype: DType) -> Recipe:
    """A recipe for an input of the dtype."""
    shares = {"float": regime.floats, "int": regime.ints, "bool": BOOLS}[dtype.kind]
    return rng.choices([draw for _, draw in shares], [share for share, _ in shares])[0](rng)


def fits(value: Traced, regime: Regime) -> bool:
    """Whether a result is one to go on with: numbers that the regime is about."""
    if value.dtype.kind != "float":
        return True
    if regime.exact and value.err is not None:
        return False
    finite = np.isfinite(value.array)
    if regime.wild:
        return bool(2 * np.count_nonzero(finite) >= finite.size)
    return bool(finite.all() and np.abs(value.array).max() <= _largest(value.dtype))


def _largest(dtype: DType) -> float:
    """Far enough below the range for what comes after: a square of F16's has to stay under 65504."""
    return min(2.0 ** (dtype.max_exponent // 2), 1e4)
