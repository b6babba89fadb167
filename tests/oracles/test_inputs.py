"""The arrays of a case: native dtypes, a pure function of the case, and an error for a case made by hand wrongly."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from compiler.recipes import Recipe
from compiler.types import DTYPES
from oracles.case import Case, CaseError, parse_case
from oracles.inputs import make_inputs
from oracles.numpy_reference import NATIVE

TEXT = "\n".join(
    [
        f"// inputs: {'; '.join(f'{name} = exact seed 7' for name in DTYPES)}",
        f"@main {{ {' '.join(f'let {name} = tensor<{name}, [2, 3], @host>;' for name in DTYPES)} (F32, F32) }}",
    ]
)


def case(**changes: dict[str, Recipe]) -> Case:
    return dataclasses.replace(parse_case(TEXT), **changes)  # type: ignore[arg-type] # the fields here are recipes


def test_native_dtypes_and_declared_shapes() -> None:
    arrays = make_inputs(case())
    assert {name: array.dtype for name, array in arrays.items()} == NATIVE
    assert {array.shape for array in arrays.values()} == {(2, 3)}


def test_the_same_case_makes_the_same_fresh_arrays() -> None:
    first, second = make_inputs(case()), make_inputs(case())
    for name in first:
        assert first[name].tobytes() == second[name].tobytes()
        assert not np.shares_memory(first[name], second[name])


def test_a_missing_recipe_is_an_error() -> None:
    with pytest.raises(CaseError, match="the inputs I32, I64 have no recipes"):
        make_inputs(case(recipes={name: Recipe("zeros") for name in DTYPES if not name.startswith("I")}))


def test_a_recipe_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(CaseError, match="input `F32`: `tokens` does not make F32 values"):
        make_inputs(
            case(
                recipes={name: Recipe("tokens", bound=8) for name in DTYPES if name == "F32"}
                | {name: Recipe("zeros") for name in DTYPES if name != "F32"}
            )
        )
