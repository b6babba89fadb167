"""A run of the references: its values, what is known of their errors, and how sharp bounds are asked for.

Data, and the questions that are asked of it. How a run comes about is `tracing`'s, how sources reach an output is
`transport`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from oracles.engine import Array
from oracles.evaluator import Attrs, Val
from oracles.numpy_reference import TABLE
from oracles.rounding import TINY
from oracles.transport import CANCELLATION, Graph, Tape
from oracles.verdict import Undecided


@dataclass(frozen=True, slots=True, eq=False)
class Traced(Val[Array]):
    """A value of the reference with what is known of its error.

    `err` is the forward bound (None: exact throughout), `source` what the last rounding added, `graph` the tensor that
    carries sensitivities (None: constant), `unknown` why some of `err` is inf. `tame`: `array` and `err` are finite.
    `moved` says how a value that was only moved came about, `contenders` which elements of its operand along which axis
    an open argmax may choose, `product` the rounding error of a product that a sum may take unrounded. `serial` counts
    the ops of the run.
    """

    err: Array | None = None
    source: Array | None = None
    graph: Graph | None = None
    unknown: Undecided | None = None
    tame: bool = True
    moved: tuple[str, Attrs, tuple[Traced, ...]] | None = None
    contenders: tuple[Array, int] | None = None
    product: Array | None = None
    serial: int = -1

    def fusable(self) -> Array | None:
        """The rounding error of a product that a sum may take unrounded, also where it was moved on its way there."""
        if self.moved is None:
            return self.product
        op, attrs, args = self.moved
        errors = [arg.fusable() for arg in args]
        if all(error is None for error in errors):
            return None
        plain = [np.zeros(arg.array.shape) if arg.dtype.kind == "float" else arg.array for arg in args]
        held = [array if error is None else error for array, error in zip(plain, errors, strict=True)]
        return TABLE[op](*held, **attrs)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The two references differ on one op by more than float64 rounding explains."""

    op: str
    path: str
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class Sharp:
    """A value's bounds, sharp in the places that are `known` and the forward bound elsewhere."""

    bound: Array
    known: Array


@dataclass(slots=True, eq=False)
class Trace:
    """A run. `follow` holds the choices of open argmaxes that it takes over, by the op's serial number.

    `moves` remembers what was moved how, with the operands, whose identities are its keys.

    `given` holds a target's own values of lets of `@main`: in lockstep the run goes on with those, and `pinned` keeps
    what it had itself made of the target's operands. `lost` is set once a `while` went on or ended on an unknown
    condition: nothing after that is known.
    """

    follow: Mapping[int, Array] = field(default_factory=dict)
    given: Mapping[str, Array] = field(default_factory=dict)
    pinned: dict[str, Traced] = field(default_factory=dict)
    lets: dict[str, Traced] = field(default_factory=dict)
    results: tuple[Traced, ...] = ()
    tape: Tape = field(default_factory=Tape)
    contradiction: Contradiction | None = None
    lost: Undecided | None = None
    serial: int = 0
    sharp: dict[int, Sharp] = field(default_factory=dict)
    moves: dict[tuple[object, ...], tuple[Traced, Sequence[Val[Array]]]] = field(default_factory=dict)

    def least_bound(self, value: Traced) -> Array:
        """A bound that is certainly not above the sharp one: what the last rounding alone allows."""
        if value.moved is not None:
            op, attrs, args = value.moved
            lows = [self.least_bound(arg) if arg.dtype.kind == "float" else arg.array for arg in args]
            return TABLE[op](*lows, **attrs)
        if value.source is None or value.err is None:
            return np.zeros(value.array.shape)
        return np.minimum(value.source, value.err)  # a kink's remainder may be the larger one

    def bound(self, value: Traced) -> Array | None:
        """The sharpest bound that is known so far; None where the value is exact throughout."""
        known = self.sharp.get(value.serial)
        return value.err if known is None else known.bound

    def sharpen(self, wanted: Sequence[tuple[Traced, Array]]) -> None:
        """Finds the sharp bounds of the elements that each mask marks, all in one backward pass.

        The sources are carried by first-order sensitivities. Nothing is sharpened where magnitudes are so extreme that
        these might underflow.
        """
        todo = [(value, self._unsharp(value, mask)) for value, mask in wanted]
        todo = [(value, places) for value, places in todo if places.size]
        if not todo or self.tape.extreme():
            return
        outputs = [(value.graph, places) for value, places in todo if value.graph is not None]
        flat = self.tape.bounds(outputs)
        for value, places in todo:
            part, flat = flat[: places.size], flat[places.size :]
            sharp = self.sharp[value.serial]
            err = sharp.bound.reshape(-1)[places]
            carried = np.fmin(part * (1 + 2.0**-30) + CANCELLATION * err, err)  # fmin: an overflowed slope says nothing
            sharp.bound.reshape(-1)[places] = np.maximum(carried, TINY)
            sharp.known.reshape(-1)[places] = True

    def _unsharp(self, value: Traced, mask: Array) -> Array:
        """Flat indices of the marked elements whose bound can still be sharpened; makes room for it."""
        if value.graph is None or value.err is None:
            return np.zeros(0, np.int64)
        sharp = self.sharp.get(value.serial)
        if sharp is None:
            sharp = self.sharp[value.serial] = Sharp(np.array(value.err), np.zeros(value.err.shape, bool))
        return np.flatnonzero(mask & ~sharp.known & np.isfinite(value.err) & (value.err > 0))

    def bounds(self, values: Sequence[Traced]) -> list[Array | None]:
        """The sharp bounds of whole values."""
        self.sharpen([(value, np.ones(value.array.shape, bool)) for value in values])
        return [self.bound(value) for value in values]
