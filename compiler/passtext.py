"""How a pipeline is written: `default`, or `default + PASS + stage:PASS{option=value option=value} ..`, and back.

What may be added is the table in `compiler.passes`; the mandatory steps are not written, and what becomes of the whole
is `compiler.pipeline`'s. The text is untrusted. Needs no MLIR.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from compiler.passes import ROWS
from compiler.passrow import STAGES, Stage

LONGEST = 4096  # characters: forty passes with all their options
MOST_ITEMS = 64


class PipelineTextError(ValueError):
    """The text is no pipeline: the message names what is not known, and what is near it."""


@dataclass(frozen=True, slots=True)
class Item:
    """One added pass: its stage, its name, its options as written."""

    stage: Stage
    name: str
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        stage = f"{self.stage}:" if len(ROWS[self.name].stages) > 1 else ""
        options = " ".join(f"{key}={value}" for key, value in self.options)
        return f"{stage}{self.name}" + (f"{{{options}}}" if options else "")


def print_items(items: Iterable[Item]) -> str:
    """The text of a pipeline; `parse_items` gives the items back."""
    return " + ".join(["default", *map(str, items)])


def in_order(items: Iterable[Item]) -> list[Item]:
    """The items as they run: stage by stage, a stage's choice first, else as they are written."""
    return sorted(items, key=lambda item: (STAGES.index(item.stage), not ROWS[item.name].slot))


def parse_items(text: str) -> tuple[Item, ...]:
    """The items in the order in which they are written. Raises `PipelineTextError`."""
    if len(text) > LONGEST:
        raise PipelineTextError(f"the pipeline has {len(text)} characters; at most {LONGEST} are read")
    first, *rest = (part.strip() for part in text.split("+"))
    if first != "default":
        raise PipelineTextError(f"a pipeline begins with `default`, this one with `{first}`")
    if len(rest) > MOST_ITEMS:
        raise PipelineTextError(f"the pipeline adds {len(rest)} passes; at most {MOST_ITEMS} may be added")
    items = tuple(map(_item, rest))
    _check_slots(items)
    return items


def _item(text: str) -> Item:
    match = re.fullmatch(r"(?:([a-z]+):)?([\w-]+)(?:\{([^{}]*)\})?", text)
    if match is None:
        raise PipelineTextError(f"`{text}` is no pass; write PASS, stage:PASS or PASS{{option=value option=value}}")
    stage, name, options = match[1], match[2], match[3]
    if name not in ROWS:
        raise PipelineTextError(f"unknown pass `{name}`{_near(name, ROWS)}")
    given = tuple(_option(name, option) for option in (options or "").split())
    if len(dict(given)) < len(given):
        raise PipelineTextError(f"`{text}` gives an option twice; keep one")
    return Item(_stage(stage, name), name, given)


def _stage(written: str | None, name: str) -> Stage:
    stages = ROWS[name].stages
    if written is None and len(stages) == 1:
        return stages[0]
    for stage in stages:
        if stage == written:
            return stage
    where = ", ".join(f"`{stage}:{name}`" for stage in stages)
    if written is None:
        raise PipelineTextError(f"`{name}` may stand in several stages; write {where}")
    guess = "" if written in STAGES else _near(written, stages)
    raise PipelineTextError(f"`{name}` does not belong to a stage `{written}`{guess}; write {where}")


def _option(name: str, text: str) -> tuple[str, str]:
    known = ROWS[name].options
    key, equals, value = text.partition("=")
    if key not in known:
        raise PipelineTextError(f"`{name}` has no option `{key}` here{_near(key, known)}")
    if not equals or value not in known[key]:
        raise PipelineTextError(f"`{name}`: `{text}` is not among {', '.join(f'`{key}={one}`' for one in known[key])}")
    return key, value


def _check_slots(items: Sequence[Item]) -> None:
    chosen: dict[str, Item] = {}
    for item in items:
        slot = ROWS[item.name].slot
        if slot in chosen:
            raise PipelineTextError(f"`{chosen[slot]}` and `{item}` are two choices for one step; keep one")
        if slot:
            chosen[slot] = item


def _near(word: str, known: Iterable[str]) -> str:
    near = get_close_matches(word, list(known), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""
