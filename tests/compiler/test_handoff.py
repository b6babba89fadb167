"""The host's side of prefill and decode: a full run on compiled fns, and every step that is refused."""

from __future__ import annotations

import doctest
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest

from compiler import backend, handoff
from compiler.arrays import Array
from compiler.backend import Compiled
from compiler.handoff import Cache, HandoffError, Model, decode, empty, prefill
from compiler.syntax import Program
from tests.compiler.built import example, shared_object
from tests.compiler.storylm0_algebra import FORWARDS
from tests.compiler.storylm0_fixture import weights
from tests.compiler.validating import check_call, check_near, result_types

GENERATE, TMAX = example("storylm0_generate"), example("storylm0_tmax")
PHASES = ("decode_self", "decode_s1", "decode_s2", "prefill", "decode_s3", "decode_s4")
FAMILY = Program(tuple(fn for fn in (*GENERATE.fns, *TMAX.fns[:1], *TMAX.fns[3:5])))
PROMPT = np.array([[1, 4, 2]])
TOKEN = np.array([[5]])


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compiled]:
    with shared_object(FAMILY, opt_level=0) as built:
        yield built


@pytest.fixture(scope="module")
def model(compiled: Compiled) -> Model:
    return handoff.model(compiled, FAMILY, PHASES, weights())


@pytest.fixture(scope="module")
def cache(model: Model) -> Cache:
    """Three positions."""
    return prefill(model, empty(model), PROMPT)[0]


def check_refused(step: Callable[[], object], *facts: str) -> None:
    """A step is refused in one line that names every one of `facts`."""
    with pytest.raises(HandoffError) as caught:
        step()
    assert "\n" not in str(caught.value)
    for fact in facts:
        assert fact in str(caught.value)


def test_the_page_does_what_it_says() -> None:
    page = Path(__file__).parents[2] / "docs" / "handoff.md"
    done = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8")
    assert done.attempted > 10
    assert not done.failed


def test_prefill_then_decode(model: Model) -> None:
    """Section 21's handoff to the end of the family: each row of logits is that of the causal forward on the prefix."""
    ids, (cache, logits) = PROMPT, prefill(model, empty(model), PROMPT)
    while cache.length < 5:
        token = logits[:, -1:].argmax(axis=2)
        bound = check_step(model, cache, token)
        ids = np.concatenate([ids, token], axis=1)
        before, (cache, logits) = cache.length, decode(model, cache, token, cache.length)
        assert cache.length == before + 1 == ids.shape[1]
        for forward in FORWARDS:
            row = forward(weights(), ids)[2][:, -1:]
            check_near((logits,), (row,), (bound,), result_types(FAMILY, "decode_s3")[2:])


def check_step(model: Model, cache: Cache, token: Array) -> Array:
    """The judge agrees with one step from this cache; the bound of its logits, the cache being exact."""
    name, w = model.phases[cache.length, 1].fn.name, weights()
    given = (token, w["embed"], cache.k_t, cache.v, *(w[n] for n in ("scale", "wq", "wk", "wv", "wo", "lm_head")))
    after, logits = decode(model, cache, token, cache.length)
    return check_call(FAMILY, name, given, (after.k_t, after.v, logits))[2]


def test_sequential_prefill_fills_the_same_cache(model: Model, cache: Cache) -> None:
    """Bit for bit: the weights are small dyadic numbers, so that keys and values are exact."""
    one_by_one = empty(model)
    for position, token in enumerate(PROMPT[0]):
        one_by_one, _ = decode(model, one_by_one, np.array([[token]]), position)
    assert one_by_one.k_t.tobytes() == cache.k_t.tobytes()
    assert one_by_one.v.tobytes() == cache.v.tobytes()


def test_a_cache_knows_what_it_is(model: Model, cache: Cache) -> None:
    assert (cache.length, cache.layout, cache.dtype) == (3, (1, 2, 2), np.dtype(np.float32))
    assert cache.weights == model.identity
    assert empty(model).length == 0


def test_a_cache_does_not_change(model: Model) -> None:
    k_t, v = np.ones((1, 2, 2, 3), np.float32), np.ones((1, 2, 3, 2), np.float32)
    made = Cache(k_t, v, model.identity)
    k_t[:] = v[:] = 7
    assert (made.k_t == 1).all()
    for array in (made.k_t, made.v):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    with pytest.raises(FrozenInstanceError):
        made.weights = "others"  # type: ignore[misc]  # that is the point


def test_weights_are_kept_as_they_were(compiled: Compiled, cache: Cache) -> None:
    """Writing to the caller's arrays does not change the model behind its identity."""
    mine = weights()
    model = handoff.model(compiled, FAMILY, PHASES, mine)
    before = decode(model, cache, TOKEN, 3)[1]
    mine["lm_head"][:] = 0
    assert decode(model, cache, TOKEN, 3)[1].tobytes() == before.tobytes()


@pytest.mark.parametrize("position", [0, 2, 4, -1])
def test_a_position_that_is_not_the_length(position: int, model: Model, cache: Cache) -> None:
    check_refused(lambda: decode(model, cache, TOKEN, position), f"position {position}", "holds 3 positions")


def test_the_prompt_twice(model: Model, cache: Cache) -> None:
    check_refused(lambda: prefill(model, cache, PROMPT), "position 0", "holds 3 positions", "appended twice")
    check_refused(lambda: decode(model, cache, PROMPT[:, :1], 0), "position 0", "holds 3 positions")


def test_a_handoff_one_short(model: Model, cache: Cache) -> None:
    """A cache of P - 1 positions, and the token for P."""
    short = Cache(cache.k_t[..., :2], cache.v[..., :2, :], cache.weights)
    check_refused(lambda: decode(model, short, TOKEN, 3), "position 3", "holds 2 positions")


def test_other_weights(compiled: Compiled, cache: Cache) -> None:
    """One bit of one weight makes another model."""
    changed = weights() | {"wv": np.nextafter(weights()["wv"], np.float32(9))}
    other = handoff.model(compiled, FAMILY, PHASES, changed)
    for step in (lambda: decode(other, cache, TOKEN, 3), lambda: prefill(other, cache, PROMPT)):
        check_refused(step, cache.weights[:12], other.identity[:12])


def test_the_same_weights_are_the_same_model(compiled: Compiled, model: Model, cache: Cache) -> None:
    again = handoff.model(compiled, FAMILY, PHASES, weights())
    assert decode(again, cache, TOKEN, 3)[1].tobytes() == decode(model, cache, TOKEN, 3)[1].tobytes()


def test_another_dtype(model: Model, cache: Cache) -> None:
    wide = Cache(cache.k_t.astype(np.float64), cache.v.astype(np.float64), cache.weights)
    check_refused(lambda: decode(model, wide, TOKEN, 3), "float64", "float32")


def test_another_batch_or_head(model: Model, cache: Cache) -> None:
    for repeats in ((2, 1), (1, 2)):
        k_t, v = (np.tile(array, (*repeats, 1, 1)) for array in (cache.k_t, cache.v))
        other = Cache(k_t, v, cache.weights)
        check_refused(lambda: decode(model, other, TOKEN, 3), str([repeats[0], 2 * repeats[1], 2]), "[1, 2, 2]")  # noqa: B023


def test_another_layout(model: Model, cache: Cache) -> None:
    """K and V exchanged; K not transposed; K and V of different lengths or dtypes; another rank."""
    k_t, v = cache.k_t, cache.v
    exchanged = Cache(v, k_t, cache.weights)  # the layout of two positions with a head size of 3
    check_refused(lambda: decode(model, exchanged, TOKEN, 2), "[1, 2, 3]", "[1, 2, 2]")
    check_refused(lambda: Cache(v, v, ""), "[1, 2, 3, 2] and [1, 2, 3, 2]")
    check_refused(lambda: Cache(k_t, v[..., :2, :], ""), "[1, 2, 2, 3] and [1, 2, 2, 2]")
    check_refused(lambda: Cache(k_t[0], v[0], ""), "[2, 2, 3] and [2, 3, 2]")
    check_refused(lambda: Cache(k_t, v.astype(np.float64), ""), "float32", "float64")


def test_a_length_that_is_not_compiled(model: Model, cache: Cache) -> None:
    cache, _ = decode(model, cache, TOKEN, 3)
    cache, _ = decode(model, cache, TOKEN, 4)
    check_refused(lambda: decode(model, cache, TOKEN, 5), "1 new positions after 5", "1 after 4")
    check_refused(lambda: prefill(model, empty(model), PROMPT[:, :2]), "2 new positions after 0", "3 after 0")


@pytest.mark.parametrize(
    ("token", "facts"),
    [
        (np.array([5]), ("[1]", "[1, n]")),
        (np.array([[5], [5]]), ("[2, 1]", "[1, n]")),
        (np.array([[5, 5]]), ("[B, 1]", "[1, 2]")),
        (np.array([[5]], np.int32), ("int32", "int64")),
        (np.array([[8]]), ("token 8", "0 to 7")),
        (np.array([[-1]]), ("token -1", "0 to 7")),
    ],
)
def test_tokens(token: Array, facts: tuple[str, ...], model: Model, cache: Cache) -> None:
    check_refused(lambda: decode(model, cache, token, 3), *facts)


def test_an_empty_prompt(model: Model) -> None:
    check_refused(lambda: prefill(model, empty(model), np.zeros((1, 0), np.int64)), "[1, 0]", "n >= 1")


def _without(name: str) -> dict[str, Array]:
    return {key: array for key, array in weights().items() if key != name}


@pytest.mark.parametrize(
    ("names", "given", "facts"),
    [
        (["decode_s9"], weights(), ("`decode_s9`", "decode_s1")),
        (["greedy_one"], weights(), ("`greedy_one`", "`row`")),
        (["decode_s1"], _without("wo"), ("`decode_s1`", "`wo`", "wq")),
        (["decode_s1"], weights() | {"wo": np.zeros((4, 8), np.float32)}, ("`wo`", "[4, 4]", "[4, 8]")),
        (["decode_s1"], weights() | {"wo": np.zeros((4, 4))}, ("`wo`", "F32", "float64")),
        (["decode_s1", "decode_s1"], weights(), ("decode_s1", "as many")),
    ],
)
def test_fns_that_are_no_phases(
    names: list[str], given: dict[str, Array], facts: tuple[str, ...], compiled: Compiled
) -> None:
    check_refused(lambda: handoff.model(compiled, FAMILY, names, given), *facts)


def test_a_fn_that_does_not_append(compiled: Compiled) -> None:
    """`last_logits`-like results, or a cache of the length that came in."""
    step = next(fn for fn in FAMILY.fns if fn.name == "decode_s1")
    shorter = Program((replace(step, results=(step.params[2].type, *step.results[1:])),))
    check_refused(
        lambda: handoff.model(compiled, shorter, ["decode_s1"], weights()), "`decode_s1`", "after 1 positions"
    )


@pytest.mark.parametrize("parameter", ["token_ids", "k_past", "v_past"])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_parameters_of_another_rank(parameter: str, shape: tuple[int, ...], compiled: Compiled) -> None:
    step = next(fn for fn in FAMILY.fns if fn.name == "decode_s1")
    params = [replace(p, type=replace(p.type, shape=shape)) if p.name == parameter else p for p in step.params]
    flat = Program((replace(step, params=tuple(params)),))
    check_refused(lambda: handoff.model(compiled, flat, ["decode_s1"], weights()), f"`{parameter}`", str(list(shape)))


def test_results_of_another_rank(compiled: Compiled) -> None:
    step = next(fn for fn in FAMILY.fns if fn.name == "decode_s1")
    for at in range(3):
        results = [replace(r, shape=(1,)) if place == at else r for place, r in enumerate(step.results)]
        flat = Program((replace(step, results=tuple(results)),))
        check_refused(lambda: handoff.model(compiled, flat, ["decode_s1"], weights()), "`decode_s1` is no phase")  # noqa: B023


def test_phases_of_different_models(compiled: Compiled) -> None:
    step = next(fn for fn in FAMILY.fns if fn.name == "decode_s1")
    wider = replace(step.results[2], shape=(1, 1, 9))
    mixed = Program((replace(step, results=(*step.results[:2], wider)), *FAMILY.fns[2:]))
    check_refused(lambda: handoff.model(compiled, mixed, ["decode_s1", "decode_s2"], weights()), "one vocabulary", "9")


def test_a_model_that_is_refused_is_closed(compiled: Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = list[str]()
    made = replace(compiled, close=lambda: closed.append("closed"))
    monkeypatch.setattr(backend, "compile_jit", lambda *_: made)
    text = "@main { tensor<F32, [], @host> 1 }"
    check_refused(lambda: handoff.load(text, ["decode_s9"], weights(), level=0), "`decode_s9`")
    assert closed == ["closed"]


def test_loading_compiles(cache: Cache) -> None:
    path = Path(__file__).parents[2] / "compiler" / "examples" / "storylm0_prefill.kina"
    model = handoff.load(path.read_text(), ["prefill", "decode_s3"], weights(), level=0)
    with closing(model.compiled):
        assert prefill(model, empty(model), PROMPT)[0].k_t.tobytes() == cache.k_t.tobytes()
