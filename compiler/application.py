"""One op applied: its operands' number and places, its attributes, bare `broadcast`, and what its rule says.

Standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from compiler.ops.elementwise import ELEMENTWISE
from compiler.ops.table import Attr, Op, Refusal
from compiler.scope import MaybeType, Scope, size_faults
from compiler.source import Span, did_you_mean
from compiler.syntax import Apply, AttrValue, Expr, Name
from compiler.types import DTYPES, TensorType

# The ops beside whose operands a bare `broadcast` finds its shape.
TAKES_BARE = frozenset({"matmul", *(op.name for op in ELEMENTWISE if op.arity[0] > 1)})

_KINDS = {"int": "an integer", "ints": "a list of integers", "dtype": "a dtype"}


def is_bare(expr: Expr) -> TypeGuard[Apply]:
    """Whether this is `broadcast(x)` without a shape."""
    return isinstance(expr, Apply) and expr.callee == "broadcast" and not expr.attrs and len(expr.args) == 1


def bare_shape(op: Op, own: TensorType, sibling: TensorType) -> tuple[int, ...]:
    """The shape that a bare `broadcast` of `own` takes beside `sibling`.

    All of the sibling's; beside `@` only its batch dims, in front of the last two of `own` left-padded with 1.
    """
    if op.name != "matmul":
        return sibling.shape
    padded = (1,) * (sibling.rank - own.rank) + own.shape
    return sibling.shape[:-2] + padded[-2:]


def apply_op(s: Scope, op: Op, expr: Apply, types: Sequence[MaybeType]) -> tuple[Apply, MaybeType]:
    """The application with its attributes in the op's order, and its type. Reports what is wrong."""
    fits = _check_arity(s, op, expr)
    attrs = _attributes(s, op, expr)
    known = [type_ for type_ in types if type_ is not None]
    if not fits or attrs is None or len(known) < len(types) or not _check_places(s, op, expr, known):
        return expr, None
    try:
        type_ = op.infer(known, dict(attrs))
    except Refusal as refusal:
        s.report.add(refusal.code, str(refusal), expr.span, refusal.label or _label(expr.args, known))
        return expr, None
    faults = size_faults(type_)
    for code, message in faults:
        s.report.add(code, f"{message}, the result of `{spelled(op)}`", expr.span, _label(expr.args, known))
    return replace(expr, attrs=attrs, attr_spans=()), None if faults else type_


def spelled(op: Op) -> str:
    """The op as a message names it."""
    return op.infix or op.name


def _label(args: Sequence[Expr], types: Sequence[TensorType]) -> str:
    """The operands' types beside the caret; only the shapes if the dtypes are the same."""
    same = len({type_.dtype for type_ in types}) == 1 and len(types) > 1
    parts = []
    for number, (arg, type_) in enumerate(zip(args, types, strict=True), 1):
        name = arg.id if isinstance(arg, Name) else f"operand {number}" if len(args) > 1 else "the operand"
        shape = f"[{', '.join(map(str, type_.shape))}]"
        parts.append(f"{name} is {shape if same else f'{type_.dtype} {shape}'}")
    return ", ".join(parts[:8])


def _check_arity(s: Scope, op: Op, expr: Apply) -> bool:
    least, most = op.arity
    if least <= len(expr.args) <= most:
        return True
    wanted = f"{least} operand{'s' * (least != 1)}{' or more' * (most > least)}"
    s.report.add("arity", f"`{spelled(op)}` takes {wanted}, got {len(expr.args)}", expr.span)
    return False


def _check_places(s: Scope, op: Op, expr: Apply, types: Sequence[TensorType]) -> bool:
    for type_ in types[1:]:
        if type_.place != types[0].place:
            places = f"@{types[0].place} and @{type_.place}"
            message = f"`{spelled(op)}` needs all its operands in one place, got {places}"
            s.report.add("place-mismatch", message, expr.span)
            return False
    return True


def _attributes(s: Scope, op: Op, expr: Apply) -> tuple[tuple[str, AttrValue], ...] | None:
    """The attributes in the op's order, or None. Reports what is missing, unknown, given twice or of a wrong kind."""
    given: dict[str, AttrValue] = {}
    right = True
    for (name, value), span in zip(expr.attrs, attribute_spans(expr), strict=True):
        fault = _attribute_fault(op, name, value, name in given)
        given[name] = value
        if fault is not None:
            right = False
            s.report.add(*fault, span)
    missing = [attr for attr in op.attrs if attr.name not in given]
    misspelt = sum(all(name != attr.name for attr in op.attrs) for name in given)
    for attr in missing if len(missing) > misspelt else ():
        s.report.add(*_missing(op, attr, expr), expr.callee_span)
    if missing or not right:
        return None
    return tuple((attr.name, given[attr.name]) for attr in op.attrs)


def attribute_spans(expr: Apply) -> tuple[Span, ...]:
    """Where each attribute stands; a tree that was not parsed has the application's own span for all."""
    return expr.attr_spans if len(expr.attr_spans) == len(expr.attrs) else (expr.span,) * len(expr.attrs)


def _missing(op: Op, attr: Attr, expr: Apply) -> tuple[str, str]:
    if is_bare(expr):
        return "broadcast-sibling", (
            "bare `broadcast` takes its shape from the operand beside it in an elementwise op or `@`, and there is"
            " none here; give it one: `broadcast(x, shape=[2, 3])`"
        )
    return "missing-attribute", f"`{op.name}` needs the attribute `{attr.name}`, {_KINDS[attr.kind]}, and has none"


def _attribute_fault(op: Op, name: str, value: AttrValue, twice: bool) -> tuple[str, str] | None:
    attr = next((attr for attr in op.attrs if attr.name == name), None)
    if attr is None:
        names = [attr.name for attr in op.attrs]
        known = f"it has {', '.join(f'`{name}`' for name in names)}" if names else "it has none"
        guess = did_you_mean(name, names) or f"; {known}"
        return "unknown-attribute", f"`{spelled(op)}` has no attribute `{name}`{guess}"
    if twice:
        return "duplicate-attribute", f"`{op.name}` is given the attribute `{name}` twice"
    kind = "int" if isinstance(value, int) else "ints" if isinstance(value, tuple) else "dtype"
    if kind != attr.kind:
        return "attribute-kind", f"`{op.name}` needs {_KINDS[attr.kind]} as `{name}`, got {_KINDS[kind]}"
    if kind == "dtype" and value not in DTYPES:
        guess = did_you_mean(str(value), DTYPES) or f"; there are {', '.join(DTYPES)}"
        return "unknown-dtype", f"no dtype is named `{value}`{guess}"
    return None
