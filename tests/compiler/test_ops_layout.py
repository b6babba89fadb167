"""Ops that move elements, bit for bit, on every dtype; and `gather` with ids out of range."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.arrays import NUMPY, Array
from compiler.ops.layout import common_groups
from compiler.types import DTYPES
from tests.compiler.jit import run_op, run_uses, use
from tests.compiler.values import ALL, check_bits, edges

RESHAPES = [
    ((6,), (6,)),
    ((2, 3), (3, 2)),
    ((2, 3, 4), (6, 2, 2)),
    ((2, 3, 4), (4, 3, 2)),
    ((1, 2, 1, 3), (2, 3)),
    ((2, 3), (1, 2, 1, 3, 1)),
    ((1, 4), (1, 2, 2, 1)),
    ((1, 1), ()),
    ((), (1, 1, 1)),
    ((), ()),
    ((1,), (1,)),
    ((1, 1), (1,)),
    ((2, 2, 2, 2), (4, 4)),
    ((4, 6), (2, 2, 3, 2)),
]
PERMS = [((), ()), ((3,), (0,)), ((2, 3), (1, 0)), ((2, 3), (0, 1)), ((2, 3, 4), (2, 0, 1)), ((2, 3, 4), (1, 2, 0))]
PERMS += [((1, 2, 2, 3), (0, 2, 1, 3)), ((1, 2, 3, 2), (0, 1, 3, 2)), ((2, 1, 3, 1, 2), (4, 2, 0, 3, 1))]
BROADCASTS = [((), ()), ((), (2, 3)), ((3,), (2, 3)), ((2, 1), (2, 3)), ((1, 3), (2, 3)), ((1, 1), (2, 2))]
BROADCASTS += [((4, 4), (1, 4, 4)), ((1, 1, 1, 1), (1, 2, 2, 4)), ((2, 1, 3, 1), (2, 2, 4, 3, 5)), ((2, 2), (2, 2))]


def moved(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Array:
    """Edge values in some order: a move must keep every bit of them."""
    values = edges(dtype)
    count = int(np.prod(shape))
    return np.random.default_rng(seed).permutation(np.resize(values, count)).reshape(shape)


@pytest.mark.parametrize("dtype", ALL)
def test_reshape(dtype: str) -> None:
    operands = [(moved(dtype, source), target) for source, target in RESHAPES]
    for (x, shape), got in zip(operands, run_uses([use("reshape", x, shape=s) for x, s in operands]), strict=True):
        check_bits(got, x.reshape(shape), name=f"reshape {x.shape} to {shape} ")


@pytest.mark.parametrize(("source", "target"), [(s, t) for s, t in RESHAPES if s and t])
def test_reshape_groups_agree(source: tuple[int, ...], target: tuple[int, ...]) -> None:
    left, right = common_groups(source, target)
    assert [np.prod([source[d] for d in group]) for group in left] == [
        np.prod([target[d] for d in group]) for group in right
    ]
    assert [d for group in left for d in group] == list(range(len(source)))
    assert [d for group in right for d in group] == list(range(len(target)))


def test_reshape_groups_are_as_small_as_they_can_be() -> None:
    assert common_groups((2, 3, 4), (6, 2, 2)) == ([[0, 1], [2]], [[0], [1, 2]])
    assert common_groups((1, 4, 4), (1, 4, 2, 2)) == ([[0], [1], [2]], [[0], [1], [2, 3]])


@pytest.mark.parametrize("dtype", ALL)
def test_transpose(dtype: str) -> None:
    operands = [(moved(dtype, shape), perm) for shape, perm in PERMS]
    for (x, perm), got in zip(operands, run_uses([use("transpose", x, perm=p) for x, p in operands]), strict=True):
        check_bits(got, x.transpose(perm), name=f"transpose {x.shape} by {perm} ")


@pytest.mark.parametrize("dtype", ALL)
def test_broadcast(dtype: str) -> None:
    operands = [(moved(dtype, source), target) for source, target in BROADCASTS]
    for (x, shape), got in zip(operands, run_uses([use("broadcast", x, shape=s) for x, s in operands]), strict=True):
        check_bits(got, np.broadcast_to(x, shape), name=f"broadcast {x.shape} to {shape} ")


@pytest.mark.parametrize("dtype", ALL)
def test_slice(dtype: str) -> None:
    x = moved(dtype, (3, 4, 2))
    cuts = [(0, 0, 3), (0, 2, 3), (1, 1, 3), (1, 0, 1), (1, 3, 4), (2, 1, 2)]
    uses = [use("slice", x, axis=axis, start=start, stop=stop) for axis, start, stop in cuts]
    for (axis, start, stop), got in zip(cuts, run_uses(uses), strict=True):
        expected = np.moveaxis(np.moveaxis(x, axis, 0)[start:stop], 0, axis)
        check_bits(got, expected, name=f"slice {axis} {start}:{stop} ")


@pytest.mark.parametrize("dtype", ALL)
def test_concat(dtype: str) -> None:
    for axis in range(3):
        shapes = [(*(2, 3, 2)[:axis], dim, *(2, 3, 2)[axis + 1 :]) for dim in (1, 3, 2)]
        parts = [moved(dtype, shape, seed) for seed, shape in enumerate(shapes)]
        two, three = run_uses([use("concat", *parts[:2], axis=axis), use("concat", *parts, axis=axis)])
        check_bits(two, np.concatenate(parts[:2], axis), name=f"concat on {axis} ")
        check_bits(three, np.concatenate(parts, axis), name=f"concat on {axis} ")


def test_concat_of_a_value_with_itself() -> None:
    x = moved("F32", (2, 3))
    check_bits(run_op("concat", x, x, axis=1), np.concatenate([x, x], 1))


@pytest.mark.parametrize("dtype", ALL)
def test_pad(dtype: str) -> None:
    x = moved(dtype, (2, 3, 2))
    amounts = [(0, 1, 2), (1, 0, 2), (2, 3, 0), (1, 0, 0)]
    uses = [use("pad", x, axis=axis, low=low, high=high) for axis, low, high in amounts]
    for (axis, low, high), got in zip(amounts, run_uses(uses), strict=True):
        widths = [(low, high) if at == axis else (0, 0) for at in range(3)]
        check_bits(got, np.pad(x.view(f"V{x.itemsize}"), widths).view(x.dtype), name=f"pad {axis} {low} {high} ")


@pytest.mark.parametrize("ids", ["I32", "I64"])
@pytest.mark.parametrize("dtype", ALL)
def test_gather(dtype: str, ids: str) -> None:
    """Ids outside [0, V) are clamped, however far out they are."""
    least, greatest = DTYPES[ids].int_range
    chosen = np.array([0, 2, 1, -1, 3, 4, 2**31 - 1, -(2**31), least, greatest, 1, 1], NUMPY[ids])
    operands = [
        (moved(dtype, (3,)), chosen),
        (moved(dtype, (3, 2)), chosen.reshape(3, 4)),
        (moved(dtype, (3, 2, 2)), chosen.reshape(2, 1, 6)),
        (moved(dtype, (1, 2)), chosen),
        (moved(dtype, (3, 2)), chosen[2:3].reshape(())),
        (moved(dtype, (3,)), chosen[3:4].reshape(())),
    ]
    for (table, at), got in zip(operands, run_uses([use("gather", *pair) for pair in operands]), strict=True):
        expected = table[np.clip(at, 0, table.shape[0] - 1)]
        check_bits(got, np.asarray(expected), name=f"gather {table.shape} {at.shape} ")
