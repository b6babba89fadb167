"""Every op × dtype × rank that the checker accepts: compiled, run, and judged by both references.

Compiling is what costs, so all uses of an op are fns of one program, built once by the JIT at -O0; each is then judged
by itself. A use counts as judged where the verdict is Agree: what is undecided is tried with other numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from mlir import ir

from compiler import backend, pipeline
from compiler.backend import Compiled
from compiler.checker import check, signature
from compiler.kinds import edge_values
from compiler.lowering import lower
from compiler.parser import parse
from compiler.printer import print_program
from compiler.recipes import Recipe, make
from compiler.syntax import Apply, Block, Let, Name, Placeholder, Program
from compiler.types import TensorType
from fuzz.reach import Use, accepted, uses
from oracles.case import Case, print_case
from oracles.engine import Observation
from oracles.inputs import make_inputs
from oracles.judge import judge_case
from oracles.verdict import Agree, Disagree
from tests.compiler.trials import USES, Fns

DRAWS = 12  # of numbers for one use, until one is decided
VALUES = ("ordinary", "special")


def case_of(fns: Fns, values: str, draw: int) -> Case:
    """`@main` calls the last of the fns on inputs of its own and returns what it returns."""
    fn = fns[-1]
    lets = [Let((param.name,), Placeholder(param.type)) for param in fn.params]
    call = Apply(fn.name, tuple(Name(param.name) for param in fn.params))
    recipes = {param.name: recipe(param.type, values, draw, at) for at, param in enumerate(fn.params)}
    return Case(Program(fns, Block(tuple(lets), (call,))), recipes)


def recipe(type_: TensorType, values: str, draw: int, operand: int) -> Recipe:
    """Bell-shaped numbers; for the special ones the first element and some more are hostile, fewer with each draw."""
    ordinary = Recipe("normal", 10 * draw + operand)
    if type_.dtype.kind == "int" and values == "ordinary":
        return Recipe("exact", ordinary.seed)
    if values == "ordinary":
        return ordinary
    edges = edge_values(type_.dtype)
    elements = make(ordinary, type_).reshape(-1).tolist()
    for at in range(0, type_.size, 2 + draw):
        elements[at] = edges[(7 * draw + 5 * operand + 3 * at) % len(edges)]
    if type_.dtype.kind != "float":
        elements = [int(element) for element in elements]
    return Recipe("literal", values=tuple(elements))


@contextmanager
def built(program: Program) -> Iterator[Compiled]:
    checked = check(parse(print_program(program)))
    module = lower(checked, ir.Context())
    pipeline.run(module, pipeline.DEFAULT)
    signatures = {fn.name: signature(checked, fn.name) for fn in program.fns}
    with closing(backend.compile_jit(module, signatures, 0)) as compiled:
        yield compiled


def judged(compiled: Compiled, fns: Fns, values: str) -> set[Use]:
    """The uses that were judged: those of the fns, or none where all draws were undecided."""
    for draw in range(DRAWS):
        case = case_of(fns, values, draw)
        inputs = make_inputs(case)
        results = compiled.call(fns[-1].name, *inputs.values())
        verdict = judge_case(case, inputs, Observation({}, results))
        assert not isinstance(verdict, Disagree), f"{verdict}\n{print_case(case)}"
        if isinstance(verdict, Agree):
            return uses(case.program)
    return set()


@pytest.mark.parametrize("what", USES)
def test_every_use_is_compiled_and_judged(what: str) -> None:
    subjects = USES[what]()
    wanted = {use for use in accepted() if use.what.split()[0] == what}
    assert len(wanted) >= 4 * 4, "four float dtypes and four ranks at least"
    with built(Program(tuple(fn for fns in subjects for fn in fns))) as compiled:
        for values in VALUES:
            missing = wanted.difference(*(judged(compiled, fns, values) for fns in subjects))
            assert not missing, f"not judged on {values} values: {', '.join(sorted(map(str, missing)))}"
