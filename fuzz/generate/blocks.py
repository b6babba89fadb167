"""The blocks of a graph: how `@main`, the bodies of fns and those of `while` are filled, called and closed.

A fn is drawn where it is first called, on the numbers of its arguments; a loop on those of its first trip. A later call
and the later trips are computed, and left out where they cannot be judged. One op by itself is `growth`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from compiler.syntax import Block, Carry, Expr, Fn, Let, Literal, Name, Param, While, walk_expr
from compiler.types import DTYPES, TensorType
from fuzz.generate.build import op
from fuzz.generate.growth import Frame, Fresh, Growth, fresh, grow_op, literal, new_frame, parameter, settled
from fuzz.generate.numbers import Unknown, computed, constant
from fuzz.generate.regimes import fits, recipe
from fuzz.generate.uses import Value, likely
from oracles.evaluator import literal_array
from oracles.traced import Traced

DEEPEST = 2  # fns and loops inside each other
MOST_TRIPS = 4
MOST_RESULTS = 6
COUNTERS = tuple(
    TensorType(DTYPES[dtype], shape) for dtype in ("I32", "I64", "F32", "F64") for shape in ((), (1,), (1, 1))
)
GIVEN = ("input", "literal", "param", "carry")
"""Makers of what a block did not compute."""


def fill(growth: Growth, frame: Frame, lets: int) -> None:
    """Grow so many lets, fewer where nothing fits; those inside calls and loops count."""
    last = max(0, growth.left - lets)
    while growth.left > last:
        growth.left -= 1
        _step(growth, frame, growth.left - last)


def _step(growth: Growth, frame: Frame, room: int) -> None:
    """One more let: an op, a call or a loop with up to so many lets inside."""
    choice, swarm = growth.rng.random(), growth.swarm
    nests = frame.depth < DEEPEST and bool(frame.values)
    if nests and choice < swarm.calls:
        _new_call(growth, frame, growth.rng.randint(0, min(room, 6)))
    elif growth.fns and choice < 1.3 * swarm.calls:
        _call_again(growth, frame)
    elif nests and swarm.calls * 1.3 < choice < swarm.calls * 1.3 + swarm.loops:
        _loop(growth, frame, growth.rng.randint(1, min(room, 4) + 1))
    else:
        grow_op(growth, frame)


def results(rng: Random, frame: Frame, most: int) -> list[Value]:
    """What a block returns: most of what is not used in it, and now and then a value that is, twice or as it came."""
    made = [value for value in frame.values if value.maker not in GIVEN]
    chosen = [value for value in made if not value.used and rng.random() < 0.9][-most:]
    while not chosen or (len(chosen) < most and rng.random() < 0.25):
        chosen.insert(rng.randint(0, len(chosen)), rng.choice(made if made and not chosen else frame.values))
    return chosen


def _new_call(growth: Growth, frame: Frame, lets: int) -> None:
    """A call of a fn that is made for it."""
    inner, rng = new_frame(frame), growth.rng
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
        argument = likely(rng, frame.values)
        argument.used += 1
        parameter(inner, argument)
    if not inner.params:  # it may yet get some
        type_ = TensorType(rng.choice(growth.swarm.pool.dtypes), rng.choice(((), (2,), (1, 3))))
        settled(growth, inner, literal(recipe(rng, growth.swarm.regime, type_.dtype), type_))
    fill(growth, inner, lets)
    returned = results(rng, inner, rng.choice((1, 1, 2, 3)))
    params = tuple(Param(value.name, value.type) for value in inner.params)
    body = Block(tuple(inner.lets), tuple(Name(value.name) for value in returned))
    fn = Fn(f"f{len(growth.fns)}", params, tuple(value.type for value in returned), body)
    growth.fns[fn.name] = fn
    call = op(fn.name, *(value.name for value in inner.args))
    _bind(frame, call, [(value.type, value.known) for value in returned], "call")


def _bind(frame: Frame, expr: Expr, values: Sequence[tuple[TensorType, Traced]], maker: str) -> None:
    """A let with a name for each value of a call or a loop."""
    names = tuple(frame.name() for _ in values)
    frame.lets.append(Let(names, expr))
    for name, (type_, known) in zip(names, values, strict=True):
        frame.bind(Value(name, type_, known, maker))


def _call_again(growth: Growth, frame: Frame) -> None:
    """A fn that was called before, on other values, if what it makes of them can be judged."""
    fn = growth.rng.choice(list(growth.fns.values()))
    args = [_argument(growth, frame, param.type) for param in fn.params]
    stand_ins = {f"a{at}": argument.known for at, argument in enumerate(args)}
    known = _known(growth, op(fn.name, *stand_ins), stand_ins, fn.results)
    if known is None:
        return
    call = op(fn.name, *(settled(growth, frame, argument).name for argument in args))
    _bind(frame, call, list(zip(fn.results, known, strict=True)), "call")


def _argument(growth: Growth, frame: Frame, type_: TensorType) -> Value | Fresh:
    alike = [value for value in frame.values if value.type == type_]
    return likely(growth.rng, alike) if alike else fresh(growth, frame, type_)


def _known(growth: Growth, expr: Expr, seen: dict[str, Traced], types: Sequence[TensorType]) -> list[Traced] | None:
    """What a call or a loop returns, or None where that is unknown or none of the regime's."""
    try:
        values = computed(expr, len(types), seen, tuple(growth.fns.values()))
    except Unknown:
        return None
    regime = growth.swarm.regime
    return values if all(fits(value, regime) for value in values) else None


def _loop(growth: Growth, frame: Frame, lets: int) -> None:
    """A `while` that counts its trips and carries one to three values, some of them perhaps changed round."""
    rng = growth.rng
    type_, bound = _bound(rng, frame)
    inits = [likely(rng, frame.values) for _ in range(rng.randint(1, 3))]
    inner = Frame(list(frame.values), frame.names, frame, is_loop=True)
    counter = inner.bind(Value(frame.name(), type_, constant(literal_array(_filled(type_, 0)), type_), "carry"))
    carries = [inner.bind(Value(frame.name(), init.type, init.known, "carry")) for init in inits]
    fill(growth, inner, lets)
    ahead = Let((frame.name(),), op("add", counter.name, _filled(type_, 1)))
    inner.lets.insert(rng.choice((0, len(inner.lets))), ahead)
    names = (*ahead.names, *(_next(rng, inner, carry) for carry in carries))
    loop = While(
        (
            Carry(counter.name, type_, _filled(type_, 0)),
            *(Carry(carry.name, carry.type, Name(init.name)) for carry, init in zip(carries, inits, strict=True)),
        ),
        op("less", counter.name, bound),
        Block(tuple(inner.lets), tuple(Name(name) for name in names)),
    )
    _close(growth, frame, loop)


def _bound(rng: Random, frame: Frame) -> tuple[TensorType, Expr]:
    """The counter's type, and how far it counts: a constant, or what a value in sight says, `MOST_TRIPS` at most."""
    counts = [value for value in frame.values if value.type in COUNTERS]
    if counts and rng.random() < 0.6:
        count = rng.choice(counts)
        return count.type, op("minimum", count.name, _filled(count.type, MOST_TRIPS))
    type_ = rng.choice(COUNTERS)
    return type_, _filled(type_, rng.randint(0, MOST_TRIPS))


def _filled(type_: TensorType, number: int) -> Literal:
    return Literal(type_, (number,) if type_.dtype.kind == "int" else (float(number),))


def _next(rng: Random, inner: Frame, carry: Value) -> str:
    """What becomes of a carry in a trip: sooner what the body made than another carry, sooner that than itself."""
    alike = [value for value in inner.values if value.type == carry.type and value is not carry]
    made = [value for value in alike if value.maker not in GIVEN and value not in _outside(inner)]
    carried = [value for value in alike if value.maker == "carry"]
    choices = made if made and rng.random() < 0.9 else carried
    return rng.choice(choices).name if choices else carry.name


def _outside(inner: Frame) -> Sequence[Value]:
    return inner.outer.values if inner.outer is not None else ()


def _close(growth: Growth, frame: Frame, loop: While) -> None:
    """The loop is written down, if what it returns can be judged."""
    names = {expr.id for expr in walk_expr(loop) if isinstance(expr, Name)}
    seen = {value.name: value.known for value in frame.values if value.name in names}
    types = [carry.type for carry in loop.carries]
    known = _known(growth, loop, seen, types)
    if known is not None:
        _bind(frame, loop, list(zip(types, known, strict=True)), "while")
