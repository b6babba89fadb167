"""An engine without a compiler, for tests of the loop: NumPy in the dtypes' own precision, and faults on demand.

The environment variable KINA_TEST_FAULT says what goes wrong: nothing by default, else `OP: DEED`, which happens
whenever a case uses the op. It is read for each case, as a compiler's fault would sit in the compiler.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np

from compiler.parser import parse
from compiler.syntax import Apply, Name, Program, walk_block
from fuzz.engines import Progress, Request
from oracles.engine import Array, Observation, Outcome
from oracles.evaluator import Attrs, Hooks, Site, Val, apply_table, evaluate
from oracles.numpy_reference import LIBRARY, hold, quantize
from tests.fuzz.fake_engine import DEEDS

BUILDS = (("one/stepped", "one/whole"), ("two/stepped", "two/whole"))


def run_case(request: Request, progress: Progress) -> Iterator[tuple[str, Outcome]]:
    op, _, deed = os.environ.get("KINA_TEST_FAULT", "").partition(": ")
    progress("parse", request.variants)
    program = parse(request.text)
    progress("passes", request.variants)
    if deed in DEEDS and op in _ops(program):
        DEEDS[deed]()
    for variant in request.variants:
        progress("run", (variant,))
        yield variant, _evaluate(program, request, op if deed == "wrong" else "", variant.endswith("whole"))


def _ops(program: Program) -> set[str]:
    blocks = [*(fn.body for fn in program.fns), *filter(None, [program.main])]
    return {expr.callee for block in blocks for expr in walk_block(block) if isinstance(expr, Apply)}


def _evaluate(program: Program, request: Request, wrong: str, whole: bool) -> Observation:
    def apply(op: str, args: Sequence[Val[Array]], attrs: Attrs, _: Site) -> Val[Array]:
        exact = apply_table(LIBRARY, op, args, attrs)
        array = hold(quantize(exact.array, exact.dtype))
        return Val(np.flip(array) if op == wrong else array, exact.dtype)

    seen = evaluate(program, request.inputs, LIBRARY, Hooks(apply=apply))
    lets = {name: quantize(value.array, value.dtype) for name, value in seen.lets.items()}
    arrays = {id(value): lets[name] for name, value in seen.lets.items()}
    results = tuple(arrays.get(id(value), quantize(value.array, value.dtype)) for value in seen.results)
    named = [expr.id for expr in program.main.result if isinstance(expr, Name)] if program.main else []
    return Observation({name: lets[name] for name in named} if whole else lets, results)
