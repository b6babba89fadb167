"""The NumPy reference's operators on operands with one more axis in front: many runs of one op at once.

Every operand has the axis, of one length. What the runs differ in is the caller's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from compiler.syntax import AttrValue
from oracles.engine import Array
from oracles.evaluator import Attrs
from oracles.numpy_reference import OPERATORS


def apply_batched(op: str, arrays: Sequence[Array], attrs: Attrs) -> Array:
    """The op for each index of the first axis. The caller silences NumPy's warnings (`np.errstate`)."""
    if op == "gather":
        return _gather_each(*arrays)
    if op == "broadcast":
        (array,), shape = arrays, cast("tuple[int, ...]", attrs["shape"])
        padding = (1,) * (len(shape) + 1 - array.ndim)
        return np.broadcast_to(array.reshape(len(array), *padding, *array.shape[1:]), (len(array), *shape))
    result: Array = OPERATORS[op](*arrays, **_beside(attrs, len(arrays[0])))
    return result


def _beside(attrs: Attrs, count: int) -> dict[str, AttrValue]:
    """The attributes as they are for arrays with one more axis in front."""
    moved = dict(attrs)
    if "axis" in attrs:
        moved["axis"] = cast("int", attrs["axis"]) + 1
    if "shape" in attrs:
        moved["shape"] = (count, *cast("tuple[int, ...]", attrs["shape"]))
    if "perm" in attrs:
        moved["perm"] = (0, *(axis + 1 for axis in cast("tuple[int, ...]", attrs["perm"])))
    return moved


def _gather_each(table: Array, ids: Array) -> Array:
    """Each run's rows of its own table by its own ids."""
    run = np.arange(len(table)).reshape(-1, *(1,) * (ids.ndim - 1))
    rows: Array = table[run, np.clip(ids, 0, table.shape[1] - 1)]
    return rows
