"""Syntax tree to text, in the one canonical form: `parse(print_program(p)) == p`. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.numbers import print_scalar
from compiler.syntax import (
    INFIX,
    Apply,
    AttrValue,
    Block,
    Expr,
    Fn,
    Let,
    Literal,
    Name,
    Placeholder,
    Program,
    While,
)

_LOOSE, _TIGHT = 0, 5  # how tightly `while` binds, and what never needs parentheses
_UNARY = 4
_COMPARISON = INFIX["less"][1]
_STEP = "  "


def print_program(program: Program) -> str:
    """The canonical text, fns first, a newline at the end; the empty program is the empty text."""
    items = [_fn(fn) for fn in program.fns]
    if program.main is not None:
        items.append(f"@main {_block(program.main, '')}\n")
    return "\n".join(items)


def print_expr(expr: Expr) -> str:
    """The canonical text of one expression, as it would stand at the left margin."""
    return _expr(expr, "", _LOOSE)


def _fn(fn: Fn) -> str:
    params = _listed([f"{param.name}: {param.type}" for param in fn.params])
    results = _listed([str(type_) for type_ in fn.results]) if len(fn.results) > 1 else str(fn.results[0])
    return f"let {fn.name} = fn{params} -> {results} {_block(fn.body, '')}\n"


def _listed(items: Sequence[str]) -> str:
    return f"(\n{_STEP}{f',{chr(10)}{_STEP}'.join(items)}\n)" if items else "()"


def _block(block: Block, margin: str) -> str:
    inner = margin + _STEP
    lines = [_let(let, inner) for let in block.lets]
    results = [_expr(result, inner, _LOOSE) for result in block.result]
    lines.append(results[0] if len(results) == 1 else f"({', '.join(results)})")
    return "{\n" + "".join(f"{inner}{line}\n" for line in lines) + margin + "}"


def _let(let: Let, margin: str) -> str:
    names = let.names[0] if len(let.names) == 1 else f"({', '.join(let.names)})"
    return f"let {names} = {_expr(let.value, margin, _LOOSE)};"


def _expr(expr: Expr, margin: str, least: int) -> str:
    """`least` is how tightly the text must bind to stand where it will; otherwise it gets parentheses."""
    match expr:
        case Name():
            return expr.id
        case Literal():
            return f"{expr.type}{_payload(expr)}"
        case Placeholder():
            return str(expr.type)
        case While():
            text, level = _while(expr, margin), _LOOSE
        case Apply():
            text, level = _apply(expr, margin)
    return text if level >= least else f"({text})"


def _apply(expr: Apply, margin: str) -> tuple[str, int]:
    """The text and how tightly it binds. An op with a wrong number of operands is written by its name."""
    if not expr.attrs and len(expr.args) == 2 and expr.callee in INFIX:
        symbol, level = INFIX[expr.callee]
        left = _expr(expr.args[0], margin, level + (level == _COMPARISON))
        return f"{left} {symbol} {_expr(expr.args[1], margin, level + 1)}", level
    if not expr.attrs and len(expr.args) == 1 and expr.callee == "neg":
        return f"-{_expr(expr.args[0], margin, _UNARY)}", _UNARY
    operands = [_expr(arg, margin, _LOOSE) for arg in expr.args]
    attrs = [f"{name}={_attr(value)}" for name, value in expr.attrs]
    return f"{expr.callee}({', '.join(operands + attrs)})", _TIGHT


def _attr(value: AttrValue) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def _while(expr: While, margin: str) -> str:
    carries = [f"{carry.name}: {carry.type} = {_expr(carry.init, margin, _LOOSE)}" for carry in expr.carries]
    return f"while ({', '.join(carries)}) {_expr(expr.cond, margin, _LOOSE)} {_block(expr.body, margin)}"


def _payload(literal: Literal) -> str:
    """Lists nested as the shape is, from the innermost ones outwards."""
    texts = [print_scalar(literal.type.dtype, value) for value in literal.values]
    for dim in reversed(literal.type.shape):
        texts = [f"[{', '.join(texts[at : at + dim])}]" for at in range(0, len(texts), dim)]
    return " ".join(texts)
