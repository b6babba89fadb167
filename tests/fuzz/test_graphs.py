"""Op graphs: the checker takes them, they can be judged, and together they reach the whole language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from statistics import median

import pytest

from compiler.checker import check
from compiler.ops import OPS
from compiler.syntax import Apply, Block, Expr, Literal, Name, Program, While, inputs, walk_block, walk_expr
from compiler.types import DTYPES
from fuzz.engines import kina
from fuzz.generate.graphs import draw_graphs
from fuzz.lane import with_other_numbers
from fuzz.reach import RANKS, uses
from fuzz.reductions.trees import blocks, count_ops, expressions
from fuzz.sandbox import Sandbox
from fuzz.trial import try_case
from oracles.case import Case, parse_case, print_case
from oracles.inputs import make_inputs
from oracles.judge import references
from oracles.verdict import Agree, Disagree, Verdict
from tests.fuzz.broken import FAULTS

COUNT = 150


@cache
def drawn() -> tuple[Case, ...]:
    return tuple(draw_graphs(0, COUNT))


def many() -> Iterator[Case]:
    """For what is rare: a campaign draws as many in a minute or two."""
    yield from drawn()
    for seed in range(1, 10):
        yield from draw_graphs(seed, COUNT)


def main_of(program: Program) -> Block:
    assert program.main is not None
    return program.main


def test_the_checker_takes_every_case() -> None:
    for case in drawn():
        check(case.program)


def test_every_case_is_its_text() -> None:
    for case in drawn():
        assert parse_case(print_case(case)) == case


def test_drawing_is_deterministic() -> None:
    assert draw_graphs(0, 20) == list(drawn()[:20])


def test_no_case_comes_twice() -> None:
    """Hypothesis likes some numbers better than others."""
    assert len({print_case(case) for case in drawn()}) == COUNT


def test_programs_are_small_and_some_are_not() -> None:
    sizes = [count_ops(case.program) for case in drawn()]
    assert 5 <= median(sizes) <= 10
    assert 20 <= max(sizes) <= 60
    elements = [type_.size for case in drawn() for type_ in inputs(main_of(case.program)).values()]
    assert max(elements) <= 4096


def test_every_op_dtype_and_rank_is_reached() -> None:
    reached = {use for case in drawn() for use in uses(case.program)}
    assert {use.what.split()[0] for use in reached} == {*OPS, "literal", "call", "while"}
    assert {use.dtype for use in reached} == set(DTYPES)
    assert {use.rank for use in reached} == set(RANKS)


def calls(program: Program, block: Block) -> list[str]:
    return [e.callee for e in walk_block(block) if isinstance(e, Apply) and program.fn(e.callee) is not None]


def dead(block: Block) -> set[str]:
    """Lets that nothing uses."""
    names = {expr.id for expr in walk_block(block) if isinstance(expr, Name)}
    return {name for let in block.lets for name in let.names} - names


def is_nested(expr: Expr) -> bool:
    return isinstance(expr, Apply) and any(isinstance(arg, Apply) and arg.attrs for arg in expr.args)


def twice(program: Program) -> bool:
    return any(len({str(e) for e in block.result}) < len(block.result) for block in blocks(program))


SHAPES: dict[str, Callable[[Program], bool]] = {
    "a fn calls a fn": lambda p: any(calls(p, fn.body) for fn in p.fns),
    "a fn takes nothing": lambda p: any(not fn.params for fn in p.fns),
    "a fn is called twice": lambda p: any(n > 1 for n in Counter(c for b in blocks(p) for c in calls(p, b)).values()),
    "a fn returns several values": lambda p: any(len(fn.results) > 1 for fn in p.fns),
    "a value is returned twice": twice,
    "a parameter is returned as it came": lambda p: any(
        Name(param.name) in fn.body.result for fn in p.fns for param in fn.params
    ),
    "an input is returned as it came": lambda p: any(Name(name) in main_of(p).result for name in inputs(main_of(p))),
    "a fn is called with one value twice": lambda p: any(
        isinstance(e, Apply) and p.fn(e.callee) is not None and len(set(e.args)) < len(e.args) for e in expressions(p)
    ),
    "a value is dead": lambda p: any(dead(block) for block in blocks(p)),
    "a value has two users": lambda p: any(
        n > 1 for b in blocks(p) for n in Counter(e.id for e in walk_block(b) if isinstance(e, Name)).values()
    ),
    "host ops between calls": lambda p: (
        bool(calls(p, main_of(p)))
        and any(isinstance(let.value, Apply) and let.value.callee in OPS for let in main_of(p).lets)
    ),
    "a loop in a fn": lambda p: any(isinstance(e, While) for fn in p.fns for e in walk_block(fn.body)),
    "a loop in @main": lambda p: any(isinstance(e, While) for e in walk_block(main_of(p))),
    "a loop counts to what the data say": lambda p: any(
        isinstance(e, While) and any(isinstance(x, Apply) and x.callee == "minimum" for x in walk_expr(e.cond))
        for e in expressions(p)
    ),
    "a loop calls a fn": lambda p: any(isinstance(e, While) and calls(p, e.body) for e in expressions(p)),
    "an op in an op": lambda p: any(is_nested(e) for e in expressions(p)),
    "a bare broadcast": lambda p: any(
        isinstance(e, Apply) and e.callee == "broadcast" and not e.attrs for e in expressions(p)
    ),
    "a constant as an operand": lambda p: any(
        isinstance(e, Apply) and any(isinstance(arg, Literal) for arg in e.args) for e in expressions(p)
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_program_is_reached(shape: str) -> None:
    assert any(SHAPES[shape](case.program) for case in many())


def test_half_of_the_values_are_exact() -> None:
    shares = [value.err is None for case in drawn() for value in references(case, make_inputs(case)).base.results]
    assert sum(shares) > len(shares) / 2
    assert sum(shares) < len(shares)


@pytest.mark.parametrize("name", sorted(FAULTS.keys() - {"softmax-without-max"}))  # large scores are StoryLM's
def test_a_fault_is_met(name: str) -> None:
    """Where `@main` is compiled too."""
    fault = replace(FAULTS[name], whole=True)
    showing = (case for case in many() if fault.outcome(case) != "agree")
    assert len(list(islice(showing, 3))) == 3


def verdicts(cases: list[Case]) -> Iterator[tuple[Case, Verdict]]:
    with Sandbox(kina.__name__) as sandbox:
        for case in cases:
            for verdict in try_case(sandbox, case, sandbox.builds[0]).verdicts.values():
                yield case, verdict


def test_an_engine_agrees() -> None:
    for case, verdict in verdicts(list(drawn()[:20])):
        assert isinstance(verdict, Agree), f"{verdict}\n{print_case(case)}"


def test_on_other_inputs_it_does_not_disagree() -> None:
    for case, verdict in verdicts([with_other_numbers(case) for case in drawn()[20:40]]):
        assert not isinstance(verdict, Disagree), f"{verdict}\n{print_case(case)}"
