"""Open argmaxes: the target's own choice, if it is one that a correct implementation may make.

Where indices are seen, of an argmax or moved from one, they say what the target chose. What follows from the choice is
for `judge` to see, by another run of the references.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oracles.engine import Array
from oracles.numpy_reference import TABLE
from oracles.traced import Trace, Traced
from oracles.verdict import Disagree

REARRANGING = frozenset({"reshape", "transpose", "broadcast", "slice"})
"""Moves after which the indices of an argmax are still seen."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """An admissible choice of the target at an open argmax that the references have not followed yet."""

    serial: int
    choice: Array


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One observed value beside the reference's. `culprit` is the op or fn that its let applies."""

    name: str
    culprit: str
    target: Array
    value: Traced


def admissible(item: Seen, run: Trace) -> Disagree | Choice | None:
    """An open argmax, or its indices moved: the target's own choice, if each index may be that of the maximum."""
    found = _origin(item.value)
    if found is None or found[0].serial in run.follow:
        return None
    origin, places = found
    assert origin.contenders is not None  # noqa: S101 (`_origin` returns no other)
    legal = np.moveaxis(origin.contenders[0], origin.contenders[1], -1).reshape(origin.array.size, -1)
    inside = np.clip(item.target, 0, legal.shape[-1] - 1)
    fine = legal[places, inside] & (inside == item.target)
    if not fine.all():
        options = ", ".join(str(i) for i in np.flatnonzero(legal[places][~fine][0]))
        return _illegal(item, fine, f"the maximum is at one of {options}")
    choice = origin.array.copy()
    choice.reshape(-1)[places] = item.target
    unseen = np.ones(choice.size, bool)
    unseen[places] = False
    open_ = np.zeros(choice.size) if origin.err is None else origin.err.reshape(-1)
    same = choice.reshape(-1)[places] == item.target
    if not same.all():
        return _illegal(
            item, same, f"copied from one index, which is {int(choice.reshape(-1)[places][~same][0])} elsewhere"
        )
    if (unseen & (open_ > 0)).any():
        return None
    return Choice(origin.serial, choice)


def _illegal(item: Seen, fine: Array, why: str) -> Disagree:
    """The first element that is not `fine`."""
    index = tuple(int(i) for i in np.argwhere(~fine)[0])
    got = int(item.target[index])
    message = f"{item.name}[{','.join(map(str, index))}] = {got}, {why}"
    return Disagree("run", "wrong-value", item.culprit, message, item.name, index, float(got), times=np.inf)


def _origin(value: Traced) -> tuple[Traced, Array] | None:
    """The open argmax whose indices a value holds, and from which flat place of it each was moved."""
    moves = []
    while value.contenders is None:
        if value.moved is None or value.moved[0] not in REARRANGING:
            return None
        op, attrs, (value,) = value.moved
        moves.append((op, attrs))
    places = np.arange(value.array.size).reshape(value.array.shape)
    for op, attrs in reversed(moves):
        places = TABLE[op](places, **attrs)
    return value, places
