"""The judge: what agrees, what is wrong, and what is blamed for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
import torch

from oracles import torch_reference
from oracles.engine import Array, Failure, Observation
from oracles.judge import judge, judge_case, judge_lets, references
from oracles.verdict import Agree, Disagree
from tests.oracles.judging import (
    ATTENTION,
    CAUSAL,
    DYADIC,
    INPUTS,
    PRODUCT,
    case,
    changed,
    check_wrong,
    f32,
    legal,
    poke,
    scale,
)

# --- agreement


@pytest.mark.parametrize("seed", range(5))
def test_a_legal_implementation_agrees(seed: int) -> None:
    attention = case(ATTENTION)
    verdict = judge_case(attention, INPUTS, legal(attention, INPUTS, seed))
    assert isinstance(verdict, Agree), verdict
    assert 0 < verdict.closest < 1


def test_a_program_of_exact_arithmetic_is_compared_bitwise() -> None:
    product = case(PRODUCT)
    verdict = judge_case(product, DYADIC, legal(product, DYADIC))
    assert isinstance(verdict, Agree)
    assert verdict.exact == verdict.elements


def test_references_serve_several_outcomes() -> None:
    refs = references(case(ATTENTION), INPUTS)
    for seed in range(3):
        assert isinstance(judge(refs, legal(refs.case, INPUTS, seed)), Agree)
    bad = changed(legal(refs.case, INPUTS), "context", scale((0, 2, 1), 1.001))
    assert isinstance(judge(refs, bad), Disagree)
    assert isinstance(judge(refs, legal(refs.case, INPUTS)), Agree)


# --- wrong values


def test_one_unit_in_the_last_place_is_caught_in_the_exact_lane() -> None:
    product = case(PRODUCT)
    seen = legal(product, DYADIC)
    for index in np.ndindex(2, 2):
        for towards in (-np.inf, np.inf):
            moved = float(np.nextafter(seen.lets["c"][index], np.float32(towards)))
            verdict = judge_case(product, DYADIC, changed(seen, "c", poke(index, moved)))
            found = check_wrong(verdict, "wrong-value", "matmul", "exactly")
            assert (found.value, found.index, found.times) == ("c", index, np.inf)


@pytest.mark.parametrize("index", [(0, 0, 0), (0, 2, 3)])
def test_a_small_relative_error_is_caught_in_the_certified_lane(index: tuple[int, ...]) -> None:
    attention = case(ATTENTION)
    bad = changed(legal(attention, INPUTS), "context", scale(index, 1 + 1e-4))
    found = check_wrong(judge_case(attention, INPUTS, bad), "wrong-value", "attend", "× the legal error")
    assert found.index == index
    assert found.low < found.high < found.got or found.got < found.low < found.high


def test_the_first_wrong_let_is_blamed_not_what_follows_from_it() -> None:
    attention = case(ATTENTION)
    bad = changed(legal(attention, INPUTS), "context", poke((0, 0, 0), 100.0))
    bad = changed(bad, "logits", poke((0, 0, 0), 10000.0))
    check_wrong(judge_case(attention, INPUTS, bad), "wrong-value", "attend", "context[0,0,0] = 100")


def test_a_nan_where_a_masked_row_is_finite_is_caught() -> None:
    attention = case(ATTENTION)
    bad = changed(legal(attention, INPUTS), "context", poke((0, 0, 2), np.nan))
    check_wrong(judge_case(attention, INPUTS, bad), "wrong-value", "attend", "= nan")


def test_a_fully_masked_row_is_nan_and_leaves_its_neighbours_alone() -> None:
    attention = case(ATTENTION)
    inputs = {**INPUTS, "mask": CAUSAL.copy()}
    inputs["mask"][0, 1] = -np.inf
    seen = legal(attention, inputs)
    assert np.isnan(seen.lets["context"][0, 1]).all()
    assert isinstance(judge_case(attention, inputs, seen), Agree)
    check_wrong(judge_case(attention, inputs, changed(seen, "context", poke((0, 1, 0), 0.0))), "wrong-value", "attend")
    bad = changed(seen, "context", scale((0, 2, 0), 1 + 1e-4))
    check_wrong(judge_case(attention, inputs, bad), "wrong-value", "attend")


@pytest.mark.parametrize(
    ("change", "symptom"),
    [
        (lambda a: a.T.copy(), "wrong-value"),
        (lambda a: a.reshape(1, 2, 2), "wrong-shape"),
        (lambda a: a.astype(np.float64), "wrong-dtype"),
        (lambda a: -a, "wrong-value"),
        (lambda a: np.zeros_like(a), "wrong-value"),
    ],
)
def test_form_and_order_are_judged(change: Callable[[Array], Array], symptom: str) -> None:
    product = case(PRODUCT)
    check_wrong(judge_case(product, DYADIC, changed(legal(product, DYADIC), "c", change)), symptom, "matmul")


def test_results_count_and_are_judged_where_no_let_names_them() -> None:
    text = PRODUCT.replace("(c)", "(c, a + a)")
    seen = legal(case(text), DYADIC)
    check_wrong(judge_case(case(text), DYADIC, replace(seen, results=seen.results[:1])), "wrong-results", "main")
    bad = replace(seen, results=(seen.results[0], seen.results[1] + 1))
    check_wrong(judge_case(case(text), DYADIC, bad), "wrong-value", "add", "result[1]")


def test_an_input_that_comes_back_changed_is_wrong() -> None:
    product = case(PRODUCT)
    bad = changed(legal(product, DYADIC), "a", poke((0, 0), 5.0))
    check_wrong(judge_case(product, DYADIC, bad), "wrong-value", "input")


def test_a_failure_keeps_its_stage_and_symptom() -> None:
    failure = Failure("passes", "crash", "canonicalize", "Assertion failed")
    check_wrong(judge_case(case(PRODUCT), DYADIC, failure), "crash", "canonicalize", "Assertion failed", "passes")


def test_rank_zero_values_are_judged() -> None:
    text = "@main { let x = tensor<F32, [], @host>; let y = x * x; let z = exp(y) * y; (z) }"
    inputs = {"x": np.array(0.3, np.float32)}
    seen = legal(case(text), inputs)
    assert isinstance(judge_case(case(text), inputs, seen), Agree)
    check_wrong(
        judge_case(case(text), inputs, changed(seen, "z", lambda z: z * np.float32(1.00001))), "wrong-value", "mul"
    )


# --- the references against each other


def test_references_that_contradict_each_other_are_blamed_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(torch_reference.TABLE, "softmax", lambda x, axis: torch.softmax(x, dim=axis) * (1 + 1e-9))
    attention = case(ATTENTION)
    seen = legal(attention, INPUTS)
    for verdict in (judge_case(attention, INPUTS, seen), judge_lets(attention.program, INPUTS, seen)):
        check_wrong(verdict, "contradiction", "softmax", "by NumPy", stage="oracle")


def test_a_program_that_the_references_cannot_follow_is_a_verdict_too() -> None:
    untyped = case("@main { let x = tensor<F32, [2], @host>; let y = tensor<F32, [3], @host>; let z = x + y; (z) }")
    inputs = {"x": f32([1, 2]), "y": f32([1, 2, 3])}
    refused = Failure("check", "refused", "same-type", "`add` needs ..")
    check_wrong(judge_case(untyped, inputs, refused), "refused", "same-type", stage="check")
    seen = Observation(dict(inputs), (f32([1, 2]),))
    check_wrong(judge_case(untyped, inputs, seen), "not-followed", "", "`add`", stage="oracle")


@pytest.mark.parametrize("depth", [100, 150, 600])
def test_the_far_tail_of_a_softmax_leaves_the_bounds_sharp(depth: int) -> None:
    """exp(-depth) is nothing in F32, and in the reference's float64 may be less than a slope can be multiplied by."""
    product = case("""@main {
      let x = tensor<F32, [1, 4], @host>;
      let w = tensor<F32, [4, 4], @host>;
      let z = softmax(x, axis=1) @ w @ w @ w;
      (z)
    }""")
    inputs = {"x": f32([[1, 2, 3, -depth]]), "w": f32(np.random.default_rng(3).normal(size=(4, 4)))}
    run = references(product, inputs).base
    (z,) = run.results
    assert z.err is not None
    run.sharpen([(z, z.err > 0)])
    bound = run.bound(z)
    assert bound is not None
    assert (bound < 0.8 * z.err).all()


def test_elements_of_a_product_are_proved_one_by_one() -> None:
    """One row that must be rounded takes nothing from another one that need not, nor from the sign of its zeros."""
    program = case("""@main {
      let a = tensor<F32, [2, 2], @host>;
      let b = tensor<F32, [2, 2], @host>;
      let z = a @ b;
      (z)
    }""")
    inputs = {"a": f32([1, 2], [0.3, 0.7]), "b": f32([3, 4], [5, 6])}
    for wrong in (np.nextafter(np.float32(13), np.float32(0)), np.nextafter(np.float32(13), np.float32(14))):
        seen = changed(legal(program, inputs), "z", poke((0, 0), float(wrong)))
        check_wrong(judge_case(program, inputs, seen), "wrong-value", "matmul", "must be 13.0 exactly")
    inputs = {"a": f32([1, 0], [0.3, 0.7]), "b": f32([0, 4], [5, 6])}
    seen = changed(legal(program, inputs), "z", poke((0, 0), -0.0))
    check_wrong(judge_case(program, inputs, seen), "wrong-value", "matmul", "must be 0.0 exactly")


@pytest.mark.parametrize(("dtype", "x", "y"), [("F32", 1.9990234, 0.99987), ("F16", 1.99, 0.995), ("BF16", 1.99, 0.7)])
def test_the_last_bit_of_a_product_is_certain(dtype: str, x: float, y: float) -> None:
    program = case(
        f"@main {{ let x = tensor<{dtype}, [], @host>; let y = tensor<{dtype}, [], @host>; let z = x * y; (z) }}"
    )
    native = {"F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16}[dtype]
    inputs = {"x": np.array(x, native), "y": np.array(y, native)}
    right = np.float64(inputs["x"]) * np.float64(inputs["y"])
    z = np.array(right, native)
    for steps in (-1, 0, 1):
        bits = np.array(int(z.view(f"uint{8 * z.itemsize}")) + steps, f"uint{8 * z.itemsize}")
        seen = Observation({**inputs, "z": bits.view(native)}, ())
        seen = Observation(seen.lets, (seen.lets["z"],))
        verdict = judge_case(program, inputs, seen)
        assert isinstance(verdict, Disagree if steps else Agree), (steps, verdict)
