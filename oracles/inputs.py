"""The arrays of a case's inputs: its recipes, made. How, is in `compiler.recipes`, which the command line shares."""

from __future__ import annotations

from compiler.recipes import Recipe, RecipeError, make
from compiler.syntax import inputs
from compiler.types import TensorType
from oracles.case import Case, CaseError
from oracles.engine import Array


def make_inputs(case: Case) -> dict[str, Array]:
    """A fresh array in its native dtype for each placeholder of `@main`, by name: a pure function of the case.

    Raises `CaseError` where a recipe is missing or does not fit its type; `parse_case` lets no such case through.
    """
    types = inputs(case.program.main) if case.program.main else {}
    if missing := types.keys() - case.recipes.keys():
        raise CaseError(f"the inputs {', '.join(sorted(missing))} have no recipes")
    return {name: _make(name, case.recipes[name], type_) for name, type_ in types.items()}


def _make(name: str, recipe: Recipe, type_: TensorType) -> Array:
    try:
        return make(recipe, type_)
    except RecipeError as error:
        raise CaseError(f"input `{name}`: {error}") from error
