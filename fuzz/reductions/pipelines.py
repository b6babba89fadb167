"""Shorter pipelines: what is left of one that still shows a bug names the guilty pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from compiler.passtext import Item, parse_items, print_items
from fuzz.reductions.cuts import spans
from oracles.case import Case


def shorter_pipeline(case: Case) -> Iterator[Case]:
    """No added pass; some neighbours only; one pass less; one option less."""
    items = parse_items(case.pipeline)
    yield from (replace(case, pipeline=print_items(fewer)) for fewer in _fewer(items))


def _fewer(items: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
    if items:
        yield ()
    yield from (items[start:stop] for start, stop in spans(len(items)))
    for at, item in enumerate(items):
        yield (*items[:at], *items[at + 1 :])
        for option in item.options:
            fewer = tuple(other for other in item.options if other != option)
            yield (*items[:at], replace(item, options=fewer), *items[at + 1 :])
