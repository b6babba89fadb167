"""How sources of error reach the outputs: torch's autograd, in float64, over the operators of the second reference.

Every value with a bound has a tensor here, equal to the reference wherever that is finite. Where an op adds something
of its own (a source), a leaf is added to its result; ∂output/∂leaf, times the source, is that source's share of the
output's bound. Elements that are exact, infinite, NaN or unknown are constants: no gradient passes through them, so
that 0·inf cannot poison their finite neighbours. The rules that size a source live in `bounds`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from compiler.syntax import AttrValue
from oracles.engine import Array
from oracles.torch_reference import TABLE

Graph = Tensor
"""A value's place in torch's graph."""

ROWS = 256  # output elements in one batched backward pass: bounds the memory, rows × elements of each source

CANCELLATION = 2.0**-36
"""Error of the sensitivities themselves, relative to the forward bound: 2**16 float64 roundings along a path."""

EXTREME = 1e60  # beyond what F32 can tell from zero or from infinity, so that it is only met in F64

KEEP_INFINITIES = frozenset({"softmax", "max", "maximum", "minimum", "rem"})
"""Ops whose finite results depend on which operands are infinite."""
RISKY = frozenset({"div", "log", "sqrt", "rem"})
"""Ops with an infinite slope where an exact operand may well lie."""
MOVES = frozenset({"reshape", "transpose", "broadcast", "slice", "concat", "pad", "gather"})
"""Ops that move floats and compute nothing."""
ROWWISE = frozenset({"softmax", "max"})
SUMS = frozenset({"matmul", "sum"})


def tensor(array: Array) -> Tensor:
    """A tensor of the array's own memory where that may be written to (torch warns otherwise), else of a copy.

    A result of rank 0 is a scalar to NumPy, which torch does not take: it is among those that cannot be written to.
    """
    return torch.from_numpy(array if array.flags.writeable else np.array(array))


@dataclass(slots=True, eq=False)
class Tape:
    """The leaves of one run and the size of the source that stands behind each."""

    leaves: list[Tensor] = field(default_factory=list)
    sources: list[Array] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)

    def extend(self, computed: Tensor, value: Array, source: Array | None) -> Tensor:
        """`computed` with a leaf added, if there is a source; its value is then corrected to the NumPy reference's."""
        if source is None:
            return computed
        if not computed.requires_grad:
            leaf = tensor(value).detach().requires_grad_()
            extended = leaf
        else:
            leaf = (tensor(value) - computed.detach()).requires_grad_()
            extended = computed + leaf
        self.leaves.append(leaf)
        self.sources.append(source)
        self.values.append(value)
        return extended

    def extreme(self) -> bool:
        """Are there magnitudes of which a product of a few slopes might leave float64's range, and be lost unseen?

        A value counts as large as its source at least: what is below it, as the far tail of an F32 softmax is below the
        smallest subnormal, no later op can make large again without an error of its own that is as large.
        """
        sizes = (
            np.maximum(np.abs(value), source)[value != 0]
            for value, source in zip(self.values, self.sources, strict=True)
        )
        return any(size.size and (size.min() < 1 / EXTREME or size.max() > EXTREME) for size in sizes)

    def bounds(self, outputs: Sequence[tuple[Graph, Array]]) -> Array:
        """Σ |∂output/∂leaf|·source for the elements at flat indices of each output, one after the other."""
        flat = torch.cat([graph.reshape(-1)[tensor(places)] for graph, places in outputs])
        return np.concatenate([self._rows(flat[start : start + ROWS]) for start in range(0, len(flat), ROWS)])

    def _rows(self, outputs: Tensor) -> Array:
        total = np.zeros(len(outputs))
        if not outputs.requires_grad:
            return total
        unit = torch.eye(len(outputs), dtype=torch.float64)
        slopes = torch.autograd.grad(
            outputs, self.leaves, unit, retain_graph=True, allow_unused=True, is_grads_batched=True
        )
        for slope, source in zip(slopes, self.sources, strict=True):
            if slope is not None:
                total += np.abs(slope.numpy()).reshape(len(total), -1) @ source.reshape(-1)
        return total


def plain_graph(op: str, attrs: Mapping[str, AttrValue], operands: Sequence[Tensor]) -> Tensor:
    """The op over tensors where nothing is infinite, unknown or at a singularity."""
    return TABLE[op](*operands, **attrs)


def wild_graph(
    op: str,
    attrs: Mapping[str, AttrValue],
    operands: Sequence[tuple[Tensor, Array]],
    value: Array,
    err: Array,
) -> Tensor:
    """The op over tensors with its dead elements (exact, infinite, NaN, unknown) cut off, as constants.

    `operands` are pairs of a tensor, finite throughout, and the reference's own array, which may not be.
    """
    if op in MOVES or op == "select":
        return TABLE[op](*(graph for graph, _ in operands), **attrs)
    live = np.isfinite(value) & np.isfinite(err) & (err > 0)
    tensors = [_with_infinities(graph, array) if op in KEEP_INFINITIES else graph for graph, array in operands]
    if op in ROWWISE:
        axis = int(str(attrs["axis"]))
        mask = tensor(np.expand_dims(live, axis) if op == "max" else np.asarray(live.any(axis=axis, keepdims=True)))
        tensors = [torch.where(mask, graph, 0.0) for graph in tensors]
    elif op not in SUMS:
        tensors = [torch.where(tensor(live), graph, 1.0) for graph in tensors]
    constant = np.where(np.isfinite(value), value, 0.0)
    return torch.where(tensor(live), TABLE[op](*tensors, **attrs), tensor(constant))


def _with_infinities(graph: Tensor, array: Array) -> Tensor:
    """A finite tensor with the reference's infinities put back in, as constants."""
    infinite = np.isinf(array)
    return torch.where(tensor(infinite), tensor(np.where(infinite, array, 0.0)), graph) if infinite.any() else graph
