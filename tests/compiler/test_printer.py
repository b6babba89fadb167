"""The one canonical text of a program: parsing it gives the program back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from compiler.ops import OPS
from compiler.parser import parse
from compiler.printer import print_expr, print_program
from compiler.syntax import INFIX, Program
from tests.compiler.trees import programs

EXAMPLES = sorted(Path("compiler/examples").glob("*.kina"))
T = "tensor<F32, [2], @host>"


@settings(max_examples=120, deadline=None)
@given(programs)
def test_what_is_printed_parses_to_the_same_tree(program: Program) -> None:
    text = print_program(program)
    again = parse(text)
    assert again == program
    assert repr(again) == repr(program)  # -0.0 == 0.0, but is written otherwise
    assert print_program(again) == text


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_print_and_parse(path: Path) -> None:
    program = parse(path.read_text())
    assert parse(print_program(program)) == program


def check_canonical(text: str, canonical: str | None = None) -> None:
    """`text` as the result of a block is printed as `canonical`, or as it stands."""
    main = parse(f"@main {{ {text} }}").main
    assert main is not None
    assert [print_expr(result) for result in main.result] == [canonical or text]


@pytest.mark.parametrize(
    "text",
    [
        "a + b + c",
        "a + (b + c)",
        "a - (b - c)",
        "a * b + c / d",
        "(a + b) * c",
        "a * (b @ c)",
        "a @ b @ c",
        "-a + -b",
        "-(a + b)",
        "--a",
        "(a < b) == (c < d)",
        "a + b < c * d",
        "select(a <= b, -a, b % c)",
        "softmax(a @ b, axis=3)",
        "reshape(a, shape=[])",
        "concat(a, b, c, axis=0)",
        "cast(a, dtype=BF16)",
        "add(a)",
        "add(a, b, axis=1)",
        "neg(a, b)",
        "f()",
        "-tensor<F32, [], @host>-1.0",
        "a - tensor<F32, [], @host>1.0 - b",
        "tensor<F32, [], @host> + a",
    ],
)
def test_canonical_text_stays(text: str) -> None:
    check_canonical(text)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("concat[axis=3] a b", "concat(a, b, axis=3)"),
        ("concat[axis=3](a, b)", "concat(a, b, axis=3)"),
        ("concat[axis=3] (a + b) c", "concat(a + b, c, axis=3)"),
        ("concat a (b) axis", "concat(a, b, axis)"),
        ("gather embed ids", "gather(embed, ids)"),
        ("gather embed ids + x", "gather(embed, ids) + x"),
        ("add(a, b)", "a + b"),
        ("matmul a b", "a @ b"),
        ("neg(a)", "-a"),
        ("less(a, b)", "a < b"),
        ("((a)) + (b * c)", "a + b * c"),
        ("slice[axis=1, start=2, stop=3] z", "slice(z, axis=1, start=2, stop=3)"),
        ("slice[axis=1](z, start=2, stop=3)", "slice(z, axis=1, start=2, stop=3)"),
        ("tensor<F32, [2], @host> [1, 2]", "tensor<F32, [2], @host>[1.0, 2.0]"),
        ("tensor<F16, [1, 3], @host>[[0.1, 1e-3, 65504]]", "tensor<F16, [1, 3], @host>[[0.1, 0.001, 65504.0]]"),
        ("tensor<BOOL, [2], @host>[1, 0]", "tensor<BOOL, [2], @host>[1, 0]"),
        ("tensor<F32, [4], @host>[inf, -inf, nan, -0]", "tensor<F32, [4], @host>[inf, -inf, nan, -0.0]"),
        ("tensor<F64, [], @host> 0x1.8p-3", "tensor<F64, [], @host>0.1875"),
    ],
)
def test_spellings_have_one_canonical_text(text: str, canonical: str) -> None:
    check_canonical(text, canonical)


def test_a_whole_program_in_its_canonical_form() -> None:
    text = f"""\
let f = fn() -> {T} {{
  tensor<F32, [2], @host>[1.0, 2.0]
}}

let g = fn(
  x: {T}
) -> (
  {T},
  {T}
) {{
  let (i, y) = while (i: {T} = x, y: {T} = f()) i < x {{
    let z = y + x;
    (z, y)
  }};
  (i, y)
}}

@main {{
  let (a, b) = g(f());
  a
}}
"""
    assert print_program(parse(text)) == text.replace("tensor<F32, [2], @host>[1.0", f"{T}[1.0")
    assert print_program(Program(())) == ""


def test_infix_ops_are_written_as_the_op_table_says() -> None:
    assert {op.name: op.infix for op in OPS.values() if op.infix} == {
        name: symbol for name, (symbol, _) in INFIX.items()
    }
