"""docs/limitations.md: each line is a gap that is there; a line whose gap has closed must go."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from compiler import llvm
from compiler.passtext import parse_items
from compiler.printer import print_program
from compiler.syntax import Apply, Block, Expr, Literal, Placeholder, Program, While, children
from compiler.types import TensorType
from fuzz.generate.families import Drawn, draw_programs
from fuzz.generate.pipelines import GUARDS
from fuzz.process import ROOT
from fuzz.reductions.trees import blocks, expressions
from oracles.case import print_case

COUNT = 120
PAGE = ROOT / "docs" / "limitations.md"


@cache
def drawn() -> tuple[Drawn, ...]:
    return tuple(draw_programs({}, 2, 11, COUNT))


def types(program: Program) -> Iterator[TensorType]:
    """Those that are written out: inputs, literals, what fns take and return."""
    for fn in program.fns:
        yield from (*(param.type for param in fn.params), *fn.results)
    yield from (expr.type for expr in expressions(program) if isinstance(expr, Placeholder | Literal))


def depth(expr: Expr) -> int:
    """Of loops."""
    if not isinstance(expr, While):
        return max(map(depth, children(expr)), default=0)
    inside = [let.value for let in expr.body.lets] + list(expr.body.result)
    return 1 + max(map(depth, inside), default=0)


def attentions(block: Block) -> int:
    values = [let.value for let in block.lets] + list(block.result)
    return sum(repr(value).count("callee='softmax'") for value in values)


def is_story(item: Drawn) -> bool:
    return item.case.why.startswith("StoryLM")


def guarded(item: Drawn) -> bool:
    parts = [part for text in item.pipelines for part in parse_items(text)]
    options = {f"{part.name}{{{key}={value}}}" for part in parts for key, value in part.options}
    return bool(GUARDS.keys() & ({part.name for part in parts} | options))


def counters(item: Drawn) -> bool:
    """A loop's counter, an integer that a literal bounds: beyond ten trips."""
    loops = [expr for expr in expressions(item.case.program) if isinstance(expr, While)]
    return any(
        isinstance(part, Literal) and part.type.dtype.kind == "int" and max(map(abs, part.values)) > 10
        for loop in loops
        if isinstance(loop.cond, Apply)
        for part in loop.cond.args
    )


GAPS: dict[str, Callable[[Drawn], bool]] = {
    "rank-6": lambda item: any(type_.rank > 5 for type_ in types(item.case.program)),
    "large": lambda item: any(
        type_.size > 4096 or max(type_.shape, default=0) > 64 for type_ in types(item.case.program)
    ),
    "long-program": lambda item: sum(len(block.lets) for block in blocks(item.case.program)) > 120,
    "deep-nest": lambda item: any(depth(expr) > 2 for expr in expressions(item.case.program)),
    "many-trips": counters,
    "refused-program": lambda item: item.case.expect.kind == "error",
    "other-spelling": lambda item: not print_case(item.case).endswith(print_program(item.case.program)),
    "two-layers": lambda item: is_story(item) and any(attentions(fn.body) > 1 for fn in item.case.program.fns),
    "guarded-pass": guarded,
    "flushing": lambda _: not llvm.usable_features("+avx512bf16").endswith("-avx512bf16"),
    "given-numbers": lambda item: any(
        recipe.kind == "literal" and any(value != value or abs(value) > 1e6 for value in recipe.values)
        for recipe in item.case.recipes.values()
    ),
}


def test_the_page_lists_the_gaps() -> None:
    assert re.findall(r"^- \*\*([\w-]+)\*\*", PAGE.read_text(), re.MULTILINE) == list(GAPS)


@pytest.mark.parametrize("gap", GAPS)
def test_the_gap_is_there(gap: str) -> None:
    closed = [print_case(item.case) for item in drawn() if GAPS[gap](item)]
    assert not closed, f"`{gap}` is drawn now: remove its line from {PAGE.name}\n{closed[0]}"
