"""Rewriting keeps the meaning where it should: the same results, by the reference, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from compiler.checker import check
from compiler.syntax import Block, Name, Program, inputs
from fuzz.generate.draw import draw_cases
from fuzz.generate.storylm import storylm_cases
from fuzz.minimize import minimize, reference_values
from fuzz.reductions.cuts import graph, graphs, part, spans
from fuzz.reductions.flat import flatten, sole_call, unnested, wrap
from fuzz.reductions.pipelines import shorter_pipeline
from fuzz.reductions.resize import fewer_axes, sites, smaller_dims, with_sites
from fuzz.reductions.retype import retyped
from fuzz.reductions.spelling import fewer_lets, short_names
from fuzz.reductions.tidy import tidied, without_claims
from fuzz.reductions.trees import count_ops, rewrite_program
from oracles import judge
from oracles.case import Case, parse_case
from oracles.engine import Array, Observation
from oracles.evaluator import evaluate
from oracles.inputs import make_inputs
from oracles.numpy_reference import LIBRARY
from oracles.verdict import Agree

CASES = draw_cases(storylm_cases(), 8, 10)

DEAD = """// inputs: a = iota; b = ones; unused = zeros
// expect: agree
let never = fn(a: tensor<F32, [2], @host>) -> tensor<F32, [2], @host> { a }
let f = fn(
  a: tensor<F32, [2], @host>,
  b: tensor<F32, [2], @host>
) -> (tensor<F32, [2], @host>, tensor<F32, [2], @host>) {
  let dead = b * b;
  (a + a, dead)
}
@main {
  let a = tensor<F32, [2], @host>;
  let b = tensor<F32, [2], @host>;
  let unused = tensor<F32, [2], @host>;
  let (x, y) = f(a, b);
  let z = y - x;
  x
}
"""


def results(case: Case) -> list[Array]:
    with np.errstate(all="ignore"):
        return [value.array for value in evaluate(case.program, make_inputs(case), LIBRARY).results]


def check_same(case: Case, other: Case) -> None:
    check(other.program)
    for left, right in zip(results(case), results(other), strict=True):
        np.testing.assert_array_equal(left, right)


def elaborated(case: Case) -> Program:
    return check(case.program).program


def one_fn(case: Case) -> Program:
    program = elaborated(case)
    flat = flatten(program, {fn.name for fn in program.fns}).block
    return wrap(flat, (), check(Program((), flat)).values["@main"])


REWRITINGS: dict[str, Callable[[Case], Case]] = {
    "flatten": lambda case: replace(case, program=Program(elaborated(case).fns, flatten(elaborated(case), ()).block)),
    "inline": lambda case: replace(
        case, program=Program((), flatten(elaborated(case), {fn.name for fn in case.program.fns}).block)
    ),
    "unnested": lambda case: replace(case, program=unnested(elaborated(case))),
    "wrap": lambda case: replace(case, program=one_fn(case)),
    "tidied": tidied,
    "short_names": lambda case: next(short_names(case)),
    "fewer_lets": lambda case: next(fewer_lets(case)),
    "rewrite": lambda case: replace(case, program=rewrite_program(case.program, lambda expr: expr)),
}


@pytest.mark.parametrize("name", REWRITINGS)
def test_the_results_stay(name: str) -> None:
    for case in CASES:
        check_same(case, REWRITINGS[name](case))


def test_retyping_what_has_types_changes_nothing() -> None:
    for case in CASES:
        assert retyped(elaborated(case)) == elaborated(case)
        program = elaborated(case)
        assert with_sites(program, [site.value for site in sites(program)]) == program


def test_a_sole_call_is_seen() -> None:
    case = replace(CASES[0], program=one_fn(CASES[0]))
    assert sole_call(case.program) == "f"
    assert sole_call(CASES[0].program) is None
    merged = parse_case("@main { let a = tensor<F32, [], @host>; a }\n".replace("@main", "// inputs: a = ones\n@main"))
    assert sole_call(merged.program) is None


def test_dead_code_goes() -> None:
    smaller = tidied(parse_case(DEAD))
    assert set(smaller.recipes) == {"a"}
    (fn,) = smaller.program.fns
    assert ([param.name for param in fn.params], len(fn.results), count_ops(smaller.program)) == (["a"], 1, 1)
    check_same(parse_case(DEAD), smaller)


def test_a_claim_keeps_its_sides_alive() -> None:
    for case in CASES:
        kept = tidied(replace(case, program=Program(case.program.fns, only_first_result(case))))
        assert kept.claims == case.claims
        check(kept.program)
        assert tidied(without_claims(kept, case.claims)).claims == ()


def only_first_result(case: Case) -> Block:
    assert case.program.main is not None
    return Block(case.program.main.lets, case.program.main.result[:1])


def test_a_part_is_fed_what_the_whole_computed() -> None:
    """Each op alone, fed with rounded values, gives what the judge allows it to give in the program."""
    for case in CASES[:4]:
        wrapped = replace(case, program=one_fn(case), claims=())
        (whole,) = graphs(wrapped, reference_values)
        seen = dict(whole.arrays)
        for node in whole.nodes[::7]:
            alone = part(whole, [node], [Name(name) for name in node.names])
            check(alone.program)
            values = reference_values(alone)
            for name, expr in zip(node.names, alone.program.main.result if alone.program.main else (), strict=True):
                assert isinstance(expr, Name)
                seen[name] = values[expr.id]
        outcome = Observation(seen, tuple(seen[expr.id] for expr in whole.result if isinstance(expr, Name)))
        assert isinstance(judge.judge_case(whole.case, make_inputs(whole.case), outcome), Agree)


def test_calls_are_left_alone_where_wanted() -> None:
    for case in CASES[:4]:
        (whole,) = graph(case, reference_values, set(), wrapped=False)
        assert {fn.name for fn in whole.fns} == {fn.name for fn in case.program.fns}
        check_same(case, part(whole, whole.nodes, whole.result))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 20])
def test_spans_cover_everything_and_keep_inside(count: int) -> None:
    found = list(spans(count))
    assert all(0 <= start < stop <= count for start, stop in found)
    assert {index for start, stop in found for index in range(start, stop)} == set(range(count if count > 1 else 0))
    assert len(found) <= 4 * count


def test_smaller_dims_check_and_run() -> None:
    smallest = minimize(CASES[0], lambda case: count_ops(case.program) >= 3)
    for candidate in (*islice(smaller_dims(CASES[1]), 20), *islice(fewer_axes(smallest), 50)):
        check(candidate.program)
        assert candidate.recipes.keys() == inputs(candidate.program.main).keys() if candidate.program.main else False
        results(candidate)


TWO_OF_MANY = (
    "default + tensor:cse + convert-linalg-to-affine-loops + affine-loop-tile{tile-size=2 separate=true} + cf:sccp"
)


def test_of_a_pipeline_the_guilty_passes_are_left_without_what_is_not_needed() -> None:
    case = replace(CASES[0], pipeline=TWO_OF_MANY)
    guilty = ["convert-linalg-to-affine-loops", "affine-loop-tile", "separate=true"]
    smaller = minimize(case, lambda case: all(word in case.pipeline for word in guilty), calls=60)
    assert smaller.pipeline == "default + convert-linalg-to-affine-loops + affine-loop-tile{separate=true}"


def test_a_pipeline_that_is_not_to_blame_becomes_the_usual_one() -> None:
    (first, *_) = shorter_pipeline(replace(CASES[0], pipeline=TWO_OF_MANY))
    assert first.pipeline == "default"
    assert list(shorter_pipeline(replace(CASES[0], pipeline="default"))) == []
