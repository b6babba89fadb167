"""The judge: open choices that it follows, and what it must leave open, with its reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from compiler.types import F32
from oracles.judge import judge_case
from oracles.reduction_rules import contenders
from oracles.verdict import Agree
from tests.oracles.judging import (
    CHOICE,
    NEAR,
    case,
    changed,
    check_open,
    check_wrong,
    f32,
    legal,
    poke,
    scale,
    with_choice,
)


@pytest.mark.parametrize("index", [1, 3])
def test_an_open_argmax_is_followed_where_the_target_went(index: int) -> None:
    assert isinstance(judge_case(case(CHOICE), NEAR, with_choice(index)), Agree)


@pytest.mark.parametrize("index", [0, 2, 4, -1])
def test_an_index_that_cannot_be_the_maximum_is_wrong(index: int) -> None:
    seen = with_choice(index % 4)
    seen.lets["best"][0] = index
    found = check_wrong(judge_case(case(CHOICE), NEAR, seen), "wrong-value", "argmax", "the maximum is at one of 1, 3")
    assert found.got == index


def test_what_follows_a_followed_choice_is_still_judged() -> None:
    bad = changed(with_choice(3), "row", scale((0, 1), 1.001))
    check_wrong(judge_case(case(CHOICE), NEAR, bad), "wrong-value", "mul")


def test_a_choice_that_was_not_seen_leaves_what_follows_open() -> None:
    seen = with_choice(1)
    del seen.lets["best"]
    text = CHOICE.replace("(logits, best, row)", "(logits, row)")
    check_open(
        judge_case(case(text), NEAR, replace(seen, results=(seen.results[0], seen.results[2]))), "near-tie", "argmax"
    )


def test_of_exact_ties_the_first_index_is_the_only_one() -> None:
    text = "@main { let x = tensor<F32, [1, 4], @host>; let best = argmax(x, axis=1); (best) }"
    inputs = {"x": f32([[1.0, 2.0, 2.0, 0.0]])}
    seen = legal(case(text), inputs)
    assert isinstance(judge_case(case(text), inputs, seen), Agree)
    check_wrong(
        judge_case(case(text), inputs, changed(seen, "best", poke((0,), 2))), "wrong-value", "argmax", "must be 1"
    )


# --- what is open


OPEN = [
    ("let c = less(y, x); let z = select(c, y, x);", "near-condition", "less"),
    ("let z = log(y - x);", "ill-conditioned", "log"),
    ("let z = x / (y - x);", "ill-conditioned", "div"),
    ("let z = y % x;", "remainder-boundary", "rem"),
    ("let z = cast((y / x) * (x / x), dtype=I32);", "cast-boundary", "cast"),
    ("let z = y / x * broadcast(big, shape=[2]);", "overflow", "mul"),
]


@pytest.mark.parametrize(("line", "reason", "op"), OPEN)
def test_what_cannot_be_judged_says_why(line: str, reason: str, op: str) -> None:
    head = "let x = tensor<F32, [2], @host>; let big = tensor<F32, [], @host>; let y = exp(log(x));"
    program = case(f"@main {{ {head} {line} (z) }}")
    inputs = {"x": f32([0.3, 0.7]), "big": np.array(F32.max_finite, np.float32)}
    check_open(judge_case(program, inputs, legal(program, inputs)), reason, op)


def test_a_loop_on_an_unknown_condition_leaves_everything_after_it_open() -> None:
    text = """@main {
      let x = tensor<F32, [], @host>;
      let y = while (t: tensor<F32, [], @host> = exp(log(x))) less(t, x) { (t + x) };
      let z = x + x;
      (y, z)
    }"""
    inputs = {"x": np.array(0.3, np.float32)}
    check_open(judge_case(case(text), inputs, legal(case(text), inputs)), "near-condition", "less")


def test_something_wrong_beats_something_open() -> None:
    program = case("@main { let x = tensor<F32, [2], @host>; let z = log(exp(x) - exp(x)); let y = x + x; (z, y) }")
    inputs = {"x": f32([0.3, 0.7])}
    bad = changed(legal(program, inputs), "y", poke((0,), 7.0))
    check_wrong(judge_case(program, inputs, bad), "wrong-value", "add")


@pytest.mark.parametrize(
    ("moves", "says"),
    [
        ("reshape(argmax(logits, axis=1), shape=[])", "best[] = 0"),
        ("broadcast(argmax(logits, axis=1), shape=[2])", "best[0] = 0"),
        ("transpose(reshape(argmax(logits, axis=1), shape=[1, 1]), perm=[1, 0])", "best[0,0] = 0"),
    ],
)
def test_an_open_argmax_is_followed_where_its_indices_are_only_seen_moved(moves: str, says: str) -> None:
    text = f"""@main {{
      let a = tensor<F32, [1, 3], @host>;
      let w = tensor<F32, [3, 4], @host>;
      let rows = tensor<F32, [4, 2], @host>;
      let logits = a @ w;
      let best = {moves};
      let row = gather(rows, best);
      (best, row)
    }}"""
    for index, right in ((1, True), (3, True), (0, False)):
        seen = legal(case(text), NEAR)
        best = np.full(seen.results[0].shape, index)
        lets = {**seen.lets, "best": best, "row": NEAR["rows"][best]}
        verdict = judge_case(case(text), NEAR, replace(seen, lets=lets, results=(best, lets["row"])))
        if right:
            assert isinstance(verdict, Agree), verdict
        else:
            check_wrong(verdict, "wrong-value", moves.partition("(")[0], says + ", the maximum is at one of 1, 3")


def test_copies_of_one_choice_must_be_one_choice() -> None:
    text = """@main {
      let a = tensor<F32, [1, 3], @host>;
      let w = tensor<F32, [3, 4], @host>;
      let best = broadcast(argmax(a @ w, axis=1), shape=[2]);
      (best)
    }"""
    seen = replace(legal(case(text), NEAR), lets={}, results=(np.array([1, 3]),))
    says = "result[0][0] = 1, copied from one index, which is 3 elsewhere"
    check_wrong(judge_case(case(text), NEAR, seen), "wrong-value", "broadcast", says)


@pytest.mark.parametrize(
    ("row", "open_", "winners"),
    [
        ("inf nan 0", "2", "1"),  # NaN wins over infinity and what comes after it
        ("0 nan inf", "0", "0 1"),  # what comes before it may be NaN too
        ("nan nan 1", "", "0"),
        ("1 inf 0", "2", "1 2"),
        ("-inf -inf -inf", "", "0"),
        ("-inf nan 0", "", "1"),
    ],
)
def test_the_first_nan_is_the_largest(row: str, open_: str, winners: str) -> None:
    err = np.array([np.inf if str(at) in open_.split() else 0.0 for at in range(3)])
    may_win = contenders(np.array([float(x) for x in row.split()]), err, 0)
    assert np.flatnonzero(may_win).tolist() == [int(at) for at in winners.split()]
