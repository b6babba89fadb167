"""storylm0_rollout.kina from the `.so`: 32 tokens from the fixture, Section 23's checks (a) to (d)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest

from compiler import checkpoint
from compiler.arrays import Array
from compiler.backend import Compiled
from tests.compiler.built import example, shared_object
from tests.compiler.storylm0_algebra import FORWARDS, Forward, causal_mask, gumbel_scores
from tests.compiler.storylm0_fixture import DIRECTORY, PROMPT
from tests.compiler.test_golden import check_results
from tests.compiler.validating import Arrays, check_call, check_near, margin, result_types

ROLLOUT, FORWARD = example("storylm0_rollout"), example("storylm0_forward")
LENGTH, STEPS, PAD = 36, 32, 0
WEIGHTS = checkpoint.load(DIRECTORY).weights
TEMPERATURE = 0.8
EPSILON = 1e-6  # the document leaves it open; 1 - EPSILON is an F32 below 1
Choice = Callable[[int, Array], int]  # (step, row [1, 1, 8]) to the class


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compiled]:
    with shared_object(ROLLOUT) as built:
        yield built


def arguments(ids: Array) -> Arrays:
    """In the order of the forwards' parameters."""
    w = WEIGHTS
    mask = causal_mask(ids.shape[1])
    return (ids, w["embed"], mask, w["scale"], w["wq"], w["wk"], w["wv"], w["wo"], w["lm_head"])


def padded() -> Array:
    return np.array([PROMPT + [PAD] * STEPS])


def uniforms() -> Array:
    """The stream of Section 23: one [1, 1, 8] for each step."""
    stream = np.random.RandomState(42)
    return np.stack([stream.uniform(EPSILON, 1 - EPSILON, (1, 1, 8)) for _ in range(STEPS)]).astype(np.float32)


def logits(compiled: Compiled, tokens: Array) -> Array:
    return compiled.call("storylm0_rollout", *arguments(tokens))[0]


def rollout(compiled: Compiled, choose: Choice) -> tuple[Array, Array]:
    """The document's host loop: 36 class ids, and the row [1, 1, 8] that each of 32 steps read."""
    tokens, rows = padded(), []
    for step in range(STEPS):
        rows.append(logits(compiled, tokens)[:, 3 + step : 4 + step])
        tokens[0, 4 + step] = choose(step, rows[-1])
    return tokens, np.stack(rows)


def by_hand(forward: Forward, scored: Callable[[int, Array], Array]) -> tuple[Array, float]:
    """The same loop over the algebra, on the live prefix alone, and the least margin of its choices."""
    tokens, least = np.array([PROMPT]), np.inf
    for step in range(STEPS):
        scores = scored(step, forward(WEIGHTS, tokens)[2][:, -1:])
        least = min(least, margin(scores))
        tokens = np.concatenate([tokens, scores.argmax(axis=2)], axis=1)
    return tokens, least


def greedy(compiled: Compiled) -> Choice:
    return lambda _, row: compiled.call("greedy_row", row)[0].item()


def sampled(compiled: Compiled) -> Choice:
    temperature = np.full((1, 1), TEMPERATURE, np.float32)
    return lambda step, row: compiled.call("sample_row", row, uniforms()[step], temperature)[0].item()


def test_the_result_is_the_logits() -> None:
    check_results("storylm0_rollout", "storylm0_rollout", "tensor<1x36x8xf32>")


def test_a_the_padded_prompt_matches_the_short_forward(compiled: Compiled) -> None:
    """Both forwards match the algebra, and each other within both bounds."""
    prompt = np.array([PROMPT])
    with shared_object(FORWARD) as short:
        small = short.call("storylm0_forward", *arguments(prompt))
    large = logits(compiled, padded())
    (small_bound,) = check_call(FORWARD, "storylm0_forward", arguments(prompt), small)
    hands = [(forward(WEIGHTS, padded())[2],) for forward in FORWARDS]
    (large_bound,) = check_call(ROLLOUT, "storylm0_rollout", arguments(padded()), (large,), *hands)
    both = small_bound + large_bound[:, :4]
    check_near((large[:, :4],), (small[0].astype(np.float64),), (both,), result_types(FORWARD, "storylm0_forward"))


def test_b_greedy_tokens(compiled: Compiled) -> None:
    """Twice the same, and those of NumPy and PyTorch; every choice leads by far more than the error can be."""
    tokens, rows = rollout(compiled, greedy(compiled))
    again, rows_again = rollout(compiled, greedy(compiled))
    assert tokens.tolist() == again.tolist()
    assert rows.tobytes() == rows_again.tobytes()
    assert tokens[0, 4:].tolist() == rows.argmax(axis=3).ravel().tolist()
    bound = check_rows(tokens, rows, compiled)
    for forward in FORWARDS:
        hand, least = by_hand(forward, lambda _, row: row)
        assert least > 2 * bound
        assert tokens.tolist() == hand.tolist()


def test_c_sampled_tokens(compiled: Compiled) -> None:
    """Section 18 on the given stream, twice the same, and those of NumPy and PyTorch.

    The score row / T - log(-log u) errs by the row's bound / T and by what the judge allows `sample_row` on that row.
    """
    tokens, rows = rollout(compiled, sampled(compiled))
    assert tokens.tolist() == rollout(compiled, sampled(compiled))[0].tolist()
    bound = check_rows(tokens, rows, compiled)
    temperature = np.full((1, 1), TEMPERATURE, np.float32)
    for step, row in enumerate(rows):
        given = (row, uniforms()[step], temperature)
        check_call(ROLLOUT, "sample_row", given, (tokens[:, 4 + step : 5 + step],))
    for forward in FORWARDS:
        hand, least = by_hand(forward, lambda step, row: gumbel_scores(row, uniforms()[step], float(temperature[0, 0])))
        assert least > 2 * bound / TEMPERATURE
        assert tokens.tolist() == hand.tolist()


def check_rows(tokens: Array, rows: Array, compiled: Compiled) -> float:
    """The rows that the steps read are those of one forward on the final tokens, bit for bit: later ids do not leak.

    That forward matches the algebra. Returns its largest bound.
    """
    final = logits(compiled, tokens)
    assert rows.reshape(STEPS, 8).tobytes() == final[0, 3:35].tobytes()
    hands = [(forward(WEIGHTS, tokens)[2],) for forward in FORWARDS]
    return float(check_call(ROLLOUT, "storylm0_rollout", arguments(tokens), (final,), *hands)[0].max())


def test_d_the_last_id_does_not_leak(compiled: Compiled) -> None:
    tokens = rollout(compiled, greedy(compiled))[0]
    changed = tokens.copy()
    changed[0, -1] = (changed[0, -1] + 1) % 8
    before, after = logits(compiled, tokens), logits(compiled, changed)
    assert before[:, :-1].tobytes() == after[:, :-1].tobytes()
    assert not np.array_equal(before[:, -1], after[:, -1])
    for forward in FORWARDS:
        np.testing.assert_array_equal(forward(WEIGHTS, tokens)[2][:, :-1], forward(WEIGHTS, changed)[2][:, :-1])


def test_the_rollout_is_worth_testing(compiled: Compiled) -> None:
    """All eight classes occur, and what follows a class depends on more than that class."""
    for choose in (greedy(compiled), sampled(compiled)):
        ids = rollout(compiled, choose)[0][0].tolist()
        assert set(ids) == set(range(8))
        assert len(set(pairwise(ids))) > 8
