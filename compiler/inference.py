"""The types of expressions and blocks, and their elaborated trees.

Every function returns the tree with nothing changed but attributes, and reports to its scope what is wrong. Names and
declared types are in `scope.py`, the application of one op in `application.py`. Standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compiler.application import TAKES_BARE, apply_op, attribute_spans, bare_shape, is_bare
from compiler.ops.table import Op
from compiler.scope import MAIN, MAX_VALUES, MaybeType, Scope, check_type
from compiler.source import Span
from compiler.syntax import Apply, Block, Carry, Expr, Let, Literal, Name, Placeholder, While
from compiler.types import BOOL, TensorType

Types = tuple[MaybeType, ...] | None  # None: not even how many values there are is known
Results = tuple[tuple[MaybeType, Span], ...] | None


def infer_block(s: Scope, block: Block, *, script: bool = False) -> tuple[Block, Results]:
    """A block's results, flat. Only the `let`s of a `script`, the block of `@main`, may bind a placeholder."""
    lets = tuple(_let(s, let, script) for let in block.lets)
    exprs: list[Expr] = []
    results: list[tuple[MaybeType, Span]] = []
    counted = True
    for result in block.result:
        expr, types = _infer(s, result)
        exprs.append(expr)
        counted = counted and types is not None
        results += [(type_, result.span) for type_ in types or ()]
        if len(results) > MAX_VALUES:
            s.report.add("value-limit", f"`{s.name}` has at most {MAX_VALUES} results, got more", result.span)
            return block, None
    return replace(block, lets=lets, result=tuple(exprs)), tuple(results) if counted else None


def result_span(block: Block) -> Span:
    """Where the values of a block's result stand."""
    return Span(block.result[0].span.start, block.result[-1].span.end) if block.result else block.span


def _let(s: Scope, let: Let, script: bool) -> Let:
    value, types = _host_input(s, let.value) if script else _infer(s, let.value)
    spans = let.name_spans if len(let.name_spans) == len(let.names) else (let.span,) * len(let.names)
    if types is not None and len(types) != len(let.names):
        counts = f"{len(let.names)} {_plural('name', let.names)} for {len(types)} {_plural('value', types)}"
        s.report.add(
            "let-count", f"`let` binds each value to one name, got {counts}", Span(spans[0].start, spans[-1].end)
        )
        types = None
    for name, type_, span in zip(let.names, types or (None,) * len(let.names), spans, strict=True):
        s.bind(name, type_, span)
    return replace(let, value=value)


def _host_input(s: Scope, expr: Expr) -> tuple[Expr, Types]:
    """The value of a `let` of `@main`, which may be a placeholder."""
    if isinstance(expr, Placeholder):
        return expr, (check_type(s.report, expr.type, expr.span),)
    return _infer(s, expr)


def _plural(word: str, items: Sequence[object]) -> str:
    return word if len(items) == 1 else word + "s"


def _infer(s: Scope, expr: Expr) -> tuple[Expr, Types]:
    match expr:
        case Name():
            return expr, (s.lookup(expr.id, expr.span),)
        case Literal():
            return expr, (_literal(s, expr),)
        case Placeholder():
            message = (
                f"{expr.type} is a type, and a type is a value (a host input) only as `let name = type;` in `{MAIN}`"
            )
            s.report.add("placeholder", message, expr.span)
            return expr, (None,)
        case While():
            return _while(s, expr)
        case Apply():
            return _apply(s, expr)


def _single(s: Scope, expr: Expr) -> tuple[Expr, MaybeType]:
    """An expression where one value is needed."""
    elaborated, types = _infer(s, expr)
    if types is not None and len(types) != 1:
        what = f"`{expr.callee}` returns" if isinstance(expr, Apply) else "`while` has"
        message = f"one value is needed here, {what} {len(types)}; bind them by `let (a, b) = ...;`"
        s.report.add("many-values", message, expr.span)
        types = None
    return elaborated, types[0] if types else None


def _literal(s: Scope, literal: Literal) -> MaybeType:
    """The parser has checked the payload of what was parsed; a tree made otherwise may hold too few or too many."""
    type_ = check_type(s.report, literal.type, literal.span)
    if type_ is not None and len(literal.values) != type_.size:
        message = f"a literal of {type_} needs {type_.size} values, got {len(literal.values)}"
        s.report.add("literal-shape", message, literal.span)
        return None
    return type_


def _apply(s: Scope, expr: Apply) -> tuple[Expr, Types]:
    op = s.ops.get(expr.callee)
    if op is not None:
        return _apply_op(s, op, expr)
    args = [_single(s, arg) for arg in expr.args]
    elaborated = replace(expr, args=tuple(arg for arg, _ in args))
    if expr.callee in s.fns:
        return elaborated, _call(s, expr, [type_ for _, type_ in args])
    s.refuse_callee(expr.callee, expr.callee_span)
    return elaborated, None


def _apply_op(s: Scope, op: Op, expr: Apply) -> tuple[Expr, Types]:
    """Operands first; a bare `broadcast` among them takes its shape from the first operand that has one of its own."""
    first = next((at for at, arg in enumerate(expr.args) if not is_bare(arg)), None)
    if op.name not in TAKES_BARE or first is None:
        typed = [_single(s, arg) for arg in expr.args]
    else:
        sibling = _single(s, expr.args[first])
        rest = [_bare(s, op, arg, sibling[1]) if is_bare(arg) else _single(s, arg) for arg in expr.args[first + 1 :]]
        before = [_bare(s, op, arg, sibling[1]) for arg in expr.args[:first] if is_bare(arg)]
        typed = [*before, sibling, *rest]
    args = tuple(arg for arg, _ in typed)
    elaborated, type_ = apply_op(s, op, replace(expr, args=args), [type_ for _, type_ in typed])
    return elaborated, (type_,)


def _bare(s: Scope, op: Op, expr: Apply, sibling: MaybeType) -> tuple[Expr, MaybeType]:
    """`broadcast(x)` with the shape that it takes from its sibling."""
    operand, own = _single(s, expr.args[0])
    shaped = replace(expr, args=(operand,))
    if own is None or sibling is None:
        return shaped, None
    shape = bare_shape(op, own, sibling)
    return apply_op(s, s.ops["broadcast"], replace(shaped, attrs=(("shape", shape),)), [own])


def _call(s: Scope, expr: Apply, types: Sequence[MaybeType]) -> Types:
    signature = s.fns[expr.callee]
    for (name, _), span in zip(expr.attrs, attribute_spans(expr), strict=True):
        s.report.add("unknown-attribute", f"`{expr.callee}` is a fn and has no attributes, got `{name}`", span)
    if len(types) != len(signature.params):
        wanted = f"{len(signature.params)} {_plural('argument', signature.params)}"
        s.report.add("arity", f"`{expr.callee}` takes {wanted}, got {len(types)}", expr.span)
        return signature.results
    for arg, type_, (name, declared) in zip(expr.args, types, signature.params, strict=True):
        if type_ is not None and declared is not None and type_ != declared:
            message = f"`{expr.callee}` needs {declared} as `{name}`, got {type_}"
            s.report.add("argument-type", message, arg.span)
    return signature.results


def _while(s: Scope, expr: While) -> tuple[Expr, Types]:
    inits = [_single(s, carry.init) for carry in expr.carries]
    outside = len(s.values)
    declared = [_carry(s, carry, type_) for carry, (_, type_) in zip(expr.carries, inits, strict=True)]
    cond, cond_type = _single(s, expr.cond)
    if cond_type is not None and (cond_type.dtype != BOOL or cond_type.size != 1):
        message = f"the condition of a `while` is a BOOL with one element, got {cond_type}"
        s.report.add("while-cond", message, expr.cond.span)
    body, results = infer_block(s, expr.body)
    if results is not None:
        _check_carries(s, expr, declared, results)
    s.hidden.update(list(s.values)[outside:])
    carries = tuple(replace(carry, init=init) for carry, (init, _) in zip(expr.carries, inits, strict=True))
    return replace(expr, carries=carries, cond=cond, body=body), tuple(declared)


def _carry(s: Scope, carry: Carry, init: MaybeType) -> MaybeType:
    type_ = check_type(s.report, carry.type, carry.span)
    if type_ is not None and init is not None and init != type_:
        message = f"carry `{carry.name}` has the type {type_}, its initial value is {init}"
        s.report.add("while-init", message, carry.init.span)
    s.bind(carry.name, type_, carry.span)
    return type_


def _check_carries(
    s: Scope, expr: While, declared: Sequence[MaybeType], results: Sequence[tuple[MaybeType, Span]]
) -> None:
    """The body returns the carries for the next trip, in their order and of their types."""
    if len(results) != len(declared):
        names = ", ".join(f"`{carry.name}`" for carry in expr.carries[:8])
        message = f"the body of a `while` returns its carries ({names}): {len(declared)} needed, got {len(results)}"
        s.report.add("while-count", message, result_span(expr.body))
        return
    for carry, type_, (got, span) in zip(expr.carries, declared, results, strict=True):
        if type_ is not None and got is not None and got != type_:
            code, hint = ("while-grow", _GROW_HINT) if _grows(type_, got) else ("while-carry", "")
            s.report.add(code, f"carry `{carry.name}` has the type {type_}, the body returns {got}{hint}", span)


_GROW_HINT = (
    "; a carry cannot grow: keep a buffer of the final size (`slice` the live part, `pad` it back), or loop on the host"
)


def _grows(declared: TensorType, got: TensorType) -> bool:
    """The same tensor, but longer: a cache that is appended to."""
    return got.dtype == declared.dtype and got.rank == declared.rank and got.size > declared.size
