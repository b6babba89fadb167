"""docs/language.md: its examples are run, its tables are those of the compiler."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from mlir import ir

from compiler import backend, pipeline
from compiler.arrays import Array, numpy_dtype
from compiler.checker import Checked, check, signature
from compiler.codes import CODES
from compiler.lowering import lower
from compiler.ops import OPS
from compiler.parser import parse
from compiler.syntax import Apply, Literal, walk_block

PAGE = Path("docs/language.md").read_text()
EXAMPLES = re.findall(r"^```kina\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def run(checked: Checked) -> tuple[Array, ...]:
    """The results of `@main`, which has no inputs."""
    module = lower(checked, ir.Context())
    pipeline.run(module, pipeline.DEFAULT)
    compiled = backend.compile_jit(module, {"main": signature(checked, "main")}, 2)
    try:
        return compiled.call("main")
    finally:
        compiled.close()


def announced(example: str) -> list[Literal]:
    """The constants on the `// =` lines of an example, one for each result."""
    texts = re.findall(r"^// = (.*)$", example, re.MULTILINE)
    main = parse(f"@main {{ ({', '.join([*texts, 'x'])}) }}").main
    assert main is not None
    return [expr for expr in main.result if isinstance(expr, Literal)]


def check_same(got: Array, wanted: Literal) -> None:
    """Bit by bit, but for the payload of a NaN."""
    expected = np.array(wanted.values, numpy_dtype(wanted.type)).reshape(wanted.type.shape)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    nan = got != got  # also for bfloat16
    np.testing.assert_array_equal(nan, expected != expected)
    zero = np.zeros_like(got)
    numbers, wanted_numbers = np.where(nan, zero, got), np.where(nan, zero, expected)
    np.testing.assert_array_equal(numbers, wanted_numbers)
    assert numbers.tobytes() == wanted_numbers.tobytes()  # the sign of a zero, too


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_compute_what_they_say(example: str) -> None:
    results, wanted = run(check(parse(example))), announced(example)
    assert wanted
    for got, literal in zip(results, wanted, strict=True):
        check_same(got, literal)


def test_every_op_has_an_example() -> None:
    used = set()
    for example in EXAMPLES:
        main = parse(example).main
        assert main is not None
        used |= {expr.callee for expr in walk_block(main) if isinstance(expr, Apply)}
    assert used >= set(OPS)


def test_the_grammar_is_the_tests_grammar() -> None:
    (grammar,) = re.findall(r"^```lark\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert grammar == Path("tests/compiler/kina.lark").read_text()


def test_the_codes_are_the_compilers_codes() -> None:
    assert dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", PAGE, re.MULTILINE)).items() >= CODES.items()
