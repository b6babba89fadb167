"""A run of the references: its values, what is known of their errors, and how sharp bounds are asked for.

Data, and the questions that are asked of it. How a run comes about is `tracing`'s, how sources reach an output is
`transport`'s.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from oracles.bounds import Step, Work
from oracles.engine import Array
from oracles.evaluator import Attrs, Val
from oracles.numpy_reference import TABLE
from oracles.rounding import TINY
from oracles.transport import CANCELLATION, Graph, Tape, plain_graph, tensor, wild_graph
from oracles.verdict import Undecided


@dataclass(frozen=True, slots=True, eq=False)
class Traced(Val[Array]):
    """A value of the reference with what is known of its error.

    `err` is the forward bound (None: exact throughout), `source` what the last rounding added, `made` how a float that
    may err came about (None: constant), `unknown` why some of `err` is inf. `tame`: `array` and `err` are finite.
    `moved` says how a value that was only moved came about, `contenders` which elements of its operand along which axis
    an open argmax may choose, `product` the rounding error of a product that a sum may take unrounded. `serial` counts
    the ops of the run.
    """

    err: Array | None = None
    source: Array | None = None
    made: Made | None = None
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


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """The op that made a value. `tame`: all is finite, and no operand lies where a slope is infinite."""

    op: str
    attrs: Attrs
    operands: tuple[Traced, ...]
    tame: bool


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The two references differ on one op by more than float64 rounding explains."""

    op: str
    path: str
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """An op that was applied in a run: all that its result depends on, and the result."""

    op: str
    attrs: Attrs
    operands: tuple[Traced, ...]
    value: Traced

    def again(self, op: str, attrs: Attrs, operands: tuple[Traced, ...]) -> bool:
        """Is this the same op on the same values? Inputs and literals are made anew in each run."""
        if (self.op, self.attrs, len(self.operands)) != (op, attrs, len(operands)):
            return False
        return all(a is b or _same_constant(a, b) for a, b in zip(self.operands, operands, strict=True))


def _same_constant(a: Traced, b: Traced) -> bool:
    if a.serial >= 0 or b.serial >= 0 or a.dtype is not b.dtype or a.array.shape != b.array.shape:
        return False
    return a.product is b.product and a.array.tobytes() == b.array.tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """One op's result by PyTorch, to be compared with NumPy's."""

    work: Work
    step: Step
    path: str
    other: Graph


@dataclass(frozen=True, slots=True, eq=False)
class Sharp:
    """A value's bounds, sharp in the places that are `known` and the forward bound elsewhere."""

    bound: Array
    known: Array


@dataclass(slots=True, eq=False)
class Trace:
    """A run. `follow` holds the choices of open argmaxes that it takes over, by the op's serial number.

    `before` is a run of the same program whose work is taken over wherever an op has the same operands (`steps`: each
    op by its number, for the next one). `checks` holds what PyTorch made of each op until all are compared at once.

    `moves` remembers what was moved how, with the operands, whose identities are its keys. `sharp`, `graphs` and
    `echoes` hold what was asked for so far: sharp bounds, tensors that carry sensitivities, disturbed values.

    `given` holds a target's own values of lets of `@main`: in lockstep the run goes on with those, and `pinned` keeps
    what it had itself made of the target's operands. `lost` is set once a `while` went on or ended on an unknown
    condition: nothing after that is known. `stopped` says why the references could not follow the program at all.
    """

    follow: Mapping[int, Array] = field(default_factory=dict)
    before: Trace | None = None
    steps: list[Done] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    given: Mapping[str, Array] = field(default_factory=dict)
    pinned: dict[str, Traced] = field(default_factory=dict)
    lets: dict[str, Traced] = field(default_factory=dict)
    results: tuple[Traced, ...] = ()
    tape: Tape = field(default_factory=Tape)
    contradiction: Contradiction | None = None
    stopped: str = ""
    lost: Undecided | None = None
    serial: int = 0
    sharp: dict[Traced, Sharp] = field(default_factory=dict)
    moves: dict[tuple[object, ...], tuple[Traced, Sequence[Val[Array]]]] = field(default_factory=dict)
    graphs: dict[Traced, Graph] = field(default_factory=dict)
    echoes: dict[Traced, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.before is not None:
            theirs = self.before
            self.tape, self.sharp, self.graphs, self.echoes = theirs.tape, theirs.sharp, theirs.graphs, theirs.echoes

    def taken_over(self, op: str, attrs: Attrs, operands: tuple[Traced, ...]) -> Traced | None:
        """The next op's result in the run before, if it was the same op on the same values."""
        at = len(self.steps)
        if self.before is None or self.lost is not None or at >= len(self.before.steps):
            return None
        done = self.before.steps[at]
        lost = self.before.lost is not None and done.value.unknown is self.before.lost
        if lost or done.value.serial in self.follow or not done.again(op, attrs, operands):
            return None
        return done.value

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
        known = self.sharp.get(value)
        return value.err if known is None else known.bound

    def sharpen(self, wanted: Sequence[tuple[Traced, Array]]) -> None:
        """Finds the sharp bounds of the elements that each mask marks, all in one backward pass.

        The sources are carried by first-order sensitivities. Nothing is sharpened where magnitudes are so extreme that
        these might underflow.
        """
        todo = [(value, self._unsharp(value, mask)) for value, mask in wanted]
        todo = [(value, places) for value, places in todo if places.size]
        outputs = [(self._graph(value), places) for value, places in todo]
        if not todo or self.tape.extreme():
            return
        flat = self.tape.bounds(outputs)
        for value, places in todo:
            part, flat = flat[: places.size], flat[places.size :]
            sharp = self.sharp[value]
            err = sharp.bound.reshape(-1)[places]
            carried = np.fmin(part * (1 + 2.0**-30) + CANCELLATION * err, err)  # fmin: an overflowed slope says nothing
            sharp.bound.reshape(-1)[places] = np.maximum(carried, TINY)
            sharp.known.reshape(-1)[places] = True

    def _unsharp(self, value: Traced, mask: Array) -> Array:
        """Flat indices of the marked elements whose bound can still be sharpened; makes room for it."""
        if value.made is None or value.err is None:
            return np.zeros(0, np.int64)
        sharp = self.sharp.get(value)
        if sharp is None:
            sharp = self.sharp[value] = Sharp(np.array(value.err), np.zeros(value.err.shape, bool))
        return np.flatnonzero(mask & ~sharp.known & np.isfinite(value.err) & (value.err > 0))

    def _graph(self, value: Traced) -> Graph:
        """The tensor of a value that was made, and those of all that it was made of."""
        for each in ancestry(value, self.graphs):
            self.graphs[each] = self._extended(each)
        return self.graphs[value]

    def _extended(self, value: Traced) -> Graph:
        made, err = value.made, value.err
        assert made is not None  # noqa: S101 (`ancestry` yields no other)
        assert err is not None  # noqa: S101
        tensors = [self._tensor(arg) for arg in made.operands]
        if made.tame:
            return self.tape.extend(plain_graph(made.op, made.attrs, tensors), value.array, value.source)
        pairs = list(zip(tensors, [arg.array for arg in made.operands], strict=True))
        finite = np.where(np.isfinite(value.array), value.array, 0.0)
        return self.tape.extend(wild_graph(made.op, made.attrs, pairs, value.array, err), finite, value.source)

    def _tensor(self, value: Traced) -> Graph:
        """The tensor of an operand: finite throughout if it is a float."""
        if value.made is not None:
            return self.graphs[value]
        if value.tame or value.dtype.kind != "float":
            return tensor(value.array)
        return tensor(np.where(np.isfinite(value.array), value.array, 0.0))

    def bounds(self, values: Sequence[Traced]) -> list[Array | None]:
        """The sharp bounds of whole values."""
        self.sharpen([(value, np.ones(value.array.shape, bool)) for value in values])
        return [self.bound(value) for value in values]


def ancestry(value: Traced, known: Container[Traced]) -> Iterator[Traced]:
    """What a value was made of, each after its own operands, itself last; without what is `known`, and its."""
    found: set[Traced] = set()
    todo = [value]
    while todo:
        each = todo.pop()
        if each.made is not None and each not in found and each not in known:
            found.add(each)
            todo.extend(each.made.operands)
    return iter(sorted(found, key=lambda each: each.serial))
