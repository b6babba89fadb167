"""The seeds' algebra on both references, in float64: what the compiler will be measured against, measured itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from compiler.checker import check
from compiler.parser import parse
from compiler.types import F64, I64
from oracles.engine import Array
from oracles.evaluator import Evaluation, Library, evaluate
from tests.oracles.operands import LIBRARIES, both_libraries

NUMPY = LIBRARIES["numpy"]


def run(text: str, inputs: Mapping[str, Array], library: Library[Any]) -> Evaluation[Any]:
    return evaluate(parse(text), inputs, library)


def project(rows: int, weight: str, perm: str) -> str:
    """Rows of x through a weight, split into two heads of two."""
    return f"transpose(reshape(x @ broadcast({weight}), shape=[1, {rows}, 2, 2]), perm={perm})"


SHAPES = dict.fromkeys(("wq", "wk", "wv", "wo"), "4, 4") | {"lm_head": "4, 8", "scale": "1, 1, 1, 1", "embed": "8, 4"}
WEIGHTS = ", ".join(f"{name}: tensor<F32, [{shape}], @host>" for name, shape in SHAPES.items())
PLACEHOLDERS = "".join(f"let {name} = tensor<F32, [{shape}], @host>; " for name, shape in SHAPES.items())
WEIGHT_NAMES = ", ".join(SHAPES)


def block(rows: int, keys: int, masked: str) -> str:
    """Sections 5, 20 and 21: attention of `rows` queries over `keys` keys, residual, logits."""
    return f"""
  let scores = q @ k;
  let probs = softmax(scores * broadcast(scale){masked}, axis=3);
  let context = probs @ v;
  let merged = reshape(transpose(context, perm=[0, 2, 1, 3]), shape=[1, {rows}, 4]);
  let logits = (x + merged @ broadcast(wo)) @ broadcast(lm_head);
  (k, v, logits)
}}"""


def signature(name: str, rows: int, keys: int, params: str) -> str:
    cache = f"tensor<F32, [1, 2, 2, {keys}], @host>, tensor<F32, [1, 2, {keys}, 2], @host>"
    return f"""
let {name} = fn(ids: tensor<I64, [1, {rows}], @host>, {params}, {WEIGHTS})
  -> ({cache}, tensor<F32, [1, {rows}, 8], @host>) {{
  let x = gather embed ids;
  let q = {project(rows, "wq", "[0, 2, 1, 3]")};"""


def prefill(tokens: int) -> str:
    mask = f"mask: tensor<F32, [1, 1, {tokens}, {tokens}], @host>"
    return (
        signature(f"prefill_{tokens}", tokens, tokens, mask)
        + f"""
  let k = {project(tokens, "wk", "[0, 2, 3, 1]")};
  let v = {project(tokens, "wv", "[0, 2, 1, 3]")};"""
        + block(tokens, tokens, " + broadcast(mask)")
    )


def decode(past: int) -> str:
    cache = f"k_past: tensor<F32, [1, 2, 2, {past}], @host>, v_past: tensor<F32, [1, 2, {past}, 2], @host>"
    return (
        signature(f"decode_s{past}", 1, past + 1, cache)
        + f"""
  let k = concat[axis=3] k_past ({project(1, "wk", "[0, 2, 3, 1]")});
  let v = concat[axis=2] v_past ({project(1, "wv", "[0, 2, 1, 3]")});"""
        + block(1, past + 1, "")
    )


HANDOFF = f"""{prefill(3)} {prefill(5)} {decode(3)} {decode(4)}
@main {{
  let prompt = tensor<I64, [1, 3], @host>;
  let mask = tensor<F32, [1, 1, 3, 3], @host>;
  let mask_5 = tensor<F32, [1, 1, 5, 5], @host>;
  {PLACEHOLDERS}
  let (k3, v3, z) = prefill_3(prompt, mask, {WEIGHT_NAMES});
  let t3 = argmax(slice[axis=1, start=2, stop=3] z, axis=2);
  let (k4, v4, z4) = decode_s3(t3, k3, v3, {WEIGHT_NAMES});
  let t4 = argmax(z4, axis=2);
  let (k5, v5, z5) = decode_s4(t4, k4, v4, {WEIGHT_NAMES});
  let (k_full, v_full, z_full) = prefill_5(concat[axis=1](prompt, t3, t4), mask_5, {WEIGHT_NAMES});
  let z_incremental = concat[axis=1](z, z4, z5);
  (k5, k_full, v5, v_full, z_incremental, z_full)
}}"""


def column_bounded(shape: tuple[int, int], seed: int) -> Array:
    """Weights whose columns' magnitudes sum to at most 1, so that `x @ w` does not amplify an error in x."""
    weight = np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
    return np.asarray(weight / np.float32(shape[0]))


def handoff_inputs() -> dict[str, Array]:
    weights = {name: column_bounded((4, 4), seed) for seed, name in enumerate(("wq", "wk", "wv", "wo"))}
    masks = {name: np.where(np.tri(n), 0, -np.inf).reshape(1, 1, n, n) for name, n in (("mask", 3), ("mask_5", 5))}
    return {
        "prompt": np.array([[1, 4, 2]]),
        "embed": np.random.default_rng(7).uniform(-1, 1, (8, 4)).astype(np.float32),
        "lm_head": column_bounded((4, 8), 9),
        "scale": np.full((1, 1, 1, 1), np.sqrt(0.5), np.float32),
        **weights,
        **{name: mask.astype(np.float32) for name, mask in masks.items()},
    }


# Every value is at most 1 in magnitude (logits 2), and a weight amplifies no error. One op errs by at most
# (K + 4) u <= 12 u, K <= 8 terms of at most 1 each; a softmax likewise. An error e in q and k is at most
# 2 Dh e = 4 e in the scores, 3 e scaled, 1.5 e in the probabilities (the Jacobian of softmax has norm 1/2), 7.5 e over
# T <= 5 keys in the context; with the errors of v and of the residual, 10 e in the logits. Twelve ops, two routes.
HANDOFF_BOUND = 2 * 12 * 10 * 12 * 2 * F64.unit_roundoff


@both_libraries
def test_incremental_equals_full_causal_forward(library: Library[Any]) -> None:
    results = [np.asarray(value.array) for value in run(HANDOFF, handoff_inputs(), library).results]
    for incremental, full in zip(results[::2], results[1::2], strict=True):
        assert incremental.shape == full.shape
        assert np.abs(incremental - full).max() <= HANDOFF_BOUND


def test_the_references_agree_on_every_let_of_the_handoff() -> None:
    left, right = (run(HANDOFF, handoff_inputs(), library).lets for library in LIBRARIES.values())
    assert left.keys() == right.keys()
    for name in left:
        finite = np.isfinite(left[name].array)
        difference = np.where(finite, left[name].array, 0) - np.where(finite, np.asarray(right[name].array), 0)
        assert np.abs(difference).max() <= HANDOFF_BOUND, name
        assert left[name].dtype == right[name].dtype


def test_a_changed_future_id_moves_no_earlier_row() -> None:
    inputs = handoff_inputs()
    before = run(HANDOFF, inputs, NUMPY).lets["z"].array
    after = run(HANDOFF, inputs | {"prompt": np.array([[1, 4, 7]])}, NUMPY).lets["z"].array
    assert np.array_equal(before[:, :2], after[:, :2])
    assert not np.array_equal(before[:, 2], after[:, 2])


def test_gumbel_max_row() -> None:
    """Section 18: argmax(row / T - log(-log(u))) for a row of logits and a uniform u."""
    text = """
    let sample_row = fn(row: tensor<F32, [1, 1, 8], @host>, u: tensor<F32, [1, 1, 8], @host>,
                        temperature: tensor<F32, [1, 1], @host>) -> tensor<I64, [1, 1], @host> {
      let noise = -log(-log(u));
      argmax(row / broadcast(temperature) + noise, axis=2)
    }
    @main {
      let row = tensor<F32, [1, 1, 8], @host>; let u = tensor<F32, [1, 1, 8], @host>;
      let temperature = tensor<F32, [1, 1], @host>[[0.8]];
      sample_row(row, u, temperature)
    }"""
    row, u = (np.random.default_rng(seed).uniform(0.01, 0.99, (1, 1, 8)).astype(np.float32) for seed in (1, 2))
    temperature = np.float64(np.float32(0.8))
    wanted = np.argmax(row / temperature - np.log(-np.log(u.astype(np.float64))))
    results = [run(text, {"row": row, "u": u}, library).results[0] for library in LIBRARIES.values()]
    assert [result.array.tolist() for result in results] == [[[wanted]]] * 2
    assert results[0].dtype == I64


@both_libraries
def test_the_elaborated_tree_means_the_same(library: Library[Any]) -> None:
    """The checker's tree has its bare broadcasts filled in; the walk reads either, and needs neither's types."""
    bare, elaborated = (
        evaluate(program, handoff_inputs(), library).results
        for program in (parse(HANDOFF), check(parse(HANDOFF)).program)
    )
    for left, right in zip(bare, elaborated, strict=True):
        assert np.array_equal(np.asarray(left.array), np.asarray(right.array))
