"""The minimiser: the smallest case that still shows the same bug.

What "smaller" means (`order`), the search and its budget. What may be tried is in `fuzz.reductions.passes`; whether a
case still shows the bug is the caller's predicate, which should compare Signatures, so that the search cannot slip to
another bug.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from compiler.checker import check
from compiler.recipes import Recipe
from compiler.source import CompileError
from compiler.syntax import Apply, Literal, Placeholder, While
from fuzz.reductions.cuts import Array, Values
from fuzz.reductions.passes import Pass, first_passes, passes, restatements
from fuzz.reductions.trees import blocks, count_ops, expressions
from oracles import numpy_reference
from oracles.case import Case, CaseError, print_case
from oracles.evaluator import EvaluationError, evaluate
from oracles.inputs import make_inputs

Predicate = Callable[[Case], bool]
Order = tuple[int, int, int, int, int, str]

MOST_CALLS = 2000  # of the predicate: met only by a search that no longer gets anywhere

KINDS = (
    *("zeros", "ones", "iota", "fill", "literal", "causal", "tags", "exact", "uniform", "tokens"),
    *("powers", "normal", "ties", "cancel", "masked", "ids", "edge"),
)
"""Recipes from the plainest: what a person sees through at once, then what has numbers of its own."""


class NotFailing(ValueError):
    """The case to be minimised does not show the bug to begin with."""


def reference_values(case: Case) -> Mapping[str, Array]:
    """The NumPy reference's value of every let of `@main`, rounded to its dtype."""
    with np.errstate(all="ignore"):  # hostile values are the reference's everyday
        lets = evaluate(case.program, make_inputs(case), numpy_reference.LIBRARY).lets
    return {name: numpy_reference.quantize(value.array, value.dtype) for name, value in lets.items()}


def minimize(
    case: Case,
    predicate: Predicate,
    seconds: float = 60.0,
    calls: int = MOST_CALLS,
    values: Values = reference_values,
) -> Case:
    """The simplest case found for which `predicate` holds, within a budget of `seconds` and `calls` of it.

    Deterministic as long as the calls are what ends the search. Raises `NotFailing`. Whatever the predicate raises
    goes through, and with it the search ends.
    """
    case = replace(case, text="")
    search = _Search(predicate, values, time.monotonic() + seconds, calls)
    if not search.fails(case):
        raise NotFailing("the case does not fail: there is nothing to minimise")
    best = search.descend(case, first_passes(values))
    restated = search.restate(best, restatements(values))
    return min(best, search.descend(restated, passes(values)), key=order)


def order(case: Case) -> Order:
    """Simpler cases come first: fewer ops, then fns, lets and claims, then elements, plainer inputs, shorter text."""
    program = case.program
    text = print_case(case)
    lets = sum(len(block.lets) for block in blocks(program)) + len(program.fns) + len(case.claims)
    inputs = sum(recipe_cost(recipe) for recipe in case.recipes.values())
    return count_ops(program), lets, _elements(case), inputs, len(text), text


def _elements(case: Case) -> int:
    """Elements of inputs, constants and shapes that are written out."""
    total = 0
    for expr in expressions(case.program):
        if isinstance(expr, Placeholder | Literal):
            total += expr.type.size
        elif isinstance(expr, Apply):
            total += sum(prod(value) for name, value in expr.attrs if name == "shape" and isinstance(value, tuple))
    return total


def recipe_cost(recipe: Recipe) -> int:
    """How much there is to read in a recipe: its kind, then its numbers."""
    numbers = len(str(recipe.seed)) + len(f"{recipe.scale:g}") if recipe.kind not in ("fill", "literal") else 0
    return KINDS.index(recipe.kind) + numbers + sum(len(f"{value:g}") for value in recipe.values)


@dataclass(slots=True)
class _Search:
    """The predicate with its budget, and the texts that were tried in vain."""

    predicate: Predicate
    values: Values
    deadline: float
    calls: int
    refuted: set[str] = field(default_factory=set)

    @property
    def spent(self) -> bool:
        return self.calls <= 0 or time.monotonic() > self.deadline

    def fails(self, case: Case) -> bool:
        """Whether the case shows the bug; False once the budget is spent. What does not check is not asked."""
        if self.spent or not _valid(case, self.values):
            return False
        text = print_case(case)
        if text in self.refuted:
            return False
        self.calls -= 1
        if self.predicate(case):
            return True
        self.refuted.add(text)
        return False

    def descend(self, case: Case, tried: Sequence[Pass]) -> Case:
        """Pass after pass, each as long as it helps, until a whole round does not."""
        before = None
        while case != before and not self.spent:
            before = case
            for reduce in tried:
                case = self.exhaust(case, reduce)
        return case

    def exhaust(self, case: Case, reduce: Pass) -> Case:
        """The case once none of the pass's candidates is simpler and fails."""
        while not self.spent:
            bound = order(case)
            smaller = self.first(candidate for candidate in reduce(case) if order(candidate) < bound)
            if smaller is None:
                break
            case = smaller
        return case

    def restate(self, case: Case, tried: Iterable[Pass]) -> Case:
        """The first other form that fails, whatever its size, else the case."""
        found = self.first(candidate for restatement in tried for candidate in restatement(case))
        return case if found is None else found

    def first(self, candidates: Iterable[Case]) -> Case | None:
        return next((candidate for candidate in candidates if self.fails(candidate)), None)


def _valid(case: Case, values: Values) -> bool:
    """Whether the checker takes the program, its results can be written, the recipes fit, and its loops end."""
    if not all(block.result for block in blocks(case.program)):
        return False
    try:
        check(case.program)
        make_inputs(case)
        if any(isinstance(expr, While) for expr in expressions(case.program)):
            values(case)
    except (CompileError, CaseError, EvaluationError):
        return False
    return True
