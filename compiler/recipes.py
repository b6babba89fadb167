"""The inputs of a case as text (`exact seed 7`, `tokens(8) seed 1`, `[1, 4, 2]`), and `make`, which makes the array.

`make` is a pure function of (recipe, type): the numbers come from the raw words of a counter-based generator (Philox,
whose stream NumPy guarantees) by exact arithmetic, so they are the same on every machine and for ever. A smaller shape
gets the first numbers of a larger one (all kinds but `tags`). Nothing here knows of MLIR or of a program.

| kind | what it makes |
| --- | --- |
| `tags` | distinct finite values, none zero, while the dtype has enough: for programs that only move data |
| `exact` | small dyadic numbers whose sums of products stay representable: k/4 with abs(k) <= 4 |
|         | (16-bit floats: k/2 with abs(k) <= 2; integers: k with abs(k) <= 4) |
| `normal` | bell-shaped around 0 with deviation `scale`, cut off at 6 deviations (integers: 100 * `scale`) |
| `edge` | `normal`, with one element in four from the dtype's hostile values (`edge_values`) |
| `uniform` | the open unit interval: [u, 1 - u] with u the dtype's unit roundoff; floats only |
| `tokens(V)` | ids in [0, V); integers only |
| `causal` | an additive causal mask: 0 where a query may look, -inf where not; floats of rank >= 2 only |
| `iota`, `ones`, `zeros` | 0, 1, 2, ..; 1; 0 |
| a number | every element |
| a list | the elements in row-major order, nested or flat |

The documents that fix the language say "additive causal mask" without a number for what is masked; -inf is the value
that masks whatever the scores are. With more keys than queries the last query sees every key.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from compiler.arrays import Array, numpy_dtype
from compiler.types import DType, Scalar, TensorType

LARGEST_SEED = 2**64 - 1  # one word of the generator's key
LONGEST_NUMBER = 64  # characters; the longest F64 that repr or float.hex prints has 24
_NUMBER = re.compile(
    r"[-+]?(?:inf|nan|0x[0-9a-f]+(?:\.[0-9a-f]*)?p[-+]?\d+|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)", re.IGNORECASE
)


class RecipeError(ValueError):
    """A recipe that cannot be read, or that cannot be made for the type it is asked for."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """`kind` is a key of `KINDS`; `bound` is the V of `tokens(V)`; `values` are those of `fill` (one) and `literal`."""

    kind: str
    seed: int = 0
    scale: float = 1.0
    bound: int = 0
    values: tuple[Scalar, ...] = ()


def parse_inputs(text: str) -> dict[str, Recipe]:
    """`a = exact seed 7; b = [1, 4, 2]`, as it stands behind `inputs:`. Raises `RecipeError`."""
    recipes: dict[str, Recipe] = {}
    for entry in filter(None, map(str.strip, text.split(";"))):
        name, equals, recipe = entry.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise RecipeError(f"`{entry}` is not of the form `name = recipe`")
        if name in recipes:
            raise RecipeError(f"input `{name}` has two recipes")
        recipes[name] = parse_recipe(recipe)
    return recipes


def header_inputs(text: str) -> dict[str, Recipe]:
    """The recipes in the comment lines at the top of a case file; `// inputs:` may repeat. Raises `RecipeError`."""
    entries: list[str] = []
    for line in text.split("\n"):  # as the lexer counts lines; splitlines knows many more ends
        if line.strip() and not line.lstrip().startswith("//"):
            break
        key, colon, rest = line.lstrip().removeprefix("//").partition(":")
        if colon and key.strip() == "inputs":
            entries.append(rest)
    return parse_inputs(";".join(entries))


def parse_recipe(text: str) -> Recipe:
    """The recipe that `text` says. Raises `RecipeError`."""
    text = text.strip()
    if text.startswith("["):
        return Recipe("literal", values=_list(text))
    if re.match(r"[-+.\d]|inf\b|nan\b", text):
        return Recipe("fill", values=(_number(text),))
    match = re.fullmatch(r"(\w+)(?:\((\S+)\))?((?:\s+\w+\s+\S+)*)", text)
    if match is None or match[1] not in KINDS or match[1] in ("fill", "literal"):
        kinds = ", ".join(kind for kind in KINDS if kind not in ("fill", "literal"))
        raise RecipeError(f"`{text}` is no recipe: one is a number, a list, or one of {kinds}")
    pairs = ["bound", match[2], *match[3].split()] if match[2] else match[3].split()
    return _worded(match[1], pairs)


def _worded(kind: str, pairs: list[str]) -> Recipe:
    given = {word: _number(value) for word, value in zip(pairs[::2], pairs[1::2], strict=True)}
    words = KINDS[kind].words
    if set(given) - set(words) or 2 * len(given) < len(pairs) or ("bound" in words and "bound" not in given):
        form = "".join("(V)" if word == "bound" else f" {word} .." for word in words)
        raise RecipeError(f"`{kind}` is written `{kind}{form}`, each word at most once")
    seed, bound, scale = given.get("seed", 0), given.get("bound", 1), given.get("scale", 1.0)
    if not (isinstance(seed, int) and 0 <= seed <= LARGEST_SEED):
        raise RecipeError(f"a seed is an integer in [0, 2**64), got {seed}")
    if not (isinstance(bound, int) and 1 <= bound <= LARGEST_SEED):
        raise RecipeError(f"the V of tokens(V) is a positive integer, got {bound}")
    if not math.isfinite(scale):
        raise RecipeError(f"a scale is a finite number, got {scale}")
    return Recipe(kind, seed, float(scale), bound if "bound" in words else 0)


def _list(text: str) -> tuple[Scalar, ...]:
    """The numbers of a nested list, flat. One pass: the text may be long and deep."""
    values: list[Scalar] = []
    depth, ready = 0, True  # ready: a number or a list may stand here
    for part in re.findall(r"[\[\],]|[^\[\],\s]+", text):
        closed = depth == 0 and not ready
        if closed or ready == (part in "],"):
            raise RecipeError(f"`{part}` is out of place in the list `{text[:40]}`")
        depth += (part == "[") - (part == "]")
        ready = part in "[,"
        if part not in "[],":
            values.append(_number(part))
    if depth:
        raise RecipeError(f"the list `{text[:40]}` is not closed")
    return tuple(values)


def _number(text: str) -> Scalar:
    if len(text) > LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        raise RecipeError(f"`{text[:40]}` is no number")
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    value = float.fromhex(text) if "x" in text.lower() else float(text)
    return math.nan if math.isnan(value) else value


def print_recipe(recipe: Recipe) -> str:
    """The one text of a recipe: `parse_recipe(print_recipe(r)) == r`."""
    numbers = [repr(value) for value in recipe.values]
    if recipe.kind in ("fill", "literal"):
        return numbers[0] if recipe.kind == "fill" else f"[{', '.join(numbers)}]"
    words = KINDS[recipe.kind].words
    text = f"{recipe.kind}({recipe.bound})" if "bound" in words else recipe.kind
    text += f" seed {recipe.seed}" if "seed" in words else ""
    return text + (f" scale {recipe.scale!r}" if recipe.scale != 1.0 else "")


def with_other_numbers(recipe: Recipe) -> Recipe:
    """Other numbers of the same kind, where the kind has a seed."""
    return replace(recipe, seed=recipe.seed ^ 1) if "seed" in KINDS[recipe.kind].words else recipe


def make(recipe: Recipe, tensor_type: TensorType) -> Array:
    """A fresh C-contiguous array of `tensor_type`. Raises `RecipeError` where the kind does not fit the type."""
    kind = KINDS[recipe.kind]
    if tensor_type.dtype.kind not in kind.dtypes:
        raise RecipeError(f"`{recipe.kind}` does not make {tensor_type.dtype} values, asked for {tensor_type}")
    flat = kind.make(recipe, tensor_type)
    with np.errstate(over="ignore", under="ignore"):  # a value outside the dtype's range becomes an infinity or 0
        return np.ascontiguousarray(flat.astype(numpy_dtype(tensor_type))).reshape(tensor_type.shape)


def _words(recipe: Recipe, stream: str, count: int) -> Array:
    """`count` random 64-bit words; another `stream` of the same recipe is independent."""
    name = zlib.crc32(f"{recipe.kind}/{stream}".encode())
    drawn: Array = np.random.Philox(key=np.array([recipe.seed, name], np.uint64)).random_raw(count)
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
    """The values of a dtype where arithmetic goes wrong: the ends, the smallest steps, the neighbours of 0 and of 1."""
    if dtype.kind == "bool":
        return [0, 1]
    if dtype.kind == "int":
        low, high = dtype.int_range
        return [low, low + 1, -(2**16), -2, -1, 0, 1, 2, 2**16, 2**24 + 1, high - 1, high]
    u, tiny, least = dtype.unit_roundoff, dtype.smallest_subnormal, dtype.smallest_normal
    positive = [0.0, tiny, least - tiny, least, u, 0.5, 1 - u, 1.0, 1 + 2 * u, 2.0, 1 / u, dtype.max_finite / 2]
    return [sign * x for x in [*positive, dtype.max_finite, math.inf] for sign in (1, -1)] + [math.nan]


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
    "causal": Kind(_causal, (), ("float",)),
    "iota": Kind(lambda _, t: np.arange(t.size) % 2 if t.dtype.kind == "bool" else np.arange(t.size)),
    "ones": Kind(lambda _, t: np.ones(t.size)),
    "zeros": Kind(lambda _, t: np.zeros(t.size)),
    "fill": Kind(_values, ("values",)),
    "literal": Kind(_values, ("values",)),
}
