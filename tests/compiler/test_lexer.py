"""Text to tokens: each with its span, and what is in no token reported."""

from __future__ import annotations

import pytest

from compiler.lexer import Token, tokens
from compiler.source import CompileError, Report, Span


def lexed(text: str) -> tuple[list[Token], list[tuple[str, Span]]]:
    report = Report()
    found = list(tokens(text, report))
    try:
        report.raise_if_any()
    except CompileError as error:
        return found, [(d.code, d.span) for d in error.diagnostics]
    return found, []


def check_kinds(text: str, kinds: str) -> None:
    """The kinds of the tokens of `text`, and that each lies where it says."""
    found, errors = lexed(text)
    assert " ".join(token.kind for token in found) == f"{kinds} end".strip()
    assert not errors
    assert all(text[token.start : token.end] == token.text for token in found)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("", ""),
        (" // only a comment", ""),
        ("a//b\nc", "name name"),
        ("let letx fn tensor while", "let name fn tensor while"),
        ("inf nan -inf", "float float float"),
        ("infx nano -infx _inf", "name name - name name"),
        ("-nan", "- float"),
        ("1 -1 - 1", "int int - int"),
        ("a-1 a -b", "name int name - name"),
        ("1.5 1e3 1e-3 -1.5E+3 0x1.8p-3 0x1p0", "float float float float float float"),
        ("-> - > <= < = == = =", "-> - > <= < = == = ="),
        ("@main @ host a@b", "@ name @ name name @ name"),
        ("f[axis=-1](a, b);", "name [ name = int ] ( name , name ) ;"),
        ("007 12345678901234567890123", "int int"),
        ("a\r\n\tb", "name name"),
    ],
)
def test_tokens(text: str, kinds: str) -> None:
    check_kinds(text, kinds)


@pytest.mark.parametrize(
    ("text", "code", "span"),
    [
        ("a $$ b", "bad-character", Span(2, 4)),
        ("é", "bad-character", Span(0, 1)),
        ("a\x00b", "bad-character", Span(1, 2)),
        ("\ud800", "bad-character", Span(0, 1)),
        ("a . b", "bad-character", Span(2, 3)),
        ("1.", "bad-number", Span(0, 2)),
        ("12ab", "bad-number", Span(0, 4)),
        ("1e+", "bad-number", Span(0, 3)),
        ("0x1.8", "bad-number", Span(0, 5)),
        ("1_000", "bad-number", Span(0, 5)),
        ("1" * 1101, "bad-number", Span(0, 1101)),
        ("x" * 256, "name-length", Span(0, 256)),
    ],
)
def test_what_is_no_token(text: str, code: str, span: Span) -> None:
    _, errors = lexed(text)
    assert errors == [(code, span)]
