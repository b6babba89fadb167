"""The library functions, quotients and softmax against mpmath, an independent truth.

At each point the exact result, what the compiled program returns and what both references return must lie within the
bound; the largest error in units in the last place is kept beside the figure that the bounds grant. Which points these
are is `points`'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import mpmath
import numpy as np

from bench.points import operands
from compiler.parser import parse
from compiler.types import DTYPES, F64, DType
from fuzz.engines import Request
from fuzz.sandbox import Sandbox
from oracles import torch_reference
from oracles.case import Case, print_case
from oracles.compare import Allowed, ratio, widened
from oracles.engine import Array, Observation
from oracles.judge import references
from oracles.numpy_reference import TABLE, hold

PRECISION = 160  # bits of the truth: twice a float64's, and more than the worst case of any F64 needs
BEYOND = mpmath.mpf(2) ** 1100  # infinite in every dtype
VARIANTS = ("jit-O0/whole", "jit-O2/whole", "so/whole")

SPELLED = {name: f"{name}(x)" for name in ("exp", "log", "tanh", "sqrt")}
SPELLED |= {"div": "x / z", "softmax": "softmax(x, axis=1)"}
ATTRS = {"softmax": {"axis": 1}}

Numbers = Sequence[mpmath.mpf]


def _softmax(row: Numbers) -> list[mpmath.mpf]:
    powers = [mpmath.exp(x) for x in row]
    total = mpmath.fsum(powers)
    return [power / total for power in powers]


TRUTHS: dict[str, tuple[Callable[..., mpmath.mpf], Callable[..., Array]]] = {
    "exp": (mpmath.exp, np.isfinite),
    "log": (mpmath.log, lambda x: np.isfinite(x) & (x > 0)),
    "tanh": (mpmath.tanh, np.isfinite),
    "sqrt": (mpmath.sqrt, lambda x: np.isfinite(x) & (x >= 0)),
    "div": (lambda a, b: a / b, lambda a, b: np.isfinite(a) & np.isfinite(b) & (b != 0)),
}
"""The exact function, and where it is a number: elsewhere the special values of the bounds are certain anyway."""


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """Exact results as float64 `high` + `low`, both in units of the dtype's last place, 2**`exponent`."""

    known: Array
    high: Array
    low: Array
    exponent: Array

    def off(self, values: Array) -> Array:
        """|values - exact| in units in the last place; 0 where nothing is known, or infinite as it must be."""
        with np.errstate(all="ignore"):
            scaled = np.ldexp(values, -self.exponent)
            distance = np.abs((scaled - self.high) - self.low)
        return np.where(self.known & np.isfinite(values), distance, 0.0)


@dataclass(slots=True)
class Measured:
    """One function in one dtype: the largest error of each implementation in ulps (the references' in F64's)."""

    name: str
    dtype: str
    points: int
    worst: dict[str, float] = field(default_factory=dict)
    outside: list[str] = field(default_factory=list)


def measure(name: str, dtype_name: str, seed: int, count: int) -> Measured:
    """Everything about one function in one dtype, at about `count` points."""
    dtype = DTYPES[dtype_name]
    xs = operands(name, dtype, np.random.default_rng([seed, *name.encode(), dtype.precision]), count)
    measured = Measured(name, dtype_name, xs[0].size)
    case, inputs = _case(name, dtype, xs)
    run = references(case, inputs).base
    value, bound = run.lets["y"], run.bound(run.lets["y"])
    if run.contradiction is not None:
        measured.outside.append(run.contradiction.message)
    exact, fine = truths(name, xs, (dtype, F64))
    allowed = Allowed(value.array, dtype, bound)
    for variant, results in _compiled(case, inputs, measured).items():
        _keep(measured, f"{variant}", ratio(results, allowed) > 1, xs, results)
        measured.worst["kina"] = max(measured.worst.get("kina", 0.0), float(exact.off(widened(results)).max()))
    with np.errstate(all="ignore"):
        limit = np.ldexp(np.zeros(value.array.shape) if bound is None else bound, -exact.exponent)
    reach = limit + 0.5 + 2.0**-20 if bound is None else np.where(limit == 0, 0.5 + 2.0**-20, limit)
    _keep(measured, "the exact result", exact.off(value.array) > reach, xs, value.array)
    torches = torch_reference.TABLE[name](*map(torch_reference.hold, xs), **ATTRS.get(name, {})).numpy()
    own = {"numpy": _table(name, xs), "torch": torches}
    measured.worst |= {source: float(fine.off(results).max()) for source, results in own.items()}
    return measured


def _keep(measured: Measured, who: str, wrong: Array, xs: Sequence[Array], results: Array) -> None:
    for index in np.argwhere(wrong)[:3]:
        at = tuple(int(i) for i in index)
        words = ", ".join(str(x[at]) for x in xs)
        measured.outside.append(f"{who}: {measured.name} {measured.dtype} of {words} is {results[at]}")


def _case(name: str, dtype: DType, xs: Sequence[Array]) -> tuple[Case, dict[str, Array]]:
    shape = ", ".join(map(str, xs[0].shape))
    names = ("x", "z")[: len(xs)]
    lets = "".join(f"let {x} = tensor<{dtype}, [{shape}], @host>; " for x in names)
    text = f"@main {{ {lets}let y = {SPELLED[name]}; (y) }}"
    return Case(parse(text)), dict(zip(names, xs, strict=True))


def _compiled(case: Case, inputs: dict[str, Array], measured: Measured) -> dict[str, Array]:
    """What each build returns, from the sandbox."""
    with Sandbox("fuzz.engines.kina") as sandbox:
        outcomes = sandbox.run(Request(print_case(case), "default", VARIANTS, inputs)).outcomes
    results = {}
    for variant, outcome in outcomes.items():
        if isinstance(outcome, Observation):
            results[variant] = outcome.results[0]
        else:
            measured.outside.append(f"{variant}: {outcome}")
    return results


def _table(name: str, xs: Sequence[Array]) -> Array:
    return TABLE[name](*map(hold, xs), **ATTRS.get(name, {}))


def truths(name: str, xs: Sequence[Array], dtypes: Sequence[DType]) -> list[Exact]:
    """The exact results by mpmath, in units in the last place of each dtype."""
    wide = [widened(x) for x in xs]
    domain = np.isfinite if name == "softmax" else TRUTHS[name][1]
    known = np.array(domain(*wide))
    made = [Exact(known, np.zeros(known.shape), np.zeros(known.shape), np.zeros(known.shape, np.int64)) for _ in dtypes]
    with mpmath.workprec(PRECISION):
        for at, number in _numbers(name, wide, known):
            if number >= BEYOND:
                known[at] = False
                continue
            for exact, dtype in zip(made, dtypes, strict=True):
                exact.high[at], exact.low[at], exact.exponent[at] = _in_ulps(number, dtype)
    return made


def _numbers(name: str, wide: list[Array], known: Array) -> list[tuple[tuple[int, ...], mpmath.mpf]]:
    if name != "softmax":
        function = TRUTHS[name][0]
        return [((int(i),), function(*(mpmath.mpf(float(x[i])) for x in wide))) for i in np.flatnonzero(known)]
    numbers: list[tuple[tuple[int, ...], mpmath.mpf]] = []
    for row, finite in enumerate(known):
        places = np.flatnonzero(finite)
        shares = _softmax([mpmath.mpf(float(x)) for x in wide[0][row, places]])
        numbers += [((row, int(place)), share) for place, share in zip(places, shares, strict=True)]
    return numbers


def _in_ulps(number: mpmath.mpf, dtype: DType) -> tuple[float, float, int]:
    """(high, low, exponent): the number is (high + low)·2**exponent, 2**exponent being its unit in the last place."""
    _, _, lowest, bits = number._mpf_
    leading = lowest + bits - 1 if number else -dtype.max_exponent
    exponent = max(leading, 1 - dtype.max_exponent) - dtype.precision + 1
    scaled = mpmath.ldexp(number, -exponent)
    high = float(scaled)
    return high, float(scaled - high), exponent
