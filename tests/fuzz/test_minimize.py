"""The quality of the minimiser: the minimum of this is that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from compiler.checker import check
from compiler.recipes import KINDS, Recipe
from compiler.syntax import Apply, While, walk_block
from fuzz.generate.draw import draw_cases
from fuzz.generate.storylm import storylm_cases
from fuzz.minimize import NotFailing, minimize, order, recipe_cost, reference_values
from fuzz.reductions.trees import expressions
from oracles.case import Case, parse_case, print_case
from oracles.engine import Array
from tests.fuzz.broken import FAULTS, Broken

Predicate = Callable[[Case], bool]

CHAIN = """// why: a chain
// inputs: a = normal seed 3; b = normal seed 4 scale 2; i = [2, 0, 1]
// claim: y == y2
// expect: agree
let step = fn(
  a: tensor<F32, [3, 4], @host>,
  b: tensor<F32, [4, 3], @host>
) -> (
  tensor<F32, [3, 3], @host>,
  tensor<F32, [3, 4], @host>
) {
  let p = a @ b;
  let q = softmax(p * p, axis=1);
  (q - p, a)
}

@main {
  let a = tensor<F32, [3, 4], @host>;
  let b = tensor<F32, [4, 3], @host>;
  let i = tensor<I64, [3], @host>;
  let (y, a2) = step(a, b);
  let (y2, a3) = step(a2, b);
  let g = gather(y, i);
  let t = argmax(g, axis=1);
  (y, y2, t, g)
}
"""

LOOP = """// why: a loop
// inputs: a = normal seed 3; n = [3]
// expect: agree
let f = fn(
  a: tensor<F32, [3, 4], @host>,
  n: tensor<I64, [1], @host>
) -> tensor<F32, [3, 4], @host> {
  let (j, u, v) = while (
    i: tensor<I64, [1], @host> = tensor<I64, [1], @host>[0],
    x: tensor<F32, [3, 4], @host> = a * a,
    y: tensor<F32, [3, 4], @host> = a
  ) i < n {
    let w = tanh(x) + y;
    (i + tensor<I64, [1], @host>[1], w, x)
  };
  u - v
}

@main {
  let a = tensor<F32, [3, 4], @host>;
  let n = tensor<I64, [1], @host>;
  let r = f(a, n);
  (r, r + a)
}
"""


def uses(*ops: str) -> Predicate:
    return lambda case: {expr.callee for expr in expressions(case.program) if isinstance(expr, Apply)} >= set(ops)


def called_twice(case: Case) -> bool:
    fns = {fn.name for fn in case.program.fns}
    calls = Counter(expr.callee for expr in expressions(case.program) if isinstance(expr, Apply))
    return any(calls[fn] > 1 for fn in fns)


def tied(case: Case) -> bool:
    """An argmax over two equal maxima, by the reference."""
    met = False

    def look(x: Array, axis: int) -> Array:
        nonlocal met
        met = met or bool(((x == x.max(axis=axis, keepdims=True)).sum(axis=axis) > 1).any())
        return np.asarray(x.argmax(axis=axis))

    Broken("argmax", look, whole=True).outcome(case)
    return met


def check_minimum(case: Case, predicate: Predicate, inputs: str, program: str) -> None:
    """The smallest case has these inputs and this program, fails, checks, and is its own minimum."""
    smallest = minimize(case, predicate)
    assert predicate(smallest)
    check(smallest.program)
    header, _, text = print_case(smallest).partition("// expect: agree\n")
    assert header.splitlines()[1:] == ([f"// inputs: {inputs}"] if inputs else [])
    assert " ".join(text.split()) == " ".join(program.split())
    assert minimize(smallest, predicate) == smallest


@pytest.mark.parametrize(
    ("ops", "inputs", "program"),
    [
        (["softmax"], "a = zeros", "@main { let a = tensor<F32, [1], @host>; softmax(a, axis=0) }"),
        (["argmax"], "a = zeros", "@main { let a = tensor<F32, [1], @host>; argmax(a, axis=0) }"),
        (["mul"], "a = zeros", "@main { let a = tensor<F32, [], @host>; a * a }"),
        (
            ["gather"],
            "a = zeros; b = zeros",
            "@main { let a = tensor<F32, [1], @host>; let b = tensor<I64, [], @host>; gather(a, b) }",
        ),
        (
            ["matmul"],
            "a = zeros; b = zeros",
            "@main { let a = tensor<F32, [1, 1], @host>; let b = tensor<F32, [1, 1], @host>; a @ b }",
        ),
        (
            ["gather", "argmax"],
            "a = zeros; b = zeros",
            "@main { let a = tensor<F32, [1], @host>; let b = tensor<I64, [1], @host>; argmax(gather(a, b), axis=0) }",
        ),
    ],
    ids=str,
)
def test_what_an_op_needs_is_all_that_stays(ops: list[str], inputs: str, program: str) -> None:
    check_minimum(parse_case(CHAIN), uses(*ops), inputs, program)


def test_a_call_stays_a_call() -> None:
    check_minimum(
        parse_case(CHAIN),
        called_twice,
        "a = zeros",
        """let f = fn( a: tensor<F32, [], @host> ) -> tensor<F32, [], @host> { a }
        @main { let a = tensor<F32, [], @host>; f(f(a)) }""",
    )


def test_a_claim_stays_where_it_matters() -> None:
    smallest = minimize(parse_case(CHAIN), lambda case: bool(case.claims))
    assert [str(claim) for claim in smallest.claims] != []
    assert order(smallest)[0] == 0


def test_values_that_matter_are_kept_as_numbers() -> None:
    check_minimum(
        replace(parse_case(CHAIN), recipes=parse_case(CHAIN).recipes | {"a": Recipe("zeros")}),
        tied,
        "a = zeros",
        "@main { let a = tensor<F32, [2], @host>; argmax(a, axis=0) }",
    )


def test_a_number_that_matters_is_made_plain() -> None:
    def predicate(case: Case) -> bool:
        return any(np.any(value > 90) for value in reference_values(case).values())

    case = replace(parse_case(CHAIN), recipes=parse_case(CHAIN).recipes | {"b": Recipe("normal", 4, 300.0)})
    check_minimum(case, predicate, "a = 100.0", "@main { let a = tensor<F32, [], @host>; a }")


def loops(case: Case) -> bool:
    return any(isinstance(expr, While) for expr in expressions(case.program))


def loops_over_tanh(case: Case) -> bool:
    found = [expr for expr in expressions(case.program) if isinstance(expr, While)]
    return any(isinstance(e, Apply) and e.callee == "tanh" for loop in found for e in walk_block(loop.body))


@pytest.mark.parametrize(
    ("predicate", "ops"), [(uses("tanh"), 1), (loops, 2), (loops_over_tanh, 3), (uses("mul"), 1)], ids=str
)
def test_loops_are_unrolled_or_emptied(predicate: Predicate, ops: int) -> None:
    smallest = minimize(parse_case(LOOP), predicate)
    assert order(smallest)[0] == ops
    assert order(smallest)[2] <= 3


def shows(fault: Broken, outcome: str) -> Predicate:
    return lambda case: fault.outcome(case) == outcome


@pytest.mark.parametrize("name", FAULTS)
def test_a_seeded_fault_ends_as_one_op(name: str) -> None:
    """Whichever way a StoryLM case meets it, stepped or whole."""
    for fault in (FAULTS[name], replace(FAULTS[name], whole=True)):
        case = next(case for case in STORYLM if fault.outcome(case) != "agree")
        smallest = minimize(case, shows(fault, fault.outcome(case)))
        assert fault.outcome(smallest) == fault.outcome(case)
        callees = [expr.callee for expr in expressions(smallest.program) if isinstance(expr, Apply)]
        assert [callee for callee in callees if callee != "f"] == [fault.op]
        assert order(smallest)[2] <= 8


STORYLM = draw_cases(storylm_cases(), 4, 25)


def test_nothing_is_minimised_that_does_not_fail() -> None:
    with pytest.raises(NotFailing, match="does not fail"):
        minimize(parse_case(CHAIN), uses("exp"))


def test_the_same_search_ends_the_same() -> None:
    case = next(filter(uses("concat", "slice"), STORYLM))
    assert minimize(case, uses("concat", "slice")) == minimize(case, uses("concat", "slice"))


@pytest.mark.parametrize("budget", [1, 2, 5, 20])
def test_what_a_budget_allows_still_fails(budget: int) -> None:
    asked = 0

    def predicate(case: Case) -> bool:
        nonlocal asked
        asked += 1
        return uses("softmax")(case)

    smallest = minimize(STORYLM[0], predicate, calls=budget)
    assert asked <= budget
    assert uses("softmax")(smallest)
    assert order(smallest) <= order(STORYLM[0])


def test_time_that_is_over_ends_the_search() -> None:
    with pytest.raises(NotFailing):
        minimize(STORYLM[0], uses("softmax"), seconds=0.0)


def test_what_the_predicate_raises_ends_the_search() -> None:
    def predicate(case: Case) -> bool:
        if len(case.program.fns) < len(STORYLM[0].program.fns):
            raise KeyboardInterrupt
        return True

    with pytest.raises(KeyboardInterrupt):
        minimize(STORYLM[0], predicate)


def test_only_programs_that_check_are_asked_about() -> None:
    def predicate(case: Case) -> bool:
        check(case.program)
        assert parse_case(print_case(case)) == case
        return uses("argmax", "concat")(case)

    minimize(STORYLM[1], predicate, calls=60)


def test_no_text_is_asked_about_twice() -> None:
    refused: set[str] = set()

    def predicate(case: Case) -> bool:
        text = print_case(case)
        assert text not in refused
        shows = uses("gather", "transpose")(case)
        if not shows:
            refused.add(text)
        return shows

    minimize(parse_case(CHAIN), uses("gather"))
    minimize(STORYLM[2], predicate)


def test_broken_is_a_fault() -> None:
    """The stand-in compiler is right where its op is not used."""
    assert Broken("exp", np.log).outcome(STORYLM[0]) == "agree"


def test_every_kind_of_input_has_its_cost() -> None:
    costs = {kind: recipe_cost(Recipe(kind, values=(0,))) for kind in KINDS}
    assert min(costs, key=costs.__getitem__) == "zeros"
    assert max(costs, key=costs.__getitem__) == "edge"
