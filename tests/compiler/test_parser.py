"""The tree and the spans that a text gives. Refusals are in `test_diagnostics.py`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import pytest

from compiler.checker import check
from compiler.parser import parse
from compiler.printer import print_program
from compiler.source import CompileError, Span
from compiler.syntax import (
    MAX_DEPTH,
    Apply,
    Block,
    Expr,
    Fn,
    Let,
    Literal,
    Name,
    Param,
    Placeholder,
    Program,
    While,
    walk_block,
)
from compiler.types import BOOL, F32, I64, TensorType

T = TensorType(F32, (2,))
a, b, c = Name("a"), Name("b"), Name("c")


def results(text: str) -> tuple[Expr, ...]:
    main = parse(f"@main {{ {text} }}").main
    assert main is not None
    return main.result


def check_tree(text: str, *trees: Expr) -> None:
    """`text` as the result of a block gives these trees."""
    assert results(text) == trees


@pytest.mark.parametrize(
    ("text", "trees"),
    [
        ("a", (a,)),
        ("(a)", (a,)),
        ("(a, b)", (a, b)),
        ("(a, (b, c))", (a, b, c)),
        ("((a, b), (c, (a, b)))", (a, b, c, a, b)),
        ("((a) + b, c)", (Apply("add", (a, b)), c)),
        ("(a) + b", (Apply("add", (a, b)),)),
        ("((a) + b) * c", (Apply("mul", (Apply("add", (a, b)), c)),)),
        ("a + b * c", (Apply("add", (a, Apply("mul", (b, c)))),)),
        ("a * b + c", (Apply("add", (Apply("mul", (a, b)), c)),)),
        ("a - b - c", (Apply("sub", (Apply("sub", (a, b)), c)),)),
        ("a % b @ c", (Apply("matmul", (Apply("rem", (a, b)), c)),)),
        ("a + b < c", (Apply("less", (Apply("add", (a, b)), c)),)),
        ("-a @ b", (Apply("matmul", (Apply("neg", (a,)), b)),)),
        ("-f a b", (Apply("neg", (Apply("f", (a, b)),)),)),
        ("f a b + c", (Apply("add", (Apply("f", (a, b)), c)),)),
        ("f (a) (b + c)", (Apply("f", (a, Apply("add", (b, c)))),)),
        ("f[axis=1] a b", (Apply("f", (a, b), (("axis", 1),)),)),
        (
            "f[axis=-1, dtype=F16](a, shape=[2, 3])",
            (Apply("f", (a,), (("axis", -1), ("dtype", "F16"), ("shape", (2, 3)))),),
        ),
        ("f()", (Apply("f", ()),)),
        ("tensor<F32, [2], @host>", (Placeholder(T),)),
        ("tensor<F32,[2],@host>[1,-2.5]", (Literal(T, (1.0, -2.5)),)),
        ("tensor<I64, [], @host> 7", (Literal(TensorType(I64, ()), (7,)),)),
        ("tensor<BOOL, [2, 1], @mesh>[[1], [0]]", (Literal(TensorType(BOOL, (2, 1), "mesh"), (True, False)),)),
        ("f tensor<F32, [], @host> 1 a", (Apply("f", (Literal(TensorType(F32, ()), (1.0,)), a)),)),
        ("tensor<F32, [2], @host> - a", (Apply("sub", (Placeholder(T), a)),)),
        ("f(while (i: tensor<F32, [2], @host> = a) b { c })", None),
    ],
)
def test_trees(text: str, trees: tuple[Expr, ...] | None) -> None:
    if trees is None:
        (applied,) = results(text)
        assert isinstance(applied, Apply)
        assert isinstance(applied.args[0], While)
    else:
        check_tree(text, *trees)


def test_a_program() -> None:
    text = "let f = fn(x: tensor<F32, [2], @host>) -> tensor<F32, [2], @host> { let (y, z) = g(x); y }\n@main { x }"
    fn = Fn("f", (Param("x", T),), (T,), Block((Let(("y", "z"), Apply("g", (Name("x"),))),), (Name("y"),)))
    assert parse(text) == Program((fn,), Block((), (Name("x"),)))
    assert parse("  // nothing\n") == Program(())


def test_main_may_stand_anywhere() -> None:
    text = "@main { f() } let f = fn() -> tensor<F32, [], @host> { tensor<F32, [], @host> 1 }"
    assert check(parse(text)).program.main is not None


def spans_of(text: str) -> dict[str, str]:
    """What the spans of the expressions of a block point to, by callee or name."""
    main = parse(text).main
    assert main is not None
    exprs = [expr for expr in walk_block(main) if isinstance(expr, Apply | Name)]
    return {
        expr.callee if isinstance(expr, Apply) else expr.id: text[expr.span.start : expr.span.end] for expr in exprs
    }


def test_spans() -> None:
    text = "@main { let r = f[axis=1] (p + q) w; (r @ (s * -t)) + g(u, v) }"
    assert spans_of(text) == {
        "f": "f[axis=1] (p + q) w",
        "add": "(r @ (s * -t)) + g(u, v)",
        "matmul": "r @ (s * -t)",
        "mul": "s * -t",
        "neg": "-t",
        "g": "g(u, v)",
        **{name: name for name in "pqwrstuv"},
    }


def test_spans_of_bindings() -> None:
    text = "let f = fn(x: tensor<F32, [2], @host>) -> (tensor<F32, [2], @host>, tensor<I64, [], @host>) {"
    text += " let (y, z) = x; y }"
    (fn,) = parse(text).fns
    (let,) = fn.body.lets

    def at(span: Span) -> str:
        return text[span.start : span.end]

    assert (at(fn.span), at(fn.name_span), at(fn.params[0].span)) == (text, "f", "x: tensor<F32, [2], @host>")
    assert [at(span) for span in fn.result_spans] == [str(type_) for type_ in fn.results]
    assert (at(let.span), *map(at, let.name_spans)) == ("let (y, z) = x;", "y", "z")


def nested(levels: int, form: str, leaf: str) -> str:
    before, _, after = form.partition("_")
    return before * levels + leaf + after * levels


FORMS = {
    "parentheses": ("f(_)", "x"),
    "operands": ("f (_) x", "x"),
    "infix": ("(x < x + x * _)", "x"),
    "chain": ("_ + x", "x"),
    "minus": ("-_", "x"),
    "initial": ("f(while (i: tensor<I64, [], @host> = _) x { x })", "x"),
    "condition": ("f(while (i: tensor<I64, [], @host> = x) _ { x })", "x"),
    "body": ("f(while (i: tensor<I64, [], @host> = x) x { let y = _; x })", "x"),
}


def in_few_frames(action: Callable[[], None]) -> None:
    """Runs in a thread of its own, whose stack starts empty, with 650 frames where Python gives 1,000."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            action()
        except BaseException as error:  # noqa: BLE001 - the thread's outcome, raised again below
            failures.append(error)

    thread = threading.Thread(target=run)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(650)
    try:
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
    if failures:
        raise failures[0]


def levels_that_parse(form: str, leaf: str) -> int:
    def parses(levels: int) -> bool:
        try:
            parse(f"@main {{ {nested(levels, form, leaf)} }}")
        except CompileError:
            return False
        return True

    return next(levels for levels in range(MAX_DEPTH, 0, -1) if parses(levels))


@pytest.mark.parametrize(("form", "leaf"), FORMS.values(), ids=FORMS)
def test_the_deepest_tree_can_be_walked(form: str, leaf: str) -> None:
    levels = levels_that_parse(form, leaf)
    assert levels >= MAX_DEPTH // 5
    text = f"@main {{ {nested(levels, form, leaf)} }}"

    def walk() -> None:
        program = parse(text)
        assert parse(print_program(program)) == program
        assert program.main is not None
        assert sum(1 for _ in walk_block(program.main)) > levels
        with pytest.raises(CompileError):
            check(program)  # `x` is not bound

    in_few_frames(walk)


@pytest.mark.parametrize(("form", "leaf"), FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 10_000])
def test_deeper_trees_are_refused(form: str, leaf: str, levels: int) -> None:
    with pytest.raises(CompileError) as caught:
        parse(f"@main {{ {nested(levels, form, leaf)} }}")
    assert caught.value.diagnostics[0].code == "too-deep"
