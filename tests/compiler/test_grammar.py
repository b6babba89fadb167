"""The parser against the grammar: what one takes, the other takes.

Only syntax counts here. A literal of the wrong shape, say, is a sentence of the grammar, and refused by the parser
for another reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import UnexpectedInput
from lark.grammar import Symbol

from compiler.lexer import tokens
from compiler.parser import parse
from compiler.printer import print_program
from compiler.source import CompileError, Report
from compiler.syntax import Program
from tests.compiler.trees import WORDS, programs

GRAMMAR = Lark(Path("tests/compiler/kina.lark").read_text(), parser="lalr", lexer="contextual")
SYNTAX = {"syntax", "bad-character", "bad-number", "bare-number", "comparison-chain", "reverse-mode"}
SEEDS = [
    path.read_text()
    for folder in ("compiler/examples", "tests/golden/diagnostics")
    for path in sorted(Path(folder).glob("*.kina"))
]
SAMPLES = {
    "NAME": WORDS,
    "INT": ("0", "1", "-2", "12"),
    "FLOAT": ("0.5", "-1e-3", "0x1.8p-3", "inf", "-inf", "nan"),
    **{word.upper(): (word,) for word in ("let", "fn", "tensor", "while", "main")},
}
LEVELS = 40  # of a derivation: an operand is seven below its expression
WORDY = 150  # words of a sentence from which on it ends as soon as it can
_texts = {t.name: st.sampled_from(SAMPLES.get(t.name, (str(t.pattern.value),))) for t in GRAMMAR.terminals}
_rules: dict[str, list[list[Symbol]]] = {}
for rule in GRAMMAR.rules:
    _rules.setdefault(rule.origin.name, []).append(list(rule.expansion))


def _least_levels() -> dict[str, int]:
    """How many levels a derivation of each symbol needs at least."""
    least = dict.fromkeys((t.name for t in GRAMMAR.terminals), 0)
    while len(least) < len(_texts) + len(_rules):
        for name, expansions in _rules.items():
            known = [[least[s.name] for s in e] for e in expansions if all(s.name in least for s in e)]
            if name not in least and known:
                least[name] = 1 + min(max(levels, default=0) for levels in known)
    return least


_least = _least_levels()
for _expansions in _rules.values():  # the shortest first: what is drawn last, and what a draw shrinks to
    _expansions.sort(key=lambda expansion: max((1 + _least[symbol.name] for symbol in expansion), default=0))


@st.composite
def sentences(draw: st.DrawFn) -> str:
    """Sentences of the grammar, derived from its rules. hypothesis.extra.lark draws derivations that do not end."""
    words: list[str] = []
    pending = [("start", LEVELS)]
    while pending:
        name, levels = pending.pop()
        if name in _texts:
            words.append(draw(_texts[name]))
            continue
        fitting = [e for e in _rules[name] if all(_least[s.name] < levels for s in e)]
        most = len(fitting) - 1 if len(words) + len(pending) < WORDY else 0
        expansion = fitting[draw(st.integers(0, most)) if most else 0]
        pending += [(symbol.name, levels - 1) for symbol in reversed(expansion)]
    return " ".join(words)


def grammar_takes(text: str) -> bool:
    try:
        GRAMMAR.parse(text)
    except UnexpectedInput:
        return False
    return True


def parser_takes(text: str) -> bool:
    """Whether the parser finds nothing to say about the syntax."""
    try:
        parse(text)
    except CompileError as error:
        return SYNTAX.isdisjoint(found.code for found in error.diagnostics)
    return True


def check_agreement(text: str) -> None:
    assert parser_takes(text) == grammar_takes(text), text


@settings(max_examples=80, deadline=None)
@given(sentences())
def test_sentences_of_the_grammar_parse(text: str) -> None:
    assert grammar_takes(text)
    assert parser_takes(text)


@settings(max_examples=60, deadline=None)
@given(programs)
def test_printed_programs_are_sentences(program: Program) -> None:
    assert grammar_takes(print_program(program))


@pytest.mark.parametrize("text", SEEDS)
def test_examples_and_golden_programs(text: str) -> None:
    check_agreement(text)


_PIECES = """
let fn tensor while @ main -> ( ) [ ] { } < > <= == = , ; : + - * / % //
x f 1 -1 0.5 inf nan -inf 1. $ é 1x . F32
"""
PIECES = _PIECES.split()


@st.composite
def _mutated(draw: st.DrawFn, text: str) -> str:
    """A few tokens of `text` dropped, doubled, swapped or replaced."""
    words = [token.text for token in tokens(text, Report())]
    for _ in range(draw(st.integers(1, 3))):
        at, other = draw(st.integers(0, len(words) - 1)), draw(st.integers(0, len(words) - 1))
        match draw(st.sampled_from(("drop", "double", "swap", "replace", "insert"))):
            case "drop":
                words[at] = ""
            case "double":
                words[at] += f" {words[at]}"
            case "swap":
                words[at], words[other] = words[other], words[at]
            case "replace":
                words[at] = draw(st.sampled_from(PIECES))
            case "insert":
                words[at] += draw(st.sampled_from(PIECES))  # without a blank: it may make another token
    return " ".join(words)


SHORT = """
let f = fn(x: tensor<F32, [2], @host>, i: tensor<I64, [], @host>) -> (tensor<F32, [2], @host>, tensor<I64, [], @host>) {
  let (a, b) = g[axis=1, shape=[2, 3]](x, i, dtype=F16);
  let c = -(a + b * tensor<F32, [2], @host>[1, -2.5]) @ h a (b) tensor<F32, [], @host> 1;
  let d = while (j: tensor<I64, [], @host> = i, y: tensor<F32, [2], @host> = c) j <= i { (j, (y, f())) };
  ((a) < b, c)
}
@main { f(tensor<F32, [2], @host>) }
"""


@settings(max_examples=300, deadline=None)
@given(_mutated(SHORT))
def test_mutated_texts_are_taken_by_both_or_neither(text: str) -> None:
    check_agreement(text)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_results_of_random_tokens(text: str) -> None:
    check_agreement(f"@main {{ {text} }}")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_one_character_more_or_less(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(SHORT) - 1))
    char = data.draw(st.sampled_from("a1 .-=<>()[]{},;:@/\n$"))
    check_agreement(SHORT[:at] + SHORT[at + 1 :])
    check_agreement(SHORT[:at] + char + SHORT[at:])
