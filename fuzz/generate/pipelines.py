"""Draws the text of a pipeline: which passes are added to the mandatory steps, in which order, with which options.

Each draw uses a few passes only (a swarm), often the same one several times: many bugs need a pair, and what all draws
have in common is tested least. What a pass is and where it may stand is in `compiler.passes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from compiler.passes import ROWS
from compiler.passrow import Row
from compiler.passtext import Item, in_order, parse_items, print_items

PASS_NAMES: tuple[str, ...] = tuple(ROWS)
MOST_ADDED = 10
_SWARM = 8  # different passes in one draw, at most
_STEPS = 8  # how many times likelier what was never seen is than what was seen most

GUARDS: Mapping[str, str] = {}
"""A pass, or `pass{option=value}`, that is not drawn, and the corpus entry of the bug that it would only find again."""


def features(text: str) -> tuple[str, ...]:
    """What a pipeline reaches: its added passes, and each pair `a > b` that follow each other, in running order."""
    names = [item.name for item in in_order(parse_items(text))]
    return (*names, *(f"{a} > {b}" for a, b in pairwise(names)))


@st.composite
def pipelines(draw: DrawFn, allowed: Sequence[str] | None = None, seen: Mapping[str, int] | None = None) -> str:
    """A pipeline's text; of `allowed` passes only (all, by default), rather of those that `seen` counts least.

    `seen` counts `features`. A choice that an allowed pass builds on comes with it.
    """
    counts = seen or {}
    rows = [row for name, row in ROWS.items() if name not in GUARDS and (allowed is None or name in allowed)]
    count = draw(st.integers(0, MOST_ADDED))
    if not rows or not count:
        return print_items(())
    likely = _rather(rows, [row.name for row in rows], counts)
    swarm = [draw(likely) for _ in range(draw(st.integers(1, min(count, _SWARM))))]
    items: list[Item] = []
    for _ in range(count):
        before = items[-1].name if items else ""
        row = draw(_rather(swarm, [f"{before} > {row.name}" for row in swarm], counts))
        items = _with(items, draw(_items(row)))
    return print_items(items)


def _rather(rows: Sequence[Row], keys: Sequence[str], seen: Mapping[str, int]) -> SearchStrategy[Row]:
    """One of the rows, up to `_STEPS` times likelier the less its key was seen among them."""
    counts = [seen.get(key, 0) for key in keys]
    most = max(counts) + 1
    weights = [1 + (_STEPS - 1) * (most - 1 - count) // most for count in counts]
    return st.sampled_from([row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)])


@st.composite
def _items(draw: DrawFn, row: Row) -> Item:
    """The pass in one of its stages, with some of its options."""
    keys = [key for key in row.options if not draw(st.integers(0, 2))]
    if row.needs and not set(row.needs) & set(keys):
        keys.append(draw(st.sampled_from(row.needs)))
    choices = {
        key: [value for value in row.options[key] if f"{row.name}{{{key}={value}}}" not in GUARDS] for key in keys
    }
    options = tuple((key, draw(st.sampled_from(values))) for key, values in choices.items() if values)
    return Item(draw(st.sampled_from(row.stages)), row.name, options)


def _with(items: list[Item], item: Item) -> list[Item]:
    """The items and one more, with the choices that it builds on; nothing that contradicts a choice already made."""
    after = ROWS[item.name].after
    result = list(items)
    for added in (*parse_items(f"default + {after}" if after else "default"), item):
        slot = ROWS[added.name].slot
        if not slot or all(ROWS[other.name].slot != slot for other in result):
            result.append(added)
    return result
