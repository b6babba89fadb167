"""The host of a StoryLM model while its `@main` is written: prefill, decode, greedy choice, slices.

Each method writes lets of `@main` and returns their names. Fns are built on first use, one per length, each in a
spelling of its own. Which phases follow each other, and what is claimed of them, is `fuzz.generate.storylm`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from compiler.recipes import Recipe
from compiler.syntax import Fn
from fuzz.generate.build import Script, op
from fuzz.generate.model import Attention, Dims, Style, greedy_one, last_logits

SELDOM = st.sampled_from((False, False, False, True))
EXTRAS = ("", "", "", "ids", "past", "again", "view")
EVEN_FLAGS = ("nested", "explicit", "flat")
SELDOM_FLAGS = ("keys_twice", "rank3", "turned", "scale_query", "scale_literal", "signs")


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
    fns: dict[tuple[int, int], Fn] = field(default_factory=dict)

    def room(self, fns: int) -> bool:
        """Whether so many fns with attention may be added."""
        return len(self.fns) + fns <= self.most_fns

    def has_room_after(self, past: int) -> bool:
        """Whether the decode step after `past` positions is there or may be added."""
        return (0, past) in self.fns or self.room(1)

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
        row = self.row(state)
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

    def same(self, *pairs: tuple[str, str]) -> None:
        """Claims of equality, less what is equal by name."""
        for left, right in pairs:
            if left != right:
                self.script.claim(left, "==", right)

    def _attend(self, tag: str, past: State | None, new: int, instead: dict[str, str]) -> State:
        fn = self._fn(new, past.length if past else 0, "mask" in instead)
        length = new + (past.length if past else 0)
        k, v, z = (f"{letter}{tag}{length}" for letter in "kvz")
        extras = (f"extra{tag}{length}",) if len(fn.results) > 3 else ()
        self.script.call(fn, (k, v, z, *extras), instead)
        return State(k, v, z, length, new)

    def _fn(self, new: int, past: int, masked: bool) -> Fn:
        key = (new if masked else 0, past)
        if key not in self.fns:
            name = f"prefill_{new}" if masked else f"decode_s{past}" if past else "decode_self"
            self.fns[key] = Attention(self.dims, self.draw(STYLES), new, past, masked).fn(name)
        return self.fns[key]
