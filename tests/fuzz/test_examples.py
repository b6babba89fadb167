"""The examples are cases too: run from the shared object, stepped and whole, they agree and their claims hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.engines import Request
from fuzz.engines.kina import run_case
from oracles.case import parse_case
from oracles.inputs import make_inputs
from oracles.judge import judge, references
from oracles.verdict import Agree

EXAMPLES = sorted((Path(__file__).parents[2] / "compiler" / "examples").glob("*.kina"))
VARIANTS = ("so/stepped", "so/whole")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_agrees(path: Path) -> None:
    case = parse_case(path.read_text(), path.name)
    inputs = make_inputs(case)
    refs = references(case, inputs)
    outcomes = dict(run_case(Request(path.read_text(), case.pipeline, VARIANTS, inputs), lambda *_: None))
    assert tuple(outcomes) == VARIANTS
    for variant, outcome in outcomes.items():
        assert isinstance(judge(refs, outcome), Agree), f"{variant}: {judge(refs, outcome)}"


def test_the_buffers_claim_what_the_growing_cache_gives() -> None:
    case = parse_case((EXAMPLES[0].parent / "storylm0_tmax.kina").read_text())
    assert {f"{claim}" for claim in case.claims} >= {"logits_5 == z_5", "k_buffer_5 == k_5", "v_buffer_5 == v_5"}
