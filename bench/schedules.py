"""Legal implementations, simulated many at once: the own dtype, sums in any order, products fused or not, a libm that
errs.

Not an engine: every choice that the language leaves open is made at random, so that a bound which forbids one of them
shows. One schedule is one complete run of one program. A value is the same in every schedule (`Val`), or has a first
axis of schedules (`Many`). How terms are summed is `rounded_sums`'.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from bench.rounded_sums import Generator, Products, fused, products, summed
from compiler.checker import check
from compiler.syntax import AttrValue, Program
from compiler.types import DTYPES, DType
from oracles import numpy_reference
from oracles.engine import Array, Observation
from oracles.evaluator import Attrs, Hooks, Site, Val, evaluate, result_dtype
from oracles.numpy_reference import TABLE, quantize
from oracles.rounding import rounded
from oracles.transport import MOVES

MOVED_ULPS = 1  # how far a library function's correctly rounded result is moved at most

EXACT_POINTS: dict[str, Callable[[Array], Array]] = {
    "exp": lambda x: (x == 0) | ~np.isfinite(x),
    "tanh": lambda x: (x == 0) | ~np.isfinite(x),
    "log": lambda x: (x == 1) | (x <= 0) | ~np.isfinite(x),
}
"""The library functions, and where each has one certain value (ISO C, annex F)."""

Change = Callable[[str, Array], Array]
"""Alters the result of an op, given its name: an injected fault. Without one every schedule is legal."""


class Parted(Exception):
    """A `while` that goes on in some schedules and ends in others: they have no program in common any more."""


@dataclass(frozen=True, slots=True, eq=False)
class Many(Val[Array]):
    """A value under many schedules, [S, *shape], floats as float64. `product`: what it was before its rounding."""

    product: Products | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """What `count` schedules made of one program: lets and results of `@main`, [count, *shape], floats as float64."""

    count: int
    lets: dict[str, Array]
    results: tuple[Array, ...]
    observe: Callable[[int], Observation]


def run_schedules(
    program: Program, inputs: Mapping[str, Array], rng: Generator, count: int, change: Change | None = None
) -> Runs:
    """`count` runs of `@main`. Raises `Parted`, `CompileError` for what does not check, `EvaluationError`."""
    schedules = _Schedules(rng, count, change or (lambda _, result: result))
    hooks = Hooks(apply=schedules.apply, bind=schedules.bind)
    with np.errstate(all="ignore"):
        done = evaluate(check(program).program, inputs, numpy_reference.LIBRARY, hooks)

    def observe(index: int) -> Observation:
        """One schedule's run as an engine would have shown it, in native dtypes."""
        native = {id(value): _native(value, index) for value in [*done.lets.values(), *done.results]}
        lets = {name: native[id(value)] for name, value in done.lets.items()}
        return Observation(lets, tuple(native[id(value)] for value in done.results))

    lets = {name: schedules.full(value) for name, value in done.lets.items()}
    return Runs(count, lets, tuple(schedules.full(value) for value in done.results), observe)


def run_schedule(
    program: Program, inputs: Mapping[str, Array], rng: Generator, change: Change | None = None
) -> Observation:
    """One run of `@main`, with every let observed."""
    return run_schedules(program, inputs, rng, 1, change).observe(0)


def _native(value: Val[Array], index: int) -> Array:
    array = value.array[index] if isinstance(value, Many) else value.array
    return quantize(np.asarray(array), value.dtype) if value.dtype.kind == "float" else np.array(array)


def _inner(dtype: DType) -> np.dtype[Any]:
    return np.dtype(np.float64) if dtype.name == "F64" else np.dtype(np.float32)


@dataclass(frozen=True, slots=True)
class _Schedules:
    """The hooks of a run."""

    rng: Generator
    count: int
    change: Change

    def full(self, value: Val[Array]) -> Array:
        """[S, *shape], also of what is the same in every schedule."""
        if isinstance(value, Many):
            return value.array
        return np.broadcast_to(value.array, (self.count, *value.array.shape))

    def bind(self, site: Site, value: Val[Array]) -> Val[Array]:
        """The condition of a `while` must be one and the same."""
        if ".cond@" not in site.path or not isinstance(value, Many):
            return value
        if (value.array != value.array[:1]).any():
            raise Parted(site.path)
        return Val(value.array[0], value.dtype)

    def apply(self, op: str, args: Sequence[Val[Array]], attrs: Attrs, site: Site) -> Val[Array]:
        value = self._legal(op, args, attrs, result_dtype(op, args, attrs))
        array = self.change(op, value.array)
        if array is value.array:
            return value
        changed = rounded(array, value.dtype)
        return Many(changed, value.dtype) if isinstance(value, Many) else Val(changed, value.dtype)

    def _legal(self, op: str, args: Sequence[Val[Array]], attrs: Attrs, dtype: DType) -> Val[Array]:
        if dtype.kind != "float":
            return self._plain(op, args, attrs, dtype)
        if op in MOVES or op == "neg":
            return self._moved_product(op, args, attrs, dtype)
        if op in ("add", "sub"):
            return self._sum_of_two(op, args, dtype)
        if op in ("matmul", "sum", "softmax"):
            reduced = {"matmul": self._matmul, "sum": self._sum, "softmax": self._softmax}[op]
            return Many(rounded(reduced(args, attrs, dtype), dtype), dtype)
        if op in EXACT_POINTS:
            x = self.full(args[0])
            return Many(self._moved(rounded(TABLE[op](x), dtype), dtype, EXACT_POINTS[op](x)), dtype)
        if op == "mul":
            product = products(args[0].array, args[1].array, dtype.name == "F64")
            array = rounded(product.nearest, dtype)
            many = isinstance(args[0], Many) or isinstance(args[1], Many)
            return Many(array, dtype, product) if many else _Product(array, dtype, product)
        if op == "cast" and dtype.bits < 32:
            return self._narrowed(args[0], attrs, dtype)
        return self._plain(op, args, attrs, dtype)

    def _plain(self, op: str, args: Sequence[Val[Array]], attrs: Attrs, dtype: DType) -> Val[Array]:
        """What has one result for given operands: the reference's operator, rounded once."""
        many = any(isinstance(arg, Many) for arg in args)
        array = self._table(op, args, attrs) if many else TABLE[op](*(arg.array for arg in args), **attrs)
        array = rounded(array, dtype) if dtype.kind == "float" else array
        return Many(array, dtype) if many else Val(array, dtype)

    def _table(self, op: str, args: Sequence[Val[Array]], attrs: Attrs) -> Array:
        """The operator on operands with a first axis of schedules."""
        arrays = [self.full(arg) for arg in args]
        if op == "gather":
            return _gather_each(*arrays)
        if op == "matmul":  # of integers
            return TABLE[op](*arrays)
        if op == "broadcast":
            shape = cast("tuple[int, ...]", attrs["shape"])
            padding = (1,) * (len(shape) + 1 - arrays[0].ndim)
            arrays = [arrays[0].reshape(self.count, *padding, *arrays[0].shape[1:])]
        return TABLE[op](*arrays, **self._beside_schedules(attrs))

    def _beside_schedules(self, attrs: Attrs) -> dict[str, AttrValue]:
        """The attributes as they are for arrays with one more axis in front."""
        moved = dict(attrs)
        if "axis" in attrs:
            moved["axis"] = cast("int", attrs["axis"]) + 1
        if "shape" in attrs:
            moved["shape"] = (self.count, *cast("tuple[int, ...]", attrs["shape"]))
        if "perm" in attrs:
            moved["perm"] = (0, *(axis + 1 for axis in cast("tuple[int, ...]", attrs["perm"])))
        return moved

    def _moved_product(self, op: str, args: Sequence[Val[Array]], attrs: Attrs, dtype: DType) -> Val[Array]:
        """A product that is only moved, or turned in sign, may still be fused into the sum after that."""
        value = self._plain(op, args, attrs, dtype)
        product = _product_of(args[0])
        if product is None or len(args) > 1:
            return value
        parts = [product.nearest, np.broadcast_to(product.tail, product.nearest.shape)]
        kind = Many if isinstance(value, Many) else Val
        nearest, tail = (self._plain(op, [kind(part, DTYPES["F64"])], attrs, DTYPES["F64"]).array for part in parts)
        made = Products(nearest, tail)
        return Many(value.array, dtype, made) if isinstance(value, Many) else _Product(value.array, dtype, made)

    def _sum_of_two(self, op: str, args: Sequence[Val[Array]], dtype: DType) -> Val[Array]:
        """a + b, or a + (-b); of a side that is a product the number before its rounding may be taken (fused)."""
        left, right = args
        if _product_of(left) is None and _product_of(right) is None:
            return self._plain(op, args, {}, dtype)
        a, b, of_a, of_b = left.array, right.array, _product_of(left), _product_of(right)
        if op == "sub":
            b, of_b = -b, None if of_b is None else of_b.negated()
        shape = (self.count, *left.array.shape[isinstance(left, Many) :])
        choice = self.rng.integers(0, 3, size=shape)
        total = a + b
        if of_a is not None:
            total = np.where(choice == 1, fused(of_a, b), total)
        if of_b is not None:
            total = np.where(choice == 2, fused(of_b, a), total)
        return Many(rounded(np.broadcast_to(total, shape), dtype), dtype)

    def _narrowed(self, source: Val[Array], attrs: Attrs, dtype: DType) -> Val[Array]:
        """To F16 or BF16, by way of F32 in half of the schedules."""
        once = TABLE["cast"](self.full(source), **attrs)
        twice = rounded(once, DTYPES["F32"])
        chosen = self.rng.random((self.count, *(1,) * (once.ndim - 1))) < 0.5
        return Many(rounded(np.where(chosen, twice, once), dtype), dtype)

    def _moved(self, values: Array, dtype: DType, points: Array) -> Array:
        """Each number to a neighbour, or left; never from a `point` that is certain, to a zero or beyond the range."""
        native = quantize(values, dtype)
        step = self.rng.integers(-MOVED_ULPS, MOVED_ULPS + 1, size=values.shape)
        near = np.nextafter(native, np.where(step > 0, np.inf, -np.inf).astype(native.dtype)).astype(np.float64)
        stays = points | (step == 0) | (values == 0) | ~np.isfinite(values) | ~np.isfinite(near)
        return np.where(stays, values, near)

    def _matmul(self, args: Sequence[Val[Array]], attrs: Attrs, dtype: DType) -> Array:
        left, right = self.full(args[0]), self.full(args[1])
        wide = dtype.name == "F64"
        product = products(left[..., :, None, :], np.swapaxes(right, -1, -2)[..., None, :, :], wide)
        return summed(self.rng, product.nearest, product, _inner(dtype))

    def _sum(self, args: Sequence[Val[Array]], attrs: Attrs, dtype: DType) -> Array:
        axis = cast("int", attrs["axis"]) + 1
        product = _product_of(args[0])
        if product is not None:
            parts = (np.broadcast_to(part, self.full(args[0]).shape) for part in (product.nearest, product.tail))
            product = Products(*(np.moveaxis(part, axis, -1) for part in parts))
        return summed(self.rng, np.moveaxis(self.full(args[0]), axis, -1), product, _inner(dtype))

    def _softmax(self, args: Sequence[Val[Array]], attrs: Attrs, dtype: DType) -> Array:
        """Maximum, subtraction, exp, sum, and a division or a multiplication by the reciprocal."""
        axis, inner = cast("int", attrs["axis"]) + 1, DTYPES["F64" if dtype.name == "F64" else "F32"]
        x = np.moveaxis(self.full(args[0]), axis, -1)
        depth = rounded(x - x.max(-1, keepdims=True), inner)
        powers = self._moved(rounded(np.exp(depth), inner), inner, EXACT_POINTS["exp"](depth))
        total = summed(self.rng, powers, None, _inner(dtype))[..., None]
        chosen = self.rng.random((self.count, *(1,) * (x.ndim - 1))) < 0.5
        shares = np.where(chosen, powers * rounded(1 / total, inner), powers / total)
        return np.moveaxis(rounded(shares, inner), -1, axis)


@dataclass(frozen=True, slots=True, eq=False)
class _Product(Val[Array]):
    """A product of values that are the same in every schedule."""

    product: Products


def _product_of(value: Val[Array]) -> Products | None:
    return value.product if isinstance(value, Many | _Product) else None


def _gather_each(table: Array, ids: Array) -> Array:
    """Each schedule's rows of its own table by its own ids."""
    schedule = np.arange(len(table)).reshape(-1, *(1,) * (ids.ndim - 1))
    rows: Array = table[schedule, np.clip(ids, 0, table.shape[1] - 1)]
    return rows
