"""Which op is to blame for a wrong value, where the judge could only name what returned it.

A fn is a name of the program: two cases of one bug would have two Signatures, and a case would lose its own as soon as
it is rewritten. An op of `@main` whose operands nobody saw may have been given wrong ones. In either case the program
is run once more with every op a let of `@main` and every let a result: the first let that is wrong has right operands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from compiler.checker import check
from compiler.syntax import Apply, Block, Expr, Literal, Name, Placeholder, Program, While, children, walk_block
from fuzz.reductions.flat import flatten
from oracles.case import Case
from oracles.verdict import Disagree, Verdict

CALL = "call"
"""The culprit where no op is wrong on its own: it takes the boundary of a fn, or several ops together."""


def blamed(verdict: Disagree, case: Case, observed: Collection[str], again: Callable[[Case], Verdict]) -> Disagree:
    """The verdict with an op as its culprit, or `CALL`.

    `observed` names the lets of `@main` that the engine showed, `again` runs a case on an engine that compiles `@main`
    as a whole, and judges it.
    """
    expr = _accused(verdict, case)
    if expr is None:
        return verdict
    if _operands_seen(expr, case, observed):
        op = _only_op(expr, case.program)
        if op:
            return replace(verdict, culprit=op)
    second = again(exposed(case))
    return replace(verdict, culprit=second.culprit if isinstance(second, Disagree) and second.value else CALL)


def exposed(case: Case) -> Case:
    """The case with all fn calls opened, one let per op, and every let a result; without claims. It must check."""
    program = check(case.program).program
    flat = flatten(program, {fn.name for fn in program.fns}).block
    names = tuple(Name(name) for let in flat.lets if not isinstance(let.value, Placeholder) for name in let.names)
    return replace(case, program=Program((), Block(flat.lets, names or flat.result)), claims=())


def _accused(verdict: Disagree, case: Case) -> Expr | None:
    """The op or call that made the wrong value; None where the verdict is not of a value, or it was never computed."""
    main = case.program.main or Block((), ())
    made = {name: let.value for let in main.lets for name in let.names}
    made |= {f"result[{index}]": expr for index, expr in enumerate(main.result)}
    expr = made.get(verdict.value)
    expr = made.get(expr.id) if isinstance(expr, Name) else expr
    return expr if isinstance(expr, Apply | While) else None


def _operands_seen(expr: Expr, case: Case, observed: Collection[str]) -> bool:
    main = case.program.main or Block((), ())
    inputs = {let.names[0] for let in main.lets if isinstance(let.value, Placeholder)}
    return all(
        isinstance(operand, Literal) or (isinstance(operand, Name) and (operand.id in observed or operand.id in inputs))
        for operand in children(expr)
    )


def _only_op(expr: Expr, program: Program) -> str:
    """The op itself, or that of a fn that has no other; "" where there are several."""
    if isinstance(expr, While):
        return "while"
    fn = program.fn(expr.callee) if isinstance(expr, Apply) else None
    if fn is None:
        return expr.callee if isinstance(expr, Apply) else ""
    ops = [inner for inner in walk_block(fn.body) if isinstance(inner, Apply | While)]
    return _only_op(ops[0], program) if len(ops) == 1 else ""
