"""Inputs as text and as arrays: what each kind promises, that the numbers never change, and what is refused."""

from __future__ import annotations

import hashlib
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.arrays import Array, numpy_dtype
from compiler.kinds import KINDS, Recipe, RecipeError, edge_values
from compiler.recipes import header_inputs, make, parse_recipe, print_recipe
from compiler.types import BF16, BOOL, DTYPES, F16, F32, F64, I32, I64, DType, TensorType

FLOATS = (F16, BF16, F32, F64)
PINNED = {
    "tags": "fdc763ad373cda11",
    "exact": "def315bb084faaae",
    "normal": "d6084d171e50552f",
    "edge": "6b59037c437eb0ed",
    "uniform": "274cfc9d629cbb9e",
    "tokens": "4b6d888ddc1651f0",
    "ids": "c9f1791bc93c449d",
    "powers": "96d7ca54e91065f2",
    "ties": "3790249e8a623f9f",
    "cancel": "3b8efd827da37ffb",
    "masked": "a2d8780c842b204b",
    "causal": "3682a51ce3bdfe92",
    "iota": "21758919155c2bb1",
    "ones": "d33140e52972ed6e",
    "zeros": "2e384af86a480f95",
}


def made(text: str, dtype: DType = F32, *shape: int) -> Array:
    array = make(parse_recipe(text), TensorType(dtype, shape))
    assert array.dtype == numpy_dtype(TensorType(dtype, shape))
    assert array.shape == shape
    assert array.flags.c_contiguous
    assert array.flags.writeable
    return array


def check_refused(text: str, *facts: str, dtype: DType = F32, shape: tuple[int, ...] = (2, 3)) -> None:
    with pytest.raises(RecipeError) as refused:
        made(text, dtype, *shape)
    for fact in facts:
        assert fact in str(refused.value)


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"fill", "literal"}))
def test_the_numbers_of_a_kind_never_change(kind: str) -> None:
    """A corpus entry stores the recipe and not the numbers. Should this fail, every entry means something else."""
    digest = hashlib.sha256()
    recipe = Recipe(kind, seed=11, scale=1.0, bound=5 if "bound" in KINDS[kind].words else 0)
    for dtype in DTYPES.values():
        if dtype.kind in KINDS[kind].dtypes:
            digest.update(make(recipe, TensorType(dtype, (3, 4))).tobytes())
    assert digest.hexdigest()[:16] == PINNED[kind]


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("kind", ["exact seed 3", "normal seed 3", "edge seed 3", "ties seed 3", "iota", "ones"])
def test_a_smaller_shape_gets_the_first_numbers(kind: str, dtype: DType) -> None:
    large, small = made(kind, dtype, 5, 7).ravel(), made(kind, dtype, 3, 2).ravel()
    np.testing.assert_array_equal(large[:6].view(np.uint8), small.view(np.uint8))


@pytest.mark.parametrize("kind", ["tags", "exact", "normal", "edge", "uniform", "powers", "ties", "cancel", "masked"])
def test_another_seed_gives_other_numbers(kind: str) -> None:
    assert made(f"{kind} seed 1", F32, 20).tobytes() != made(f"{kind} seed 2", F32, 20).tobytes()


def test_kinds_do_not_share_their_numbers() -> None:
    assert np.corrcoef(made("normal seed 1", F64, 500), made("uniform seed 1", F64, 500))[0, 1] < 0.2


@pytest.mark.parametrize(("dtype", "count"), [(F16, 60000), (BF16, 60000), (F32, 5000), (F64, 5000), (I32, 5000)])
def test_tags_are_finite_distinct_and_not_zero(dtype: DType, count: int) -> None:
    values = made("tags seed 5", dtype, count).astype(np.float64)
    assert np.isfinite(values).all()
    assert (values != 0).all()
    assert len(np.unique(values)) == count


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_sums_of_products_of_exact_values_are_representable(dtype: DType) -> None:
    left, right = made("exact seed 1", dtype, 4, 8), made("exact seed 2", dtype, 8, 4)
    product = left.astype(np.float64) @ right.astype(np.float64)
    np.testing.assert_array_equal(product.astype(left.dtype).astype(np.float64), product)
    assert len(np.unique(left)) > 3


def test_normal_has_its_mean_and_deviation() -> None:
    """Five deviations of the mean and of the deviation of n values: 1/sqrt(n) and 1/sqrt(2n)."""
    n = 20000
    values = made("normal seed 1 scale 0.5", F64, n)
    assert abs(values.mean()) < 5 * 0.5 / math.sqrt(n)
    assert abs(values.std() - 0.5) < 5 * 0.5 / math.sqrt(2 * n)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_edge_reaches_every_value_of_its_table(dtype: DType) -> None:
    values = made("edge seed 1", dtype, 2000)
    table = np.array(edge_values(dtype)).astype(values.dtype)
    bits = {value.tobytes() for value in values}
    assert not [value for value in table if value.tobytes() not in bits]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_uniform_is_open_whatever_the_dtype(dtype: DType) -> None:
    values = made("uniform seed 1", dtype, 20000).astype(np.float64)
    assert values.min() >= dtype.unit_roundoff
    assert values.max() <= 1 - dtype.unit_roundoff
    assert abs(values.mean() - 0.5) < 5 / math.sqrt(12 * 20000) + dtype.unit_roundoff


def test_tokens_are_all_the_ids_and_no_others() -> None:
    assert set(made("tokens(7) seed 3", I64, 300).tolist()) == set(range(7))


@pytest.mark.parametrize("dtype", [I32, I64], ids=str)
def test_ids_are_inside_and_outside(dtype: DType) -> None:
    values = made("ids(5) seed 3", dtype, 400).tolist()
    assert {*range(5), -1, 5, 6, *dtype.int_range} < set(values)
    assert sum(0 <= value < 5 for value in values) > 150


@pytest.mark.parametrize("dtype", [*FLOATS, I32, I64], ids=str)
def test_powers_multiply_exactly(dtype: DType) -> None:
    values = made("powers seed 3", dtype, 60)
    with np.errstate(over="ignore"):
        assert all(math.frexp(float(value))[0] in (0.5, -0.5) for value in values)
    assert len({abs(float(value)) for value in values}) > 5
    assert np.isfinite((values[:-1] * values[1:]).astype(np.float64)).all()


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_ties_are_whole_rows_too(dtype: DType) -> None:
    rows = made("ties seed 3", dtype, 40, 2)
    assert len(np.unique(rows)) <= 3
    assert len({row.tobytes() for row in rows}) <= 9


@pytest.mark.parametrize("dtype", [*FLOATS, I32, I64], ids=str)
def test_pairs_cancel_to_some_units_of_the_last_place(dtype: DType) -> None:
    values = made("cancel seed 3", dtype, 2, 101).ravel().astype(np.float64)
    first, second = values[0::2], values[1::2]
    left = first + second
    assert (left == 0).any()
    assert (left != 0).any()
    assert (abs(left) <= (6 * dtype.unit_roundoff * abs(first) if dtype.kind == "float" else 2)).all()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_masked_rows_are_hidden_in_part_and_some_throughout(dtype: DType) -> None:
    hidden = np.isneginf(made("masked seed 3", dtype, 50, 4).astype(np.float64))
    assert 5 < hidden.all(axis=1).sum() < 25
    assert (hidden.any(axis=1) & ~hidden.all(axis=1)).any()
    assert made("masked seed 3 scale 0", dtype).shape == ()


def test_causal_shows_a_query_itself_and_what_came_before() -> None:
    mask = made("causal", F32, 2, 1, 3, 3)
    np.testing.assert_array_equal(mask[0, 0], [[0, -np.inf, -np.inf], [0, 0, -np.inf], [0, 0, 0]])
    np.testing.assert_array_equal(mask[0], mask[1])
    np.testing.assert_array_equal(made("causal", F32, 2, 4), [[0, 0, 0, -np.inf], [0, 0, 0, 0]])


def test_literals_stand_in_row_major_order_and_numbers_fill() -> None:
    np.testing.assert_array_equal(made("[[1, -0.5], [inf, 0x1.8p-3]]", F32, 2, 2), [[1, -0.5], [np.inf, 0.1875]])
    np.testing.assert_array_equal(made("[1, 4, 2]", I64, 1, 3), [[1, 4, 2]])
    np.testing.assert_array_equal(made("0.5", F32, 1, 1, 2), [[[0.5, 0.5]]])
    np.testing.assert_array_equal(made("[0, 1]", BOOL, 2), [False, True])
    assert np.isnan(made("nan", BF16))
    assert np.isinf(made("1e300", F16))
    assert made(f"[{2**63 - 1}]", I64, 1).tolist() == [2**63 - 1]


def test_what_does_not_fit_the_type_is_refused_with_both_facts() -> None:
    check_refused("[1, 2]", "2 values", "tensor<F32, [2, 3], @host>")
    check_refused("0.5", "0.5", "I64", dtype=I64)
    check_refused("nan", "nan", "I32", dtype=I32)
    check_refused(str(2**31), str(2**31), "I32", dtype=I32)
    check_refused("2", "2", "BOOL", dtype=BOOL)
    check_refused("uniform", "uniform", "I64", dtype=I64)
    check_refused("tokens(4)", "tokens", "F32")
    check_refused(f"tokens({2**31 + 1})", "I32", dtype=I32)
    check_refused("causal", "rank", "tensor<F32, [3], @host>", shape=(3,))


MALFORMED = f"""
exakt | fill | literal | 1_0 | 0x | --1 | 1e | {"9" * 100}
exact sed 1 | exact seed | exact seed -1 | exact seed 1.5 | tags seed {2**64} | exact seed 1 seed 2 | exact scale 2
normal scale inf | tokens | tokens() | tokens(0) | tokens(x)
[ | [] | [1 | [1,] | [1 2] | [1]] | [1],[2] | ][ | [a] | {"[" * 99999}
"""


@pytest.mark.parametrize("text", ["", *re.split(r" \| |\n", MALFORMED.strip())])
def test_text_that_is_no_recipe_is_refused(text: str) -> None:
    check_refused(text)


_NUMBERS = st.one_of(st.integers(-(2**63), 2**63), st.floats(), st.sampled_from([math.inf, -math.inf, -0.0]))
_RECIPES = st.one_of(
    st.builds(Recipe, st.sampled_from(["tags", "exact", "uniform", "powers"]), st.integers(0, 2**64 - 1)),
    st.builds(
        Recipe,
        st.sampled_from(["normal", "edge", "ties", "cancel", "masked"]),
        st.integers(0, 2**64 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    st.builds(Recipe, st.sampled_from(["tokens", "ids"]), st.integers(0, 9), bound=st.integers(1, 2**63)),
    st.builds(Recipe, st.sampled_from(["causal", "iota", "ones", "zeros"])),
    st.builds(Recipe, st.just("fill"), values=st.tuples(_NUMBERS)),
    st.builds(Recipe, st.just("literal"), values=st.lists(_NUMBERS, min_size=1).map(tuple)),
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(_RECIPES)
def test_a_recipe_reads_back_as_it_was_printed(recipe: Recipe) -> None:
    again = parse_recipe(print_recipe(recipe))
    assert repr(again) == repr(recipe)  # repr tells -0.0 from 0.0, and takes one nan for another


def test_the_header_of_a_case_ends_where_the_program_begins() -> None:
    text = "// why: x\n\n// inputs: a = ones; b = [1, 2]\n//inputs: c = ones;\n@main {\n// inputs: d = ones\n}\n"
    assert list(header_inputs(text)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "text", ["// inputs: a", "// inputs: 1a = ones", "// inputs: a = ones; a = zeros", "// inputs: = 1"]
)
def test_a_header_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(RecipeError):
        header_inputs(text)
