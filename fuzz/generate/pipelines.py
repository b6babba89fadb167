"""Draws the text of a pipeline: which passes are added to the mandatory steps, in which order, with which options.

Each draw uses a few passes only (a swarm), often the same one several times: many bugs need a pair, and what all draws
have in common is tested least. What a pass is and where it may stand is in `compiler.passes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random

from compiler.passes import ROWS, TABLE
from compiler.passrow import Row
from compiler.passtext import Item, in_order, parse_items, print_items

PASS_NAMES: tuple[str, ...] = tuple(ROWS)
MOST_ADDED = 10
_SWARM = 8  # different passes in one draw, at most
_STEPS = 8  # how many times likelier what was never seen is than what was seen most

GUARDS: Mapping[str, str] = {
    "one-shot-bufferize{copy-before-write=true}": "copy-before-write-at-function-boundaries",
    "linalg-specialize-generic-ops": "specialize-batch-matmul-of-rank-4",
    "linalg-morph-ops{generic-to-named=true}": "morph-batch-matmul-of-rank-4",
    "ownership-based-buffer-deallocation": "deallocation-helper-of-bits",
    "affine-data-copy-generate > affine-data-copy-generate": "data-copies-of-copies",
}
"""What is not drawn, a pass, a `pass{option=value}` or a pass anywhere behind another, and the corpus entry of the bug
that it would only find again."""

DRAWN: tuple[Row, ...] = tuple(
    row for row in TABLE if not {row.name, *(item.name for item in parse_items(f"default{row.after}"))} & GUARDS.keys()
)
"""The passes that are drawn: neither guarded nor built on what is."""


def features(text: str) -> tuple[str, ...]:
    """What a pipeline reaches: its added passes, and each pair `a > b` that follow each other, in running order."""
    names = [item.name for item in in_order(parse_items(text))]
    return (*names, *(f"{a} > {b}" for a, b in pairwise(names)))


def pipeline(number: int, rows: Sequence[Row], seen: Mapping[str, int]) -> str:
    """The text that a number stands for; of these passes, rather of those that `seen` counts least (`features`).

    A choice that one of them builds on comes with it.
    """
    random = Random(number)  # noqa: S311 (reproducible, nothing secret)
    count = random.randint(0, MOST_ADDED)
    if not rows or not count:
        return print_items(())
    weights = _weights([row.name for row in rows], seen)
    swarm = random.choices(rows, weights, k=random.randint(1, min(count, _SWARM)))
    items: list[Item] = []
    for _ in range(count):
        before = items[-1].name if items else ""
        (row,) = random.choices(swarm, _weights([f"{before} > {row.name}" for row in swarm], seen))
        items = _with(items, _item(random, row))
    return print_items(items)


def _weights(keys: Sequence[str], seen: Mapping[str, int]) -> list[float]:
    """Up to `_STEPS` times more the less a key was seen, in comparison with the others."""
    counts = [seen.get(key, 0) for key in keys]
    most = max(counts)
    return [1 + (_STEPS - 1) * (most - count) / (most + 1) for count in counts]


def _item(random: Random, row: Row) -> Item:
    """The pass in one of its stages, with some of its options."""
    keys = [key for key in row.options if values(row, key) and not random.randrange(3)]
    if row.needs and not set(row.needs) & set(keys):
        keys.append(random.choice([key for key in row.needs if values(row, key)]))
    options = tuple((key, random.choice(values(row, key))) for key in keys)
    return Item(random.choice(row.stages), row.name, options)


def values(row: Row, option: str) -> list[str]:
    """An option's values that are not guarded."""
    return [value for value in row.options[option] if f"{row.name}{{{option}={value}}}" not in GUARDS]


def _with(items: list[Item], item: Item) -> list[Item]:
    """The items and one more, with the choices that it builds on; nothing guarded, nor what contradicts a choice."""
    result = list(items)
    for added in (*parse_items(f"default{ROWS[item.name].after}"), item):
        slot = ROWS[added.name].slot
        taken = slot and any(ROWS[other.name].slot == slot for other in result)
        if not taken and not any(f"{other.name} > {added.name}" in GUARDS for other in result):
            result.append(added)
    return result
