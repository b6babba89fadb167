"""The culprit of a wrong value is an op, whatever the program calls its fns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compiler.checker import check
from compiler.recipes import Recipe
from compiler.syntax import Name, Placeholder
from fuzz.blame import CALL, blamed, exposed, guilty_pass
from fuzz.generate.draw import draw_cases
from fuzz.generate.storylm import storylm_cases
from fuzz.minimize import reference_values
from fuzz.reductions.trees import count_ops
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


def check_blame(verdict: Disagree, observed: str, culprit: str, *answers: Verdict) -> list[Case]:
    """The culprit after as many runs as there are answers, and the cases that were run."""
    asked: list[Case] = []

    def again(case: Case) -> Verdict:
        asked.append(case)
        check(case.program)
        reference_values(case)
        return answers[len(asked) - 1]

    found = blamed(verdict, parse_case(PROGRAM), observed.split(), again)
    assert found == replace(verdict, culprit=culprit)
    assert len(asked) == len(answers)
    return asked


@pytest.mark.parametrize(
    ("value", "named", "culprit"),
    [
        ("q", "one", "tanh"),  # a fn of one op, on an operand that was right
        ("r", "sqrt", "sqrt"),
        ("x", "input", "input"),
        ("result[1]", "sqrt", "sqrt"),
    ],
)
def test_what_is_known_at_once(value: str, named: str, culprit: str) -> None:
    check_blame(wrong(value, named), "p q r s", culprit)


def test_one_of_several_ops_of_a_fn() -> None:
    (alone,) = check_blame(wrong("p", "two"), "p q r s", "exp", wrong("p_arg", "exp"))
    assert count_ops(alone.program) == 2
    assert alone.recipes == {"x": Recipe("iota")}


def test_an_operand_that_was_not_seen() -> None:
    (shown,) = check_blame(wrong("q", "one"), "q r s", "tanh", wrong("q", "one"))
    assert shown.program.main is not None
    assert len(shown.program.main.result) == 5  # the call inside of an expression too
    check_blame(wrong("s", "mul"), "q r s", "tanh", wrong("s_arg", "one"))


def test_an_operand_that_was_wrong() -> None:
    check_blame(wrong("q", "one"), "q r s", "add", wrong("p", "two"), wrong("p", "add"))


@pytest.mark.parametrize("second", [Agree(1), Disagree("run", "crash", "", "signal 11")])
def test_what_no_op_did_alone(second: Verdict) -> None:
    check_blame(wrong("p", "two"), "p q r s", CALL, second)
    check_blame(wrong("q", "one"), "q r s", CALL, second)


def test_a_verdict_without_a_value_stays() -> None:
    check_blame(Disagree("passes", "crash", "cse", "abort"), "", "cse")


def test_a_broken_claim_stays() -> None:
    check_blame(Disagree("run", "claim-broken", "==", "q == r is broken", "q == r"), "", "==")


def test_exposing_shows_every_op() -> None:
    for case in (parse_case(PROGRAM), *draw_cases(storylm_cases(), 2, 6)):
        bare = exposed(case, {fn.name for fn in case.program.fns})
        check(bare.program)
        assert bare.program.fns == ()
        assert bare.program.main is not None
        made = [let for let in bare.program.main.lets if not isinstance(let.value, Placeholder)]
        assert bare.program.main.result == tuple(Name(let.names[0]) for let in made)
        assert len(made) >= count_ops(bare.program)


def check_guilty(pipeline: str, needed: str, guilty: str, most: int = 9) -> None:
    """Fails with all passes of `needed`; how often a pipeline is tried."""
    tried = []

    def fails(other: str) -> bool:
        tried.append(other)
        return set(needed.split()) <= set(other.split(" + "))

    assert guilty_pass(pipeline, fails) == guilty
    assert len(tried) <= most


def test_the_pass_is_to_blame_without_which_nothing_fails() -> None:
    check_guilty("default", "", "", most=0)
    check_guilty("default + tensor:cse + affine-loop-fusion", "", "", most=1)  # without any
    check_guilty("default + tensor:cse + affine-loop-fusion + loops:cse", "affine-loop-fusion", "affine-loop-fusion")
    check_guilty("default + linalg-fuse-elementwise-ops", "linalg-fuse-elementwise-ops", "linalg-fuse-elementwise-ops")


def test_of_several_passes_the_one_that_runs_last_is_to_blame() -> None:
    both = "affine-scalrep linalg-fuse-elementwise-ops"
    check_guilty("default + affine-scalrep + tensor:cse + linalg-fuse-elementwise-ops", both, "affine-scalrep")
    check_guilty("default + tensor:cse + tensor:canonicalize + tensor:cse", "tensor:canonicalize tensor:cse", "cse")
