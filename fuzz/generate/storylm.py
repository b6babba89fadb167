"""StoryLM cases: the host loop of a prefill, the handoff and some decode steps, with what must and must not agree.

A case starts a cache in one of three ways (`STARTS`) and decodes greedily. Then it compares with a full causal forward
on the same ids, which may in turn be a second prefill that decoding goes on from, and with mistakes that must show
(`MISTAKES`). The fns are those of `fuzz.generate.model`, one per length as in the seeds; the numbers come from
`fuzz.generate.values`.

Programs stay small, because compiling is what a campaign pays for: lengths and counts are picked for 3 to 5 fns with
attention, and only one case in ten may have more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from compiler.recipes import Recipe
from compiler.types import F32, DType
from fuzz.generate.build import op
from fuzz.generate.host import SELDOM, Host, State
from fuzz.generate.model import WEIGHTS, Dims
from fuzz.generate.values import SCALES, changed, normal, prompts, scales, weights
from oracles.case import Case

OFTEN = st.sampled_from((True,) * 5 + (False,))
MASKS = st.sampled_from([Recipe("causal")] * 8 + [Recipe("zeros"), Recipe("normal", 5)])
MOST_FNS = st.sampled_from((4,) * 4 + (5,) * 4 + (6, 8))
BATCHES, HEADS, HEAD_DIMS = (st.sampled_from(sizes) for sizes in ((1, 2, 3), (1, 2, 2, 3), (1, 2, 2, 3, 4)))
VOCABS = st.sampled_from((0, 0, 2, 5, 8, 9))  # 0: as many classes as the model is wide
NOISE = normal(*SCALES)


@dataclass(frozen=True, slots=True)
class Run:
    """A greedy run: the state after the prompt and after each step; the ids, prompt first; what was chosen last."""

    states: list[State]
    ids: list[str]
    chosen: str


def storylm_cases(dtype: DType = F32) -> SearchStrategy[Case]:
    """Cases that the checker accepts. A `!=` claim may fail by accident of the numbers: see `without_claims`."""
    return _cases(dtype)


@st.composite
def _cases(draw: DrawFn, dtype: DType) -> Case:
    most_fns = draw(MOST_FNS)
    host = draw(_hosts(dtype))
    name, start = draw(st.sampled_from(STARTS))
    run = start(host, draw)
    if len(host.fns) < most_fns and draw(OFTEN):
        _full(host, run, draw, most_fns)
    for mistake in draw(MISTAKES) if len(run.states) > 1 else ():
        mistake(host, run, draw)
    host.script.results += draw(st.sampled_from(([], [], [], ["prompt"], [run.chosen], ["scale", "scale"])))
    return host.script.case(f"StoryLM, {name}, {run.states[0].length} + {len(run.states) - 1} positions")


@st.composite
def _hosts(draw: DrawFn, dtype: DType) -> Host:
    """A model with its weights. Dims coincide more often than not: a square operand hides what a rectangle shows."""
    batch, heads, head_dim = draw(BATCHES), draw(HEADS), draw(HEAD_DIMS)
    vocab = draw(VOCABS) or max(2, heads * head_dim)
    scale, divides = draw(scales(head_dim, dtype))
    dims = Dims(batch, heads, head_dim, vocab, scale, divides, dtype)
    host = Host(draw, dims, draw(MASKS))
    host.script.input("scale", dims.of(1, 1, 1, 1), Recipe("fill", values=(scale,)))
    recipes = draw(weights(dims.width))
    for name in WEIGHTS:
        host.script.input(name, dims.weight(name), recipes[name])
    return host


def _prompt(host: Host, draw: DrawFn, lengths: set[int]) -> tuple[str, int]:
    """A prompt of one of the lengths; those that equal another size of the model are as likely as all others."""
    sizes = lengths & {host.dims.head_dim, host.dims.width, host.dims.batch}
    length = draw(st.sampled_from((*sorted(lengths), *sorted(sizes) * (len(lengths) // len(sizes or lengths)))))
    ids = host.dims.ids(length)
    return host.script.input("prompt", ids, draw(prompts(ids.size, host.dims.vocab))), length


def _generate(host: Host, state: State, prompt: str, steps: int) -> Run:
    states, ids = [state], [prompt]
    token = host.greedy(f"t{state.length}", state)
    for _ in range(steps):
        ids.append(token)
        states.append(host.decode("", token, states[-1]))
        token = host.greedy(f"t{states[-1].length}", states[-1])
    return Run(states, ids, token)


def _self_start(host: Host, draw: DrawFn) -> Run:
    """The first token attends to itself (Section 20)."""
    prompt, _ = _prompt(host, draw, {1})
    return _generate(host, host.decode("", prompt, None), prompt, draw(st.sampled_from((1, 2, 2, 3))))


def _parallel(host: Host, draw: DrawFn) -> Run:
    """Prefill, handoff, decode (Section 21)."""
    prompt, length = _prompt(host, draw, {1, 2, 3, 4, 5})
    return _generate(host, host.prefill("", prompt, length), prompt, draw(st.sampled_from((1, 1, 1, 2))))


def _sequential(host: Host, draw: DrawFn) -> Run:
    """The decode step over the prompt, which must leave what the parallel prefill leaves, and go on as it goes on."""
    prompt, length = _prompt(host, draw, {2, 3})
    tokens = [host.slice(f"prompt{at}", prompt, 1, at, at + 1, shown=False) for at in range(length)]
    state = host.decode("", tokens[0], None)
    for token in tokens[1:]:
        state = host.decode("", token, state)
    parallel = host.prefill("_par", prompt, length)
    _same_caches(host, state, parallel)
    if host.mask.kind in ("causal", "zeros"):  # the last position sees all keys under either
        host.same((state.z, host.row(parallel)))
    run = _generate(host, state, prompt, draw(st.sampled_from((0, 0, 1))))
    if len(run.states) > 1:
        _same_step(host, run.states[1], host.decode("_par", run.ids[1], parallel))
    return run


STARTS: tuple[tuple[str, Callable[[Host, DrawFn], Run]], ...] = (
    ("self-start", _self_start),
    ("parallel prefill", _parallel),
    ("parallel prefill", _parallel),
    ("sequential prefill", _sequential),
)


def _full(host: Host, run: Run, draw: DrawFn, most_fns: int) -> None:
    """One causal forward over all ids: equal caches, equal logits; and a second prefill that decoding goes on from."""
    last = run.states[-1]
    full = host.prefill("_full", host.join(f"ids{last.length}", run.ids), last.length)
    _same_caches(host, last, full)
    _same_rows(host, run if draw(st.booleans()) else Run([last], [], ""), full)
    if len(run.states) > 1 and draw(OFTEN):
        _handoff(host, run, full)
    if len(host.fns) < most_fns and draw(SELDOM):
        _same_step(host, host.decode("", run.chosen, last), host.decode("_full", run.chosen, full))


def _same_caches(host: Host, left: State, right: State) -> None:
    host.same((left.k, right.k), (left.v, right.v))


def _same_step(host: Host, left: State, right: State) -> None:
    _same_caches(host, left, right)
    host.same((left.z, right.z))


def _same_rows(host: Host, run: Run, full: State) -> None:
    """Each state's logits are the full forward's at its positions, as far as the mask is causal for those."""
    for state in run.states:
        whole = state.length == full.length and state.rows == 1
        if host.mask.kind == "causal" or (host.mask.kind == "zeros" and whole):
            start = state.length - state.rows
            host.same((state.z, host.slice(f"z_at{start}", full.z, 1, start, state.length)))


def _handoff(host: Host, run: Run, full: State) -> None:
    """The cache handed over holds exactly the prompt's positions; the first id that is fed back is the next one."""
    before, after = run.states[:2]
    end = before.length
    _same_caches(host, before, host.cut("_head", after, 0, end))
    _same_caches(host, host.cut("_next", after, end, end + 1), host.cut("_full_next", full, end, end + 1))


def _twice(host: Host, run: Run, _: DrawFn) -> None:
    """The prompt was appended twice: a cache of valid shape that makes another computation."""
    wrong = host.decode("_twice", run.ids[1], host.doubled("_twice", run.states[0]))
    host.script.claim(wrong.z, "!=", run.states[1].z)


def _short(host: Host, run: Run, _: DrawFn) -> None:
    """Decoding starts at position P - 1, so the prompt's last position is lost."""
    before = run.states[0]
    cut = host.cut("_short", before, 0, before.length - 1) if before.length > 1 else None
    wrong = host.decode("_short", run.ids[1], cut)
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
    wrong = host.decode("_changed", run.ids[1], run.states[0], {weight: other})
    host.script.claim(wrong.z, "!=", run.states[1].z)


Mistake = Callable[[Host, Run, DrawFn], None]
MISTAKES: SearchStrategy[tuple[Mistake, ...]] = st.sampled_from(
    [(), (_twice,), (_short,), (_changed,), (_changed,), (_twice, _changed), (_short, _changed)]
)
