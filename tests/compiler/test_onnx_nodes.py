"""ONNX's own published node tests, run through the compiler: an independent word on what each op computes.

Every node that carries over becomes a Kina case. Both ONNX's expected output and the compiled program's must lie within
what the judge allows: bit for bit where data is moved, compared or counted, within certified bounds where it is
rounded. All nodes are compiled as one program, one fn each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache

import pytest

from compiler.backend import Compiled
from compiler.parser import parse
from compiler.printer import print_program
from compiler.syntax import Block, Expr, Fn, Let, Name, Param, Placeholder, Program, walk_expr
from compiler.types import TensorType
from oracles.case import Case
from oracles.engine import Array, Observation
from oracles.judge import judge_case
from oracles.verdict import Agree
from tests.compiler import onnx_nodes
from tests.compiler.built import shared_object
from tests.compiler.onnx_nodes import Node, nodes, translate

INAPPLICABLE = {
    "test_*_int8": "Kina has no I8",
    "test_*_int16": "Kina has no I16",
    "test_*_uint[0-9]*": "Kina has no unsigned dtypes",
    "test_cast_*FLOAT8*": "Kina has no 8-bit floats",
    "test_cast_*FLOAT4*": "Kina has no 4-bit floats",
    "test_cast_*INT[248]": "Kina has no integers below 32 bits",
    "test_cast_*INT[24]_to_*": "Kina has no integers below 32 bits",
    "test_equal_string*": "Kina has no strings",
    "test_argmax_*select_last_index": "ONNX takes the last of equal maxima here; Kina always takes the first",
    "test_div_int32_trunc": "integer `/` is refused",
    "test_mod_mixed_sign_int[36]*": "integer `%` is refused",
    "test_mod_int64_fmod": "integer `%` is refused",
    "test_mod_broadcast": "integer `%` is refused",
    "test_mod_*fmod_0*": "the result has the divisor's sign; Kina's `%` is C's fmod",
    "test_reduce_*_empty_set*": "a dim is at least 1",
    "test_reduce_max_bool_inputs": "`max` of BOOL is refused",
    "test_reshape_allowzero_*": "a dim is at least 1",
    "test_slice_start_out_of_bounds": "a dim is at least 1, and the result is empty",
    "test_slice_neg_steps": "`slice` has no step",
    "test_edge_pad": "`pad` adds zeros",
    "test_reflect_pad": "`pad` adds zeros",
    "test_wrap_pad": "`pad` adds zeros",
}
"""Names of node tests that do not carry over, and why. The first pattern that fits counts."""

CARRIED = {
    "Abs": (1, 1),
    "Add": (2, 8),
    "ArgMax": (8, 16),
    "Cast": (8, 60),
    "Concat": (12, 12),
    "Div": (3, 10),
    "Equal": (2, 10),
    "Exp": (2, 2),
    "Expand": (2, 2),
    "Gather": (4, 4),
    "Less": (2, 8),
    "LessOrEqual": (2, 8),
    "Log": (2, 2),
    "MatMul": (7, 7),
    "Max": (8, 14),
    "Min": (8, 14),
    "Mod": (3, 19),
    "Mul": (3, 9),
    "Neg": (2, 2),
    "Pad": (3, 6),
    "ReduceMax": (8, 11),
    "ReduceSum": (10, 12),
    "Reshape": (9, 10),
    "Slice": (6, 8),
    "Softmax": (7, 7),
    "Sqrt": (2, 2),
    "Sub": (3, 9),
    "Tanh": (2, 2),
    "Transpose": (7, 7),
    "Where": (2, 2),
}
"""How many node tests of each operator carry over, of how many."""


def reason(node: Node) -> str:
    """Why a node does not carry over, or nothing."""
    return next((why for pattern, why in INAPPLICABLE.items() if fnmatch(node.name, pattern)), "")


@cache
def applicable() -> dict[str, Node]:
    return {node.name: node for node in nodes() if not reason(node)}


def operands(node: Node) -> dict[str, Array]:
    """The inputs that the translation uses, by name."""
    names = {expr.id for expr in walk_expr(translate(node)) if isinstance(expr, Name)}
    return {name: node.data(int(name[1:])) for name in sorted(names)}


def types(node: Node) -> dict[str, TensorType]:
    found = {name: onnx_nodes.type_of(array) for name, array in operands(node).items()}
    return {name: type_ for name, type_ in found.items() if type_ is not None}


def case(node: Node) -> Case:
    """`@main` applies the translation to the node's inputs."""
    inputs = [Let((name,), Placeholder(type_)) for name, type_ in types(node).items()]
    return Case(Program((), Block((*inputs, Let(("y",), translate(node))), (Name("y"),))))


def fn(node: Node) -> Fn:
    result = onnx_nodes.type_of(node.outputs[0])
    assert result is not None
    body: Expr = translate(node)
    return Fn(node.name, tuple(Param(*pair) for pair in types(node).items()), (result,), Block((), (body,)))


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compiled]:
    program = Program(tuple(map(fn, applicable().values())))
    with shared_object(parse(print_program(program)), opt_level=0) as built:
        yield built


def check_allowed(node: Node, result: Array) -> None:
    """The judge agrees with one result of a node's case."""
    verdict = judge_case(case(node), operands(node), Observation({"y": result}, (result,)))
    assert isinstance(verdict, Agree), f"{node.name}: {verdict}"


@pytest.mark.parametrize("name", applicable())
def test_node(name: str, compiled: Compiled) -> None:
    node = applicable()[name]
    check_allowed(node, node.outputs[0])
    check_allowed(node, compiled.call(name, *operands(node).values())[0])


def test_which_carry_over() -> None:
    total, carried = (Counter(node.op for node in found) for found in (nodes(), applicable().values()))
    assert {op: (carried[op], total[op]) for op in total} == CARRIED


def test_every_reason_is_needed() -> None:
    for pattern in INAPPLICABLE:
        assert any(fnmatch(node.name, pattern) for node in nodes()), pattern


def test_dtypes_that_are_said_to_be_missing_are() -> None:
    for node in nodes():
        if reason(node).startswith("Kina has no"):
            arrays = [array for array in (*node.inputs, *node.outputs) if array is not None]
            assert any(onnx_nodes.type_of(array) is None for array in arrays), node.name
