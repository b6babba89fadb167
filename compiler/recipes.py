"""The inputs of a case as text (`exact seed 7`, `tokens(8) seed 1`, `[1, 4, 2]`), and `make`, which makes the array.

What each kind makes is in `compiler.kinds`. Nothing here knows of MLIR or of a program.
"""

from __future__ import annotations

import math
import re

import numpy as np

from compiler.arrays import Array, numpy_dtype
from compiler.kinds import KINDS, Recipe, RecipeError
from compiler.types import Scalar, TensorType

__all__ = [
    "KINDS",
    "Recipe",
    "RecipeError",
    "header_inputs",
    "make",
    "parse_inputs",
    "parse_recipe",
    "print_recipe",
]

LARGEST_SEED = 2**64 - 1  # one word of the generator's key
LONGEST_NUMBER = 64  # characters; the longest F64 that repr or float.hex prints has 24
_NUMBER = re.compile(
    r"[-+]?(?:inf|nan|0x[0-9a-f]+(?:\.[0-9a-f]*)?p[-+]?\d+|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)", re.IGNORECASE
)


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
        raise RecipeError(f"the V of {kind}(V) is a positive integer, got {bound}")
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


def make(recipe: Recipe, tensor_type: TensorType) -> Array:
    """A fresh C-contiguous array of `tensor_type`. Raises `RecipeError` where the kind does not fit the type."""
    kind = KINDS[recipe.kind]
    if tensor_type.dtype.kind not in kind.dtypes:
        raise RecipeError(f"`{recipe.kind}` does not make {tensor_type.dtype} values, asked for {tensor_type}")
    flat = kind.make(recipe, tensor_type)
    with np.errstate(over="ignore", under="ignore"):  # a value outside the dtype's range becomes an infinity or 0
        return np.ascontiguousarray(flat.astype(numpy_dtype(tensor_type))).reshape(tensor_type.shape)
