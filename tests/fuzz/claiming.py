"""Whether a drawn case's claims hold, by the bounds that the judge derives. Nothing is compiled."""

from __future__ import annotations

from functools import cache

from fuzz.minimize import reference_values
from oracles import judge
from oracles.case import Case, parse_case, print_case
from oracles.claims import judge_claims, unseparated
from oracles.engine import Observation
from oracles.inputs import make_inputs
from oracles.verdict import Disagree


@cache
def references(text: str) -> judge.References:
    case = parse_case(text)
    return judge.references(case, make_inputs(case))


def check_claims(case: Case) -> None:
    """No claim is false by the references, nor broken by an engine that rounds at each let of `@main` alone."""
    run = references(print_case(case)).base
    assert not run.stopped
    verdict = judge_claims(case, run, Observation(dict(reference_values(case)), ()))
    assert not isinstance(verdict, Disagree), f"{verdict}\n{print_case(case)}"


def unseparated_claims(case: Case) -> int:
    """How many of the case's `!=` the references cannot bear out."""
    return len(unseparated(case.claims, references(print_case(case)).base))
