"""Claims: two routes to one value, and controls that must come out different."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.case import Claim
from oracles.engine import Observation
from oracles.judge import judge, judge_case, references, separated
from oracles.verdict import Agree
from tests.oracles.judging import (
    DYADIC,
    case,
    changed,
    check_open,
    check_wrong,
    drawn,
    f32,
    legal,
    poke,
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


# Row 0 of the second product is made of the same numbers as that of the first; `twice` is another route to the first.
LEAK = """
let f = fn(a: tensor<F32, [2, 3], @host>, b: tensor<F32, [3, 2], @host>) -> tensor<F32, [2, 2], @host> {
  let c = a @ b;
  c
}
@main {
  let a = tensor<F32, [2, 3], @host>;
  let last = tensor<F32, [1, 3], @host>;
  let b = tensor<F32, [3, 2], @host>;
  let first = f(a, b);
  let again = f(a, b);
  let other = f(concat(slice(a, axis=0, start=0, stop=1), last, axis=0), b);
  let changed = concat(slice(a, axis=0, start=0, stop=1), last, axis=0);
  let second = f(changed, b);
  let row = slice(first, axis=0, start=0, stop=1);
  let kept = slice(second, axis=0, start=0, stop=1);
  let twice = a @ b;
  let moved = f(twice @ tensor<F32, [2, 3], @host>[[1, 0, 0], [0, 1, 0]], b);
  (first, again, other, second, row, kept, twice, moved)
}"""
LEAK_INPUTS = {"a": drawn((2, 3), 7), "last": drawn((1, 3), 9), "b": drawn((3, 2), 8)}


def one_code(*claims: str) -> Observation:
    """What a compiler returns whose calls of `f` are one code."""
    seen = legal(case(LEAK, *claims), LEAK_INPUTS)
    seen = changed(seen, "again", lambda _: seen.lets["first"])
    return changed(seen, "kept", lambda _: seen.lets["row"])


def nudged(seen: Observation, name: str) -> Observation:
    """One element moved by the last place, which every bound allows."""
    return changed(seen, name, lambda array: poke((0, 0), np.nextafter(array[0, 0], np.float32(9)))(array))


@pytest.mark.parametrize("claim", ["first === again", "row === kept", "a === a"])
def test_one_route_must_lead_to_the_same_bits(claim: str) -> None:
    assert isinstance(judge_case(case(LEAK, claim), LEAK_INPUTS, one_code()), Agree)


@pytest.mark.parametrize(("left", "right"), [("first", "again"), ("row", "kept")])
def test_bits_that_differ_break_a_claim_that_bounds_do_not(left: str, right: str) -> None:
    seen = nudged(one_code(), right)
    assert isinstance(judge_case(case(LEAK, f"{left} == {right}"), LEAK_INPUTS, seen), Agree)
    verdict = judge_case(case(LEAK, f"{left} === {right}"), LEAK_INPUTS, seen)
    check_wrong(verdict, "claim-broken", "===", f"{left} === {right} is broken: at [0, 0]")


@pytest.mark.parametrize("claim", ["first === twice", "first === moved", "row === first", "twice === again"])
def test_different_routes_have_no_bits_in_common(claim: str) -> None:
    """Else a smaller program could show a legal rounding in place of the bug."""
    verdict = judge_case(case(LEAK, claim), LEAK_INPUTS, one_code())
    check_wrong(verdict, "claim-false", "===", "compares bits of different routes", stage="oracle")


def test_bits_that_the_references_deny_are_the_cases_own_fault() -> None:
    verdict = judge_case(case(LEAK, "first === second"), LEAK_INPUTS, one_code())
    check_wrong(verdict, "claim-false", "===", "first === second is false", stage="oracle")


SIGNS = """@main {
  let a = tensor<F32, [1, 2], @host>;
  let c = tensor<F32, [1, 2], @host>;
  let b = tensor<F32, [2, 1], @host>;
  let left = a @ b;
  let right = c @ b;
  (left, right)
}"""


def test_the_sign_of_a_zero_counts_where_it_is_certain() -> None:
    """A sum of negative zeros is -0, or +0 if it begins with +0; that of a sum with a positive zero is +0."""
    program, b = case(SIGNS, "left === right"), f32([[0.0], [0.0]])
    zeros = [np.zeros((1, 1), np.float32), -np.zeros((1, 1), np.float32)]
    seen = Observation({"left": zeros[0], "right": zeros[1]}, tuple(zeros))
    inputs = {"a": f32([[1, 1]]), "c": f32([[-1, -1]]), "b": b}
    assert isinstance(judge_case(program, inputs, seen), Agree)
    certain = {"a": f32([[1, 1]]), "c": f32([[2, 2]]), "b": b}
    check_wrong(judge_case(program, certain, seen), "wrong-value", "matmul")


def test_bits_that_nobody_knows_decide_nothing() -> None:
    """The sum lies so near the largest float that a legal one may overflow: one call's may, and the other's not."""
    text = LEAK.replace("(first, again, other, second, row, kept, twice, moved)", "(first, again)")
    largest = float(np.finfo(np.float32).max)
    inputs = LEAK_INPUTS | {"a": np.full((2, 3), largest / 3, np.float32), "b": f32(*[[1.0, 1 + 2.0**-23]] * 3)}
    over = f32([largest, np.inf], [largest, np.inf])
    seen = Observation({"first": over, "again": np.minimum(over, np.float32(largest))}, ())
    seen = Observation(seen.lets, tuple(seen.lets.values()))
    check_open(judge_case(case(text, "first === again"), inputs, seen), "overflow", "matmul")


NEAR_SIDES = """@main {
  let x = tensor<F32, [1], @host>;
  let y = tensor<F32, [1], @host>;
  let a = exp(x);
  let b = exp(y);
  (a, b)
}"""


def test_bits_of_numbers_that_differ_a_little_are_not_the_targets_fault() -> None:
    inputs = {"x": f32([0.5]), "y": f32([0.50000006])}
    program = case(NEAR_SIDES, "a === b")
    verdict = judge_case(program, inputs, legal(program, inputs))
    check_wrong(verdict, "claim-false", "===", "the references' sides differ", stage="oracle")
