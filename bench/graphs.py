"""Small op graphs over square matrices, and values for them, drawn with a NumPy generator.

For the judge alone: hundreds of programs a second, no checker, no compiler. What the campaign draws is
`fuzz.generate`'s.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from compiler.syntax import Apply, AttrValue, Block, Expr, Let, Name, Placeholder, Program
from compiler.types import DTYPES, DType, TensorType
from oracles.engine import Array
from oracles.numpy_reference import quantize

UNARY = ("neg", "abs", "exp", "log", "sqrt", "tanh")
BINARY = ("add", "sub", "mul", "div", "rem", "maximum", "minimum")
COMPARISONS = ("less", "less_equal", "equal")
INPUTS = ("i0", "i1", "i2")
FLOATS = tuple(dtype for dtype in DTYPES.values() if dtype.kind == "float")

Generator = np.random.Generator


def apply(callee: str, *args: str | Expr, **attrs: AttrValue) -> Apply:
    """An op on values given by name."""
    operands = tuple(Name(arg) if isinstance(arg, str) else arg for arg in args)
    return Apply(callee, operands, tuple(attrs.items()))


def draw_graph(rng: Generator, dtype: DType, ops: int) -> tuple[Program, int]:
    """A program of `ops` lets over three [n, n] inputs, and n from 1 to 5. Its result is its last let."""
    n = int(rng.integers(1, 6))
    lets = [Let((name,), Placeholder(TensorType(dtype, (n, n)))) for name in INPUTS]
    for count in range(ops):
        names = [let.names[0] for let in lets]
        a, b = (names[int(i)] for i in rng.integers(0, len(names), 2))
        lets.append(Let((f"v{count}",), draw_expr(rng, dtype, n, a, b)))
    return Program((), Block(tuple(lets), (Name(lets[-1].names[0]),))), n


def draw_expr(rng: Generator, dtype: DType, n: int, a: str, b: str) -> Expr:
    """One op, or a few that lead back to an [n, n] value of `dtype`."""
    axis = int(rng.integers(0, 2))
    other = str(rng.choice(["F16", "BF16", "F32", "F64", "I32", "I64", "BOOL"]))
    choices: list[tuple[float, Callable[[], Expr]]] = [
        (0.25, lambda: apply(str(rng.choice(UNARY)), a)),
        (0.35, lambda: apply(str(rng.choice(BINARY)), a, b)),
        (0.10, lambda: apply("matmul", a, b)),
        (0.08, lambda: apply("softmax", a, axis=axis)),
        (0.05, lambda: apply("broadcast", apply(str(rng.choice(["sum", "max"])), a, axis=axis), shape=(n, n))),
        (0.02, lambda: apply("transpose", a, perm=(1, 0))),
        (0.02, lambda: apply("slice", apply("concat", a, b, axis=axis), axis=axis, start=n // 2, stop=n // 2 + n)),
        (0.06, lambda: apply("select", apply(str(rng.choice(COMPARISONS)), a, b), a, b)),
        (0.04, lambda: apply("cast", apply("cast", a, dtype=other), dtype=dtype.name)),
        (0.03, lambda: apply("gather", a, apply("argmax", b, axis=axis))),
    ]
    weights = np.array([weight for weight, _ in choices])
    return choices[int(rng.choice(len(choices), p=weights / weights.sum()))][1]()


def edges(dtype: DType) -> list[float]:
    """Values at which something changes: zeros, subnormals, neighbours of 1, the largest, the special ones."""
    unit = dtype.unit_roundoff
    plain = [0.0, -0.0, 1.0, -1.0, 1 + 2 * unit, 1 - unit, 2.0, 0.5, 3.0, 1 / 3, 100.0, 88.0, -100.0, 7.0, 1e-3]
    tiny = [dtype.smallest_normal, dtype.smallest_subnormal, -dtype.smallest_subnormal]
    return [*plain, *tiny, dtype.max_finite, -dtype.max_finite, np.inf, -np.inf, np.nan]


def _mixed(rng: Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
    return np.where(rng.random(shape) < 0.15, rng.choice(edges(dtype), size=shape), rng.normal(size=shape))


def _wide(rng: Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
    return rng.normal(size=shape) * 2.0 ** rng.integers(-dtype.max_exponent, dtype.max_exponent, size=shape)


VALUES: dict[str, Callable[[Generator, DType, tuple[int, ...]], Array]] = {
    "normal": lambda rng, _, shape: rng.normal(size=shape) * 10.0 ** rng.integers(-3, 3),
    "positive": lambda rng, _, shape: np.abs(rng.normal(size=shape)) + 0.01,
    "exact": lambda rng, _, shape: rng.integers(-8, 9, size=shape) / 4,
    "masked": lambda rng, _, shape: np.where(rng.random(shape) < 0.3, -np.inf, rng.normal(size=shape)),
    "edges": lambda rng, dtype, shape: rng.choice(edges(dtype), size=shape),
    "mixed": _mixed,
    "wide": _wide,
}


def draw_values(rng: Generator, dtype: DType, shape: tuple[int, ...], kind: str) -> Array:
    """A native array of the dtype."""
    return quantize(np.asarray(VALUES[kind](rng, dtype, shape), np.float64), dtype)


def draw_inputs(rng: Generator, dtype: DType, n: int, kind: str) -> dict[str, Array]:
    """Values for the inputs of a graph."""
    return {name: draw_values(rng, dtype, (n, n), kind) for name in INPUTS}
