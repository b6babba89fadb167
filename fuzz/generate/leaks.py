"""Causal non-leak: a changed future id, or another suffix of pads, leaves the earlier rows of a forward as they were.

Bit by bit, because one fn computes both; a shorter forward, which is another fn, agrees within the bounds. The masked
scores are -inf and weigh exactly 0, so what they weigh must be finite: see `values.weights`.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from compiler.types import DType
from fuzz.generate.build import op
from fuzz.generate.host import CAUSAL, OFTEN, SELDOM, Host, State, hosts
from oracles.case import Case


@st.composite
def leak_cases(draw: DrawFn, dtype: DType) -> Case:
    """One forward, again with other ids from some position on."""
    host = draw(hosts(dtype, CAUSAL, finite=True))
    prompt, length = host.prompt({2, 3, 4, 5})
    state = host.prefill("", prompt, length)
    at = draw(st.sampled_from(range(1, length)))
    later_ids(host, prompt, state, at)
    if host.room(1) and draw(OFTEN):
        shorter(host, host.slice("head", prompt, 1, 0, at), state, at)
    if draw(SELDOM):
        again = host.prefill("_again", prompt, length)
        host.same_bits((state.k, again.k), (state.v, again.v), (state.z, again.z))
    host.greedy("chosen", state)
    return host.script.case(f"StoryLM, causal non-leak, {length} positions, other ids from {at} on")


def later_ids(host: Host, ids: str, state: State, at: int) -> None:
    """The forward `state` of `ids` with other ids from `at` on, or only there: the rows before do not move."""
    stop = host.draw(st.sampled_from((at + 1, state.length)))
    parts = [host.slice("before", ids, 1, 0, at), host.ids("later", stop - at)]
    if stop < state.length:
        parts.append(host.slice("after", ids, 1, stop, state.length))
    other = host.prefill("_later", host.join("ids_later", parts), state.length)
    host.same_bits(*zip(rows(host, "_kept", state, 0, at), rows(host, "_same", other, 0, at), strict=True))
    if host.draw(SELDOM):
        moved = (host.slice(f"{name}_moved", value.z, 1, at, at + 1) for name, value in (("z", state), ("zl", other)))
        host.script.claim(next(moved), "!=", next(moved))


def shorter(host: Host, head: str, state: State, length: int) -> None:
    """A forward over the ids `head`, the first of those of `state`, makes what that one's first rows are."""
    short = host.prefill("_short", head, length)
    host.same(*zip(rows(host, "_first", state, 0, length), (short.k, short.v, short.z), strict=True))


def rows(host: Host, tag: str, state: State, start: int, stop: int) -> tuple[str, str, str]:
    """Some positions of a cache and of its logits."""
    cut = host.cut(tag, state, start, stop)
    return cut.k, cut.v, host.script.let(f"z{tag}", op("slice", state.z, axis=1, start=start, stop=stop))
