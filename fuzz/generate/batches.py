"""Rows of a batch are independent: rows picked anew, by any map of places to rows, pick the results.

A row that stays in its place keeps its bits, whatever the others become: one fn computes both. A row that moves may be
computed by another part of the code (the rest of a vectorised loop), so it agrees within the bounds.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from compiler.recipes import Recipe
from compiler.types import I64, DType, TensorType
from fuzz.generate.build import op
from fuzz.generate.host import CAUSAL, OFTEN, Host, State, hosts
from oracles.case import Case

SIZES = st.sampled_from((2, 2, 3))
PICKS: dict[int, SearchStrategy[tuple[int, ...]]] = {
    2: st.sampled_from(((1, 0), (1, 0), (1, 1), (0, 0))),
    3: st.sampled_from(((1, 2, 0), (2, 0, 1), (1, 0, 2), (2, 1, 0), (0, 2, 1), (0, 0, 1), (2, 1, 1), (1, 1, 1))),
}
"""By batch size: which row goes to each place; never all to their own."""


@st.composite
def batch_cases(draw: DrawFn, dtype: DType) -> Case:
    """A prefill or a decode step on rows and on picked rows, and often a step that goes on from both."""
    host = draw(hosts(dtype, CAUSAL, SIZES, finite=True))
    picks = draw(PICKS[host.dims.batch])
    host.script.input("picks", TensorType(I64, (len(picks),)), Recipe("literal", values=picks))
    if draw(st.booleans()):
        prompt, length = host.prompt({1, 2, 3, 4})
        states = [host.prefill("", prompt, length), host.prefill("_picked", _picked(host, prompt), length)]
    else:
        states = _step(host, host.prompt({1})[0], *_both(host, host.given(draw(st.sampled_from((1, 2, 3))))))
    _compare(host, picks, *states)
    if host.room(1) and draw(OFTEN):
        token = host.greedy("token", states[0])
        gathered = draw(st.booleans())  # from one step to the next, as a beam search does
        states = _step(host, token, *(_both(host, states[0]) if gathered else states))
        _compare(host, () if gathered else picks, *states)
    host.script.shown.append(states[0].z)
    host.greedy("chosen", states[0])
    return host.script.case(f"StoryLM, rows {list(picks)} of a batch, {states[0].length} positions")


def _picked(host: Host, value: str) -> str:
    """The rows of a value as they are picked, by one let for each value."""
    name = f"{value}_rows"
    bound = any(name in let.names for let in host.script.lets)
    return name if bound else host.script.let(name, op("gather", value, "picks"))


def _both(host: Host, state: State) -> tuple[State, State]:
    """A cache, and its picked rows."""
    k, v = _picked(host, state.k), _picked(host, state.v)
    return state, State(k, v, state.z, state.length, state.rows)


def _step(host: Host, token: str, plain: State, picked: State) -> list[State]:
    return [host.decode("", token, plain), host.decode("_picked", _picked(host, token), picked)]


def _compare(host: Host, picks: tuple[int, ...], plain: State, picked: State) -> None:
    """The results, and the bits of a row that stayed, if the same fns made both from the inputs on."""
    pairs = ((plain.k, picked.k), (plain.v, picked.v), (plain.z, picked.z))
    host.same(*((_picked(host, left), right) for left, right in pairs))
    for row in [row for row, pick in enumerate(picks) if row == pick][:1]:
        host.same_bits(*((_row(host, left, row), _row(host, right, row)) for left, right in pairs))


def _row(host: Host, value: str, row: int) -> str:
    return host.slice(f"{value}_row{row}", value, 0, row, row + 1)
