"""storylm0_prefill.kina from the `.so` (Section 21): prefill, then one decode step.

They are held against (a) a causal forward on the prompt and (b) the last position of one on the prompt and the fed-back
token, by NumPy and PyTorch in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from compiler.arrays import Array
from compiler.backend import Compiled
from tests.compiler.built import example, shared_object
from tests.compiler.kv_algebra import DECODES, Arrays, chosen
from tests.compiler.storylm0_algebra import FORWARDS, causal_mask
from tests.compiler.storylm0_fixture import weights
from tests.compiler.test_validate_generate import check_exact
from tests.compiler.validating import check_call, check_near, margin, result_types

PROGRAM = example("storylm0_prefill")
WEIGHTS = weights()
PROJECTIONS = tuple(WEIGHTS[name] for name in ("scale", "wq", "wk", "wv", "wo", "lm_head"))
PROMPT = (1, 4, 2)


class Handoff(NamedTuple):
    """What each call of paragraph 4 was given and what it gave."""

    prefill: tuple[Arrays, Arrays]
    last: Array
    t3: Array
    decode: tuple[Arrays, Arrays]
    t4: Array


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compiled]:
    with shared_object(PROGRAM) as built:
        yield built


def hand_off(compiled: Compiled, prompt: tuple[int, ...]) -> Handoff:
    """The host's handoff: the whole cache goes on, and the argmax of the last row of logits."""
    scale, *matrices = PROJECTIONS
    first = (np.array([prompt]), WEIGHTS["embed"], causal_mask(3), scale, *matrices)
    k, v, logits = compiled.call("prefill", *first)
    (last,) = compiled.call("last_logits", logits)
    (t3,) = compiled.call("greedy_one", last)
    second = (t3, WEIGHTS["embed"], k, v, *PROJECTIONS)
    decoded = compiled.call("decode_s3", *second)
    (t4,) = compiled.call("greedy_one", decoded[2])
    return Handoff((first, (k, v, logits)), last, t3, (second, decoded), t4)


@pytest.fixture(scope="module")
def done(compiled: Compiled) -> Handoff:
    return hand_off(compiled, PROMPT)


def test_prefill_is_the_forward_on_the_prompt(done: Handoff) -> None:
    """(a) logits, Kᵀ and V."""
    by_hand = [forward(WEIGHTS, np.array([PROMPT])) for forward in FORWARDS]
    *_, bound = check_call(PROGRAM, "prefill", *done.prefill, *by_hand)
    assert margin(by_hand[0][2][:, -1:]) > 2 * bound[:, -1:].max()


def test_the_last_logits_are_a_row_of_the_logits(done: Handoff) -> None:
    assert done.last.tobytes() == done.prefill[1][2][:, 2:3].tobytes()


def test_decode_is_the_forward_on_the_prompt_and_the_token(done: Handoff) -> None:
    """(b) The step's bound takes the cache for exact, and so it is: the weights are small dyadic numbers."""
    given, results = done.decode
    past = (done.prefill[1][0], done.prefill[1][1])
    by_hand = [decode(WEIGHTS, done.t3, past) for decode in DECODES]
    *_, bound = check_call(PROGRAM, "decode_s3", given, results, *by_hand)
    for forward in FORWARDS:
        k_t, v, logits = forward(WEIGHTS, np.array([[*PROMPT, done.t3.item()]]))
        check_exact(results[:2], (k_t, v))
        check_near(results[2:], (logits[:, -1:],), (bound,), result_types(PROGRAM, "decode_s3")[2:])
        assert margin(logits[:, -1:]) > 2 * bound.max()


def test_tokens(compiled: Compiled) -> None:
    """The sequence prompt ++ [t3, t4], exactly, for the section's prompt and every one of the first four ids."""
    for prompt in [PROMPT, *product(range(4), repeat=3)]:
        got = hand_off(compiled, prompt)
        for forward in FORWARDS:
            tokens = list(prompt)
            for _ in range(2):
                tokens.append(chosen(forward(WEIGHTS, np.array([tokens]))[2]))
            assert [*prompt, got.t3.item(), got.t4.item()] == tokens


def test_the_cache_holds_the_prompt_and_nothing_else(done: Handoff) -> None:
    """What is handed over is the whole prefill's cache; the step puts position 3 behind it and changes none of it."""
    (k, v, _), (k_next, v_next, _) = done.prefill[1], done.decode[1]
    assert k_next[..., :3].tobytes() == k.tobytes()
    assert v_next[..., :3, :].tobytes() == v.tobytes()


def test_a_handoff_at_the_wrong_position_is_seen(compiled: Compiled, done: Handoff) -> None:
    """The token before in place of the one fed back: the logits are outside the bound."""
    given, results = done.decode
    wrong = compiled.call("decode_s3", np.array([[PROMPT[-1]]]), *given[1:])
    assert done.t3.item() != PROMPT[-1]
    with pytest.raises(AssertionError):
        check_call(PROGRAM, "decode_s3", given, wrong)
    check_call(PROGRAM, "decode_s3", given, results)
