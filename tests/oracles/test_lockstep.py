"""Lockstep: every let judged from the target's own values of the lets before it."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.engine import Observation
from oracles.judge import judge_lets
from oracles.verdict import Agree
from tests.oracles.judging import (
    CHOICE,
    NEAR,
    case,
    changed,
    check_wrong,
    drawn,
    f32,
    legal,
    scale,
    with_choice,
)


def test_in_lockstep_an_error_is_blamed_on_its_own_op_and_nothing_compounds() -> None:
    text = """@main {
      let x = tensor<F32, [2, 3], @host>;
      let p = softmax(x, axis=1);
      let l = log(p);
      let e = exp(l);
      (e)
    }"""
    program, inputs = case(text), {"x": drawn((2, 3), 9)}
    seen = legal(program, inputs)
    assert isinstance(judge_lets(program.program, inputs, seen), Agree)
    shifted = changed(seen, "l", scale((1, 1), 1 + 4e-6))
    shifted = changed(shifted, "e", lambda _: np.exp(shifted.lets["l"].astype(np.float64)).astype(np.float32))
    found = check_wrong(judge_lets(program.program, inputs, shifted), "wrong-value", "log")
    assert found.index == (1, 1)


def test_in_lockstep_a_near_tie_is_decided_by_what_the_target_saw() -> None:
    first, last = with_choice(1), with_choice(3)
    for seen, up, down in ((first, 1, 3), (last, 3, 1)):
        seen.lets["logits"][0, up] = np.nextafter(seen.lets["logits"][0, down], np.float32(np.inf))
        assert isinstance(judge_lets(case(CHOICE).program, NEAR, seen), Agree)
    first.lets["best"][0] = 3
    check_wrong(judge_lets(case(CHOICE).program, NEAR, first), "wrong-value", "argmax")


def test_in_lockstep_a_call_is_judged_as_a_whole_and_a_legal_choice_inside_it_stands() -> None:
    text = """
      let pick = fn(a: tensor<F32, [1, 3], @host>, w: tensor<F32, [3, 4], @host>) -> (tensor<I64, [1], @host>) {
        (argmax(a @ w, axis=1))
      }
      @main {
        let a = tensor<F32, [1, 3], @host>;
        let w = tensor<F32, [3, 4], @host>;
        let best = pick(a, w);
        (best)
      }"""
    inputs = {"a": NEAR["a"], "w": NEAR["w"]}
    for index in (1, 3):
        best = np.array([index])
        assert isinstance(judge_lets(case(text).program, inputs, Observation({"best": best}, (best,))), Agree)
    best = np.array([0])
    check_wrong(judge_lets(case(text).program, inputs, Observation({"best": best}, (best,))), "wrong-value", "pick")


@pytest.mark.parametrize("moved", ["p", "reshape(p, shape=[1])"])
def test_in_lockstep_a_product_may_have_been_fused_into_the_sum_after_it(moved: str) -> None:
    text = f"@main {{ let x = tensor<F32, [1], @host>; let p = x * x; let q = {moved}; let d = p - q; (d) }}"
    inputs = {"x": f32([1 / 3])}
    product = np.float64(inputs["x"][0]) ** 2
    lets = {"p": f32([product]), "q": f32([product]), "d": f32([product - np.float32(product)])}
    assert lets["d"][0] != 0
    assert isinstance(judge_lets(case(text).program, inputs, Observation(lets, ())), Agree)


def test_in_lockstep_a_product_that_was_moved_may_be_fused_alone() -> None:
    text = """@main {
      let x = tensor<F32, [1], @host>;
      let p = x * x;
      let q = reshape(p, shape=[1, 1]);
      let y = tensor<F32, [1, 1], @host>;
      let d = q - y;
      (d)
    }"""
    x = f32([1 / 3])
    product = np.float64(x[0]) ** 2
    lets = {"p": f32([product]), "q": f32([product]).reshape(1, 1)}
    lets["d"] = (product - lets["q"].astype(np.float64)).astype(np.float32)
    assert lets["d"][0, 0] != 0
    inputs = {"x": x, "y": lets["q"]}
    assert isinstance(judge_lets(case(text).program, inputs, Observation(lets, ())), Agree)
