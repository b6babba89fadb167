"""Every pass, alone and with each value of each option, on a small program: compiled and right, or refused.

In the sandbox: a pass may abort. What a guard keeps from being drawn is not run here; its corpus entry is replayed.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from compiler.passrow import Row
from compiler.passtext import Item, parse_items, print_items
from fuzz.engines import Request
from fuzz.generate.pipelines import DRAWN, GUARDS
from fuzz.generate.pipelines import values as unguarded_values
from fuzz.sandbox import Sandbox
from oracles import judge
from oracles.case import parse_case
from oracles.engine import Failure, Outcome
from oracles.inputs import make_inputs
from oracles.verdict import Agree

PROGRAM = """// inputs: x = normal seed 1; y = exact seed 2
let f = fn(
  x: tensor<F32, [2, 3], @host>,
  y: tensor<F32, [3, 2], @host>
) -> (tensor<F32, [2, 2], @host>, tensor<F32, [1, 3], @host>) {
  (exp(x @ y), slice(x, axis=0, start=1, stop=2))
}
@main {
  let x = tensor<F32, [2, 3], @host>;
  let y = tensor<F32, [3, 2], @host>;
  let (a, row) = f(x, y);
  (row, sum(a + a, axis=0))
}
"""
VARIANT = "jit-O0/whole"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox("fuzz.engines.kina") as made:
        yield made


@pytest.fixture(scope="module")
def references() -> judge.References:
    case = parse_case(PROGRAM)
    return judge.references(case, make_inputs(case))


def pipelines(row: Row) -> Iterator[str]:
    """The pass in all of its stages; then with each value of each option; with the choices that it builds on."""
    after = parse_items(f"default{row.after}")
    yield print_items([*after, *(Item(stage, row.name) for stage in row.stages)])
    values = {key: legal for key in row.options if (legal := unguarded_values(row, key))}
    optioned = [
        Item(row.stages[0], row.name, tuple((key, legal[at % len(legal)]) for key, legal in values.items()))
        for at in range(max(map(len, values.values()), default=0))
    ]
    alone = row.slot or f"{row.name} > {row.name}" in GUARDS
    for items in [[item] for item in optioned] if alone else [optioned]:
        yield print_items([*after, *items])


def refused(outcome: Outcome) -> bool:
    return isinstance(outcome, Failure) and outcome.symptom == "refused"


@pytest.mark.parametrize("row", DRAWN, ids=lambda row: row.name)
def test_a_pass_alone_agrees_or_refuses(row: Row, sandbox: Sandbox, references: judge.References) -> None:
    for text in pipelines(row):
        outcome = sandbox.run(Request(PROGRAM, text, (VARIANT,), dict(references.inputs))).outcomes[VARIANT]
        assert refused(outcome) or isinstance(judge.judge(references, outcome), Agree), text
