"""The grammar of blocks and expressions: `let` lines, results, applications in every spelling, `while`.

Frames of Python's stack are counted here: one level of nesting costs at most five. Standard library only.
"""

from __future__ import annotations

from compiler.cursor import Cursor, SyntaxRefused
from compiler.lexer import Token
from compiler.source import Span
from compiler.syntax import INFIX, Apply, AttrValue, Block, Carry, Expr, Let, Literal, Name, Placeholder, While
from compiler.typetext import attribute_value, payload, tensor_type

_BINARY = {symbol: (name, level) for name, (symbol, level) in INFIX.items()}
_COMPARISON = INFIX["less"][1]
_OPERAND_STARTS = ("name", "tensor", "(")

Attribute = tuple[str, AttrValue, Span]


def block(c: Cursor) -> Block:
    """`{ let ...; result }`. Reports the errors in its statements and raises `SyntaxRefused` only without a `{`."""
    start = c.expect("{", "before the body").start
    depth, lets, results, wrong = c.depth, list[Let](), list[tuple[Expr, ...]](), False
    while not c.at("}", "end"):
        try:
            if c.at("let"):
                lets.append(_let(c))
            else:
                results.append(_result(c))
                _end_of_result(c)
        except SyntaxRefused as error:
            c.complain(error)
            c.depth, wrong = depth, True
            _skip_statement(c)
    _close_block(c, missing=not results and not wrong)
    return Block(tuple(lets), results[0] if results else (), Span(start, c.end))


def _end_of_result(c: Cursor) -> None:
    if c.at(";"):
        c.refuse("`}` after the block's result (which has no `;`)")
    if c.at("="):
        c.refuse("`}` after the block's result (a binding starts with `let`)")
    if not c.at("}"):
        c.refuse("`}` after the block's result")


def _close_block(c: Cursor, missing: bool) -> None:
    if c.at("end"):
        c.complain(SyntaxRefused("syntax", "expected `}`, found the end of the program", c.here.span))
    elif missing:
        message = "expected a result before `}`: a block ends with a value or a tuple, without `;`"
        c.complain(SyntaxRefused("syntax", message, c.here.span))
    c.accept("}")


def _skip_statement(c: Cursor) -> None:
    """Goes on behind the next `;`, or at the next `let` or `}` of this block."""
    inner = 0
    while not c.at("end") and (inner or not c.at("let", "}")):
        kind = c.take().kind
        if kind == ";" and not inner:
            return
        inner += (kind == "{") - (kind == "}")


def _let(c: Cursor) -> Let:
    """`let a = value;` or `let (a, b) = value;`"""
    start = c.take().start
    names = _pattern(c)
    c.expect("=", "after the names")
    if c.at("fn"):
        c.refuse("a value after `=` (a fn is bound outside of all blocks: is a `}` missing above?)")
    value = expression(c)
    if not c.at(";"):
        after = Span(c.end, c.end)
        raise SyntaxRefused("syntax", f"expected `;` after the value of `{names[0].text}`, found {c.found()}", after)
    c.take()
    return Let(tuple(name.text for name in names), value, Span(start, c.end), tuple(name.span for name in names))


def _pattern(c: Cursor) -> list[Token]:
    if not c.accept("("):
        return [c.expect("name", "or `(` after `let`")]
    names = [c.expect("name", "in the pattern")]
    while c.accept(","):
        names.append(c.expect("name", "in the pattern"))
    c.expect(")", "after the names")
    return names


def _result(c: Cursor) -> tuple[Expr, ...]:
    """A value, or a tuple of them, flattened; `(a) + b` is a value that begins like a tuple."""
    if not c.at("("):
        return (expression(c),)
    start = c.take().start
    c.deeper()
    values = _result(c)
    if c.at(","):
        while c.accept(","):
            values += _result(c)
        c.expect(")", "after the tuple")
        c.depth -= 1
        return values
    c.expect(")", "or `,` after the value")
    c.depth -= 1
    if len(values) > 1:
        raise SyntaxRefused("syntax", "expected a value in parentheses, found a tuple", Span(start, c.end))
    return (_infix(c, start, values[0]),)


def expression(c: Cursor) -> Expr:
    """One value. `while` binds weakest: as an operand of an infix op it needs parentheses."""
    c.deeper()
    value = _while(c) if c.at("while") else _infix(c, c.here.start, _unary(c))
    c.depth -= 1
    return value


def _infix(c: Cursor, start: int, first: Expr) -> Expr:
    """Operands and infix ops behind `first`, by a stack of those that wait for their right operand."""
    waiting: list[tuple[str, int, Span, Expr, int]] = []
    operand = first
    while True:
        name, level = _BINARY.get(c.here.kind, ("", 0))
        while waiting and waiting[-1][1] >= level:
            callee, own, span, left, begin = waiting.pop()
            if own == level == _COMPARISON:
                raise SyntaxRefused("comparison-chain", _chain(c.here.text), c.here.span)
            operand = Apply(callee, (left, operand), (), Span(begin, c.end), span)
            start = begin
        if not level:
            return operand
        waiting.append((name, level, c.take().span, operand, start))
        start = c.here.start
        operand = _unary(c)


def _chain(symbol: str) -> str:
    return f"`{symbol}` cannot follow another comparison: comparisons do not chain; choose with parentheses or `select`"


def _unary(c: Cursor) -> Expr:
    """`-x`, any number of times, or an operand of an infix op."""
    signs: list[Token] = []
    while c.at("-"):
        signs.append(c.take())
    value = _application(c) if c.at("name") else _operand(c)
    for sign in reversed(signs):
        value = Apply("neg", (value,), (), Span(sign.start, c.end), sign.span)
    return value


def _operand(c: Cursor) -> Expr:
    """What may stand beside others without commas: a name, a literal, an expression in parentheses."""
    if c.at("name"):
        name = c.take()
        return Name(name.text, name.span)
    if c.at("tensor"):
        return _literal(c)
    if c.at("int", "float"):
        message = f"`{c.here.text[:40]}` has no type: a constant is written `tensor<F32, [], @host> {c.here.text[:40]}`"
        raise SyntaxRefused("bare-number", message, c.here.span)
    if not c.accept("("):
        c.refuse("a value")
    value = expression(c)
    if c.at(","):
        c.refuse("`)` after the value (a tuple stands only as the result of a block)")
    c.expect(")", "after the value")
    return value


def _literal(c: Cursor) -> Expr:
    start = c.here.start
    type_ = tensor_type(c)
    if not c.at("[", "int", "float"):
        return Placeholder(type_, Span(start, c.end))
    values = payload(c, type_)
    return Literal(type_, values, Span(start, c.end))


def _application(c: Cursor) -> Expr:
    """`f`, `f(a, b, axis=1)`, `f a b`, `f[axis=1] a b`, `f[axis=1](a, b)`."""
    callee = c.take()
    attrs: list[Attribute] = []
    if c.accept("["):
        attrs = [_attribute(c)]
        while c.accept(","):
            attrs.append(_attribute(c))
        c.expect("]", "after the attributes")
    elif not c.at(*_OPERAND_STARTS):
        return Name(callee.text, callee.span)
    args, closed = _arguments(c, attrs) if c.at("(") else ([_operand(c)], False)
    while not closed and c.at(*_OPERAND_STARTS):
        args.append(_operand(c))
    pairs = tuple((name, value) for name, value, _ in attrs)
    spans = tuple(span for _, _, span in attrs)
    return Apply(callee.text, tuple(args), pairs, Span(callee.start, c.end), callee.span, spans)


def _arguments(c: Cursor, attrs: list[Attribute]) -> tuple[list[Expr], bool]:
    """`(a, b, axis=1)`, adding to `attrs`; and whether it is complete: `f (a + b) c` has another operand behind it."""
    c.take()
    args: list[Expr] = []
    before = len(attrs)
    while not c.at(")"):
        if c.at("name") and c.after.kind == "=":
            attrs.append(_attribute(c))
        elif len(attrs) > before:
            c.refuse("another attribute (operands stand before attributes)")
        else:
            args.append(expression(c))
        if not c.accept(","):
            break
        if c.at(")"):
            c.refuse("an operand after `,`")
    c.expect(")", "or `,` after the operand")
    return args, len(args) != 1 or len(attrs) > before


def _attribute(c: Cursor) -> Attribute:
    name = c.expect("name", "of an attribute")
    c.expect("=", "after the attribute's name")
    value = attribute_value(c)
    return name.text, value, Span(name.start, c.end)


def _while(c: Cursor) -> While:
    """`while (i: T = i0, ...) cond { body }`"""
    start = c.take().start
    c.expect("(", "after `while`")
    carries = [_carry(c)]
    while c.accept(","):
        carries.append(_carry(c))
    c.expect(")", "after the carries")
    cond = expression(c)
    body = block(c)
    return While(tuple(carries), cond, body, Span(start, c.end))


def _carry(c: Cursor) -> Carry:
    name = c.expect("name", "of a carry")
    c.expect(":", "after the carry's name")
    type_ = tensor_type(c)
    c.expect("=", "and the carry's initial value")
    init = expression(c)
    return Carry(name.text, type_, init, Span(name.start, c.end))
