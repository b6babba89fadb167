"""Dropping what is dead from a program, and what then no longer has a program from a case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from compiler.syntax import Apply, Block, Expr, Fn, Let, Program, inputs
from fuzz.reductions.trees import block_uses, blocks, expressions, map_lets, rewrite_program, uses
from oracles.case import Case, Claim


def tidied(case: Case) -> Case:
    """The case without what no result and no claim depends on, and without claims and recipes for what is gone."""
    names = {name for let in case.program.main.lets for name in let.names} if case.program.main else set()
    claims = tuple(claim for claim in case.claims if {claim.left, claim.right} <= names)
    program = tidied_program(case.program, {name for claim in claims for name in (claim.left, claim.right)})
    placeholders = inputs(program.main) if program.main else {}
    recipes = {name: recipe for name, recipe in case.recipes.items() if name in placeholders}
    return replace(case, program=program, claims=claims, recipes=recipes)


def without_claims(case: Case, claims: Collection[Claim]) -> Case:
    """The case without some of its claims; its program stays as it is."""
    return replace(case, claims=tuple(claim for claim in case.claims if claim not in claims))


def live(block: Block, wanted: Iterable[str]) -> Block:
    """The block without the lets that neither its result nor a `wanted` name depends on."""
    needed = set(uses(block.result)) | set(wanted)
    kept: list[Let] = []
    for let in reversed(block.lets):
        if needed & set(let.names):
            needed |= set(uses([let.value]))
            kept.append(let)
    return Block(tuple(reversed(kept)), block.result)


def tidied_program(program: Program, wanted: Collection[str]) -> Program:
    """The program without dead lets, parameters and results that nobody uses, fns that nobody calls.

    `wanted` names of `@main` are alive.
    """
    while True:
        smaller = _trimmed(_without_dead_lets(program, wanted), wanted)
        if smaller == program:
            return program
        program = smaller


def _without_dead_lets(program: Program, wanted: Collection[str]) -> Program:
    main = program.main and live(program.main, wanted)
    called = {expr.callee for expr in expressions(program) if isinstance(expr, Apply)}
    return Program(tuple(replace(fn, body=live(fn.body, ())) for fn in program.fns if fn.name in called), main)


def _trimmed(program: Program, wanted: Collection[str]) -> Program:
    """Parameters that a body does not use and results that no call uses, dropped in the fn and in its calls."""
    params = {fn.name: _used_params(fn) for fn in program.fns}
    results = _used_results(program, wanted)
    fns = tuple(_trimmed_fn(fn, params[fn.name], results[fn.name]) for fn in program.fns)

    def trim_args(expr: Expr) -> Expr:
        if isinstance(expr, Apply) and expr.callee in params:
            return replace(expr, args=_pick(expr.args, params[expr.callee]))
        return expr

    def trim_names(let: Let) -> Let:
        callee = let.value.callee if isinstance(let.value, Apply) else ""
        return replace(let, names=_pick(let.names, results[callee])) if callee in results else let

    program = rewrite_program(Program(fns, program.main), trim_args)
    return map_lets(program, trim_names)


T = TypeVar("T")


def _pick(items: tuple[T, ...], indices: Sequence[int]) -> tuple[T, ...]:
    return tuple(items[index] for index in indices)


def _trimmed_fn(fn: Fn, params: Sequence[int], results: Sequence[int]) -> Fn:
    body = Block(fn.body.lets, _pick(fn.body.result, results) if len(results) < len(fn.results) else fn.body.result)
    return Fn(fn.name, _pick(fn.params, params), _pick(fn.results, results), body)


def _used_params(fn: Fn) -> list[int]:
    used = block_uses(fn.body)
    return [index for index, param in enumerate(fn.params) if used[param.name]]


def _used_results(program: Program, wanted: Collection[str]) -> dict[str, list[int]]:
    """For each fn the results that a call uses: all, unless each call is a let and each result one value."""
    named = {fn.name: [False] * len(fn.results) for fn in program.fns}
    calls = Counter(expr.callee for expr in expressions(program) if isinstance(expr, Apply))
    for block in blocks(program):
        used = set(block_uses(block)) | (set(wanted) if block is program.main else set())
        for let in block.lets:
            if isinstance(let.value, Apply) and let.value.callee in named:
                calls[let.value.callee] -= 1
                flags = zip(named[let.value.callee], let.names, strict=True)
                named[let.value.callee] = [flag or name in used for flag, name in flags]
    whole = {fn.name for fn in program.fns if calls[fn.name] or len(fn.body.result) != len(fn.results)}
    return {
        fn.name: [index for index, flag in enumerate(named[fn.name]) if flag or fn.name in whole] for fn in program.fns
    }
