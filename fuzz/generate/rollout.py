"""Rollouts by re-forward (Section 23): one static forward over a token buffer whose suffix is pads.

Each step reads the row of the last live position, chooses a class, greedily or by Gumbel-max from a stream of uniform
numbers that is an input, and writes it into the buffer. Choices of different routes are never compared: a near-tie may
legally fall otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from compiler.recipes import Recipe
from compiler.syntax import Fn, Literal
from compiler.types import DType
from fuzz.generate.build import op
from fuzz.generate.host import CAUSAL, OFTEN, SELDOM, Host, State, hosts
from fuzz.generate.leaks import later_ids, rows, shorter
from fuzz.generate.model import sample_row
from fuzz.generate.values import seeded
from oracles.case import Case

TEMPERATURES = st.sampled_from((0.8, 0.8, 1.0, 0.5, 2.0, 0.1))
UNIFORM = seeded("uniform")


@dataclass(frozen=True, slots=True)
class _Rollout:
    """`total` positions, `live` of them the prompt's; `sampled` chooses a class, greedy without it."""

    host: Host
    live: int
    total: int
    steps: int
    sampled: Fn | None

    def run(self, tag: str, buffer: str) -> tuple[list[State], list[str], list[str]]:
        """The forwards, the classes chosen and the buffers that the forwards read."""
        states, chosen, buffers = list[State](), list[str](), [buffer]
        for at in range(self.live, self.live + self.steps):
            states.append(self.host.prefill(f"{tag}_at{at}_", buffers[-1], self.total))
            row = self.host.slice(f"row{tag}_{at}", states[-1].z, 1, at - 1, at)
            chosen.append(self._choose(f"t{tag}_{at}", at, row))
            buffers.append(self._written(f"ids{tag}_{at + 1}", buffers[-1], at, chosen[-1]))
        return states, chosen, buffers

    def _choose(self, name: str, at: int, row: str) -> str:
        if self.sampled is None:
            return self.host.best(name, row)
        dims = self.host.dims
        u = self.host.script.input(f"u{at}", dims.of(dims.batch, 1, dims.vocab), self.host.draw(UNIFORM))
        self.host.script.call(self.sampled, (name,), {"row": row, "u": u})
        self.host.script.shown.append(name)
        return name

    def _written(self, name: str, buffer: str, at: int, token: str) -> str:
        """The buffer with `token` at `at`."""
        parts = [self.host.slice(f"{name}_head", buffer, 1, 0, at), token]
        if at + 1 < self.total:
            parts.append(self.host.slice(f"{name}_tail", buffer, 1, at + 1, self.total))
        return self.host.join(name, parts)


@st.composite
def rollout_cases(draw: DrawFn, dtype: DType) -> Case:
    """One rollout, what must not move it, and often the same once more."""
    host = draw(hosts(dtype, CAUSAL, finite=True))
    prompt, live = host.prompt({1, 2, 3})
    total = live + draw(st.sampled_from((1, 2, 3)))
    steps = draw(st.sampled_from(range(1, min(total - live, 2) + 1)))
    rollout = _Rollout(host, live, total, steps, _sampled(host) if draw(st.booleans()) else None)
    states, chosen, buffers = rollout.run("", _padded(host, prompt, live, total))
    host.script.shown += [buffers[-1], states[-1].z]
    if steps > 1:
        kept = (rows(host, f"_step{at}", state, 0, live) for at, state in enumerate(states[:2]))
        host.same_bits(*zip(*kept, strict=True))
    if host.room(1) and draw(OFTEN):
        shorter(host, prompt, states[0], live)
    if draw(st.booleans()):
        later_ids(host, buffers[-2], states[-1], draw(st.sampled_from(range(live, total))))
    else:
        _again(rollout, states, chosen, buffers)
    kind = "greedy" if rollout.sampled is None else "sampled"
    return host.script.case(f"StoryLM, {kind} rollout, {live} + {steps} of {total} positions")


def _sampled(host: Host) -> Fn:
    host.script.input("temperature", host.dims.of(1, 1), Recipe("fill", values=(host.draw(TEMPERATURES),)))
    return sample_row(host.dims, host.draw(SELDOM))


def _padded(host: Host, prompt: str, live: int, total: int) -> str:
    """The prompt and its suffix: pads of class 0 by an op or a constant, or whatever ids an input holds."""
    how = host.draw(st.sampled_from(("pad", "pad", "constant", "input")))
    if how == "pad":
        return host.script.let("buffer", op("pad", prompt, axis=1, low=0, high=total - live))
    if how == "input":
        return host.join("buffer", [prompt, host.ids("suffix", total - live)])
    pads = host.dims.ids(total - live)
    return host.script.let("buffer", op("concat", prompt, Literal(pads, (0,) * pads.size), axis=1))


def _again(rollout: _Rollout, states: list[State], chosen: list[str], buffers: list[str]) -> None:
    """The same run on the same numbers chooses the same classes, from the same bits."""
    others, choices, _ = rollout.run("_again", buffers[0])
    rollout.host.same_bits(*zip(chosen, choices, strict=True), (states[-1].z, others[-1].z))
