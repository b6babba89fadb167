"""storylm0_tmax.kina from the `.so`: buffers of T_max = 5 (Section 22) against the cache that grows and the algebra."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from compiler.arrays import Array
from compiler.backend import Compiled
from tests.compiler.built import example, shared_object
from tests.compiler.storylm0_algebra import FORWARDS, causal_mask
from tests.compiler.storylm0_fixture import weights
from tests.compiler.test_golden import check_results
from tests.compiler.validating import Arrays, check_call, check_near, margin, result_types

PROGRAM = example("storylm0_tmax")
WEIGHTS = weights()
PROMPT = np.array([[1, 4, 2]])


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compiled]:
    with shared_object(PROGRAM) as built:
        yield built


def projections() -> Arrays:
    return tuple(WEIGHTS[name] for name in ("scale", "wq", "wk", "wv", "wo", "lm_head"))


def prefilled(compiled: Compiled) -> Arrays:
    """Kᵀ, V and the first token."""
    k_t, v, logits = compiled.call("prefill", PROMPT, WEIGHTS["embed"], causal_mask(3), *projections())
    return k_t, v, compiled.call("greedy_one", *compiled.call("last_logits", logits))[0]


def step(compiled: Compiled, name: str, token: Array, k: Array, v: Array) -> Arrays:
    return compiled.call(name, token, WEIGHTS["embed"], k, v, *projections())


def route(compiled: Compiled, names: tuple[str, str], token: Array, k: Array, v: Array) -> tuple[list[Array], Arrays]:
    """Two steps; the tokens fed, and all results."""
    k, v, first = step(compiled, names[0], token, k, v)
    following = compiled.call("greedy_one", first)[0]
    return [token, following], (k, v, first, *step(compiled, names[1], following, k, v))


def test_types() -> None:
    for name in ("tmax_s3", "tmax_s4"):
        check_results("storylm0_tmax", name, "(tensor<1x2x2x5xf32>, tensor<1x2x5x2xf32>, tensor<1x1x8xf32>)")


def test_buffers_give_what_the_growing_cache_gives(compiled: Compiled) -> None:
    k, v, token = prefilled(compiled)
    tokens, grown = route(compiled, ("decode_s3", "decode_s4"), token, k, v)
    buffers = compiled.call("to_buffers", k, v)
    fed, scratch = route(compiled, ("tmax_s3", "tmax_s4"), token, *buffers)
    assert [t.item() for t in fed] == [t.item() for t in tokens]
    for at, length in ((0, 4), (3, 5)):
        k_buffer, v_buffer, logits = scratch[at : at + 3]
        assert k_buffer[..., :length].tobytes() == grown[at].tobytes()
        assert v_buffer[..., :length, :].tobytes() == grown[at + 1].tobytes()
        assert logits.tobytes() == grown[at + 2].tobytes()


def test_steps_match_the_algebra(compiled: Compiled) -> None:
    """Each step on its own operands by the judge, and against the causal forward on all ids so far.

    The bound of a step takes the cache for exact. It is: the patterned weights are small dyadic numbers.
    """
    k, v, token = prefilled(compiled)
    ids = PROMPT
    for past in (3, 4):
        k, v = compiled.call("to_buffers", k, v) if past == 3 else (k, v)
        given = (token, WEIGHTS["embed"], k, v, *projections())
        k, v, logits = compiled.call(f"tmax_s{past}", *given)
        *_, bound = check_call(PROGRAM, f"tmax_s{past}", given, (k, v, logits))
        ids = np.concatenate([ids, token], axis=1)
        for forward in FORWARDS:
            hand_k, hand_v, hand = forward(WEIGHTS, ids)
            assert k[..., : past + 1].astype(np.float64).tobytes() == np.ascontiguousarray(hand_k).tobytes()
            assert v[..., : past + 1, :].astype(np.float64).tobytes() == np.ascontiguousarray(hand_v).tobytes()
            check_near((logits,), (hand[:, -1:],), (bound,), result_types(PROGRAM, f"tmax_s{past}")[2:])
            assert margin(hand[:, -1:]) > 2 * bound.max()
        token = compiled.call("greedy_one", logits)[0]


def test_free_positions_are_zeros_and_are_never_read(compiled: Compiled) -> None:
    """Whatever stands behind the live prefix changes nothing, and comes back as +0."""
    k, v, token = prefilled(compiled)
    clean = compiled.call("to_buffers", k, v)
    dirty = tuple(buffer.copy() for buffer in clean)
    dirty[0][..., 3:], dirty[1][..., 3:, :] = np.nan, np.inf
    after_clean, after_dirty = (step(compiled, "tmax_s3", token, *buffers) for buffers in (clean, dirty))
    assert [x.tobytes() for x in after_clean] == [x.tobytes() for x in after_dirty]
    for buffers, live in ((clean, 3), (after_clean, 4)):
        assert not any(buffers[0][..., live:].tobytes())
        assert not any(buffers[1][..., live:, :].tobytes())
