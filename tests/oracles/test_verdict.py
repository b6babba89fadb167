"""Verdicts and the names of bugs."""

from __future__ import annotations

import pytest

from oracles.verdict import REASONS, Agree, Disagree, Signature, Undecided


@pytest.mark.parametrize(
    "signature",
    [
        Signature("run", "wrong-value", "softmax", ""),
        Signature("passes", "crash", "canonicalize{max=1}", "Assertion `a/b` failed"),
        Signature("oracle", "contradiction", "log", "in x.y: 1/2"),
        Signature("", "", "", ""),
    ],
)
def test_a_signature_parses_from_its_own_text(signature: Signature) -> None:
    assert Signature.parse(str(signature)) == signature


@pytest.mark.parametrize("text", ["", "run", "run/wrong-value", "run/wrong-value/softmax"])
def test_a_text_that_is_no_signature_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="stage/symptom/culprit/message"):
        Signature.parse(text)


def test_a_wrong_value_is_named_by_its_culprit_alone() -> None:
    one = Disagree("run", "wrong-value", "softmax", "z[0] = 1, must be 2", "z", (0,), 1.0, 2.0, 2.0)
    other = Disagree("run", "wrong-value", "softmax", "y[3] = 7, must be 5", "y", (3,), 7.0, 5.0, 5.0)
    assert one.signature == other.signature == Signature("run", "wrong-value", "softmax", "")


def test_a_failure_keeps_its_message() -> None:
    assert Disagree("passes", "crash", "cse", "boom").signature == Signature("passes", "crash", "cse", "boom")


def test_a_slash_in_a_pass_name_does_not_split_the_signature() -> None:
    signature = Disagree("passes", "crash", "builtin.module(a/b)", "boom/bang").signature
    assert signature.culprit == "builtin.module(a|b)"
    assert Signature.parse(str(signature)) == signature


def test_agreements_add_up() -> None:
    assert Agree(3, 1, 0.25) + Agree(2, 2, 0.5) == Agree(5, 3, 0.5)


def test_reasons_are_a_closed_list_of_slugs() -> None:
    assert len(set(REASONS)) == len(REASONS)
    assert all(reason == reason.lower() and " " not in reason for reason in REASONS)
    assert str(Undecided("near-tie", "argmax")) == "undecided (near-tie) at `argmax`"


@pytest.mark.parametrize(
    ("stage", "symptom", "odd", "ends"),
    [
        ("run", "wrong-value", "the engine", "boom"),
        ("passes", "crash", "the engine", "boom"),
        ("oracle", "contradiction", "one of the two references, not the engine,", " is wrong)"),
        ("oracle", "claim-false", "the case's own claim, not the engine,", " is wrong)"),
        ("oracle", "not-followed", "the references, or the engine that accepts what they cannot follow,", " is wrong)"),
    ],
)
def test_a_disagreement_says_who_is_the_odd_one_out(stage: str, symptom: str, odd: str, ends: str) -> None:
    found = Disagree(stage, symptom, "exp", "boom")
    assert found.odd_one == odd
    blame = f" ({odd}{ends}" if stage == "oracle" else ""
    assert str(found) == f"{stage}: {symptom} at `exp`: boom{blame}"
