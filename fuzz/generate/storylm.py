"""Handoffs: the host loop of a StoryLM prefill and some decode steps, with what must and must not agree.

A case starts a cache in one of five ways (`STARTS`) and decodes greedily. Then it may compare with a full causal
forward on the same ids, which may in turn be a second prefill that decoding goes on from, and with mistakes that must
show (`MISTAKES`). The fns are those of `fuzz.generate.model`, one per length as in the seeds; the numbers come from
`fuzz.generate.values`.

Compiling is what a campaign pays for, a tenth of a second and more for each fn with attention: so each case has a
budget of such fns (`host.MOST_FNS`), and what does not fit is left out. Two make a handoff, three also a full forward,
a sequential prefill or a mistake of lengths; a second prefill that goes on needs four or five.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from compiler.types import F32, DType
from fuzz.generate.build import op
from fuzz.generate.host import NOISE, OFTEN, SELDOM, Host, State, hosts
from fuzz.generate.model import WEIGHTS
from fuzz.generate.values import changed, plain, seeded
from oracles.case import Case

ROWS = seeded("exact") | seeded("exact") | plain("ones", "zeros", "iota")


@dataclass(frozen=True, slots=True)
class Run:
    """A run: the state after the prompt and after each step.

    `ids` are those of the last state, prompt first, none where the cache was given; `fed` is the one of the first step,
    `chosen` was not fed back. `full` is a causal forward over all `ids`, where one was made already.
    """

    states: list[State]
    ids: list[str]
    fed: str
    chosen: str
    full: State | None = None


def storylm_cases(dtype: DType = F32) -> SearchStrategy[Case]:
    """Cases that the checker accepts. A `!=` claim may fail by accident of the numbers: see `without_claims`."""
    return _cases(dtype)


@st.composite
def _cases(draw: DrawFn, dtype: DType) -> Case:
    host = draw(hosts(dtype))
    name = draw(NAMES[host.most_fns])
    run = STARTS[name][-1](host, draw)
    if run.full or (run.ids and host.room(1) and draw(OFTEN)):
        _full(host, run, draw)
    mistake = draw(MISTAKES) if len(run.states) > 1 else None
    if mistake is not None:
        mistake(host, run, draw)
    last = run.states[-1]
    host.script.shown += [last.z, *draw(st.sampled_from(([last.k, last.v], ["scale"], [last.z])))]
    return host.script.case(f"StoryLM, {name}, {run.states[0].length} + {len(run.states) - 1} positions")


def _generate(host: Host, state: State, prompt: str, steps: int) -> Run:
    """Up to so many steps, as far as there is room for their fns; the last choice is not fed back."""
    states, ids = [state], [prompt]
    token = host.greedy(f"t{state.length}", state)
    for _ in range(steps):
        if host.room(1):
            ids.append(token)
            states.append(host.decode("", token, states[-1]))
            token = host.greedy(f"t{states[-1].length}", states[-1])
    return Run(states, ids, ids[min(1, len(ids) - 1)], token)


def _self_start(host: Host, draw: DrawFn) -> Run:
    """The first token attends to itself (Section 20)."""
    prompt, _ = host.prompt({1})
    return _generate(host, host.decode("", prompt, None), prompt, draw(st.sampled_from((1, 1, 2, 3))))


def _parallel(host: Host, draw: DrawFn) -> Run:
    """Prefill, handoff, decode (Section 21)."""
    prompt, length = host.prompt({1, 2, 3, 4, 5})
    return _generate(host, host.prefill("", prompt, length), prompt, draw(st.sampled_from((1, 1, 1, 2))))


def _given(host: Host, draw: DrawFn) -> Run:
    """Decode steps on a cache that is an input, of an id or the choice from a row that is one: whoever made them.

    A row that is given is exact, so that its ties are; those of computed logits may be broken by their rounding.
    """
    length = draw(st.sampled_from((1, 2, 3, 4)))
    before = host.given(length)
    if draw(st.booleans()):
        token, _ = host.prompt({1})
    else:
        host.script.input("row_given", host.dims.of(host.dims.batch, 1, host.dims.vocab), draw(ROWS))
        token = host.greedy(f"t{length}", before)
    after = host.decode("", token, before)
    if draw(st.booleans()):
        _same_caches(host, before, host.cut("_kept", after, 0, length))
    run = _generate(host, after, token, draw(st.sampled_from((0, 1))))
    host.script.shown.append(token)
    return Run([before, *run.states], [], token, run.chosen)


def _last_again(host: Host, draw: DrawFn) -> Run:
    """The last position of a prompt decoded on the cache of those before: what the prefill made of it, once more."""
    prompt, length = host.prompt({2, 3, 4, 5})
    full = host.prefill("_full", prompt, length)
    before = host.cut("_head", full, 0, length - 1)
    last = host.slice("token", prompt, 1, length - 1, length)
    after = host.decode("", last, before)
    return Run([before, after], [prompt], last, host.greedy("chosen", after), full)


def _sequential(host: Host, draw: DrawFn) -> Run:
    """The decode step over the prompt, which must leave what the parallel prefill leaves, and go on as it goes on."""
    prompt, length = host.prompt({2, 3} if host.most_fns > 3 else {2})
    tokens = [host.slice(f"prompt{at}", prompt, 1, at, at + 1) for at in range(length)]
    state = host.decode("", tokens[0], None)
    for token in tokens[1:]:
        state = host.decode("", token, state)
    parallel = host.prefill("_par", prompt, length)
    _same_caches(host, state, parallel)
    if host.mask.kind in ("causal", "zeros"):  # the last position sees all keys under either
        host.same((state.z, host.row(parallel)))
    run = _generate(host, state, prompt, draw(st.sampled_from((0, 1))))
    if len(run.states) > 1:
        _same_step(host, run.states[1], host.decode("_par", run.fed, parallel))
    return run


Start = Callable[[Host, DrawFn], Run]
STARTS: dict[str, tuple[int, int, Start]] = {
    "self-start": (1, 2, _self_start),
    "parallel prefill": (1, 3, _parallel),
    "given cache": (1, 2, _given),
    "last position again": (2, 3, _last_again),
    "sequential prefill": (3, 6, _sequential),
}
"""What writes each start, after the fns with attention that it needs at least and how often it is drawn."""

NAMES = {
    most: st.sampled_from([name for name, (least, share, _) in STARTS.items() for _ in range(share) if least <= most])
    for most in (1, 2, 3, 5)
}


def _full(host: Host, run: Run, draw: DrawFn) -> None:
    """One causal forward over all ids: equal caches, equal logits; and a second prefill that decoding goes on from."""
    last = run.states[-1]
    full = run.full or host.prefill("_all", host.join(f"ids{last.length}", run.ids), last.length)
    _same_caches(host, last, full)
    _same_rows(host, run.states if draw(SELDOM) else [last], full)
    if len(run.states) > 1 and draw(OFTEN):
        _handoff(host, run, full, draw)
    if host.room(1) and draw(OFTEN):
        _same_step(host, host.decode("", run.chosen, last), host.decode("_all", run.chosen, full))


def _same_caches(host: Host, left: State, right: State) -> None:
    host.same((left.k, right.k), (left.v, right.v))


def _same_step(host: Host, left: State, right: State) -> None:
    _same_caches(host, left, right)
    host.same((left.z, right.z))


def _same_rows(host: Host, states: list[State], full: State) -> None:
    """Each state's logits are the full forward's at its positions, as far as the mask is causal for those."""
    for state in states:
        whole = state.length == full.length and state.rows == 1
        if state.rows and (host.mask.kind == "causal" or (host.mask.kind == "zeros" and whole)):
            start = state.length - state.rows
            host.same((state.z, host.slice(f"z_at{start}", full.z, 1, start, state.length)))


def _handoff(host: Host, run: Run, full: State, draw: DrawFn) -> None:
    """The cache handed over holds exactly the prompt's positions; the first id that is fed back is the next one."""
    before, after = run.states[:2]
    end = before.length
    if draw(st.booleans()):
        _same_caches(host, before, host.cut("_kept", after, 0, end))
    else:
        _same_caches(host, host.cut("_next", after, end, end + 1), host.cut("_all_next", full, end, end + 1))


def _twice(host: Host, run: Run, draw: DrawFn) -> None:
    """The prompt was appended twice: a cache of valid shape that makes another computation."""
    before = run.states[0]
    if not host.has_room_after(2 * before.length):
        _changed(host, run, draw)
        return
    wrong = host.decode("_twice", run.fed, host.doubled("_twice", before))
    host.script.claim(wrong.z, "!=", run.states[1].z)


def _short(host: Host, run: Run, draw: DrawFn) -> None:
    """Decoding starts at position P - 1, so the prompt's last position is lost."""
    before = run.states[0]
    if not host.has_room_after(before.length - 1):
        _changed(host, run, draw)
        return
    cut = host.cut("_short", before, 0, before.length - 1) if before.length > 1 else None
    wrong = host.decode("_short", run.fed, cut)
    host.script.claim(wrong.z, "!=", run.states[1].z)


def _changed(host: Host, run: Run, draw: DrawFn) -> None:
    """A weight differs between prefill and decode: the cache was produced by another model state."""
    weight = draw(st.sampled_from(WEIGHTS))
    kept = host.script.inputs[weight][1]
    other = f"{weight}_other"
    if draw(st.booleans()):
        host.script.input(other, host.dims.weight(weight), draw(changed(kept)))
    else:
        noise = host.script.input("noise", host.dims.weight(weight), draw(NOISE))
        host.script.let(other, op("add", weight, noise))
    wrong = host.decode("_changed", run.fed, run.states[0], {weight: other})
    host.script.claim(wrong.z, "!=", run.states[1].z)


Mistake = Callable[[Host, Run, DrawFn], None]
MISTAKES: SearchStrategy[Mistake | None] = st.sampled_from([None, _twice, _twice, _short, _short, _changed])
