"""Recipes for the inputs of StoryLM cases: weights by regime, prompts, scales.

A regime is drawn for a whole model, because numbers that are drawn one weight at a time almost never leave a chain of
matmuls exact, saturated or tied. What a recipe makes lives in `compiler.recipes`. Strategies are built once: building
one costs as much as a hundred draws.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import sqrt

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from compiler.recipes import Recipe
from compiler.types import BF16, F16, F32, DType, round_to
from fuzz.generate.model import WEIGHTS

Weights = dict[str, Recipe]

SEEDS = st.integers(0, 999)
SCALES = (0.3, 0.5, 1.0, 2.0)
LARGE_SCALES = (3.0, 4.0)  # scores of a few hundred: an exp that is not stabilised overflows F32 at 88.8
DYADIC = (0.5, 1.0, 2.0, -0.5, 16.0)  # multiplying by these is exact; 16 nearly saturates a softmax


def seeded(kind: str) -> SearchStrategy[Recipe]:
    """`kind seed N`."""
    return SEEDS.map(lambda seed: Recipe(kind, seed))


def normal(*scales: float) -> SearchStrategy[Recipe]:
    """`normal seed N scale S`."""
    return st.builds(lambda seed, scale: Recipe("normal", seed, scale), SEEDS, st.sampled_from(scales))


def plain(*kinds: str) -> SearchStrategy[Recipe]:
    """One of the kinds without parameters."""
    return st.sampled_from([Recipe(kind) for kind in kinds])


def _each(recipes: SearchStrategy[Recipe], **fixed: SearchStrategy[Recipe]) -> SearchStrategy[Weights]:
    return st.fixed_dictionaries({name: fixed.get(name, recipes) for name in WEIGHTS})


EXACT = seeded("exact")
EDGE = seeded("edge")  # seldom: where infinities meet, little can be judged
USUAL = normal(*SCALES) | EXACT
ORDINARY = tuple(_each(normal(scale)) for scale in SCALES)
DYADIC_WEIGHTS = _each(EXACT)
LARGE = _each(normal(*LARGE_SCALES))
TIES = (  # equal logits, exactly: the order of the classes alone decides the argmax
    _each(normal(*SCALES), lm_head=plain("ones", "zeros")),
    _each(EXACT, embed=plain("ones"), wo=plain("ones", "zeros")),
)
MIXED = (_each(USUAL | plain("iota", "ones", "zeros")), _each(seeded("uniform")))
HOSTILE = (
    _each(USUAL, wv=st.sampled_from((False,) * 9 + (True,)).flatmap(lambda hostile: EDGE if hostile else USUAL)),
)
SMALL = (  # F16 ends at 65504, and a score is a sum of products of four; the bits of BF16 do not tell a large one
    *(_each(normal(scale)) for scale in SCALES if scale <= 1),
    DYADIC_WEIGHTS,
    _each(normal(0.5), lm_head=plain("ones", "zeros")),
    _each(seeded("uniform")),
)


def _moves(width: int) -> SearchStrategy[Weights]:
    """Caches that are a copy of the embedding, whose elements are distinct: any misplaced element shows, bitwise."""
    identity = st.just(Recipe("literal", values=tuple(float(at % (width + 1) == 0) for at in range(width * width))))
    none = plain("zeros")
    return _each(plain("iota", "ones"), embed=seeded("tags"), wq=none, wk=identity, wv=identity, wo=none)


@cache
def weights(width: int, dtype: DType = F32, finite: bool = False) -> SearchStrategy[Weights]:
    """A recipe for each of `WEIGHTS`; in two cases of five the numbers are those of an ordinary model.

    `finite`: neither infinities nor NaN, which a mask does not hide: a probability of 0 times infinity is NaN.
    """
    regimes = (*ORDINARY, *ORDINARY, DYADIC_WEIGHTS, DYADIC_WEIGHTS, LARGE, LARGE, *TIES, _moves(width), *MIXED)
    regimes += () if finite else HOSTILE
    return st.sampled_from(SMALL if dtype in (F16, BF16) else regimes).flatmap(lambda regime: regime)


OTHER = normal(0.5, 2.0) | EXACT


def changed(recipe: Recipe) -> SearchStrategy[Recipe]:
    """Another value for a weight: what a model of another state would hold in its place."""
    return OTHER.filter(lambda drawn: drawn != recipe)


@cache
def scales(head_dim: int, dtype: DType) -> SearchStrategy[tuple[float, bool]]:
    """The scale of the scores, a value of `dtype`, and whether the scores are divided by it."""
    root = round_to(dtype, Fraction(sqrt(head_dim)))
    inverse = round_to(dtype, Fraction(1 / sqrt(head_dim)))
    dyadic = [(value, divides) for value in DYADIC for divides in (False, True)]
    return st.sampled_from([(inverse, False)] * 6 + [(root, True)] * 4 + dyadic)


@cache
def prompts(size: int, vocab: int) -> SearchStrategy[Recipe]:
    """Ids of a prompt, repeated ones among them."""
    spelled = st.lists(st.integers(0, vocab - 1), min_size=size, max_size=size)
    literal = spelled.map(lambda values: Recipe("literal", values=tuple(values)))
    return SEEDS.map(lambda seed: Recipe("tokens", seed, bound=vocab)) | literal | plain("zeros")
