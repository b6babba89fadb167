"""The culprit of a wrong value is an op, whatever the program calls its fns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compiler.checker import check
from compiler.syntax import Apply, Name, Placeholder
from fuzz.blame import CALL, blamed, exposed
from fuzz.generate.draw import draw_cases
from fuzz.generate.storylm import storylm_cases
from fuzz.minimize import reference_values
from oracles.case import Case, parse_case
from oracles.verdict import Agree, Disagree, Verdict

PROGRAM = """// why: two fns
// inputs: x = iota
// expect: agree
let two = fn(a: tensor<F32, [2], @host>) -> tensor<F32, [2], @host> {
  exp(a) + a
}

let one = fn(a: tensor<F32, [2], @host>) -> tensor<F32, [2], @host> {
  tanh(a)
}

@main {
  let x = tensor<F32, [2], @host>;
  let p = two(x);
  let q = one(p);
  let r = sqrt(q);
  let s = one(x) * r;
  (q, r, s)
}
"""


def wrong(value: str, culprit: str) -> Disagree:
    return Disagree("run", "wrong-value", culprit, "is wrong", value)


def check_blame(verdict: Disagree, observed: str, again: Verdict, culprit: str) -> None:
    asked: list[Case] = []

    def ask(case: Case) -> Verdict:
        asked.append(case)
        return again

    found = blamed(verdict, parse_case(PROGRAM), observed.split(), ask)
    assert found == replace(verdict, culprit=culprit)
    assert len(asked) == (again != NOT_ASKED)


NOT_ASKED = Agree()


@pytest.mark.parametrize(
    ("value", "named", "observed", "culprit"),
    [
        ("q", "one", "p q r s", "tanh"),  # a fn of one op, on an operand that was right
        ("r", "sqrt", "p q r s", "sqrt"),
        ("x", "input", "p q r s", "input"),
    ],
)
def test_what_is_known_at_once(value: str, named: str, observed: str, culprit: str) -> None:
    check_blame(wrong(value, named), observed, NOT_ASKED, culprit)


@pytest.mark.parametrize(
    ("value", "named", "observed"),
    [
        ("p", "two", "p q r s"),  # one of two ops
        ("q", "one", "q r s"),  # its operand was not seen
        ("s", "mul", "p q r s"),  # its operand is an expression
        ("result[0]", "one", ""),
    ],
)
def test_what_is_asked_for(value: str, named: str, observed: str) -> None:
    check_blame(wrong(value, named), observed, wrong("p_arg", "exp"), "exp")


def test_what_no_op_did_alone() -> None:
    check_blame(wrong("p", "two"), "p q r s", Agree(1), CALL)
    check_blame(wrong("p", "two"), "p q r s", Disagree("run", "crash", "", "signal 11"), CALL)


def test_a_verdict_without_a_value_stays() -> None:
    check_blame(Disagree("passes", "crash", "cse", "abort"), "", NOT_ASKED, "cse")


def test_a_broken_claim_stays() -> None:
    check_blame(Disagree("run", "claim-broken", "==", "q == r is broken", "q == r"), "", NOT_ASKED, "==")


def test_exposing_shows_every_op() -> None:
    for case in (parse_case(PROGRAM), *draw_cases(storylm_cases(), 2, 6)):
        bare = exposed(case)
        check(bare.program)
        assert bare.program.fns == ()
        main = bare.program.main
        assert main is not None
        made = [let for let in main.lets if not isinstance(let.value, Placeholder)]
        assert main.result == tuple(Name(let.names[0]) for let in made)
        assert all(
            isinstance(arg, Name) or not isinstance(arg, Apply)
            for let in made
            for arg in getattr(let.value, "args", ())
        )
        reference_values(bare)
