"""Sums in any order, with products fused into them or not, for many schedules at once.

Arrays of terms are [S, .., K]: S schedules, K terms. What is summed, and in which dtype, is `schedules`'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oracles.engine import Array

Generator = np.random.Generator
SPLITTER = 2.0**27 + 1  # Veltkamp's, for 53 bits


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """Products before they are rounded, as float64 `nearest` plus `tail` (zero where `nearest` is exact)."""

    nearest: Array
    tail: Array

    def negated(self) -> Products:
        return Products(-self.nearest, -self.tail)


def products(a: Array, b: Array, wide: bool) -> Products:
    """a·b of float64 arrays; `wide` if they need all 53 bits, so that a product needs a tail (Dekker 1971)."""
    nearest = a * b
    if not wide:
        return Products(nearest, np.zeros(()))
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    tail = ((a_high * b_high - nearest) + a_high * b_low + a_low * b_high) + a_low * b_low
    return Products(nearest, tail)


def _split(a: Array) -> tuple[Array, Array]:
    scaled = SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def fused(product: Products, addend: Array) -> Array:
    """fl(a·b + c) in float64, an error of the second order apart (Knuth's two-sum); plain where a tail overflowed."""
    plain = product.nearest + addend
    virtual = plain - product.nearest
    tail = (product.nearest - (plain - virtual)) + (addend - virtual)
    exact = plain + (tail + product.tail)
    return np.where(np.isfinite(exact) & (exact != 0), exact, plain)  # a zero has the sign of the plain sum's


Node = tuple[Array, Products | None]
"""A partial sum in the inner dtype; while it is a single product, that product unrounded."""


def summed(rng: Generator, terms: Array, unrounded: Products | None, inner: np.dtype[Any]) -> Array:
    """Σ over the last axis in dtype `inner`: each schedule in an order and with fused products of its own, as float64.

    The shape of the tree is common to all schedules of a call; `unrounded`, of the terms' shape, may replace them.
    """
    order = np.argsort(rng.random((len(terms), terms.shape[-1])), axis=-1)
    index = order.reshape(len(terms), *(1,) * (terms.ndim - 2), -1)
    terms = np.take_along_axis(terms, index, -1).astype(inner)
    if unrounded is not None:
        tail = unrounded.tail if unrounded.tail.ndim == 0 else np.take_along_axis(unrounded.tail, index, -1)
        unrounded = Products(np.take_along_axis(unrounded.nearest, index, -1), tail)
    nodes: list[Node] = [(terms[..., k], _term(unrounded, k)) for k in range(terms.shape[-1])]
    if rng.random() < 0.25:
        nodes.insert(0, (np.zeros_like(terms[..., 0]), None))  # an accumulator that begins at +0
    shape = rng.random()  # below 0.4 one after the other, above 0.7 any tree, between them one mostly in order
    while len(nodes) > 1:
        at = int(rng.integers(len(nodes) - 1)) if shape > 0.4 and rng.random() < shape else 0
        nodes[at : at + 2] = [(_added(rng, nodes[at], nodes[at + 1], inner), None)]
    return nodes[0][0].astype(np.float64)


def _term(unrounded: Products | None, k: int) -> Products | None:
    if unrounded is None:
        return None
    return Products(unrounded.nearest[..., k], unrounded.tail if unrounded.tail.ndim == 0 else unrounded.tail[..., k])


def _added(rng: Generator, left: Node, right: Node, inner: np.dtype[Any]) -> Array:
    """One addition; where one side is a product it is fused in half of the schedules."""
    plain: Array = left[0] + right[0]
    product, addend = (left[1], right[0]) if left[1] is not None else (right[1], left[0])
    if product is None:
        return plain
    chosen = rng.random((len(plain), *(1,) * (plain.ndim - 1))) < 0.5
    return np.where(chosen, fused(product, addend.astype(np.float64)).astype(inner), plain)
