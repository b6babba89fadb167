"""Shortcuts of the judge say what the long way says: disturbed runs, work taken over, bits seen before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.graphs import FLOATS, VALUES, draw_graph, draw_inputs
from bench.schedules import run_schedule
from compiler.types import DType
from oracles.echoes import echo_bound
from oracles.judge import judge, judge_lets, judge_lockstep, references
from oracles.traced import Traced
from oracles.tracing import trace
from oracles.verdict import Agree
from tests.oracles.judging import ATTENTION, CHOICE, INPUTS, NEAR, case, changed, legal, scale


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_no_disturbed_run_gets_farther_than_the_sharp_bound(dtype: DType, kind: str) -> None:
    rng = np.random.default_rng([19, *map(ord, kind), dtype.bits, dtype.precision])
    for ops in (2, 4, 7, 10):
        program, n = draw_graph(rng, dtype, ops)
        run = trace(program, draw_inputs(rng, dtype, n, kind))
        made = [value for value in run.lets.values() if value.made is not None]
        echoes = [echo_bound(run, value) for value in made]
        for value, bound, echo in zip(made, run.bounds(made), echoes, strict=True):
            assert bound is not None
            assert (echo <= bound * (1 + 2.0**-20)).all(), (value.made, echo, bound)


def test_disturbed_runs_get_far_enough_to_spare_the_backward_pass() -> None:
    attention = case(ATTENTION)
    refs = references(attention, INPUTS)
    assert isinstance(judge(refs, legal(attention, INPUTS)), Agree)
    assert not any(sharp.known.any() for sharp in refs.base.sharp.values())


def same(left: Traced, right: Traced) -> bool:
    one, other = (np.zeros(1) if value.err is None else value.err for value in (left, right))
    return np.array_equal(left.array, right.array, equal_nan=True) and np.array_equal(one, other)


def test_a_run_that_takes_work_over_is_the_run_that_does_not() -> None:
    program = case(CHOICE).program
    base = trace(program, NEAR)
    follow = {base.lets["best"].serial: np.array([3])}
    fresh, taken = trace(program, NEAR, follow), trace(program, NEAR, follow, before=base)
    assert taken.lets["logits"] is base.lets["logits"]
    assert taken.lets["row"] is not base.lets["row"]
    assert all(same(fresh.lets[name], taken.lets[name]) for name in fresh.lets)


def test_lockstep_beside_the_references_is_lockstep() -> None:
    attention = case(ATTENTION)
    refs, seen = references(attention, INPUTS), legal(attention, INPUTS, 3)
    bad = changed(seen, "logits", scale((0, 1, 2), 1 + 1e-5))
    for outcome in (seen, bad):
        assert str(judge_lockstep(refs, outcome)) == str(judge_lets(attention.program, INPUTS, outcome))


def test_a_loop_that_a_choice_decides_is_not_taken_over() -> None:
    text = """@main {
      let a = tensor<F32, [1, 3], @host>;
      let w = tensor<F32, [3, 4], @host>;
      let best = reshape(argmax(a @ w, axis=1), shape=[]);
      let x = tensor<F32, [], @host>;
      let one = tensor<I64, [], @host>1;
      let end = tensor<I64, [], @host>2;
      let y = while (i: tensor<I64, [], @host> = best) less(i, end) { (i + one) };
      let z = x * x;
      (best, y, z)
    }"""
    inputs = {"a": NEAR["a"], "w": NEAR["w"], "x": np.array(0.3, np.float32)}
    looped = case(text)
    for index in (1, 3):
        seen = run_schedule(looped.program, inputs, np.random.default_rng(0))
        results = (np.array(index), np.array(max(index, 2)), seen.results[2])
        lets = {**seen.lets, "best": results[0], "y": results[1]}
        assert isinstance(judge(references(looped, inputs), replace(seen, lets=lets, results=results)), Agree)


def test_the_same_bits_are_judged_once_and_other_bits_again() -> None:
    attention = case(ATTENTION)
    refs, seen = references(attention, INPUTS), legal(attention, INPUTS)
    first = judge(refs, seen)
    assert judge(refs, replace(seen, lets={})) is first  # fewer values, the same bits
    assert not isinstance(judge(refs, changed(seen, "context", scale((0, 0, 0), 1.001))), Agree)
    assert isinstance(judge(refs, legal(attention, INPUTS, 5)), Agree)


def test_other_claims_on_the_same_bits_are_judged() -> None:
    text = "@main { let x = tensor<F32, [2], @host>; let y = x * x; let z = x + x; (y, z) }"
    inputs = {"x": np.array([0.3, 0.7], np.float32)}
    refs = references(case(text), inputs)
    seen = legal(case(text), inputs)
    assert isinstance(judge(refs, seen), Agree)
    claimed = replace(refs, case=case(text, "y == z"))
    assert not isinstance(judge(claimed, seen), Agree)
