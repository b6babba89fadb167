"""The case file: parse(print(c)) == c, one canonical text, and one clear message for each mistake."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.parser import parse
from compiler.printer import print_program
from compiler.recipes import Recipe, parse_recipe
from compiler.source import CompileError
from compiler.syntax import Block, Let, Name, Placeholder, Program, inputs
from compiler.types import DTYPES, DType, TensorType
from oracles.case import AGREE, WIDTH, Case, CaseError, Claim, Expect, parse_case, print_case

PROGRAM = """\
@main {
  let x = tensor<F32, [2, 3], @host>;
  let ids = tensor<I64, [4], @host>;
  let y = x + x;
  let (a, b) = f(x, ids);
  (y, a, b)
}
"""
HEADER = "// inputs: x = normal seed 1; ids = tokens(3) seed 2\n"


# -------------------------------------------------------------------------------------------------------- round trip


def check_round_trip(case: Case) -> None:
    text = print_case(case)
    again = parse_case(text, "case.kina")
    assert again == case
    assert print_case(again) == text


FULL = """\
// why: concat drops its second operand
// why: when the first has one row
// found: 2026-12-01, seed 4711
// inputs: x = exact seed 7; ids = [1, 4, 2, 0]
// pipeline: default + affine-loop-fusion
// claim: y == a
// claim: a != b
// expect: fails run/wrong-value/concat/, so-O2 stepped
"""


def test_every_key_is_read_and_printed_in_its_place() -> None:
    case = parse_case(FULL + PROGRAM)
    assert case == Case(
        program=parse(PROGRAM),
        recipes={"x": Recipe("exact", 7), "ids": parse_recipe("[1, 4, 2, 0]")},
        pipeline="default + affine-loop-fusion",
        claims=(Claim("y", "==", "a"), Claim("a", "!=", "b")),
        expect=Expect("fails", "run/wrong-value/concat/", "so-O2 stepped"),
        why="concat drops its second operand\nwhen the first has one row",
        found="2026-12-01, seed 4711",
    )
    assert print_case(case) == FULL + PROGRAM


def test_the_header_may_come_in_any_order_with_comments_and_blank_lines() -> None:
    loose = "// Note.\n\n  //expect:agree\n// inputs: ids = tokens(3) seed 2\n//\n// inputs: x = normal seed 1;\n\n"
    assert print_case(parse_case(loose + PROGRAM)) == HEADER + "// expect: agree\n" + PROGRAM


def test_a_commas_message_belongs_to_the_signature() -> None:
    case = parse_case(HEADER + "// expect: fails passes/crash/fuse/a, b / c, jit-O0 whole\n" + PROGRAM)
    assert case.expect == Expect("fails", "passes/crash/fuse/a, b / c", "jit-O0 whole")
    check_round_trip(case)


def test_long_inputs_are_wrapped_over_repeated_lines() -> None:
    names = [f"weight_{n}" for n in range(12)]
    lets = tuple(Let((name,), Placeholder(TensorType(DTYPES["F32"], (2,)))) for name in names)
    case = Case(Program((), Block(lets, (Name(names[0]),))), {name: Recipe("normal", 1234567) for name in names})
    lines = print_case(case).splitlines()
    header = [line for line in lines if line.startswith("// inputs: ")]
    assert len(header) > 1
    assert all(len(line) <= WIDTH for line in header)
    assert all(len(line) + len("; weight_1 = normal seed 1234567") > WIDTH for line in header[:-1])
    check_round_trip(case)


@pytest.mark.parametrize(("length", "lines"), [(0, 1), (1, 2)])
def test_a_header_line_may_be_just_as_long_as_the_width(length: int, lines: int) -> None:
    long = "b" * (WIDTH - len("// inputs: a = ones;  = ones") + length)
    lets = tuple(Let((name,), Placeholder(TensorType(DTYPES["F32"], ()))) for name in ("a", long))
    text = print_case(Case(Program((), Block(lets, (Name("a"),))), {"a": Recipe("ones"), long: Recipe("ones")}))
    assert text.count("// inputs: ") == lines


def test_recipes_are_printed_in_the_order_of_the_program() -> None:
    case = parse_case(HEADER + PROGRAM)
    turned = dataclasses.replace(case, recipes=dict(reversed(case.recipes.items())))
    assert turned == case
    assert print_case(turned) == print_case(case)


SEEDS = st.integers(0, 2**64 - 1)
SCALES = st.floats(0, 1e6).map(lambda x: x + 0.0)


def recipes(dtype: DType, size: int) -> st.SearchStrategy[Recipe]:
    """Recipes that can be made for the type."""
    seeded = [st.builds(Recipe, st.sampled_from(["tags", "exact"]), SEEDS)]
    seeded += [st.builds(Recipe, st.sampled_from(["normal", "edge"]), SEEDS, SCALES)]
    plain = [st.sampled_from([Recipe("iota"), Recipe("ones"), Recipe("zeros")])]
    if dtype.kind == "int":
        plain.append(st.builds(Recipe, st.just("tokens"), SEEDS, st.just(1.0), st.integers(1, 99)))
    number: st.SearchStrategy[Any] = st.integers(0, 1)
    if dtype.kind == "float":
        seeded.append(st.builds(Recipe, st.just("uniform"), SEEDS))
        number = st.one_of(st.floats(allow_nan=False), st.just(math.nan), st.integers(-(2**53), 2**53))
    listed = st.lists(number, min_size=size, max_size=size).map(tuple)
    literal = st.builds(lambda values: Recipe("literal", values=values), listed)
    fill = st.builds(lambda value: Recipe("fill", values=(value,)), number)
    return st.one_of(*seeded, *plain, literal, fill)


# One line of a header: printable, and without blanks at its ends, which carry no meaning there.
LINES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), max_size=20)
TEXTS = st.one_of(st.just(""), st.lists(LINES, min_size=2, max_size=3).map("\n".join), LINES)
NAMES = [f"n{index}" for index in range(6)]
EXPECTS = st.one_of(
    st.just(AGREE),
    st.builds(
        lambda parts, where: Expect("fails", "/".join(parts), where),
        st.lists(st.from_regex(r"[a-z-]+", fullmatch=True), min_size=4, max_size=6),
        st.from_regex(r"[a-z][a-z0-9 -]*[a-z]", fullmatch=True),
    ),
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    lets, made = [], {}
    for name in names:
        dtype = draw(st.sampled_from(sorted(DTYPES)).map(DTYPES.__getitem__))
        shape = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
        lets.append(Let((name,), Placeholder(TensorType(dtype, shape))))
        made[name] = draw(recipes(dtype, math.prod(shape)))
    relations: st.SearchStrategy[Any] = st.sampled_from(["==", "!=", "==="])
    return Case(
        program=Program((), Block(tuple(lets), (Name(names[0]),))),
        recipes=made,
        pipeline=draw(st.sampled_from(["default", "default + canonicalize{top-down=false} + cse"])),
        claims=tuple(draw(st.lists(st.builds(Claim, st.sampled_from(names), relations, st.sampled_from(names))))),
        expect=draw(EXPECTS),
        why=draw(TEXTS),
        found=draw(TEXTS),
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(cases())
def test_parse_undoes_print(case: Case) -> None:
    check_round_trip(case)


# ------------------------------------------------------------------------------------------------- error[code] cases


@pytest.mark.parametrize(
    "body",
    [
        "let f = fn(x: tensor<F32, [2], @host>) -> { x\n",  # does not parse
        "@main { let x = tensor<F32, [0], @host>; x }\n",
        "@main{frobnicate(1)}",  # not as the printer would write it, and no newline at the end
        "",
        PROGRAM,  # inputs without recipes: a refused program never runs
    ],
)
def test_an_error_case_keeps_its_text(body: str) -> None:
    case = parse_case(f"// expect: error[no-such]\n{body}")
    assert case.expect == Expect("error", "no-such")
    assert print_case(case) == f"// expect: error[no-such]\n{body}"
    check_round_trip(case)


def test_an_error_case_that_prints_alike_is_its_program() -> None:
    assert parse_case(f"// expect: error[no-such]\n{PROGRAM}").text == ""
    assert parse_case(f"// expect: error[no-such]\n{PROGRAM}").program == parse(PROGRAM)


def test_a_program_that_does_not_parse_is_refused_with_the_lines_of_the_file() -> None:
    text = HEADER + "@main { let = 3; }\n"
    with pytest.raises(CompileError) as caught:
        parse_case(text)
    assert text[: caught.value.diagnostics[0].span.start].count("\n") == 1


# --------------------------------------------------------------------------------------------------------- refusals

REFUSED = {
    "": "c.kina:1: a case is a program with an `@main { .. }`, which this file lacks; add one",
    "// whi: x\n" + HEADER + PROGRAM: "c.kina:1: `whi:` is no key of a case file; did you mean `why:`?",
    HEADER + "// note: x\n" + PROGRAM: "c.kina:2: `note:` is no key of a case file; the keys are why, found, inputs",
    HEADER + "// expect: agree\n// expect: agree\n" + PROGRAM: "c.kina:3: `expect:` is given twice; keep one",
    HEADER + "// pipeline: a\n// pipeline: b\n" + PROGRAM: "c.kina:3: `pipeline:` is given twice; keep one",
    HEADER + "// pipeline:\n" + PROGRAM: "c.kina:2: `pipeline:` is empty",
    HEADER + PROGRAM + "// claim: y == a\n": "c.kina:9: `claim:` stands below the program's first line",
    HEADER + "// expect: agrees\n" + PROGRAM: "c.kina:2: `agrees` is no expectation; write `agree`, `error[code]` or",
    HEADER + "// expect: fails run/crash, x\n" + PROGRAM: "c.kina:2: `fails run/crash, x` is no expectation",
    HEADER + "// expect: fails a/b/c/d\n" + PROGRAM: "c.kina:2: `fails a/b/c/d` is no expectation",
    HEADER + "// claim: y = a\n" + PROGRAM: "c.kina:2: `y = a` is no claim; write `a == b`, `a === b` or `a != b`",
    HEADER + "// claim: y ==== a\n" + PROGRAM: "c.kina:2: `y ==== a` is no claim",
    HEADER + "// claim: y == aa\n" + PROGRAM: "c.kina:2: `aa` is no let of @main; did you mean `a`?",
    HEADER + "// claim: f == y\n" + PROGRAM: "c.kina:2: `f` is no let of @main; bind it",
    "// inputs: x = zeros\n" + PROGRAM: "c.kina:1: input `ids` has no recipe; add `// inputs: ids = ",
    HEADER + "// inputs: x = zeros\n" + PROGRAM: "c.kina:2: input `x` has two recipes; keep one",
    HEADER + "// inputs: y = zeros\n" + PROGRAM: "c.kina:2: `y` is no input of @main (those are x, ids); remove",
    "// inputs: x = zeros; ids = causal\n" + PROGRAM: "c.kina:1: input `ids`: `causal` does not make I64 values",
    "// inputs: x = [1, 2]; ids = zeros\n" + PROGRAM: "c.kina:1: input `x`: a list of 2 values for tensor<F32, [2, 3]",
    "// inputs: x = tokens(8) seed 1; ids = zeros\n" + PROGRAM: "c.kina:1: input `x`: `tokens` does not make F32",
    "// inputs: x = normal seed\n" + PROGRAM: "c.kina:1: `normal seed` is no recipe",
    "// inputs: x\n" + PROGRAM: "c.kina:1: `x` is not of the form `name = recipe`",
    "// inputs: x = zeros\n@main { let x = tensor<F32, [99999, 99999], @host>; x }": "c.kina:1: input `x` has 99998000",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_mistake_gets_one_clear_message(text: str) -> None:
    with pytest.raises(CaseError) as caught:
        parse_case(text, "c.kina")
    assert str(caught.value).startswith(REFUSED[text])
    assert "\n" not in str(caught.value)


SHUFFLED = st.lists(st.sampled_from([*FULL.splitlines(), *PROGRAM.splitlines(), "//"])).map("\n".join)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.one_of(st.text(), SHUFFLED))
def test_no_text_ends_in_another_exception(text: str) -> None:
    try:
        case = parse_case(text)
    except (CaseError, CompileError):
        return
    assert print_program(case.program) or case.text or case.expect.kind == "error"
    assert case.expect.kind == "error" or inputs(case.program.main or Block((), ())).keys() == case.recipes.keys()
