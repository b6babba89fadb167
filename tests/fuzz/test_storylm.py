"""StoryLM cases: the checker takes them, their claims hold, and together they reach what they should."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import islice

import pytest

from compiler.checker import check
from compiler.syntax import Apply, Block, inputs
from compiler.types import BF16, DTYPES, F16, F64, DType
from fuzz.generate.draw import draw_cases
from fuzz.generate.storylm import storylm_cases
from fuzz.minimize import reference_values
from fuzz.reductions.trees import expressions
from oracles.case import Case, parse_case, print_case
from tests.fuzz.broken import FAULTS
from tests.fuzz.claiming import check_claims, unseparated_claims

COUNT, JUDGED = 100, 30  # cases; bounds cost a tenth of a second each
OPS = {"gather", "matmul", "reshape", "transpose", "broadcast", "softmax", "concat", "slice", "argmax"}
OPS |= {"add", "sub", "mul", "div", "neg"}


@cache
def drawn() -> tuple[Case, ...]:
    return tuple(draw_cases(storylm_cases(), 0, COUNT))


def main_of(case: Case) -> Block:
    assert case.program.main is not None
    return case.program.main


def test_the_checker_takes_every_case() -> None:
    for case in drawn():
        check(case.program)


@pytest.mark.parametrize("dtype", [F16, BF16, F64], ids=str)
def test_the_checker_takes_every_case_in_other_dtypes(dtype: DType) -> None:
    for case in draw_cases(storylm_cases(dtype), 1, 15):
        check(case.program)
        reference_values(case)


def test_every_case_is_its_text() -> None:
    for case in drawn():
        assert parse_case(print_case(case)) == case


def test_drawing_is_deterministic() -> None:
    assert draw_cases(storylm_cases(), 0, 10) == list(drawn()[:10])


def test_claims_hold() -> None:
    for case in drawn()[:JUDGED]:
        check_claims(case)


def test_most_mistakes_show() -> None:
    """A `!=` may fail by accident (one-hot attention, a weight without effect), but not often."""
    mistakes = [sum(claim.relation == "!=" for claim in case.claims) for case in drawn()]
    assert 2 * sum(map(unseparated_claims, drawn()[:JUDGED])) < sum(mistakes[:JUDGED])
    assert sum(mistakes) > COUNT / 8


def test_claims_are_observed_by_every_engine() -> None:
    """Whole runs see nothing but the results of `@main`."""
    for case in drawn():
        shown = {getattr(expr, "id", "") for expr in main_of(case).result}
        assert {name for claim in case.claims for name in (claim.left, claim.right)} <= shown


def test_every_route_is_drawn() -> None:
    starts = Counter(case.why.split(", ")[1] for case in drawn())
    assert {"self-start", "parallel prefill", "sequential prefill", "last position again", "given cache"} == set(starts)
    assert min(starts.values()) >= COUNT / 20
    claims = {part for case in drawn() for claim in case.claims for part in (claim.left, claim.right)}
    for route in ("k_all", "k_full", "z_at", "k_par", "k_kept", "k_next", "z_twice", "z_short", "z_changed"):
        assert any(name.startswith(route) for name in claims), route


def test_every_op_is_drawn_in_fns() -> None:
    reached = Counter(expr.callee for case in drawn() for expr in expressions(case.program) if isinstance(expr, Apply))
    assert set(reached) >= OPS


def test_programs_stay_small() -> None:
    attention = sorted(sum("softmax" in repr(fn.body) for fn in case.program.fns) for case in drawn())
    assert attention[len(attention) // 2] <= 3
    assert attention[-1] <= 8
    assert max(case_input.size for case in drawn() for case_input in inputs(main_of(case)).values()) <= 256


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_met_soon(name: str) -> None:
    """A campaign of a minute sees more than two hundred cases; half as many show each fault three times."""
    showing = (case for case in drawn() if FAULTS[name].outcome(case) != "agree")
    assert len(list(islice(showing, 3))) == 3


def test_views_of_more_than_one_row_cross_the_boundary() -> None:
    """A result that is a slice with other strides than its own shape would have: more than one batch, an inner axis."""
    met = 0
    for case in drawn():
        for fn in case.program.fns:
            for expr in fn.body.result:
                met += isinstance(expr, Apply) and expr.callee == "slice" and fn.params[0].type.shape[0] > 1
    assert met > COUNT / 10


def test_the_dtype_is_the_models() -> None:
    (case,) = draw_cases(storylm_cases(F64), 0, 2)[:1]
    floats = {t.dtype for t in inputs(main_of(case)).values()} - {DTYPES["I64"]}
    assert floats == {F64}
