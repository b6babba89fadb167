"""Every diagnostic code on the line where it belongs, and how a diagnostic looks."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from compiler.checker import check
from compiler.parser import MAX_LENGTH, parse
from compiler.source import CODES, MAX_DIAGNOSTICS, CompileError, Diagnostic, Span, decode, did_you_mean, render

GOLDEN = Path("tests/golden/diagnostics")
PROGRAMS = sorted(GOLDEN.glob("*.kina"))
RENDERED = sorted(GOLDEN.glob("*.txt"))
# What no program of reasonable size can show, and the tests below do.
SHOWN_ELSEWHERE = {"encoding", "too-large", "too-many-errors", "too-deep", "value-limit"}


def diagnostics_of(text: str) -> tuple[Diagnostic, ...]:
    """What the front end has to say about a program; nothing if it is accepted."""
    try:
        check(parse(text))
    except CompileError as error:
        return error.diagnostics
    return ()


def codes_of(text: str) -> list[str]:
    return [found.code for found in diagnostics_of(text)]


def check_lines(text: str) -> None:
    """All errors that the comments announce are reported on their lines, and no others."""
    announced = Counter(
        (number, code)
        for number, line in enumerate(text.splitlines(), 1)
        if "// error:" in line
        for code in re.findall(r"\[([a-z-]+)\]", line.partition("// error:")[2])
    )
    reported = Counter((text.count("\n", 0, found.span.start) + 1, found.code) for found in diagnostics_of(text))
    assert reported == announced


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    check_lines(path.read_text())


def test_every_code_has_a_golden_program() -> None:
    shown = {code for path in PROGRAMS for code in re.findall(r"\[([a-z]+-[a-z-]+|[a-z]+)\]", _comments(path))}
    assert shown.isdisjoint(SHOWN_ELSEWHERE)
    assert shown | SHOWN_ELSEWHERE == set(CODES)


def _comments(path: Path) -> str:
    return "\n".join(line.partition("// error:")[2] for line in path.read_text().splitlines())


def _codes_in(path: Path) -> set[str]:
    """The codes that a module of ops refuses with: the first arguments of `Refusal`, and what they may be bound to."""
    tree = ast.parse(path.read_text())
    firsts = [node.args[0] for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_refusal(node)]
    names = {first.id for first in firsts if isinstance(first, ast.Name)}
    bound = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in names
    ]
    constants = [node for value in (*firsts, *bound) for node in ast.walk(value) if isinstance(node, ast.Constant)]
    return {node.value for node in constants if isinstance(node.value, str) and re.fullmatch("[a-z-]+", node.value)}


def _is_refusal(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "Refusal"


def test_ops_refuse_with_known_codes() -> None:
    found = set[str]().union(*(_codes_in(path) for path in Path("compiler/ops").glob("*.py")))
    assert len(found) > 15
    assert found <= set(CODES)


def test_codes_are_slugs_with_one_line_of_meaning() -> None:
    for code, meaning in CODES.items():
        assert re.fullmatch("[a-z]+(-[a-z]+)*", code)
        assert meaning
        assert "\n" not in meaning


def check_rendered(text: str, filename: str, expected: str) -> None:
    """What a person sees of the program's diagnostics."""
    assert render(text, filename, diagnostics_of(text)) + "\n" == expected


def check_shown(text: str, span: Span, lines: list[str]) -> None:
    """The last two lines that are shown for a span: the program's and the carets."""
    assert render(text, "x.kina", [Diagnostic("syntax", "m", span, "label")]).splitlines()[3:] == lines


def bless() -> None:
    """Rewrites the rendered diagnostics from what the compiler says now."""
    for path in RENDERED:
        text = path.with_suffix(".kina").read_text()
        path.write_text(render(text, f"{path.stem}.kina", diagnostics_of(text)) + "\n")


@pytest.mark.parametrize("path", RENDERED, ids=lambda path: path.stem)
def test_rendered(path: Path) -> None:
    """`name.txt` is what a person sees of `name.kina`."""
    text = path.with_suffix(".kina").read_text()
    check_rendered(text, f"{path.stem}.kina", path.read_text())


def test_render_as_the_language_page_shows_it() -> None:
    """The page's `kv_step`, with the wrong k_new and the lines above it that its example has."""
    text = """\
// why: a cache is appended to along its sequence axis
// expect: error[concat-dims]
// One functional KV-cache append (Section 19).
let kv_step = fn(
  q_new:  tensor<F32, [1, 2, 1, 2], @host>,
  k_past: tensor<F32, [1, 2, 2, 3], @host>,
  k_new:  tensor<F32, [1, 3, 2, 1], @host>,
  v_past: tensor<F32, [1, 2, 3, 2], @host>,
  v_new:  tensor<F32, [1, 2, 1, 2], @host>,
  scale:  tensor<F32, [1, 1, 1, 1], @host>
) -> (
  tensor<F32, [1, 2, 2, 4], @host>,
  tensor<F32, [1, 2, 4, 2], @host>,
  tensor<F32, [1, 2, 1, 2], @host>
) {
  let k_next  = concat[axis=3] k_past k_new;
  let v_next  = concat[axis=2] v_past v_new;
  let scores  = q_new @ k_next;
  let probs   = softmax(scores * broadcast(scale), axis=3);
  let context = probs @ v_next;
  (k_next, v_next, context)
}
"""
    check_rendered(
        text,
        "kv_step.kina",
        """\
error[concat-dims]: `concat` on axis 3 needs equal sizes on every other axis, got 2 and 3 on axis 1
  --> kv_step.kina:16:17
   |
16 |   let k_next  = concat[axis=3] k_past k_new;
   |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^ k_past is [1, 2, 2, 3], k_new is [1, 3, 2, 1]
""",
    )


def test_rendered_lines_are_clipped_and_clean() -> None:
    wide = f"@main {{ {'a + ' * 60}\tx$\x00 }}"
    shown = render(wide, "wide.kina", diagnostics_of(wide)).splitlines()
    assert max(map(len, shown)) < 200
    assert shown[4].index("^") == shown[3].index("$")
    assert "\x00" not in shown[3]
    assert "\t" not in shown[3]


def test_render_at_the_ends_of_a_text() -> None:
    check_shown("", Span(0, 0), ["1 | ", "  | ^ label"])
    check_shown("a\r\nb", Span(4, 4), ["2 | b", "  |  ^ label"])
    check_shown("a\r\nb", Span(0, 4), ["1 | a", "  | ^ label"])
    check_shown("a\n", Span(1, 2), ["1 | a", "  |  ^ label"])
    check_shown("a\n", Span(2, 2), ["2 | ", "  | ^ label"])


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(CompileError) as caught:
        decode("é = ".encode() + b"\xff\xfe")
    (found,) = caught.value.diagnostics
    assert (found.code, found.span) == ("encoding", Span(4, 5))
    assert found.message == "a program is UTF-8 text, got byte 0xff at offset 5"
    assert decode("é".encode()) == "é"


def test_too_large() -> None:
    assert codes_of(" " * (MAX_LENGTH + 1)) == ["too-large"]


def test_errors_are_counted_up_to_a_cap() -> None:
    for many in ("} " * 10_000, "$ ; " * 10_000, "@main { " + "let x = y; " * 10_000 + "x }"):
        codes = codes_of(many)
        assert len(codes) == MAX_DIAGNOSTICS + 1
        assert codes.count("too-many-errors") == 1


def check_value_limit(params: int, results: int, codes: list[str]) -> None:
    declared = ", ".join(f"x{number}: tensor<F32, [], @host>" for number in range(params))
    types, values = (", ".join([item] * results) for item in ("tensor<F32, [], @host>", "x0"))
    assert codes_of(f"let f = fn({declared}) -> ({types}) {{ ({values}) }}".replace("(x0)", "x0")) == codes


def test_value_limit() -> None:
    check_value_limit(1023, 1023, [])
    check_value_limit(1024, 1, ["value-limit"])
    check_value_limit(1, 1024, ["value-limit", "value-limit"])


@pytest.mark.parametrize(("count", "codes"), [(1023, []), (1024, ["value-limit"])])
def test_the_limit_on_host_inputs(count: int, codes: list[str]) -> None:
    lines = "\n".join(f"let x{at} = tensor<F32, [], @host>;" for at in range(count))
    assert codes_of(f"@main {{ {lines} x0 + x{count - 1} }}") == codes


@pytest.mark.parametrize(
    ("name", "guess"),
    [("softmx", "; did you mean `softmax`?"), ("zzz", ""), ("axs", "; did you mean `axis`?"), ("s" * 99, "")],
)
def test_did_you_mean(name: str, guess: str) -> None:
    assert did_you_mean(name, ["axis", "softmax", "s" * 98]) == guess
