"""Who is to blame: the pass for what fails only with it; the op for a wrong value that only a fn is known to return.

A fn is a name of the program: two cases of one bug would have two Signatures, and a case would lose its own as soon as
it is rewritten. An op of `@main` whose operands nobody saw may have been given wrong ones. So the case is run again:
with every let of `@main` a result, where that is not known yet, to find the first that is wrong; then that call alone,
on the values of the reference, with every op of its fn a result. The first wrong value of right operands names its op.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from compiler.checker import check
from compiler.passrow import STAGES
from compiler.passtext import parse_items, print_items
from compiler.syntax import Apply, Block, Let, Literal, Name, Placeholder, Program, While, children, walk_block
from fuzz.minimize import reference_values
from fuzz.reductions.cuts import graph, part
from fuzz.reductions.flat import Flat, flatten
from oracles.case import Case
from oracles.verdict import Disagree, Verdict

CALL = "call"
"""The culprit where no op is wrong on its own: it takes the boundary of a fn, or several ops together."""


def guilty_pass(pipeline: str, fails: Callable[[str], bool]) -> str:
    """The last of the fewest added passes with which a case fails; "" where it fails without any.

    `fails` says whether the case fails in the same way on another pipeline.
    """
    items = parse_items(pipeline)
    if not items or fails(print_items(())):
        return ""
    for item in items:
        fewer = tuple(other for other in items if other is not item)
        if fewer and fails(print_items(fewer)):
            items = fewer
    return max(reversed(items), key=lambda item: STAGES.index(item.stage)).name


def blamed(verdict: Disagree, case: Case, observed: Collection[str], again: Callable[[Case], Verdict]) -> Disagree:
    """The verdict with an op as its culprit, or `CALL`.

    `observed` names the lets of `@main` that the engine showed, `again` runs a case on an engine that compiles `@main`
    as a whole, and judges it.
    """
    program = check(case.program).program
    flat = flatten(program, ())
    let = _made(verdict.value, flat)
    if let is None:
        return verdict
    shown = exposed(case, ())
    if not _operands_seen(let, flat.block, observed):
        let = _first_wrong(again(shown), flat.block)
    culprit = _only_op(let, program) if let else CALL
    if let and not culprit:
        fns = {fn.name for fn in program.fns}
        first = again(exposed(_alone(shown, let), fns))
        culprit = first.culprit if isinstance(first, Disagree) and first.value else CALL
    return replace(verdict, culprit=culprit)


def exposed(case: Case, inline: Collection[str]) -> Case:
    """The case with one let per op, the calls of some fns opened, and every let a result; without claims."""
    program = check(case.program).program
    block = flatten(program, inline).block
    names = tuple(Name(name) for let in block.lets if not isinstance(let.value, Placeholder) for name in let.names)
    fns = tuple(fn for fn in program.fns if fn.name not in inline)
    return replace(case, program=Program(fns, Block(block.lets, names or block.result)), claims=())


def _alone(case: Case, let: Let) -> Case:
    """One let of a flat case, its operands inputs with the reference's values."""
    (whole,) = graph(case, reference_values, set(), wrapped=False)
    return part(whole, [let], [Name(name) for name in let.names])


def _made(value: str, flat: Flat) -> Let | None:
    """The op or call that made a let or a result of `@main`; None where the value was never computed."""
    results = {f"result[{index}]": expr for index, expr in enumerate(flat.block.result)}
    atom = results.get(value, flat.renamed.get(value))
    return _binding(atom.id, flat.block) if isinstance(atom, Name) else None


def _binding(name: str, block: Block) -> Let | None:
    return next((let for let in block.lets if name in let.names and isinstance(let.value, Apply | While)), None)


def _first_wrong(verdict: Verdict, block: Block) -> Let | None:
    return _binding(verdict.value, block) if isinstance(verdict, Disagree) else None


def _operands_seen(let: Let, block: Block, observed: Collection[str]) -> bool:
    inputs = {other.names[0] for other in block.lets if isinstance(other.value, Placeholder)}
    return all(
        isinstance(operand, Literal) or (isinstance(operand, Name) and operand.id in inputs | set(observed))
        for operand in children(let.value)
    )


def _only_op(let: Let, program: Program) -> str:
    """The op of a let, or that of a fn that has no other; "" where there are several."""
    if isinstance(let.value, While):
        return "while"
    callee = let.value.callee if isinstance(let.value, Apply) else ""
    fn = program.fn(callee)
    if fn is None:
        return callee
    ops = [expr for expr in walk_block(fn.body) if isinstance(expr, Apply | While)]
    return _only_op(Let((), ops[0]), program) if len(ops) == 1 else ""
