"""What checking adds to a program that obeys the rules. Refusals are in `test_diagnostics.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from compiler.checker import Checked, check, signature
from compiler.ops import OPS
from compiler.parser import parse
from compiler.printer import print_expr, print_program
from compiler.source import NO_SPAN, CompileError
from compiler.syntax import MAX_DEPTH, Apply, Block, Carry, Expr, Fn, Let, Literal, Name, Param, Program, While
from compiler.types import BOOL, F32, I64, TensorType
from tests.compiler.trees import programs

EXAMPLES = sorted(Path("compiler/examples").glob("*.kina"))
T, N = TensorType(F32, (2, 3)), TensorType(I64, ())
INPUTS = """
  let x = tensor<F32, [2, 3], @host>;
  let row = tensor<F32, [3], @host>;
  let one = tensor<F32, [1, 1], @host>;
  let w = tensor<F32, [3, 5], @host>;
  let batch = tensor<F32, [4, 2, 3], @host>;
  let heads = tensor<F32, [6, 4, 2, 3], @host>;
  let p = tensor<BOOL, [2, 3], @host>;
  let n = tensor<I64, [], @host>;
"""


def checked(result: str) -> Checked:
    return check(parse(f"@main {{ {INPUTS} {result} }}"))


def check_elaborated(result: str, elaborated: str) -> None:
    """The result of a script is elaborated to this text, and elaborating it again changes nothing."""
    once = checked(result)
    assert once.program.main is not None
    assert [print_expr(expr) for expr in once.program.main.result] == [elaborated]
    assert check(once.program) == once


@pytest.mark.parametrize(
    ("result", "elaborated"),
    [
        ("x + broadcast(row)", "x + broadcast(row, shape=[2, 3])"),
        ("broadcast(one) * x", "broadcast(one, shape=[2, 3]) * x"),
        ("x <= broadcast(-one)", "x <= broadcast(-one, shape=[2, 3])"),
        ("maximum(broadcast(row), x)", "maximum(broadcast(row, shape=[2, 3]), x)"),
        ("select(p, broadcast(row), x)", "select(p, broadcast(row, shape=[2, 3]), x)"),
        ("select(broadcast(p), batch, batch)", "select(broadcast(p, shape=[4, 2, 3]), batch, batch)"),
        ("select(broadcast(p), broadcast(x), batch)",
         "select(broadcast(p, shape=[4, 2, 3]), broadcast(x, shape=[4, 2, 3]), batch)"),
        ("x + broadcast(row + broadcast(sum(row, axis=0)))",
         "x + broadcast(row + broadcast(sum(row, axis=0), shape=[3]), shape=[2, 3])"),
        ("x + broadcast(row, shape=[2, 3])", "x + broadcast(row, shape=[2, 3])"),
        ("x @ broadcast(w)", "x @ broadcast(w, shape=[3, 5])"),
        ("batch @ broadcast(w)", "batch @ broadcast(w, shape=[4, 3, 5])"),
        ("heads @ broadcast(w)", "heads @ broadcast(w, shape=[6, 4, 3, 5])"),
        ("broadcast(transpose(w, perm=[1, 0])) @ transpose(batch, perm=[0, 2, 1])",
         "broadcast(transpose(w, perm=[1, 0]), shape=[4, 5, 3]) @ transpose(batch, perm=[0, 2, 1])"),
        ("broadcast(row) @ w", "broadcast(row, shape=[1, 3]) @ w"),
        ("slice(x, stop=2, start=1, axis=1)", "slice(x, axis=1, start=1, stop=2)"),
        ("slice[stop=2](x, axis=1, start=1)", "slice(x, axis=1, start=1, stop=2)"),
        ("cast[dtype=F64] n", "cast(n, dtype=F64)"),
    ],
)  # fmt: skip
def test_elaboration(result: str, elaborated: str) -> None:
    check_elaborated(result, elaborated)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_accepted_and_stable(path: Path) -> None:
    once = check(parse(path.read_text()))
    assert check(once.program) == once
    assert check(parse(print_program(once.program))) == once


def types_of(expr: Expr, names: dict[str, TensorType], fns: dict[str, Fn]) -> list[TensorType]:
    """As the lowering does it: bottom-up by `infer`, with nothing but the elaborated tree."""
    match expr:
        case Name():
            return [names[expr.id]]
        case Literal():
            return [expr.type]
        case While():
            return [carry.type for carry in expr.carries]
        case Apply() if expr.callee in fns:
            return list(fns[expr.callee].results)
        case Apply():
            operands = [type_ for arg in expr.args for type_ in types_of(arg, names, fns)]
            return [OPS[expr.callee].infer(operands, dict(expr.attrs))]
    raise AssertionError(expr)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_infer_succeeds_on_the_elaborated_tree(path: Path) -> None:
    program = check(parse(path.read_text()))
    fns = {fn.name: fn for fn in program.program.fns}
    for fn in fns.values():
        names = program.values[fn.name]
        for let in fn.body.lets:
            assert types_of(let.value, names, fns) == [names[name] for name in let.names]
        assert tuple(t for expr in fn.body.result for t in types_of(expr, names, fns)) == fn.results


def test_values_and_signatures() -> None:
    text = f"""
let f = fn(x: {T}, n: {N}) -> ({T}, {N}) {{
  let (i, y) = while (j: {N} = n, z: {T} = x) j < n {{
    let k = j + j;
    (k, z)
  }};
  (y, i)
}}
@main {{
  let x = {T};
  let n = {N};
  let (a, b) = f(x, n);
  (f(a, b), b == n)
}}
"""
    program = check(parse(text))
    assert program.values == {
        "f": {"x": T, "n": N, "j": N, "z": T, "k": N, "i": N, "y": T},
        "@main": {"x": T, "n": N, "a": T, "b": N},
    }
    assert signature(program, "f") == ((T, N), (T, N))
    assert signature(program, "main") == ((T, N), (T, N, TensorType(BOOL, ())))
    with pytest.raises(KeyError):
        signature(program, "g")
    with pytest.raises(KeyError):
        signature(check(Program(())), "main")


@pytest.mark.parametrize(
    "result",
    [
        "let max = max(x, axis=0); let f = tanh(max); f",
        "let main = x; main",
        "let tanh = tanh(x); tanh(tanh)",
        "while (i: tensor<I64, [], @host> = n) i < n { i }",
        "(while (i: tensor<I64, [], @host> = n, y: tensor<F32, [2, 3], @host> = x) i < n { (i, y) }, x)",
        "tensor<F32, [1, 1, 1, 1, 1, 1, 1, 1], @host>[[[[[[[[1]]]]]]]]",
        "reshape(n, shape=[])",
        "p == p",
    ],
)
def test_accepted(result: str) -> None:
    checked(result)


def codes_of(program: Program) -> list[str]:
    """The codes of what is wrong with a tree that was not parsed."""
    with pytest.raises(CompileError) as caught:
        check(program)
    assert all(found.span == NO_SPAN for found in caught.value.diagnostics)
    return [found.code for found in caught.value.diagnostics]


def test_trees_that_were_not_parsed() -> None:
    def script(*results: Expr) -> Program:
        return Program((), Block((), results))

    x = Name("x")
    assert codes_of(script(Literal(T, (1.0,)))) == ["literal-shape"]
    assert codes_of(script(Literal(TensorType(F32, (0,)), ()))) == ["zero-dim"]
    assert codes_of(script(Apply("softmax", (x,), (("axes", 1), ("axis", "F32"))))) == [
        "unknown-name",
        "unknown-attribute",
        "attribute-kind",
    ]
    high: Expr = x
    for _ in range(100 * MAX_DEPTH):
        high = Apply("neg", (high,))
    assert codes_of(script(high)) == ["too-deep"]
    many = Program((Fn("f", (Param("x", T), Param("x", T)), (T,), Block((Let(("y", "y"), x),), (x, x))),))
    assert codes_of(many) == ["duplicate-name", "let-count", "duplicate-name", "result-count"]
    loop = While((Carry("i", N, Name("n")),), Name("n"), Block((), ()))
    assert codes_of(Program((), Block((), (loop,)))) == ["unknown-name", "unknown-name", "while-count"]


@settings(max_examples=100, deadline=None)
@given(programs)
def test_any_tree_is_accepted_or_refused(program: Program) -> None:
    try:
        accepted = check(program)
    except CompileError:
        return
    assert check(accepted.program) == accepted
