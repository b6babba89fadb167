"""No input, of any size or content, ends in a traceback or a hang."""

from __future__ import annotations

import random

import pytest

from compiler.checker import check
from compiler.parser import MAX_LENGTH, parse
from compiler.source import CODES, CompileError, Diagnostic, decode, render
from tests.compiler.test_grammar import PIECES

SEED = 20


def diagnostics_of(data: bytes) -> tuple[Diagnostic, ...]:
    try:
        check(parse(decode(data)))
    except CompileError as error:
        return error.diagnostics
    return ()


def check_survives(data: bytes) -> set[str]:
    """The program is accepted, or refused with diagnostics that can be shown. Returns their codes."""
    text, diagnostics = data.decode(errors="replace"), diagnostics_of(data)
    assert all(found.code in CODES and 0 <= found.span.start <= len(text) for found in diagnostics)
    assert len(render(text, "x.kina", diagnostics).encode()) < 200_000
    return {found.code for found in diagnostics}


def test_random_bytes() -> None:
    rng = random.Random(SEED)  # noqa: S311 - not for secrets
    for _ in range(5_000):
        check_survives(rng.randbytes(rng.randrange(60)))


def test_random_characters() -> None:
    rng = random.Random(SEED)  # noqa: S311 - not for secrets
    for _ in range(3_000):
        check_survives(bytes(rng.randrange(9, 127) for _ in range(rng.randrange(60))))


def test_random_words() -> None:
    """Random tokens in a block, so that some get as far as the checker."""
    rng = random.Random(SEED)  # noqa: S311 - not for secrets
    words = (*PIECES, "tensor<F32, [2], @host>", "let y =", "tanh", "y", "concat", "axis=0", "{", "}", ";")
    for _ in range(2_000):
        text = " ".join(rng.choice(words) for _ in range(rng.randrange(25)))
        check_survives(f"@main {{ let x = tensor<F32, [2], @host>; {text} }}".encode())


@pytest.mark.parametrize(
    "unit", ["(", "[", "{", "-", "f(", "f(x, ", "x + ", "let ", "@main { ", "while (", "x ", "\x00", "é", "1", "a"]
)
@pytest.mark.parametrize("start", ["", "@main { ", "@main { tensor<F32, [2], @host>["])
def test_long_repetitions(unit: str, start: str) -> None:
    assert check_survives((start + unit * (60_000 // len(unit))).encode())


@pytest.mark.parametrize("unit", ["// comment\n", "(", "let x = y;\n", "1, ", "\xff"])
def test_ten_megabytes(unit: str) -> None:
    assert check_survives((unit * (10_000_000 // len(unit))).encode()) == {"too-large"}


def test_the_largest_file() -> None:
    number = "0." + "123456789" * 5
    count = (MAX_LENGTH - 100) // (len(number) + 1)
    literal = f"tensor<F32, [{count}], @host>[{','.join([number] * count)}]"
    assert check_survives(f"@main {{ {literal} }}".encode()) == set()
    assert check_survives(b"@main { " + b"x = " * (MAX_LENGTH // 4 - 100)) == {"syntax"}


BIG = 2**62


@pytest.mark.parametrize(
    "text",
    [
        f"let x = tensor<F32, [{BIG}], @host>; x",
        f"let x = tensor<F32, [{BIG}, {BIG}, {BIG}, {BIG}], @host>; x",
        f"let x = tensor<F32, [{'1, ' * 20_000}1], @host>; x",
        f"tensor<F32, [{BIG}], @host>[1]",
        f"broadcast(tensor<F32, [], @host> 1, shape=[{BIG}])",
        f"reshape(tensor<F32, [], @host> 1, shape=[{BIG}, {BIG}])",
        f"pad(tensor<F32, [1], @host>[1], axis=0, low={BIG}, high={BIG})",
        f"slice(tensor<F32, [1], @host>[1], axis=0, start={BIG}, stop={BIG})",
        f"sum(tensor<F32, [1], @host>[1], axis={BIG})",
        f"transpose(tensor<F32, [1], @host>[1], perm=[{'0, ' * 20_000}0])",
        f"tensor<F32, [{'9' * 5_000}], @host>",
        f"tensor<I64, [], @host> {'9' * 5_000}",
        f"tensor<F64, [], @host> 1e{'9' * 5_000}",
        f"concat({', '.join(['tensor<F32, [1], @host>[1]'] * 5_000)}, x, axis=0)",
    ],
    ids=lambda text: text[:60],
)
def test_huge_numbers(text: str) -> None:
    assert check_survives(f"@main {{ {text} }}".encode())


def test_results_that_multiply() -> None:
    """A thousand results, called a thousand times over: the flat tuple is not built."""
    types, values = ", ".join(["tensor<F32, [], @host>"] * 1000), ", ".join(["x"] * 1000)
    fn = f"let f = fn(x: tensor<F32, [], @host>) -> ({types}) {{ ({values}) }}"
    main = f"@main {{ let x = tensor<F32, [], @host>; ({', '.join(['f(x)'] * 5_000)}) }}"
    assert check_survives((fn + main).encode()) == {"value-limit"}
