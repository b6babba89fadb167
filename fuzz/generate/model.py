"""The fns of StoryLM-0: the decoder of the seeds' Sections 19 to 21 at drawn sizes, in drawn spellings.

One layer of causal attention without positions. Prefill, the self-attending first step and a decode step are one
graph with other numbers: `new` positions that are computed, `past` positions that come from the cache, a mask or none.
Every spelling computes the same real numbers, so fns of different spelling must agree. Layouts: ids [B, new],
kT [B, H, Dh, past], v [B, H, past, Dh], logits [B, new, V].
"""

from __future__ import annotations

from dataclasses import dataclass

from compiler.syntax import Apply, Expr, Fn, Literal, Name, Param
from compiler.types import F32, I64, DType, Scalar, TensorType
from fuzz.generate.build import Body, Operand, bare, matmul, op

WEIGHTS = ("embed", "wq", "wk", "wv", "wo", "lm_head")


@dataclass(frozen=True, slots=True)
class Dims:
    """Sizes of one model. `scale` multiplies the scores, or where `divides` the scores are divided by it."""

    batch: int
    heads: int
    head_dim: int
    vocab: int
    scale: Scalar
    divides: bool = False
    dtype: DType = F32

    @property
    def width(self) -> int:
        return self.heads * self.head_dim

    def of(self, *shape: int) -> TensorType:
        return TensorType(self.dtype, shape)

    def ids(self, length: int) -> TensorType:
        return TensorType(I64, (self.batch, length))

    def weight(self, name: str) -> TensorType:
        shapes = {"embed": (self.vocab, self.width), "lm_head": (self.width, self.vocab)}
        return self.of(*shapes.get(name, (self.width, self.width)))

    def keys(self, length: int) -> TensorType:
        return self.of(self.batch, self.heads, self.head_dim, length)

    def values(self, length: int) -> TensorType:
        return self.of(self.batch, self.heads, length, self.head_dim)


@dataclass(frozen=True, slots=True)
class Style:
    """How a fn spells the graph; the default is the seeds' spelling."""

    nested: bool = False
    explicit: bool = False  # broadcasts carry their shape
    flat: bool = False  # projections as rank-2 matmuls of [B*new, D], without a broadcast
    keys_twice: bool = False  # kT by two transpositions that swap, not by one that rotates
    rank3: bool = False  # scores by a rank-3 matmul over [B*H]
    turned: bool = False  # scores as [keys, queries], softmax on axis 2
    scale_query: bool = False  # scale q, not the scores
    scale_literal: bool = False  # the scale is a constant of the fn
    signs: bool = False  # a - (-b) for a + b
    zeros: bool = False  # what is free of a buffer is a constant, not what a `pad` leaves
    extra: str = ""  # one result more: "ids" or "past" (an argument as it came), "again" (the same value twice), "view"


@dataclass(frozen=True, slots=True)
class Attention:
    """One fn to build: `new` positions after `past` cached ones.

    With a `capacity`, the cache comes and goes in buffers of so many positions, the live ones first, zeros behind them.
    """

    dims: Dims
    style: Style
    new: int
    past: int
    masked: bool
    capacity: int = 0

    @property
    def total(self) -> int:
        return self.past + self.new

    def fn(self, name: str) -> Fn:
        """The fn `(ids, [k_past, v_past], [mask], scale, weights) -> (k, v, logits, [extra])`."""
        body = Body(self.style.nested)
        x = body.let("x", op("gather", "embed", "ids"))
        query = self._project(body, "q", "wq", (0, 2, 1, 3))
        query = self._scaled(query) if self.style.scale_query else query
        keys, values = self._cache(body)
        probs = self._probs(body, query, keys)
        context = body.step("context", matmul(probs, values))
        rows = (self.dims.batch, self.new)
        merged = op("reshape", op("transpose", context, perm=(0, 2, 1, 3)), shape=(*rows, self.dims.width))
        mixed = body.step("mixed", self._times(body.step("merged", merged), "wo", self.dims.width))
        logits = body.let("logits", self._times(body.step("hidden", self._plus(x, mixed)), "lm_head", self.dims.vocab))
        extra, extra_types = self._extra(keys, logits)
        held = self.capacity or self.total
        types = (self.dims.keys(held), self.dims.values(held), self.dims.of(*rows, self.dims.vocab))
        stored = (self._stored(body, keys, 3), self._stored(body, values, 2))
        return Fn(name, self._params(), types + extra_types, body.block(*stored, logits, *extra))

    def _params(self) -> tuple[Param, ...]:
        dims = self.dims
        held = self.capacity or self.past
        cache = (("k_past", dims.keys(held)), ("v_past", dims.values(held))) if held else ()
        mask = (("mask", dims.of(1, 1, self.new, self.total)),) if self.masked else ()
        scale = () if self.style.scale_literal else (("scale", dims.of(1, 1, 1, 1)),)
        weights = tuple((name, dims.weight(name)) for name in WEIGHTS)
        return tuple(Param(*pair) for pair in (("ids", dims.ids(self.new)), *cache, *mask, *scale, *weights))

    def _extra(self, keys: Name, logits: Name) -> tuple[tuple[Expr, ...], tuple[TensorType, ...]]:
        dims = self.dims
        match self.style.extra:
            case "ids":
                return (Name("ids"),), (dims.ids(self.new),)
            case "past" if self.past:
                return (Name("k_past"),), (dims.keys(self.capacity or self.past),)
            case "again":
                return (logits,), (dims.of(dims.batch, self.new, dims.vocab),)
            case "view":
                return (op("slice", keys, axis=3, start=self.total - 1, stop=self.total),), (dims.keys(1),)
            case _:
                return (), ()

    def _times(self, x: Expr, weight: str, columns: int) -> Apply:
        """[B, new, D] times a weight [D, columns]."""
        dims = self.dims
        if self.style.flat:
            rows = op("reshape", x, shape=(dims.batch * self.new, dims.width))
            return op("reshape", matmul(rows, weight), shape=(dims.batch, self.new, columns))
        return matmul(x, self._broadcast(weight, (dims.batch, dims.width, columns)))

    def _project(self, body: Body, name: str, weight: str, *perms: tuple[int, ...]) -> Expr:
        """x times a weight, split into heads [B, new, H, Dh] and transposed."""
        dims = self.dims
        flat = body.step(f"{name}_flat", self._times(Name("x"), weight, dims.width))
        value = body.step(f"{name}_heads", op("reshape", flat, shape=(dims.batch, self.new, dims.heads, dims.head_dim)))
        for index, perm in enumerate(perms):
            value = body.step(name + "t" * index, op("transpose", value, perm=perm))
        return value

    def _cache(self, body: Body) -> tuple[Name, Name]:
        perms = ((0, 2, 1, 3), (0, 1, 3, 2)) if self.style.keys_twice else ((0, 2, 3, 1),)
        new_keys = self._project(body, "k_new", "wk", *perms)
        new_values = self._project(body, "v_new", "wv", (0, 2, 1, 3))
        if not self.past:
            return body.let("k", new_keys), body.let("v", new_values)
        keys = body.let("k", op("concat", self._live("k_past", 3), new_keys, axis=3))
        return keys, body.let("v", op("concat", self._live("v_past", 2), new_values, axis=2))

    def _live(self, buffer: str, axis: int) -> Expr:
        return op("slice", buffer, axis=axis, start=0, stop=self.past) if self.capacity else Name(buffer)

    def _stored(self, body: Body, value: Name, axis: int) -> Name:
        """The live positions as they go: in a buffer, zeros behind them, by a `pad` or after a constant."""
        free = self.capacity - self.total
        if not self.capacity:
            return value
        if not self.style.zeros or not free:
            return body.let(f"{value.id}_buffer", op("pad", value, axis=axis, low=0, high=free))
        zeros = self.dims.keys(free) if axis == 3 else self.dims.values(free)
        constant = Literal(zeros, (0.0,) * zeros.size)
        return body.let(f"{value.id}_buffer", op("concat", value, constant, axis=axis))

    def _probs(self, body: Body, query: Expr, keys: Name) -> Expr:
        dims = self.dims
        scores = body.step("scores", self._scores(query, keys))
        if not self.style.scale_query:
            scores = body.step("scaled", self._scaled(scores))
        if self.masked:
            whole = (dims.batch, dims.heads, self.new, self.total)
            mask = op("broadcast", "mask", shape=whole) if self.style.signs else self._broadcast("mask", whole)
            scores = body.step("masked", self._plus(scores, mask))  # below a sign, a bare broadcast has no sibling
        if not self.style.turned:
            return body.step("probs", op("softmax", scores, axis=3))
        turned = op("softmax", op("transpose", scores, perm=(0, 1, 3, 2)), axis=2)
        return body.step("probs", op("transpose", turned, perm=(0, 1, 3, 2)))

    def _scores(self, query: Expr, keys: Name) -> Apply:
        dims, batch = self.dims, self.dims.batch * self.dims.heads
        if not self.style.rank3:
            return matmul(query, keys)
        left = op("reshape", query, shape=(batch, self.new, dims.head_dim))
        right = op("reshape", keys, shape=(batch, dims.head_dim, self.total))
        return op("reshape", matmul(left, right), shape=(dims.batch, dims.heads, self.new, self.total))

    def _scaled(self, value: Expr) -> Apply:
        dims = self.dims
        shape = (dims.batch, dims.heads, self.new, dims.head_dim if self.style.scale_query else self.total)
        scale: Operand = Literal(dims.of(1, 1, 1, 1), (dims.scale,)) if self.style.scale_literal else "scale"
        return op("div" if dims.divides else "mul", value, self._broadcast(scale, shape))

    def _broadcast(self, operand: Operand, shape: tuple[int, ...]) -> Apply:
        return op("broadcast", operand, shape=shape) if self.style.explicit else bare(operand)

    def _plus(self, left: Expr, right: Expr) -> Apply:
        return op("sub", left, op("neg", right)) if self.style.signs else op("add", left, right)


def sample_row(dims: Dims, turned: bool) -> Fn:
    """`(row [B, 1, V], u [B, 1, V], temperature [1, 1]) -> [B, 1]`, Gumbel-max; `turned`: the noise goes first."""
    row = dims.of(dims.batch, 1, dims.vocab)
    body = Body()
    scaled = body.let("scaled", op("div", "row", bare("temperature")))
    gumbel = body.let("gumbel", op("neg", op("log", op("neg", op("log", "u")))))
    noisy = op("add", gumbel, scaled) if turned else op("add", scaled, gumbel)
    params = (Param("row", row), Param("u", row), Param("temperature", dims.of(1, 1)))
    return Fn("sample_row", params, (dims.ids(1),), body.block(op("argmax", noisy, axis=2)))


def last_logits(dims: Dims, length: int, name: str) -> Fn:
    """`z [B, T, V] -> [B, 1, V]`: the row of the last position. Its result is a view of its argument."""
    body = Body().block(op("slice", "z", axis=1, start=length - 1, stop=length))
    return Fn(name, (Param("z", dims.of(dims.batch, length, dims.vocab)),), (dims.of(dims.batch, 1, dims.vocab),), body)


def greedy_one(dims: Dims) -> Fn:
    """`row [B, 1, V] -> [B, 1]`: the class of the largest logit, the lowest on ties."""
    params = (Param("row", dims.of(dims.batch, 1, dims.vocab)),)
    return Fn("greedy_one", params, (dims.ids(1),), Body().block(op("argmax", "row", axis=2)))
