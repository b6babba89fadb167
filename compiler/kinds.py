"""What each kind of input makes: a pure function of (recipe, type).

The numbers come from the raw words of a counter-based generator (Philox, whose stream NumPy guarantees) by exact
arithmetic, so they are the same on every machine and for ever. A smaller shape gets the first numbers of a larger one
(all kinds but `tags`, `causal` and `masked`). How a recipe is written is in `compiler.recipes`.

| kind | what it makes |
| --- | --- |
| `tags` | distinct finite values, none zero, while the dtype has enough: for programs that only move data |
| `exact` | small dyadic numbers whose sums of products stay representable: k/4 with abs(k) <= 4 |
|         | (16-bit floats: k/2 with abs(k) <= 2; integers: k with abs(k) <= 4) |
| `normal` | bell-shaped around 0 with deviation `scale`, cut off at 6 deviations (integers: 100 * `scale`) |
| `edge` | `normal`, with one element in four from the dtype's hostile values (`edge_values`) |
| `uniform` | the open unit interval: [u, 1 - u] with u the dtype's unit roundoff; floats only |
| `tokens(V)` | ids in [0, V); integers only |
| `ids(V)` | ids of which every other one is outside [0, V): next to its ends or far off; integers only |
| `powers` | powers of two of either sign, whose products are exact, far apart in size |
| `ties` | one of three `normal` numbers each, so that elements are equal, and whole rows |
| `cancel` | pairs of neighbours whose sum is 0 or a few units of the last place; not bools |
| `masked` | `normal`, with -inf for one element in three and for all of one row in four; floats only |
| `causal` | an additive causal mask: 0 where a query may look, -inf where not; floats of rank >= 2 only |
| `iota`, `ones`, `zeros` | 0, 1, 2, ..; 1; 0 |
| a number | every element |
| a list | the elements in row-major order, nested or flat |

The documents that fix the language say "additive causal mask" without a number for what is masked; -inf is the value
that masks whatever the scores are. With more keys than queries the last query sees every key.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compiler.arrays import Array, numpy_dtype
from compiler.types import DType, Scalar, TensorType


class RecipeError(ValueError):
    """A recipe that cannot be read, or that cannot be made for the type it is asked for."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """`kind` is a key of `KINDS`; `bound` is the V of `tokens(V)` and `ids(V)`.

    `values` are those of `fill` (one) and `literal`.
    """

    kind: str
    seed: int = 0
    scale: float = 1.0
    bound: int = 0
    values: tuple[Scalar, ...] = ()


# Its whole state is set before each use. A new one would gather entropy that a key makes useless: six times the work.
_PHILOX = np.random.Philox(key=np.zeros(2, np.uint64))
_START = _PHILOX.state


def _words(recipe: Recipe, stream: str, count: int) -> Array:
    """`count` random 64-bit words; another `stream` of the same recipe is independent."""
    name = zlib.crc32(f"{recipe.kind}/{stream}".encode())
    _START["state"]["key"] = np.array([recipe.seed, name], np.uint64)
    _PHILOX.state = _START
    drawn: Array = _PHILOX.random_raw(count)
    return drawn


def _below(recipe: Recipe, stream: str, limit: int, count: int) -> Array:
    """`count` integers in [0, limit). The bias of the remainder is under limit / 2**64."""
    return (_words(recipe, stream, count) % np.uint64(limit)).astype(np.int64)


def _bell(recipe: Recipe, count: int) -> Array:
    """Sum of twelve uniforms less 6: mean 0, deviation 1. Exact in F64, so no libm has a say in the numbers."""
    halves = _words(recipe, "bell", 6 * count).view(np.uint32).reshape(count, 12)
    bell: Array = np.ldexp(halves.sum(axis=1, dtype=np.int64) - 6 * 2**32, -32)
    return bell


def _tags(recipe: Recipe, tensor_type: TensorType) -> Array:
    dtype, count = tensor_type.dtype, tensor_type.size
    order = np.argsort(_words(recipe, "order", count), kind="stable")
    if dtype.kind == "bool":
        return np.asarray(order % 2 == 0)
    most = 2 ** min(dtype.precision or 24, 24)  # integers that the dtype holds exactly, and a person can still read
    if count > most and dtype.bits == 16:
        finite = _finite(dtype)
        return finite[order % finite.size]
    base = _below(recipe, "base", max(1, most - count + 1), 1)
    return np.asarray((1 - 2 * _below(recipe, "sign", 2, count)) * (1 + order + base))


def _finite(dtype: DType) -> Array:
    """Every normal value of a 16-bit float, as F64."""
    with np.errstate(invalid="ignore"):  # signalling NaNs are among the bit patterns
        values = np.arange(2**16, dtype=np.uint16).view(numpy_dtype(TensorType(dtype, ()))).astype(np.float64)
    return values[np.isfinite(values) & (abs(values) >= dtype.smallest_normal)]


def _exact(recipe: Recipe, tensor_type: TensorType) -> Array:
    dtype = tensor_type.dtype
    if dtype.kind == "bool":
        return _below(recipe, "k", 2, tensor_type.size)
    most = 2 if dtype.bits == 16 else 4
    steps = _below(recipe, "k", 2 * most + 1, tensor_type.size) - most
    return steps / most if dtype.kind == "float" else steps


def _normal(recipe: Recipe, tensor_type: TensorType) -> Array:
    bell = _bell(recipe, tensor_type.size) * recipe.scale
    if tensor_type.dtype.kind == "bool":
        return bell > 0
    if tensor_type.dtype.kind == "float":
        return bell
    low, high = tensor_type.dtype.int_range
    return np.clip(np.rint(100 * bell), low, high / 2)  # half: 2**63 - 1 has no F64 of its own


def edge_values(dtype: DType) -> list[Scalar]:
    """The values of a dtype where arithmetic goes wrong.

    The ends and their neighbours, subnormals, the neighbours of 1 and of other powers of two, halves that a conversion
    may round either way, the ends of the integer dtypes, numbers whose square overflows, infinities and NaN.
    """
    if dtype.kind == "bool":
        return [0, 1]
    if dtype.kind == "int":
        low, high = dtype.int_range
        inner = [-(2**16), -2, -1, 0, 1, 2, 2**16, 2**24 + 1]
        wide = [-(2**31) - 1, 2**31 - 1, 2**31, 2**53 + 1] if dtype.bits > 32 else []
        return [low, low + 1, *inner, *wide, high - 1, high]
    u, tiny, least, most = dtype.unit_roundoff, dtype.smallest_subnormal, dtype.smallest_normal, dtype.max_finite
    small = [0.0, tiny, 3 * tiny, least / 2, least - tiny, least, least + tiny, u]
    usual = [0.5, 1 - u, 1.0, 1 + 2 * u, 1.5, 2 - 2 * u, 2.0, 2 + 4 * u, 2.5, 1 / u - 1, 1 / u, 1 / u + 2]
    large = [math.ldexp(1.0, dtype.max_exponent // 2 + 1), most / 2, most * (1 - 2 * u), most, math.inf]
    ends = [end for end in (2.0**31, 2.0**63) if end < most]
    return [sign * x for x in (*small, *usual, *ends, *large) for sign in (1, -1)] + [math.nan]


def _edge(recipe: Recipe, tensor_type: TensorType) -> Array:
    count = tensor_type.size
    table = np.array(edge_values(tensor_type.dtype))
    hostile = table[_below(recipe, "which", table.size, count)]
    ordinary = _normal(recipe, tensor_type).astype(table.dtype)
    return np.where(_below(recipe, "where", 4, count) == 0, hostile, ordinary)


def _uniform(recipe: Recipe, tensor_type: TensorType) -> Array:
    u = tensor_type.dtype.unit_roundoff
    halves = (_words(recipe, "u", tensor_type.size) >> np.uint64(12)).astype(np.float64) + 0.5
    return np.clip(np.ldexp(halves, -52), u, 1 - u)


def _tokens(recipe: Recipe, tensor_type: TensorType) -> Array:
    if recipe.bound - 1 > tensor_type.dtype.int_range[1]:
        raise RecipeError(f"tokens({recipe.bound}) does not fit {tensor_type}")
    return _below(recipe, "id", recipe.bound, tensor_type.size)


def _ids(recipe: Recipe, tensor_type: TensorType) -> Array:
    """Outside: -1, V and what lies beyond, the ends of the dtype among it."""
    inside, (low, high) = _tokens(recipe, tensor_type), tensor_type.dtype.int_range
    beyond = np.array([-1, -2, -recipe.bound, low, high, recipe.bound, min(recipe.bound + 1, high)])
    outside = beyond[_below(recipe, "which", beyond.size, tensor_type.size)]
    return np.where(_below(recipe, "where", 2, tensor_type.size) == 0, outside, inside)


def _powers(recipe: Recipe, tensor_type: TensorType) -> Array:
    """Exponents up to a quarter of the largest one, so that a product of four is still finite."""
    dtype, count = tensor_type.dtype, tensor_type.size
    sign = 1 - 2 * _below(recipe, "sign", 2, count)
    if dtype.kind == "int":
        return sign << _below(recipe, "k", dtype.bits - 1, count)
    span = dtype.max_exponent // 4
    return np.asarray(np.ldexp(sign.astype(np.float64), _below(recipe, "k", 2 * span + 1, count) - span))


def _ties(recipe: Recipe, tensor_type: TensorType) -> Array:
    few = _normal(recipe, tensor_type.with_shape((3,)))
    return few[_below(recipe, "which", 3, tensor_type.size)]


def _cancel(recipe: Recipe, tensor_type: TensorType) -> Array:
    """x, -x (1 + 2ku) with abs(k) <= 2, and so on; integers: x, k - x."""
    dtype, count = tensor_type.dtype, tensor_type.size
    pairs = tensor_type.with_shape(((count + 1) // 2,))
    first = _normal(recipe, pairs).astype(numpy_dtype(pairs)).astype(np.float64 if dtype.kind == "float" else np.int64)
    off = _below(recipe, "off", 5, first.size) - 2
    second = -first * (1 + 2 * dtype.unit_roundoff * off) if dtype.kind == "float" else off - first
    return np.stack([first, second], axis=1).reshape(-1)[:count]


def _masked(recipe: Recipe, tensor_type: TensorType) -> Array:
    """Rows lie along the last axis."""
    row = tensor_type.shape[-1] if tensor_type.rank else 1
    rows = _below(recipe, "row", 4, tensor_type.size // row) == 0
    hidden = np.repeat(rows, row) | (_below(recipe, "hidden", 3, tensor_type.size) == 0)
    return np.where(hidden, -math.inf, _normal(recipe, tensor_type))


def _causal(_: Recipe, tensor_type: TensorType) -> Array:
    if tensor_type.rank < 2:
        raise RecipeError(f"`causal` needs a rank of at least 2, asked for {tensor_type}")
    queries, keys = tensor_type.shape[-2:]
    visible = np.tri(queries, keys, max(0, keys - queries), dtype=bool)
    return np.tile(np.where(visible, 0.0, -math.inf).ravel(), tensor_type.size // visible.size)


def _values(recipe: Recipe, tensor_type: TensorType) -> Array:
    if recipe.kind == "literal" and len(recipe.values) != tensor_type.size:
        raise RecipeError(f"a list of {len(recipe.values)} values for {tensor_type}, which has {tensor_type.size}")
    if tensor_type.dtype.kind != "float":
        low, high = tensor_type.dtype.int_range if tensor_type.dtype.kind == "int" else (0, 1)
        wrong = [v for v in recipe.values if isinstance(v, float) or not low <= v <= high]
        if wrong:
            raise RecipeError(f"{wrong[0]} is no {tensor_type.dtype} value, asked for {tensor_type}")
    dtype = np.float64 if tensor_type.dtype.kind == "float" else np.int64
    return np.resize(np.array(recipe.values, dtype), tensor_type.size)


@dataclass(frozen=True, slots=True)
class Kind:
    """How a kind makes its flat array, which kinds of dtype it makes, and which words its text may carry."""

    make: Callable[[Recipe, TensorType], Array]
    words: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ("float", "int", "bool")


KINDS: dict[str, Kind] = {
    "tags": Kind(_tags, ("seed",)),
    "exact": Kind(_exact, ("seed",)),
    "normal": Kind(_normal, ("seed", "scale")),
    "edge": Kind(_edge, ("seed", "scale")),
    "uniform": Kind(_uniform, ("seed",), ("float",)),
    "tokens": Kind(_tokens, ("bound", "seed"), ("int",)),
    "ids": Kind(_ids, ("bound", "seed"), ("int",)),
    "powers": Kind(_powers, ("seed",), ("float", "int")),
    "ties": Kind(_ties, ("seed", "scale")),
    "cancel": Kind(_cancel, ("seed", "scale"), ("float", "int")),
    "masked": Kind(_masked, ("seed", "scale"), ("float",)),
    "causal": Kind(_causal, (), ("float",)),
    "iota": Kind(lambda _, t: np.arange(t.size) % 2 if t.dtype.kind == "bool" else np.arange(t.size)),
    "ones": Kind(lambda _, t: np.ones(t.size)),
    "zeros": Kind(lambda _, t: np.zeros(t.size)),
    "fill": Kind(_values, ("values",)),
    "literal": Kind(_values, ("values",)),
}
