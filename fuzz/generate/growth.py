"""How a graph grows: one let after another, each a legal use of an op, in `@main`, in fns and in the bodies of loops.

The numbers of every value are known as it is drawn (`numbers`), and a use whose result cannot be judged, or is none of
the regime's (`regimes`), is not taken. Which uses are legal, is asked of `uses`; fns and loops are in `blocks`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random

from compiler.ops import Op
from compiler.recipes import Recipe, make
from compiler.syntax import Fn, Let, Literal, Name
from compiler.types import Scalar, TensorType
from fuzz.generate.build import bare, op
from fuzz.generate.numbers import Unknown, applied, constant, given
from fuzz.generate.regimes import Regime, fits, recipe
from fuzz.generate.uses import Operand, Pool, Use, Value, expansion, find
from fuzz.novelty import pair
from oracles.numpy_reference import hold
from oracles.traced import Traced

TRIES = 8  # ops tried for one let, before it is left out
CHOICES = 4  # legal uses among which those seen least are preferred
CARRIED = 8  # how much likelier a use is whose result may go on to the next trip
LARGEST_LITERAL = 12  # elements: their text is what they cost


@dataclass(frozen=True, slots=True)
class Swarm:
    """What one program may use at all. `seen` is what steers its draw, nothing in some programs."""

    ops: Sequence[Op]
    weights: Sequence[float]
    pool: Pool
    regime: Regime
    seen: Mapping[str, int]
    literals: float
    calls: float
    loops: float


@dataclass(slots=True, eq=False)
class Frame:
    """A block while it is written: what is in sight, its lets so far, and for a fn its parameters with their arguments.

    A loop's body sees what is around it, and shares its names: nothing shadows.
    """

    values: list[Value]
    names: Iterator[int]
    outer: Frame | None = None
    is_loop: bool = False
    lets: list[Let] = field(default_factory=list)
    params: list[Value] = field(default_factory=list)
    args: list[Value] = field(default_factory=list)

    @property
    def depth(self) -> int:
        return 0 if self.outer is None else 1 + self.outer.depth

    def name(self) -> str:
        return f"v{next(self.names)}"

    def bind(self, value: Value) -> Value:
        self.values.append(value)
        return value


def new_frame(outer: Frame | None = None) -> Frame:
    """The frame of `@main`, or of a fn that is called from another one."""
    return Frame([], count(), outer)


@dataclass(slots=True, eq=False)
class Growth:
    """A program while it is written. `left`: how many lets are still to be drawn."""

    rng: Random
    swarm: Swarm
    left: int
    inputs: dict[str, tuple[TensorType, Recipe]] = field(default_factory=dict)
    fns: dict[str, Fn] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Fresh:
    """A value that nothing has yet: a host input, a constant, or for a fn one more argument."""

    type: TensorType
    known: Traced
    source: Recipe | Literal | Value


def fresh(growth: Growth, frame: Frame, type_: TensorType) -> Fresh:
    """A value of the type; nothing is written before it is used, see `settled`."""
    rng = growth.rng
    if frame.outer is not None and not frame.is_loop and rng.random() < 0.5:
        outside = [value for value in frame.outer.values if value.type == type_]
        if outside:
            value = rng.choice(outside)
            return Fresh(type_, value.known, value)
    drawn = recipe(rng, growth.swarm.regime, type_.dtype)
    if type_.size <= LARGEST_LITERAL and rng.random() < growth.swarm.literals:
        return literal(drawn, type_)
    return Fresh(type_, given(drawn, type_), drawn)


def literal(drawn: Recipe, type_: TensorType) -> Fresh:
    """A constant with the numbers of a recipe."""
    array = hold(make(drawn, type_))
    scalars = tuple(_scalar(value) for value in array.reshape(-1).tolist())
    return Fresh(type_, constant(array, type_), Literal(type_, scalars))


def _scalar(value: Scalar) -> Scalar:
    """A literal's NaN is always the same object."""
    return math.nan if value != value else value


def settled(growth: Growth, frame: Frame, operand: Value | Fresh) -> Value:
    """The value, written down if it is fresh: in a fn as a parameter, with its argument where the fn is called."""
    if isinstance(operand, Value):
        operand.used += 1
        return operand
    value = _written(growth, frame, operand)
    value.used += 1
    return value


def _written(growth: Growth, frame: Frame, new: Fresh) -> Value:
    if isinstance(new.source, Literal):
        name = frame.name()
        frame.lets.append(Let((name,), new.source))
        return frame.bind(Value(name, new.type, new.known, "literal"))
    if isinstance(new.source, Value):
        return parameter(frame, settled(growth, frame, new.source))
    if frame.outer is None:
        name = f"x{len(growth.inputs)}"
        growth.inputs[name] = new.type, new.source
        return frame.bind(Value(name, new.type, new.known, "input"))
    outside = _written(growth, frame.outer, new)
    return frame.bind(outside) if frame.is_loop else parameter(frame, settled(growth, frame, outside))


def parameter(frame: Frame, argument: Value) -> Value:
    """One more parameter of a fn, for a value in sight where it is called."""
    value = Value(f"p{len(frame.params)}", argument.type, argument.known, "param")
    frame.params.append(value)
    frame.args.append(argument)
    return frame.bind(value)


def grow_op(growth: Growth, frame: Frame) -> bool:
    """One more let that applies an op; whether one was found."""
    swarm = growth.swarm
    for _ in range(TRIES):
        wanted = growth.rng.choices(swarm.ops, swarm.weights)[0]
        use = _preferred(growth, frame, wanted)
        if use is not None and _taken(growth, frame, use):
            return True
    return False


def _preferred(growth: Growth, frame: Frame, wanted: Op) -> Use | None:
    """A legal use; of several sooner one whose pairs were seen least, in a loop one that a carry may become."""
    rng, swarm = growth.rng, growth.swarm
    found = [find(rng, wanted, frame.values, swarm.pool) for _ in range(CHOICES if swarm.seen or frame.is_loop else 1)]
    uses = [use for use in found if use is not None]
    if len(uses) < 2:
        return uses[0] if uses else None
    carried = {value.type for value in frame.values if value.maker == "carry"}
    weights = [(1 + CARRIED * (use.type in carried)) / (1 + _times_seen(swarm.seen, use)) for use in uses]
    return rng.choices(uses, weights)[0]


def _times_seen(seen: Mapping[str, int], use: Use) -> int:
    return sum(seen.get(_pair(operand, use), 0) for operand in use.operands)


def _pair(operand: Operand, use: Use) -> str:
    if isinstance(operand, TensorType):
        return pair("input", use.op.name, operand)
    return pair("while" if operand.maker == "carry" else operand.maker, use.op.name, operand.type)


def _taken(growth: Growth, frame: Frame, use: Use) -> bool:
    """Write the use down, unless its result is none to go on with."""
    operands = [x if isinstance(x, Value) else fresh(growth, frame, x) for x in use.operands]
    known = result(use, [operand.known for operand in operands])
    if known is None or not fits(known, growth.swarm.regime):
        return False
    names = [Name(settled(growth, frame, operand).name) for operand in operands]
    written = [bare(name) if alone else name for name, alone in zip(names, use.bare, strict=True)]
    name = frame.name()
    frame.lets.append(Let((name,), op(use.op.name, *written, **use.attrs)))
    frame.bind(Value(name, use.type, known, use.op.name))
    return True


def result(use: Use, operands: Sequence[Traced]) -> Traced | None:
    """What the use returns, or None where that is unknown."""
    try:
        args = [
            applied("broadcast", [known], expansion(use, at)) if alone else known
            for at, (known, alone) in enumerate(zip(operands, use.bare, strict=True))
        ]
        return applied(use.op.name, args, use.attrs)
    except Unknown:
        return None
