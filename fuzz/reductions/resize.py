"""Reductions of sizes: smaller dims, fewer axes, plainer attributes.

None of these knows an op. Each changes numbers at some sites of the program (the shape of an input or a constant, the
attributes of an op) in every combination that is not too many, lets `retyped` derive all types again, and drops what
has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product
from math import prod

import numpy as np

from compiler.checker import check
from compiler.syntax import Apply, AttrValue, Expr, Literal, Placeholder, Program, inputs
from compiler.types import Scalar, TensorType
from fuzz.reductions.retype import retyped
from fuzz.reductions.tidy import tidied
from fuzz.reductions.trees import rewrite_program
from oracles.case import Case

Shape = tuple[int, ...]

MOST_SITES = 6  # equal dims of which every subset is tried
MOST_CHOICES = 3000  # combinations of axes, a fraction of a millisecond each


@dataclass(frozen=True, slots=True)
class Site:
    """A number, or some, that a program is written with: `name` is "input" for a type, else the attribute's."""

    name: str
    value: AttrValue


def sites(program: Program) -> list[Site]:
    """All sites, in the order in which `with_sites` takes their new values."""
    found: list[Site] = []

    def note(site: Site) -> AttrValue:
        found.append(site)
        return site.value

    _rewritten(program, note)
    return found


def with_sites(program: Program, values: Sequence[AttrValue]) -> Program:
    """The program with other values at its sites."""
    left = iter(values)
    return _rewritten(program, lambda _: next(left))


def _rewritten(program: Program, change: Callable[[Site], AttrValue]) -> Program:
    def changed(expr: Expr) -> Expr:
        match expr:
            case Placeholder():
                return Placeholder(_reshaped(expr.type, change))
            case Literal():
                new = _reshaped(expr.type, change)
                return Literal(new, cropped(expr.values, expr.type.shape, new.shape))
            case Apply():
                return replace(expr, attrs=tuple((name, change(Site(name, value))) for name, value in expr.attrs))
            case _:
                return expr

    return rewrite_program(program, changed)


def _reshaped(tensor_type: TensorType, change: Callable[[Site], AttrValue]) -> TensorType:
    shape = change(Site("input", tensor_type.shape))
    return tensor_type.with_shape(shape) if isinstance(shape, tuple) else tensor_type


def cropped(values: tuple[Scalar, ...], old: Shape, new: Shape) -> tuple[Scalar, ...]:
    """The values at the first indices of each axis; the first ones there are, where the rank changes."""
    if len(old) != len(new):
        return values[: prod(new)]
    places = np.arange(prod(old)).reshape(old)[tuple(slice(size) for size in new)]
    return tuple(values[place] for place in np.ravel(places))


def _candidate(case: Case, program: Program, values: Sequence[AttrValue]) -> Iterator[Case]:
    """The case with other values at its sites, if it has types then."""
    changed = retyped(with_sites(program, values))
    if changed is None or changed.main is None or case.program.main is None:
        return
    old, new = inputs(case.program.main), inputs(changed.main)
    recipes = {
        name: replace(recipe, values=cropped(recipe.values, old[name].shape, new[name].shape))
        if recipe.kind == "literal"
        else recipe
        for name, recipe in case.recipes.items()
    }
    yield tidied(replace(case, program=changed, recipes=recipes))


def _elaborated(case: Case) -> Program:
    """The program with a shape at every `broadcast`."""
    return check(case.program).program


# Dims.


def smaller_dims(case: Case) -> Iterator[Case]:
    """A size replaced by a smaller one, wherever it stands or at some of its sites, and its multiples with it."""
    program = _elaborated(case)
    found = sites(program)
    sizes = {size for site in found if site.name in ("input", "shape") for size in _ints(site.value)}
    for size in sorted(sizes, reverse=True):
        for new in sorted({1, 2, size // 2, size - 1}):
            if 1 <= new < size:
                for change in _changes(found, size, new):
                    yield from _candidate(case, program, change)


def _changes(found: Sequence[Site], size: int, new: int) -> Iterator[list[AttrValue]]:
    """The values of all sites with `new` for `size`: everywhere, then at each subset of its places."""
    places = [
        (index, axis)
        for index, site in enumerate(found)
        if site.name in ("input", "shape")
        for axis, value in enumerate(_ints(site.value))
        if value == size
    ]
    subsets = [set(places)]
    if len(places) <= MOST_SITES:
        subsets += [set(some) for count in range(len(places) - 1, 0, -1) for some in combinations(places, count)]
    for subset in subsets:
        yield [_replaced(site, index, subset, size, new, multiples=False) for index, site in enumerate(found)]
        yield [_replaced(site, index, subset, size, new, multiples=True) for index, site in enumerate(found)]


def _replaced(site: Site, index: int, subset: set[tuple[int, int]], size: int, new: int, multiples: bool) -> AttrValue:
    if site.name not in ("input", "shape"):
        return site.value

    def dim(axis: int, old: int) -> int:
        scales = multiples and old != size and old % size == 0
        return old // size * new if scales else new if (index, axis) in subset else old

    return tuple(dim(axis, old) for axis, old in enumerate(_ints(site.value)))


def _ints(value: AttrValue) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else ()


# Axes.


def fewer_axes(case: Case) -> Iterator[Case]:
    """Axes of size 1 left out of inputs, with shapes, permutations and axes renumbered in whatever way fits."""
    program = _elaborated(case)
    options = [_without_axis(site) for site in sites(program)]
    if prod(len(choices) for choices in options) <= MOST_CHOICES:
        for values in product(*options):
            yield from _candidate(case, program, values)
        return
    for place in range(max(len(_ints(site.value)) for site in sites(program))):
        yield from _candidate(case, program, [_at(site, place) for site in sites(program)])


def _without_axis(site: Site) -> list[AttrValue]:
    """What a site may become when values lose an axis: the choices that lose one first."""
    shape = _ints(site.value)
    if site.name in ("input", "shape"):
        shorter: list[AttrValue] = [shape[:axis] + shape[axis + 1 :] for axis, size in enumerate(shape) if size == 1]
        return [*dict.fromkeys(shorter), shape]
    if site.name == "perm":
        return [*dict.fromkeys(_perm_without(shape, axis) for axis in range(len(shape))), shape]
    if site.name == "axis" and isinstance(site.value, int) and site.value > 0:
        return [site.value - 1, site.value]
    return [site.value]


def _perm_without(perm: Shape, axis: int) -> Shape:
    return tuple(old - (old > axis) for old in perm if old != axis)


def _at(site: Site, place: int) -> AttrValue:
    """The site without the axis at `place` of every value, for a program with too many sites to combine."""
    shape = _ints(site.value)
    if site.name in ("input", "shape") and place < len(shape) and shape[place] == 1:
        return shape[:place] + shape[place + 1 :]
    if site.name == "perm" and place < len(shape):
        return _perm_without(shape, place)
    if site.name == "axis" and isinstance(site.value, int) and site.value > place:
        return site.value - 1
    return site.value


# Attributes.


def plainer_attributes(case: Case) -> Iterator[Case]:
    """Each attribute on its own: a permutation that comes earlier, a smaller axis, a slice that begins earlier."""
    program = _elaborated(case)
    found = sites(program)
    for index, site in enumerate(found):
        for value in _plainer(site):
            yield from _candidate(case, program, [value if at == index else old.value for at, old in enumerate(found)])


def _plainer(site: Site) -> Iterator[AttrValue]:
    if site.name == "perm":
        yield from (perm for perm in permutations(range(len(_ints(site.value)))) if perm < _ints(site.value))
    elif site.name not in ("input", "shape") and isinstance(site.value, int):
        yield from range(min(site.value, 8))
