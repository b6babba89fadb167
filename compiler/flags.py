"""A repair between two of MLIR's own passes: flags of deallocation are kept in bytes, not in bits.

`buffer-deallocation-pipeline` decides at run time who owns a buffer where it cannot tell before: it calls a helper
that it makes itself, `dealloc_helper`, with buffers of i1. `finalize-memref-to-llvm` of MLIR 22 aborts on those
("Assertion `integralElementType.getWidth() >= 8' failed"). BOOL tensors are bytes already, so every buffer of i1 in a
program is one of the helper's.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

HELPER = "dealloc_helper"


def flags_as_bytes(module: ir.Module) -> None:
    """Makes buffers of i8 of all buffers of i1, if there is a helper at all."""
    if any(op.attributes["sym_name"].value.startswith(HELPER) for op in module.body if "sym_name" in op.attributes):
        with module.context, ir.Location.unknown():
            for op in list(_operations(module.operation)):
                _widen(op)


def _operations(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region:
            for argument in block.arguments:
                _widen_value(argument)
            for inner in block:
                yield inner.operation
                yield from _operations(inner.operation)


def _widen(op: ir.Operation) -> None:
    """The buffers an op makes, what it stores, what it loads."""
    for result in op.results:
        _widen_value(result)
    match op.name:
        case "memref.store" if str(op.operands[0].type) == "i1":
            with ir.InsertionPoint(op):
                op.operands[0] = _converted("arith.extui", op.operands[0], 8)
        case "memref.load" if str(op.results[0].type) == "i1":
            op.results[0].set_type(ir.IntegerType.get_signless(8))
            with ir.InsertionPoint.after(op):
                bit = _converted("arith.trunci", op.results[0], 1)
            op.results[0].replace_all_uses_except(bit, bit.owner.operation)
        case "func.func":
            op.attributes["function_type"] = ir.TypeAttr.get(_function_type(op))


def _converted(conversion: str, value: ir.Value, bits: int) -> ir.Value:
    return ir.Operation.create(conversion, [ir.IntegerType.get_signless(bits)], [value]).results[0]


def _function_type(op: ir.Operation) -> ir.FunctionType:
    type_ = ir.FunctionType(op.attributes["function_type"].value)
    return ir.FunctionType.get([_wide(x) for x in type_.inputs], [_wide(x) for x in type_.results])


def _widen_value(value: ir.Value) -> None:
    wide = _wide(value.type)
    if wide != value.type:
        value.set_type(wide)


def _wide(type_: ir.Type) -> ir.Type:
    if not isinstance(type_, ir.MemRefType) or str(type_.element_type) != "i1":
        return type_
    return ir.MemRefType.get(type_.shape, ir.IntegerType.get_signless(8), type_.layout, type_.memory_space)
