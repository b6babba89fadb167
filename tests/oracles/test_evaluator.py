"""The walk: names, calls, tuples, `while`, bare `broadcast`, the hooks, and the seeds' handoff in float64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from compiler.parser import parse
from compiler.types import F64, I64
from oracles import numpy_reference
from oracles.engine import Array
from oracles.evaluator import (
    Attrs,
    Evaluation,
    EvaluationError,
    Hooks,
    Library,
    Site,
    Val,
    apply_table,
    evaluate,
)
from oracles.numpy_reference import quantize
from tests.oracles.operands import both_libraries

NUMPY = numpy_reference.LIBRARY


def run(text: str, inputs: Mapping[str, Array] | None = None, library: Library[Any] = NUMPY) -> Evaluation[Any]:
    return evaluate(parse(text), inputs or {}, library)


def check(main: str, *wanted: object, fns: str = "", library: Library[Any] = NUMPY) -> None:
    """`@main { main }` gives exactly these values, in these dtypes and shapes."""
    results = run(f"{fns} @main {{ {main} }}", library=library).results
    assert len(results) == len(wanted)
    for result, value in zip(results, wanted, strict=True):
        array = np.asarray(result.array)
        assert array.tolist() == value, array
        assert result.dtype.kind == {"f": "float", "i": "int", "b": "bool"}[array.dtype.kind]


# ------------------------------------------------------------------------------------------------ one rule, one test


@both_libraries
def test_literals(library: Library[Any]) -> None:
    check("tensor<BF16, [2, 1], @host>[[1], [0.5]]", [[1.0], [0.5]], library=library)
    check("tensor<I32, [2], @host>[1, -2]", [1, -2], library=library)
    check("tensor<BOOL, [2], @host>[1, 0]", [True, False], library=library)
    check("tensor<F64, [], @host>1.5", 1.5, library=library)


@both_libraries
def test_calls_tuples_and_destructuring(library: Library[Any]) -> None:
    fns = """
    let swap = fn(a: tensor<I64, [1], @host>, b: tensor<I64, [1], @host>)
      -> (tensor<I64, [1], @host>, tensor<I64, [1], @host>) { (b, a) }
    let twice = fn(a: tensor<I64, [1], @host>, b: tensor<I64, [1], @host>)
      -> (tensor<I64, [1], @host>, tensor<I64, [1], @host>) { let (c, d) = swap(a, b); (swap(c, d)) }
    """
    main = "let a = tensor<I64, [1], @host>[1]; let b = tensor<I64, [1], @host>[2]; let (c, d) = swap(a, b);"
    check(main + "(c, d, twice(a, b), a + b)", [2], [1], [1], [2], [3], fns=fns, library=library)


@both_libraries
@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("m + broadcast(r)", [[2.0, 4.0], [4.0, 6.0]]),
        ("broadcast(r) - m", [[0.0, 0.0], [-2.0, -2.0]]),
        ("m < broadcast(s)", [[True, True], [False, False]]),
        ("maximum(m, broadcast(s))", [[3.0, 3.0], [3.0, 4.0]]),
        ("select(m < broadcast(s), m, broadcast(s))", [[1.0, 2.0], [3.0, 3.0]]),
        ("t @ broadcast(m)", [[[7.0, 10.0]], [[1.0, 2.0]]]),  # [2, 1, 2] @ [2, 2]
        ("broadcast(m) @ transpose[perm=[0, 2, 1]] t", [[[5.0], [11.0]], [[1.0], [3.0]]]),
        ("transpose[perm=[0, 2, 1]] t @ broadcast(r)", [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [0.0, 0.0]]]),
        ("m * broadcast[shape=[2, 2]] s", [[3.0, 6.0], [9.0, 12.0]]),
    ],
)
def test_bare_broadcast_takes_the_siblings_shape(expression: str, wanted: object, library: Library[Any]) -> None:
    main = """
      let m = tensor<F32, [2, 2], @host>[[1, 2], [3, 4]];
      let r = tensor<F32, [2], @host>[1, 2];
      let s = tensor<F32, [1, 1], @host>[[3]];
      let t = tensor<F32, [2, 1, 2], @host>[[[1, 2]], [[1, 0]]];
    """
    check(main + expression, wanted, library=library)


POWERS = """
  let n = tensor<I64, [], @host>3;
  let one = tensor<I64, [], @host>1;
  let two = tensor<F32, [1], @host>[2];
  let (left, power) = while (i: tensor<I64, [], @host> = n, x: tensor<F32, [1], @host> = two) one < i {
    let y = x * two;
    (i - one, y)
  };
"""


@both_libraries
def test_while_carries_values(library: Library[Any]) -> None:
    check(POWERS + "(left, power)", 1, [8.0], library=library)
    assert run(f"@main {{ {POWERS} power }}", library=library).lets.keys() == {"n", "one", "two", "left", "power"}


@both_libraries
def test_while_may_make_no_trip_and_nest(library: Library[Any]) -> None:
    main = """
      let zero = tensor<I64, [], @host>0; let one = tensor<I64, [], @host>1; let three = tensor<I64, [], @host>3;
      let none = while (a: tensor<I64, [], @host> = three) a < zero { a + one };
      let (i, sum) = while (b: tensor<I64, [], @host> = zero, s: tensor<I64, [], @host> = zero) b < three {
        let inner = while (c: tensor<I64, [], @host> = zero) c < b { c + one };
        (b + one, s + inner)
      };
      (none, i, sum)
    """
    check(main, 3, 3, 0 + 1 + 2, library=library)


def test_an_input_is_held_wide_and_keeps_its_dtype() -> None:
    x = quantize(np.array([0.1, 2.0]), F64).astype(np.float16)
    lets = run("@main { let x = tensor<F16, [2], @host>; (x, x * x) }", {"x": x}).lets
    assert str(lets["x"].dtype) == "F16"
    assert lets["x"].array.dtype == np.float64
    assert lets["x"].array.tolist() == x.tolist()


ONE = "let one = tensor<I64, [], @host>1;"
REFUSED = {
    "": "the program has no @main",
    "@main { let a = tensor<F32, [1], @host>; a }": "the input `a` is not given",
    "@main { let b = a; b }": "`a` in `b` is not bound",
    f"@main {{ {ONE} let b = frobnicate(one); b }}": "`frobnicate` in `b` is neither an op nor a fn",
    f"@main {{ {ONE} let (a, b) = one; a }}": "`a, b` names 2 values of 1",
    f"@main {{ {ONE} concat(one, one, axis=0) }}": "`concat`:",
    f"@main {{ {ONE} sum(one, axes=0) }}": "`sum`:",
    f"@main {{ {ONE} -broadcast(one) }}": "no sibling",
    f"@main {{ {ONE} broadcast(one) + broadcast(one) }}": "no sibling",
    f"@main {{ {ONE} let w = while (i: tensor<I64, [], @host> = one) one < one + one {{ i }}; w }}": "has not ended",
    f"@main {{ {ONE} while (i: tensor<I64, [], @host> = one) one {{ i }} }}": "not one BOOL",
    f"@main {{ {ONE} while (i: tensor<I64, [], @host> = one) i < one + one {{ (i, i) }} }}": "carries 1 values, not 2",
    f"let f = fn(x: tensor<I64, [], @host>) -> tensor<I64, [], @host> {{ x }} @main {{ {ONE} f(one, one) }}": "takes 1",
    f"let f = fn(x: tensor<I64, [], @host>) -> tensor<I64, [], @host> {{ f(x) }} @main {{ {ONE} f(one) }}": "too deep",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_followed_is_an_error(text: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        run(text)
    assert REFUSED[text] in str(caught.value)


# ------------------------------------------------------------------------------------------------------------- hooks


def test_bind_sees_every_name_by_its_path() -> None:
    seen: dict[str, object] = {}

    def bind(site: Site, value: Val[Array]) -> Val[Array]:
        seen[site.path] = value.array.tolist()
        return value

    fn = "let f = fn(x: tensor<F32, [1], @host>) -> tensor<F32, [1], @host> { let d = x + x; d * d }"
    evaluate(parse(f"{fn} @main {{ {POWERS} let g = f(two); f(power) }}"), {}, NUMPY, Hooks(bind=bind))
    assert [path for path in seen if "." in path and "cond" not in path] == ["f#1.d", "f#2.d"]
    assert seen["f#2.d"] == [16.0]
    assert {path: value for path, value in seen.items() if "@" in path} == {
        "i@0": 3,
        "x@0": [2.0],
        "left.cond@0": True,
        "y@0": [4.0],
        "i@1": 2,
        "x@1": [4.0],
        "left.cond@1": True,
        "y@1": [8.0],
        "i@2": 1,
        "x@2": [8.0],
        "left.cond@2": False,
    }


def test_bind_may_substitute_a_value() -> None:
    def follow(site: Site, value: Val[Array]) -> Val[Array]:
        return Val(np.array([2]), I64) if site.path == "t" else value

    text = "@main { let z = tensor<F32, [1, 3], @host>[[5, 1, 5]]; let t = argmax(z, axis=1); let u = t + t; (t, u) }"
    evaluation = evaluate(parse(text), {}, NUMPY, Hooks(bind=follow))
    assert [result.array.tolist() for result in evaluation.results] == [[2], [4]]
    assert evaluation.lets["t"].array.tolist() == [2]


def test_apply_is_told_of_every_op_and_decides() -> None:
    seen: list[tuple[str, str, dict[str, Any]]] = []

    def apply(op: str, args: Sequence[Val[Array]], attrs: Attrs, site: Site) -> Val[Array]:
        seen.append((op, site.path, dict(attrs)))
        result = apply_table(NUMPY, op, args, attrs)
        return Val(result.array + 100, result.dtype) if op == "sum" else result

    text = "@main { let x = tensor<F32, [1, 2], @host>[[1, 2]]; let y = sum(x * broadcast(x), axis=1); (y, -y) }"
    results = evaluate(parse(text), {}, NUMPY, Hooks(apply=apply)).results
    assert [result.array.tolist() for result in results] == [[105.0], [-105.0]]
    assert seen == [
        *(("broadcast", "y", {"shape": (1, 2)}), ("mul", "y", {}), ("sum", "y", {"axis": 1})),
        ("neg", "result[1]", {}),
    ]


def test_call_stands_in_for_a_body() -> None:
    def call(name: str, args: Sequence[Val[Array]], site: Site) -> Sequence[Val[Array]]:
        return [Val(args[0].array * 10, args[0].dtype)]

    text = "let f = fn(x: tensor<F32, [], @host>) -> tensor<F32, [], @host> { x } @main { f(tensor<F32, [], @host>4) }"
    assert evaluate(parse(text), {}, NUMPY, Hooks(call=call)).results[0].array == 40
