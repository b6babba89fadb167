"""Re-deriving every declared type of a program after its inputs' types or its attributes were changed.

The op table's own `infer` says what each value becomes; a program in which it refuses has no types and is no
candidate. Works on elaborated trees (no bare `broadcast`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from compiler.ops import OPS, Refusal
from compiler.syntax import AttrValue, Block, Expr, Fn, Let, Literal, Name, Param, Placeholder, Program, While
from compiler.types import TensorType

Types = tuple[TensorType, ...]
Attrs = Mapping[str, AttrValue]


def retyped(program: Program) -> Program | None:
    """The program with fn types and carries that fit, without fns that are not called; None if nothing fits."""
    if program.main is None:
        return None
    typer = _Typer({fn.name: fn for fn in program.fns})
    try:
        main, _ = typer.block(program.main, {})
    except Refusal:
        return None
    return Program(tuple(typer.done[fn.name] for fn in program.fns if fn.name in typer.done), main)


@dataclass(slots=True)
class _Typer:
    fns: Mapping[str, Fn]
    done: dict[str, Fn] = field(default_factory=dict)

    def block(self, block: Block, env: dict[str, TensorType]) -> tuple[Block, Types]:
        lets = []
        for let in block.lets:
            value, types = self.expr(let.value, env)
            env.update(zip(let.names, types, strict=False))
            lets.append(Let(let.names, value))
        result = [self.expr(expr, env) for expr in block.result]
        return Block(tuple(lets), tuple(expr for expr, _ in result)), tuple(t for _, types in result for t in types)

    def expr(self, expr: Expr, env: Mapping[str, TensorType]) -> tuple[Expr, Types]:
        match expr:
            case Name():
                return expr, (env[expr.id],)
            case Literal() | Placeholder():
                return expr, (expr.type,)
            case While():
                return self.loop(expr, env)
        typed = [self.expr(arg, env) for arg in expr.args]
        args, types = tuple(arg for arg, _ in typed), tuple(t for _, arg_types in typed for t in arg_types)
        if expr.callee in self.fns:
            return replace(expr, args=args), self.call(self.fns[expr.callee], types)
        attrs = fitted(dict(expr.attrs), types)
        return replace(expr, args=args, attrs=tuple(attrs.items())), (OPS[expr.callee].infer(types, attrs),)

    def call(self, fn: Fn, types: Types) -> Types:
        """The results of a call. Raises `Refusal` for a second call with arguments of other types."""
        params = tuple(Param(param.name, t) for param, t in zip(fn.params, types, strict=True))
        if fn.name not in self.done:
            body, results = self.block(fn.body, {param.name: param.type for param in params})
            self.done[fn.name] = Fn(fn.name, params, results, body)
        if self.done[fn.name].params != params:
            raise Refusal("call-types", f"`{fn.name}` is called with two kinds of arguments")
        return self.done[fn.name].results

    def loop(self, loop: While, env: Mapping[str, TensorType]) -> tuple[While, Types]:
        inits = [self.expr(carry.init, env) for carry in loop.carries]
        types = tuple(t for _, init_types in inits for t in init_types)
        carries = tuple(
            replace(carry, type=t, init=init) for carry, t, (init, _) in zip(loop.carries, types, inits, strict=True)
        )
        inner = {**env, **{carry.name: carry.type for carry in carries}}
        cond, _ = self.expr(loop.cond, inner)
        body, after = self.block(loop.body, inner)
        if after != types:
            raise Refusal("while-carry", "the body of a `while` changes the types it carries")
        return While(carries, cond, body), types


def fitted(attrs: dict[str, AttrValue], types: Types) -> dict[str, AttrValue]:
    """A slice of a dim that has become smaller moves down to its end, and keeps its length if it can."""
    axis, start, stop = attrs.get("axis"), attrs.get("start"), attrs.get("stop")
    if not (isinstance(axis, int) and isinstance(start, int) and isinstance(stop, int) and axis < types[0].rank):
        return attrs
    excess = max(0, stop - types[0].shape[axis])
    return {**attrs, "start": max(0, start - excess), "stop": stop - excess}
