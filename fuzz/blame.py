"""Which op is to blame for a wrong value, where the judge could only name the fn that returned it.

A fn is a name of the program: two cases of one bug would have two Signatures, and a case would lose its own as soon as
it is rewritten. So the case is run once more with every op a let of `@main` and every let a result: the first let that
is wrong has right operands, and its op is the culprit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from compiler.checker import check
from compiler.syntax import Apply, Block, Name, Placeholder, Program, While, walk_block
from fuzz.reductions.flat import flatten
from oracles.case import Case
from oracles.verdict import Disagree, Verdict

CALL = "call"
"""The culprit where no op is wrong on its own: it takes the boundary of a fn, or several ops together."""


def blamed(verdict: Disagree, case: Case, again: Callable[[Case], Verdict]) -> Disagree:
    """The verdict with an op as its culprit, or `CALL`, where it named a fn of the case.

    `again` runs a case on an engine that compiles `@main` as a whole, and judges it.
    """
    fn = case.program.fn(verdict.culprit)
    if fn is None or not verdict.value:
        return verdict
    ops = [expr for expr in walk_block(fn.body) if isinstance(expr, Apply | While)]
    if len(ops) == 1:
        op = ops[0]
        return replace(verdict, culprit=op.callee if isinstance(op, Apply) else "while")
    second = again(exposed(case))
    return replace(verdict, culprit=second.culprit if isinstance(second, Disagree) and second.value else CALL)


def exposed(case: Case) -> Case:
    """The case with all fn calls opened, one let per op, and every let a result; without claims. It must check."""
    program = check(case.program).program
    flat = flatten(program, {fn.name for fn in program.fns}).block
    names = tuple(Name(name) for let in flat.lets if not isinstance(let.value, Placeholder) for name in let.names)
    return replace(case, program=Program((), Block(flat.lets, names or flat.result)), claims=())
