"""The host of a StoryLM model while its `@main` is written: prefill, decode, greedy choice, slices.

Each method writes lets of `@main` and returns their names. Fns are built on first use, one per length, each in a
spelling of its own. Which phases follow each other, and what is claimed of them, is `fuzz.generate.storylm`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from compiler.recipes import Recipe
from compiler.syntax import Fn
from compiler.types import DType
from fuzz.generate.build import Script, op
from fuzz.generate.model import WEIGHTS, Attention, Dims, Style, greedy_one, last_logits
from fuzz.generate.values import SCALES, normal, plain, prompts, scales, seeded, weights

SELDOM = st.sampled_from((False, False, False, True))
OFTEN = st.sampled_from((True, True, True, False))
CAUSAL = st.just(Recipe("causal"))
MASKS = st.sampled_from([Recipe("causal")] * 8 + [Recipe("zeros"), Recipe("normal", 5)])
MOST_FNS = st.sampled_from((1,) * 9 + (2,) * 8 + (3,) * 3 + (5,))
BATCHES, HEADS, HEAD_DIMS = (st.sampled_from(sizes) for sizes in ((1, 2, 3), (1, 2, 2, 3), (1, 2, 2, 3, 4)))
VOCABS = st.sampled_from((0, 0, 2, 5, 8, 9))  # 0: as many classes as the model is wide
NOISE = normal(*SCALES)
CACHES = NOISE | seeded("exact") | plain("iota", "ones")
EXTRAS = ("", "", "", "ids", "past", "again", "view")
EVEN_FLAGS = ("nested", "explicit", "flat")
SELDOM_FLAGS = ("keys_twice", "rank3", "turned", "scale_query", "scale_literal", "signs", "zeros")


def _style(heads: int, tails: int, extra: str) -> Style:
    """Flags from the bits of two numbers: a draw per flag would be half of the cost of drawing a case."""
    even = {flag: bool(heads >> at & 1) for at, flag in enumerate(EVEN_FLAGS)}
    seldom = {flag: bool((heads & tails) >> at & 1) for at, flag in enumerate(SELDOM_FLAGS, len(EVEN_FLAGS))}
    return Style(extra=extra, **even, **seldom)


_BITS = st.integers(0, 2 ** (len(EVEN_FLAGS) + len(SELDOM_FLAGS)) - 1)
STYLES = st.builds(_style, _BITS, _BITS, st.sampled_from(EXTRAS))


@dataclass(frozen=True, slots=True)
class State:
    """The names of a cache that holds `length` positions, and of its logits, whose `rows` are the last positions."""

    k: str
    v: str
    z: str
    length: int
    rows: int


@dataclass(slots=True)
class Host:
    """Writes one `@main`. `mask` is the recipe of every prefill's mask; `most_fns` may have attention."""

    draw: DrawFn
    dims: Dims
    mask: Recipe
    most_fns: int
    script: Script = field(default_factory=Script)
    fns: dict[tuple[int, int, int], Fn] = field(default_factory=dict)

    def room(self, fns: int) -> bool:
        """Whether so many fns with attention may be added."""
        return len(self.fns) + fns <= self.most_fns

    def has_room_after(self, past: int) -> bool:
        """Whether the decode step after `past` positions is there or may be added."""
        return (0, past, 0) in self.fns or self.room(1)

    def prompt(self, lengths: set[int]) -> tuple[str, int]:
        """A prompt of one of the lengths; those that equal another size of the model are as likely as all others."""
        sizes = lengths & {self.dims.head_dim, self.dims.width, self.dims.batch}
        choices = (*sorted(lengths), *sorted(sizes) * (len(lengths) // len(sizes or lengths)))
        length = self.draw(st.sampled_from(choices))
        return self.ids("prompt", length), length

    def ids(self, name: str, length: int) -> str:
        """Ids that are an input, [B, length]."""
        ids = self.dims.ids(length)
        return self.script.input(name, ids, self.draw(prompts(ids.size, self.dims.vocab)))

    def given(self, length: int) -> State:
        """A cache that is an input: whoever made it. So may be a row of logits, by the name that it gets here."""
        k, v = self.draw(CACHES), self.draw(CACHES)
        names = self.script.input("k_given", self.dims.keys(length), k), "v_given"
        self.script.input("v_given", self.dims.values(length), v)
        return State(*names, "row_given", length, 1)

    def slice(self, name: str, value: str, axis: int, start: int, stop: int) -> str:
        return self.script.let(name, op("slice", value, axis=axis, start=start, stop=stop))

    def join(self, name: str, values: list[str]) -> str:
        """Ids one after the other."""
        return values[0] if len(values) == 1 else self.script.let(name, op("concat", *values, axis=1))

    def prefill(self, tag: str, ids: str, length: int) -> State:
        """A causal forward over `length` ids that returns its cache."""
        mask = self.script.input(f"mask{length}", self.dims.of(1, 1, length, length), self.mask)
        return self._attend(tag, None, length, {"ids": ids, "mask": mask})

    def decode(self, tag: str, token: str, past: State | None, instead: dict[str, str] | None = None) -> State:
        """One token after the cache `past`, or the first one, which attends to itself."""
        cache = {"k_past": past.k, "v_past": past.v} if past else {}
        return self._attend(tag, past, 1, {"ids": token, **cache, **(instead or {})})

    def decode_buffers(self, tag: str, token: str, past: State, capacity: int) -> State:
        """One token after the live positions of the buffers `past`, which hold `capacity` positions."""
        return self._attend(tag, past, 1, {"ids": token, "k_past": past.k, "v_past": past.v}, capacity)

    def row(self, state: State) -> str:
        """The logits of the last position, [B, 1, V]."""
        if state.rows == 1:
            return state.z
        name = state.z.replace("z", "row")
        if self.draw(SELDOM):
            return self.slice(name, state.z, 1, state.rows - 1, state.rows)
        self.script.call(last_logits(self.dims, state.rows, f"last_logits_{state.rows}"), (name,), {"z": state.z})
        return name

    def greedy(self, name: str, state: State) -> str:
        """The class that follows, [B, 1]: by a compiled fn, or by the host."""
        return self.best(name, self.row(state))

    def best(self, name: str, row: str) -> str:
        """The greatest class of a row of logits. It is shown: at a near-tie the references follow what they see."""
        self.script.shown.append(name)
        if self.draw(SELDOM):
            return self.script.let(name, op("argmax", row, axis=2))
        self.script.call(greedy_one(self.dims), (name,), {"row": row})
        return name

    def doubled(self, tag: str, state: State) -> State:
        """The mistake of a cache to which the same positions were appended twice."""
        k = self.script.let(f"k{tag}", op("concat", state.k, state.k, axis=3))
        v = self.script.let(f"v{tag}", op("concat", state.v, state.v, axis=2))
        return State(k, v, state.z, 2 * state.length, state.rows)

    def cut(self, tag: str, state: State, start: int, stop: int) -> State:
        """Some positions of a cache, without logits of their own."""
        k = self.slice(f"k{tag}", state.k, 3, start, stop)
        v = self.slice(f"v{tag}", state.v, 2, start, stop)
        return State(k, v, state.z, stop - start, 0)

    def same_bits(self, *pairs: tuple[str, str]) -> None:
        """Claims of equality bit by bit: what one fn made of the same numbers."""
        for left, right in pairs:
            self.script.claim(left, "===", right)

    def same(self, *pairs: tuple[str, str]) -> None:
        """Claims of equality, less what is equal by name."""
        for left, right in pairs:
            if left != right:
                self.script.claim(left, "==", right)

    def _attend(self, tag: str, past: State | None, new: int, instead: dict[str, str], capacity: int = 0) -> State:
        fn = self._fn(new, past.length if past else 0, "mask" in instead, capacity)
        length = new + (past.length if past else 0)
        k, v, z = (f"{letter}{tag}{length}" for letter in "kvz")
        extras = (f"extra{tag}{length}",) if len(fn.results) > 3 else ()
        self.script.call(fn, (k, v, z, *extras), instead)
        return State(k, v, z, length, new)

    def _fn(self, new: int, past: int, masked: bool, capacity: int) -> Fn:
        key = (new if masked else 0, past, capacity)
        if key not in self.fns:
            decode = f"tmax_s{past}" if capacity else f"decode_s{past}" if past else "decode_self"
            name = f"prefill_{new}" if masked else decode
            self.fns[key] = Attention(self.dims, self.draw(STYLES), new, past, masked, capacity).fn(name)
        return self.fns[key]


@st.composite
def hosts(
    draw: DrawFn,
    dtype: DType,
    masks: SearchStrategy[Recipe] = MASKS,
    batches: SearchStrategy[int] = BATCHES,
    finite: bool = False,
) -> Host:
    """A model with its weights. Dims coincide more often than not: a square operand hides what a rectangle shows."""
    batch, heads, head_dim = draw(batches), draw(HEADS), draw(HEAD_DIMS)
    vocab = draw(VOCABS) or max(2, heads * head_dim)
    scale, divides = draw(scales(head_dim, dtype))
    dims = Dims(batch, heads, head_dim, vocab, scale, divides, dtype)
    host = Host(draw, dims, draw(masks), draw(MOST_FNS))
    host.script.input("scale", dims.of(1, 1, 1, 1), Recipe("fill", values=(scale,)))
    recipes = draw(weights(dims.width, dtype, finite))
    for name in WEIGHTS:
        host.script.input(name, dims.weight(name), recipes[name])
    return host
