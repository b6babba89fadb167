"""Claims: two routes to one value, and controls that must come out different."""

from __future__ import annotations

from oracles.case import Claim
from oracles.judge import judge, judge_case, references, separated
from oracles.verdict import Agree
from tests.oracles.judging import (
    DYADIC,
    case,
    check_open,
    check_wrong,
    drawn,
    legal,
)

ROUTES = """@main {
  let a = tensor<F32, [2, 3], @host>;
  let b = tensor<F32, [3, 2], @host>;
  let straight = a @ b;
  let turned = transpose(transpose(b, perm=[1, 0]) @ transpose(a, perm=[1, 0]), perm=[1, 0]);
  let other = straight + straight;
  (straight, turned, other)
}"""
ROUTE_INPUTS = {"a": drawn((2, 3), 7), "b": drawn((3, 2), 8)}


def test_two_routes_to_one_value_agree_and_a_control_differs() -> None:
    program = case(ROUTES, "straight == turned", "straight != other")
    assert isinstance(judge_case(program, ROUTE_INPUTS, legal(program, ROUTE_INPUTS)), Agree)
    assert separated(program, ROUTE_INPUTS) == []


def test_a_claim_that_the_references_deny_is_the_cases_own_fault() -> None:
    program = case(ROUTES, "straight == other")
    verdict = judge_case(program, ROUTE_INPUTS, legal(program, ROUTE_INPUTS))
    check_wrong(verdict, "claim-false", "==", "straight == other is false", stage="oracle")


def test_a_control_that_the_references_cannot_tell_apart_decides_nothing() -> None:
    program = case(ROUTES, "straight != turned")
    check_open(judge_case(program, ROUTE_INPUTS, legal(program, ROUTE_INPUTS)), "control-not-separated", "!=")
    assert separated(program, ROUTE_INPUTS) == [Claim("straight", "!=", "turned")]


def test_exact_routes_are_compared_bitwise() -> None:
    inputs = {"a": DYADIC["a"], "b": DYADIC["b"]}
    program = case(ROUTES, "straight == turned")
    refs = references(program, inputs)
    assert isinstance(judge(refs, legal(program, inputs)), Agree)
    for name in ("straight", "turned"):
        assert refs.base.lets[name].err is None
