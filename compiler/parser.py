"""Text to syntax tree, by recursive descent; every syntax error of a program is found in one go.

Recovery is by statement: behind an error the parser goes on after the next `;` or at the next `let` or `}`. Blocks and
expressions are in `expressions.py`. What a name or an op means is not asked (`checker.py`). Standard library only.
"""

from __future__ import annotations

from contextlib import suppress

from compiler.cursor import Cursor, SyntaxRefused
from compiler.expressions import block
from compiler.source import CompileError, Diagnostic, Report, Span, TooManyErrors
from compiler.syntax import MAX_DEPTH, Block, Fn, Param, Program, height
from compiler.types import TensorType
from compiler.typetext import tensor_type

MAX_LENGTH = 2**20  # characters of a program: some ten thousand lines, parsed in a few seconds


def parse(text: str) -> Program:
    """The tree of a program. Raises `CompileError` with all syntax errors. Linear in the length of the text."""
    if len(text) > MAX_LENGTH:
        message = f"a program has at most {MAX_LENGTH} characters, got {len(text)}"
        raise CompileError((Diagnostic("too-large", message, Span(0, 1)),))
    report = Report()
    program = Program(())
    with suppress(TooManyErrors):  # it is among the diagnostics
        program = _program(Cursor(text, report))
    report.raise_if_any()
    return program


def _program(c: Cursor) -> Program:
    fns: list[Fn] = []
    mains: list[Block] = []
    while not c.at("end"):
        try:
            if c.at("let"):
                fns.append(_fn(c))
            elif c.at("@"):
                mains.append(_main(c, first=not mains))
            else:
                c.refuse("`let` or `@main`")
        except SyntaxRefused as error:
            c.complain(error)
            c.depth = 0
            _skip_to_item(c)
    return Program(tuple(fns), mains[0] if mains else None, Span(0, c.end))


def _skip_to_item(c: Cursor) -> None:
    """Goes on at the next fn or `@main`, or behind a `;`, a `}` or a block, whose errors are reported."""
    while not c.at("end", "let") and not (c.at("@") and c.after.text == "main"):
        if c.at("{"):
            block(c)
            return
        if c.take().kind in (";", "}"):
            return


def _main(c: Cursor, first: bool) -> Block:
    start = c.take().start
    name = c.expect("name", "after `@` (the host's script is `@main`)")
    span = Span(start, name.end)
    if name.text != "main":
        raise SyntaxRefused("syntax", f"expected `@main`, found `@{name.text[:40]}`", span)
    if not first:
        c.complain(SyntaxRefused("duplicate-main", "a program has one `@main` at most, this is another one", span))
    return _body(c)


def _fn(c: Cursor) -> Fn:
    """`let name = fn(params) -> results { body }`"""
    start = c.take().start
    name = c.expect("name", "after `let`")
    c.expect("=", "after the name")
    if c.here.text == "reverseMode":
        message = "`reverseMode` is not supported, for its payload is unspecified; bind the fn without it"
        raise SyntaxRefused("reverse-mode", message, c.here.span)
    c.expect("fn", "after `=` (a program's `let` binds a fn; values are bound inside one, or in `@main`)")
    params = _params(c)
    c.expect("->", "after the parameters")
    results, spans = _result_types(c)
    body = _body(c)
    return Fn(name.text, params, results, body, Span(start, c.end), name.span, spans)


def _params(c: Cursor) -> tuple[Param, ...]:
    c.expect("(", "after `fn`")
    params: list[Param] = []
    while not c.at(")"):
        name = c.expect("name", "as a parameter")
        c.expect(":", "after the parameter's name")
        type_ = tensor_type(c)
        params.append(Param(name.text, type_, Span(name.start, c.end)))
        if not c.accept(","):
            break
        if c.at(")"):
            c.refuse("a parameter after `,`")
    c.expect(")", "or `,` after the parameter")
    return tuple(params)


def _result_types(c: Cursor) -> tuple[tuple[TensorType, ...], tuple[Span, ...]]:
    """A type, or several in parentheses, and where each stands."""
    several = c.accept("(")
    types: list[tuple[TensorType, Span]] = []
    while not types or (several and c.accept(",")):
        start = c.here.start
        type_ = tensor_type(c)
        types.append((type_, Span(start, c.end)))
    if several:
        c.expect(")", "or `,` after the result type")
    return tuple(type_ for type_, _ in types), tuple(span for _, span in types)


def _body(c: Cursor) -> Block:
    """The block of a fn or `@main`, with its expressions no higher than the recursive walks of a tree can bear."""
    body = block(c)
    levels, span = height(body)
    if levels > MAX_DEPTH:
        message = f"an expression has at most {MAX_DEPTH} levels, got {levels}; bind a part of it by `let`"
        c.complain(SyntaxRefused("too-deep", message, span))
    return body
