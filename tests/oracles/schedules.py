"""Legal implementations, simulated: the own dtype, sums in random order, products fused or not, a libm that errs.

Not an engine: every choice that the language leaves open is made at random, so that a bound which forbids one of them
shows. Works on any program that the evaluator can walk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler.syntax import Program
from compiler.types import DTYPES, DType
from oracles import numpy_reference
from oracles.engine import Array, Observation
from oracles.evaluator import Attrs, Hooks, Site, Val, evaluate, result_dtype
from oracles.numpy_reference import NATIVE, TABLE, quantize

MOVED_ULPS = 1  # how far a library function's correctly rounded result is moved at most


@dataclass(frozen=True, slots=True, eq=False)
class Product(Val[Array]):
    """A product that remembers what it was before it was rounded: float64, exact for narrower dtypes."""

    unrounded: Array


def run_schedule(
    program: Program,
    inputs: Mapping[str, Array],
    rng: np.random.Generator,
    change: Callable[[str, Array], Array] = lambda _, result: result,
) -> Observation:
    """One run of `@main`, with every let observed: legal, unless `change` alters the result of an op, by its name."""
    schedule = _Schedule(rng, change)
    with np.errstate(all="ignore"):
        done = evaluate(program, inputs, numpy_reference.LIBRARY, Hooks(apply=schedule.apply))
    lets = {name: _native(value) for name, value in done.lets.items()}
    return Observation(lets, tuple(_native(value) for value in done.results))


def _native(value: Val[Array]) -> Array:
    return quantize(value.array, value.dtype) if value.dtype.kind == "float" else value.array


def _inner(dtype: DType) -> np.dtype[Any]:
    return np.dtype(np.float64) if dtype.name == "F64" else np.dtype(np.float32)


@dataclass(frozen=True, slots=True)
class _Schedule:
    rng: np.random.Generator
    change: Callable[[str, Array], Array]

    def apply(self, op: str, args: Sequence[Val[Array]], attrs: Attrs, site: Site) -> Val[Array]:
        value = self._legal(op, args, attrs)
        array = self.change(op, value.array)
        return value if array is value.array else Val(_rounded(array, value.dtype), value.dtype)

    def _legal(self, op: str, args: Sequence[Val[Array]], attrs: Attrs) -> Val[Array]:
        dtype = result_dtype(op, args, attrs)
        if dtype.kind != "float" or op not in ROUNDED:
            plain = TABLE[op](*(arg.array for arg in args), **attrs)
            return Val(_rounded(plain, dtype) if dtype.kind == "float" else plain, dtype)
        arrays = [self._operand(op, arg) for arg in args]
        if op in ("matmul", "sum", "softmax"):
            return Val(_rounded(self._reduced(op, arrays, attrs, dtype), dtype), dtype)
        result = TABLE[op](*arrays, **attrs)
        if op in ("exp", "log", "tanh"):
            return Val(self._moved(_rounded(result, dtype), dtype), dtype)
        rounded = _rounded(result, dtype)
        return Product(rounded, dtype, result) if op == "mul" and dtype.name != "F64" else Val(rounded, dtype)

    def _operand(self, op: str, arg: Val[Array]) -> Array:
        """A product as an operand of a sum may be taken before its rounding: multiply-add, fused."""
        fused = op in ("add", "sub") and isinstance(arg, Product) and self.rng.random() < 0.5
        return arg.unrounded if fused and isinstance(arg, Product) else arg.array

    def _moved(self, values: Array, dtype: DType) -> Array:
        """Each number to a neighbour, or left; never away from a special value."""
        native = quantize(values, dtype)
        step = self.rng.integers(-MOVED_ULPS, MOVED_ULPS + 1, size=values.shape)
        special = ~np.isfinite(values) | (values == 0) | (np.abs(values) == 1)
        towards = np.where(step > 0, np.inf, -np.inf).astype(native.dtype)
        near = np.nextafter(native, towards)
        near = np.where(np.isfinite(near.astype(np.float64)), near, native)
        return np.where(special | (step == 0), values, near.astype(np.float64))

    def _reduced(self, op: str, arrays: Sequence[Array], attrs: Attrs, dtype: DType) -> Array:
        inner = _inner(dtype)
        if op == "matmul":
            return self._matmul(*(array.astype(inner) for array in arrays))
        axis = attrs["axis"]
        assert isinstance(axis, int)
        x = np.moveaxis(arrays[0], axis, -1).astype(inner)
        if op == "sum":
            return self._tree(x).astype(np.float64)
        powers = np.exp((x - x.max(-1, keepdims=True)).astype(np.float64)).astype(inner)
        moved = self._moved(powers.astype(np.float64), _dtype_of(inner)).astype(inner)
        weights = moved / self._tree(moved)[..., None]
        return np.moveaxis(weights, -1, axis).astype(np.float64)

    def _matmul(self, left: Array, right: Array) -> Array:
        """One order for all elements; each step fused or not. A fused step is exact in float64, then rounded."""
        order = self.rng.permutation(left.shape[-1])
        if self.rng.random() < 0.5:
            terms = left[..., :, None, :] * np.swapaxes(right, -1, -2)[..., None, :, :]
            return self._tree(terms).astype(np.float64)
        total = np.zeros((*left.shape[:-1], right.shape[-1]), left.dtype)
        for k in order:
            a, b = left[..., :, k, None], right[..., None, k, :]
            if left.dtype == np.float32 and self.rng.random() < 0.5:
                wide = a.astype(np.float64) * b.astype(np.float64) + total.astype(np.float64)
                total = wide.astype(np.float32)
            else:
                total = total + a * b
        return total.astype(np.float64)

    def _tree(self, terms: Array) -> Array:
        """The last axis summed along a random binary tree."""
        parts = [terms[..., k] for k in self.rng.permutation(terms.shape[-1])]
        while len(parts) > 1:
            at = int(self.rng.integers(len(parts) - 1)) if self.rng.random() < 0.7 else 0
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return parts[0]


ROUNDED = frozenset({"add", "sub", "mul", "div", "exp", "log", "tanh", "sqrt", "matmul", "sum", "softmax", "rem"})


def _rounded(values: Array, dtype: DType) -> Array:
    return quantize(values, dtype).astype(np.float64)


def _dtype_of(native: np.dtype[Any]) -> DType:
    return next(DTYPES[name] for name, known in NATIVE.items() if known == native)
