"""The host's side of prefill and decode: a cache that knows what it is, and steps that refuse one that does not fit.

Prefill runs a whole prompt and returns a cache of P positions; each decode step takes one token, at position P, P + 1,
and so on, and returns a cache that is one longer. A cache of another length or of other weights, or a prompt appended
twice, has a valid shape and gives wrong logits (seed document "Prefill and Decode Perform Different Work"): it is
refused here, with an error that names both facts. Where weights come from is `compiler.checkpoint`'s business.

A phase is a fn with the StoryLM-0 parameters, in any order: `token_ids` [B, n] I64; `k_past` [B, H, Dh, S] and
`v_past` [B, H, S, Dh] unless it starts from nothing; `causal_mask` [1, 1, n, n] if it runs more than one position;
and the weights by name (`token_embedding` is the checkpoint's `embed`). Its results are Kᵀ [B, H, Dh, S + n],
V [B, H, S + n, Dh] and the logits [B, n, V].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from mlir import ir

from compiler import backend, pipeline
from compiler.arrays import Array, numpy_dtype
from compiler.backend import Compiled
from compiler.checker import check, signature
from compiler.checkpoint import identity
from compiler.lowering import lower
from compiler.parser import parse
from compiler.syntax import Fn, Program
from compiler.types import TensorType

_WEIGHT_NAMES = {"token_embedding": "embed"}
"""The parameters of a phase that are called otherwise in a checkpoint."""

_GIVEN = {"token_ids": 2, "k_past": 4, "v_past": 4, "causal_mask": 4}
"""The parameters of a phase that are no weights, and their ranks."""


class HandoffError(Exception):
    """A step that must not be run; the message names what was given and what fits."""


@dataclass(frozen=True, slots=True, eq=False)  # arrays have no truth value
class Cache:
    """The keys and values of the positions so far: Kᵀ [B, H, Dh, S], V [B, H, S, Dh], and the weights that made them.

    The arrays are copies that nobody can write to. S may be 0. Raises `HandoffError` on other layouts.
    """

    k_t: Array
    v: Array
    weights: str  # `checkpoint.identity` of the model

    def __post_init__(self) -> None:
        for name in ("k_t", "v"):
            array = getattr(self, name).copy()
            array.flags.writeable = False
            object.__setattr__(self, name, array)  # frozen from here on
        k_shape, v_shape = list(self.k_t.shape), list(self.v.shape)
        if len(k_shape) != 4 or v_shape != [*k_shape[:2], k_shape[3], k_shape[2]]:
            raise HandoffError(f"a cache is Kᵀ [B, H, Dh, S] and V [B, H, S, Dh], got {k_shape} and {v_shape}")
        if self.k_t.dtype != self.v.dtype:
            raise HandoffError(f"a cache has one dtype, got Kᵀ of {self.k_t.dtype} and V of {self.v.dtype}")

    @property
    def length(self) -> int:
        """S, the number of positions; the next token's position."""
        return int(self.k_t.shape[3])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.k_t.dtype

    @property
    def layout(self) -> tuple[int, int, int]:
        """(B, H, Dh)."""
        batch, heads, head_dim, _ = self.k_t.shape
        return batch, heads, head_dim


@dataclass(frozen=True, slots=True)
class Phase:
    """A compiled fn: `new` positions after `past` cached ones."""

    fn: Fn
    past: int
    new: int


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Compiled phases and the weights that they read. Made by `model`."""

    compiled: Compiled
    phases: Mapping[tuple[int, int], Phase]  # by (past, new)
    weights: Mapping[str, Array]
    identity: str
    layout: tuple[int, int, int]  # (B, H, Dh)
    vocab: int
    dtype: np.dtype[Any]


def load(text: str, names: Sequence[str], weights: Mapping[str, Array], level: int = 2) -> Model:
    """`model` from a program's text, compiled in this process; close its `compiled` when done.

    Raises `HandoffError`, and `CompileError` where the text is no program.
    """
    checked = check(parse(text))
    module = lower(checked, ir.Context())
    pipeline.run(module, pipeline.DEFAULT)
    signatures = {fn.name: signature(checked, fn.name) for fn in checked.program.fns}
    with ExitStack() as made:
        compiled = made.enter_context(closing(backend.compile_jit(module, signatures, level)))
        loaded = model(compiled, checked.program, names, weights)
        made.pop_all()
        return loaded


def model(compiled: Compiled, program: Program, names: Sequence[str], weights: Mapping[str, Array]) -> Model:
    """The fns `names` of `program`, compiled, as phases of one model. Raises `HandoffError` where they are none."""
    phases = [_phase(program, name, weights) for name in names]
    caches = {(_layout(phase.fn), phase.fn.results[0].dtype, phase.fn.results[2].shape[2]) for phase in phases}
    if len(caches) != 1:
        raise HandoffError(f"the phases of a model share one cache and one vocabulary, got {_listed(caches)}")
    by_size = {(phase.past, phase.new): phase for phase in phases}
    if len(by_size) != len(phases):
        raise HandoffError(f"two of the phases {_listed(names)} take as many new positions after as many cached ones")
    (cache,) = caches
    kept = {name: _frozen(array) for name, array in weights.items()}
    dtype = numpy_dtype(phases[0].fn.results[0])
    return Model(compiled, by_size, MappingProxyType(kept), identity(kept), cache[0], cache[2], dtype)


def empty(of: Model) -> Cache:
    """The cache before the first position."""
    batch, heads, head_dim = of.layout
    shapes = (batch, heads, head_dim, 0), (batch, heads, 0, head_dim)
    k_t, v = (np.zeros(shape, of.dtype) for shape in shapes)
    return Cache(k_t, v, of.identity)


def prefill(of: Model, cache: Cache, prompt: Array) -> tuple[Cache, Array]:
    """The whole prompt [B, P] at once: a cache of P positions and the logits [B, P, V]. Raises `HandoffError`.

    It starts at position 0, so the cache must be empty.
    """
    _check_cache(of, cache)
    if cache.length:
        raise HandoffError(
            f"prefill starts at position 0, and this cache already holds {cache.length} positions: the prompt would be"
            f" appended twice; decode goes on at position {cache.length}"
        )
    return _run(of, cache, prompt)


def decode(of: Model, cache: Cache, token: Array, position: int) -> tuple[Cache, Array]:
    """One token [B, 1] at `position`: a cache that is one longer and the logits [B, 1, V]. Raises `HandoffError`.

    The first token after a prompt of P has position P.
    """
    _check_cache(of, cache)
    if position != cache.length:
        raise HandoffError(
            f"the token is for position {position}, and this cache holds {cache.length} positions: the next token is"
            f" for position {cache.length}"
        )
    if token.ndim == 2 and token.shape[1] != 1:
        raise HandoffError(f"decode takes one token of each row, [B, 1], got {list(token.shape)}")
    return _run(of, cache, token)


def _run(of: Model, cache: Cache, ids: Array) -> tuple[Cache, Array]:
    _check_ids(of, ids)
    size = (cache.length, ids.shape[1])
    if size not in of.phases:
        compiled = ", ".join(f"{new} after {past}" for past, new in sorted(of.phases))
        raise HandoffError(f"no fn takes {size[1]} new positions after {size[0]}; compiled are: {compiled}")
    phase = of.phases[size]
    values = {"token_ids": ids, "k_past": cache.k_t, "v_past": cache.v, "causal_mask": _mask(ids.shape[1], of.dtype)}
    arguments = [values[p.name] if p.name in values else of.weights[_weight(p.name)] for p in phase.fn.params]
    k_t, v, logits = of.compiled.call(phase.fn.name, *arguments)
    return Cache(k_t, v, of.identity), logits


def _mask(length: int, dtype: np.dtype[Any]) -> Array:
    """0 where a query may look, -inf at the positions after its own."""
    later = np.triu(np.ones((length, length), np.bool_), 1)
    return np.where(later, -np.inf, 0.0).astype(dtype)[None, None]


def _check_cache(of: Model, cache: Cache) -> None:
    if cache.weights != of.identity:
        raise HandoffError(f"the cache was made by the weights {cache.weights:.12}, this model's are {of.identity:.12}")
    if cache.dtype != of.dtype:
        raise HandoffError(f"the cache holds {cache.dtype}, this model computes in {of.dtype}")
    if cache.layout != of.layout:
        raise HandoffError(f"the cache has [B, H, Dh] = {list(cache.layout)}, this model {list(of.layout)}")


def _check_ids(of: Model, ids: Array) -> None:
    if ids.ndim != 2 or ids.shape[0] != of.layout[0] or ids.shape[1] == 0:
        raise HandoffError(f"the tokens are {list(ids.shape)}, this model takes [{of.layout[0]}, n] with n >= 1")
    if ids.dtype != np.int64:
        raise HandoffError(f"the tokens are {ids.dtype}, class ids are int64")
    odd = ids[(ids < 0) | (ids >= of.vocab)]
    if odd.size:
        raise HandoffError(f"the token {odd[0]} is no class of this model, which has 0 to {of.vocab - 1}")


def _phase(program: Program, name: str, weights: Mapping[str, Array]) -> Phase:
    fn = program.fn(name)
    if fn is None:
        raise HandoffError(f"the program has no fn `{name}`; it has {_listed(fn.name for fn in program.fns)}")
    types = {param.name: param.type for param in fn.params}
    for parameter, type_ in types.items():
        if parameter not in _GIVEN:
            _check_weight(name, parameter, type_, weights)
        elif len(type_.shape) != _GIVEN[parameter]:
            raise HandoffError(f"`{name}` takes `{parameter}` as {type_}, a phase has {_GIVEN[parameter]} axes there")
    past = types["k_past"].shape[3] if "k_past" in types else 0
    new = types["token_ids"].shape[1] if "token_ids" in types else 0
    if new == 0 or not _is_step(fn.results, past + new, new):
        got = f"takes {_listed(types)} and returns {' '.join(map(str, fn.results))}"
        raise HandoffError(f"`{name}` is no phase: after {past} positions it {got}")
    return Phase(fn, past, new)


def _is_step(results: Sequence[TensorType], length: int, new: int) -> bool:
    """Kᵀ [B, H, Dh, length], V [B, H, length, Dh] and the logits [B, new, V]."""
    shapes = [result.shape for result in results]
    if [len(shape) for shape in shapes] != [4, 4, 3]:
        return False
    (batch, heads, head_dim, _), v_shape, (*rows, _) = shapes
    return shapes[0][3] == length and v_shape == (batch, heads, length, head_dim) and rows == [batch, new]


def _check_weight(name: str, parameter: str, type_: TensorType, weights: Mapping[str, Array]) -> None:
    if _weight(parameter) not in weights:
        raise HandoffError(f"`{name}` reads `{parameter}`, the weights are {_listed(weights)}")
    array = weights[_weight(parameter)]
    if (array.dtype, array.shape) != (numpy_dtype(type_), type_.shape):
        raise HandoffError(f"`{name}` reads `{parameter}` as {type_}, the weight is {array.dtype} {list(array.shape)}")


def _weight(parameter: str) -> str:
    return _WEIGHT_NAMES.get(parameter, parameter)


def _layout(fn: Fn) -> tuple[int, int, int]:
    batch, heads, head_dim, _ = fn.results[0].shape
    return batch, heads, head_dim


def _frozen(array: Array) -> Array:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def _listed(items: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, items)))
