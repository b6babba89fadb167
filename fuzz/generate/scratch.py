"""T_max scratch (Section 22): a cache in buffers of fixed size against the one that grows.

A step slices the live prefix, appends, and pads back with zeros: in a fn of its own, or on the host around the growing
cache's fn. Both routes are fed the same ids, so that a near-tie cannot part them.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from compiler.syntax import Block, Fn, Literal, Param
from compiler.types import DType, TensorType
from fuzz.generate.build import op
from fuzz.generate.host import CACHES, OFTEN, Host, State, hosts
from oracles.case import Case


@dataclass(frozen=True, slots=True)
class _Scratch:
    """Buffers of `capacity` positions, whose steps are `compiled` as a whole or written on the host."""

    host: Host
    capacity: int
    compiled: bool

    @property
    def fns(self) -> int:
        """With attention, for each step of both routes."""
        return 2 if self.compiled else 1

    def step(self, tag: str, token: str, buffers: State) -> State:
        if self.compiled:
            return self.host.decode_buffers(tag, token, buffers, self.capacity)
        live = self.host.cut(f"{tag}_live{buffers.length}", buffers, 0, buffers.length)
        after = self.host.decode(f"{tag}_grown", token, live)
        return self.stored(f"{tag}{after.length}", after)

    def stored(self, tag: str, state: State, low: int = 0) -> State:
        """The cache at the front of buffers, or `low` positions too far back."""
        free = self.capacity - state.length
        k = self.host.script.let(f"k{tag}", op("pad", state.k, axis=3, low=low, high=free - low))
        v = self.host.script.let(f"v{tag}", op("pad", state.v, axis=2, low=low, high=free - low))
        return State(k, v, state.z, state.length, state.rows)

    def compare(self, grown: State, buffers: State) -> None:
        """The live prefix and the logits are the growing cache's, and what is free is zero."""
        length = grown.length
        live = self.host.cut(f"_prefix{length}", buffers, 0, length)
        self.host.same((live.k, grown.k), (live.v, grown.v), (buffers.z, grown.z))
        if length < self.capacity:
            free, dims = self.host.cut(f"_free{length}", buffers, length, self.capacity), self.host.dims
            zeros = self._zeros(f"k_zeros{length}", dims.keys(self.capacity - length))
            self.host.same((free.k, zeros))
            self.host.same((free.v, self._zeros(f"v_zeros{length}", dims.values(self.capacity - length))))

    def _zeros(self, name: str, tensor_type: TensorType) -> str:
        return self.host.script.let(name, Literal(tensor_type, (0.0,) * tensor_type.size))


@st.composite
def scratch_cases(draw: DrawFn, dtype: DType) -> Case:
    """A cache, given or of a prefill, and one or two steps on both routes."""
    host = draw(hosts(dtype))
    state, token = _start(host)
    length, steps = state.length, draw(st.sampled_from((1, 1, 2)))
    compiled = host.room(2) and draw(OFTEN)
    scratch = _Scratch(host, length + steps + draw(st.sampled_from((0, 1, 2))), compiled)
    first = buffers = _first_buffers(scratch, state)
    for at in range(steps):
        if at == 0 or host.room(scratch.fns):
            state = host.decode("", token, state)
            buffers = scratch.step("_buffer", token, buffers)
            scratch.compare(state, buffers)
            if at == 0:
                _other_buffers(scratch, first, buffers, token)
            token = host.greedy(f"t{state.length}", state)
    host.script.shown += [buffers.k, buffers.v]
    return host.script.case(f"StoryLM, buffers of {scratch.capacity}, {length} + {state.length - length} positions")


def _start(host: Host) -> tuple[State, str]:
    if host.room(2) and host.draw(st.booleans()):
        prompt, length = host.prompt({1, 2, 3})
        state = host.prefill("", prompt, length)
        return state, host.greedy(f"t{length}", state)
    return host.given(host.draw(st.sampled_from((1, 2, 3)))), host.prompt({1})[0]


def _first_buffers(scratch: _Scratch, state: State) -> State:
    """The cache in buffers, by a compiled fn or by the host."""
    host = scratch.host
    if host.draw(st.booleans()):
        return scratch.stored("_first", state)
    host.script.call(_to_buffers(scratch, state.length), ("k_first", "v_first"), {"k": state.k, "v": state.v})
    return State("k_first", "v_first", state.z, state.length, state.rows)


def _to_buffers(scratch: _Scratch, length: int) -> Fn:
    dims, capacity = scratch.host.dims, scratch.capacity
    padded = (op("pad", name, axis=axis, low=0, high=capacity - length) for name, axis in (("k", 3), ("v", 2)))
    params = (Param("k", dims.keys(length)), Param("v", dims.values(length)))
    return Fn("to_buffers", params, (dims.keys(capacity), dims.values(capacity)), Block((), tuple(padded)))


def _other_buffers(scratch: _Scratch, first: State, after: State, token: str) -> None:
    """What lies behind the live prefix is never read; a prefix that begins one position too late is."""
    host, length = scratch.host, first.length
    if host.draw(st.booleans()):
        wrong = scratch.stored("_late", host.cut("_whole", first, 0, length), low=1)
        host.script.claim(scratch.step("_late_step", token, wrong).z, "!=", after.z)
        return
    left, dims, parts = scratch.capacity - length, host.dims, host.cut("_whole", first, 0, length)
    k = host.script.input("k_junk", dims.keys(left), host.draw(CACHES))
    v = host.script.input("v_junk", dims.values(left), host.draw(CACHES))
    dirty_k = host.script.let("k_dirty", op("concat", parts.k, k, axis=3))
    dirty_v = host.script.let("v_dirty", op("concat", parts.v, v, axis=2))
    dirty = scratch.step("_dirty_step", token, State(dirty_k, dirty_v, first.z, length, first.rows))
    claim = host.same_bits if "k_given" in host.script.inputs else host.same  # a given cache is the same on both routes
    claim((dirty.z, after.z), (dirty.k, after.k), (dirty.v, after.v))
