"""From a checked program to MLIR on tensors: one func.func per fn, and `@main` as one more.

Types are inferred on the way, bottom-up; what the ops emit is in `compiler.ops`. What becomes of the module (buffers,
loops, machine code) is the business of `compiler.pipeline` and `compiler.backend`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from compiler.builder import Builder, Value
from compiler.ops import OPS
from compiler.syntax import Apply, Block, Expr, Literal, Name, Placeholder, While, inputs
from compiler.types import TensorType

if TYPE_CHECKING:
    from compiler.checker import Checked

# Fns may have the names of functions of C, which the module would then call in their place.
PREFIX = "kina_"
Signatures = dict[str, tuple[TensorType, ...]]  # the result types of the functions so far


def lower(checked: Checked, context: ir.Context) -> ir.Module:
    """The verified module of a program; all its functions are public and have a C interface.

    A fn's symbol is `PREFIX` and its name. `@main` is `PREFIX` and `main`, its parameters the placeholders in order. An
    ir.MLIRError from the verifier would be a bug here, for a checked program lowers without fail.
    """
    program, signatures = checked.program, Signatures()
    with context, ir.Location.unknown():
        module, b = ir.Module.create(), Builder(context)
        with ir.InsertionPoint(module.body):
            for fn in program.fns:
                params = {param.name: param.type for param in fn.params}
                signatures[fn.name] = _function(b, signatures, fn.name, params, fn.body)
            if program.main is not None:
                _function(b, signatures, "main", inputs(program.main), program.main)
        module.operation.verify()
    return module


def _function(
    b: Builder, signatures: Signatures, name: str, params: dict[str, TensorType], body: Block
) -> tuple[TensorType, ...]:
    """Emits one function and gives its result types."""
    op = ir.Operation.create("func.func", regions=1, attributes=_function_attributes(name, len(params)))
    param_types = [b.tensor(type_) for type_ in params.values()]
    block = op.regions[0].blocks.append(*param_types)
    env = {name: Value(arg, type_) for (name, type_), arg in zip(params.items(), block.arguments, strict=True)}
    with ir.InsertionPoint(block):
        results = _Scope(b, signatures, env).block(body)
        ir.Operation.create("func.return", operands=[x.mlir for x in results])
    op.attributes["function_type"] = _function_type(param_types, [x.mlir.type for x in results])
    return tuple(x.type for x in results)


def _function_attributes(name: str, params: int) -> dict[str, ir.Attribute]:
    """The type comes later, with the results. No parameter may be written to: it is the caller's array."""
    read_only = ir.DictAttr.get({"bufferization.writable": ir.BoolAttr.get(False)})
    return {
        "sym_name": ir.StringAttr.get(PREFIX + name),
        "function_type": _function_type([], []),
        "arg_attrs": ir.ArrayAttr.get([read_only] * params),
        "llvm.emit_c_interface": ir.UnitAttr.get(),
    }


def _function_type(params: list[ir.Type], results: list[ir.Type]) -> ir.Attribute:
    return ir.TypeAttr.get(ir.FunctionType.get(params, results))


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where an expression is lowered: the values that its names stand for."""

    b: Builder
    signatures: Signatures
    env: dict[str, Value]

    def block(self, block: Block) -> list[Value]:
        """The results of a block, flat, after its `let`s have been bound here."""
        for let in block.lets:
            if not isinstance(let.value, Placeholder):  # those are the function's parameters, bound already
                with ir.Location.name(" ".join(let.names)):
                    self.env.update(zip(let.names, self.values(let.value), strict=True))
        return [value for result in block.result for value in self.values(result)]

    def values(self, expr: Expr) -> list[Value]:
        """The values of an expression: several for a `while` or a call of a fn that returns several."""
        match expr:
            case Name(id=name):
                return [self.env[name]]
            case Literal(type=type_, values=values):
                return [self.b.constant(type_, values)]
            case Apply():
                return self.apply(expr)
            case While():
                return self.loop(expr)
            case Placeholder():
                raise AssertionError("the checker lets a placeholder stand only as the value of a let of @main")

    def apply(self, expr: Apply) -> list[Value]:
        args = [value for arg in expr.args for value in self.values(arg)]
        if expr.callee in self.signatures:
            return self.call(expr.callee, args)
        op, attrs = OPS[expr.callee], dict(expr.attrs)
        result = op.infer([arg.type for arg in args], attrs)
        return [op.lower(self.b, args, attrs, result)]

    def call(self, name: str, args: Sequence[Value]) -> list[Value]:
        types, callee = self.signatures[name], ir.FlatSymbolRefAttr.get(PREFIX + name)
        results = [self.b.tensor(type_) for type_ in types]
        op = ir.Operation.create("func.call", results, [arg.mlir for arg in args], {"callee": callee})
        return [Value(result, type_) for result, type_ in zip(op.results, types, strict=True)]

    def loop(self, expr: While) -> list[Value]:
        """scf.while: its first region decides and passes the carries on, its second one makes the next ones.

        Those are copied into the carries' own storage, because bufferization wants a loop to keep its buffers: all of
        them are set aside first, so that carries which change places do not overwrite each other. That storage holds a
        copy of the initial value, because one-shot-bufferize (MLIR 22.1.8) would write over a value still in use: two
        results of a call that are one buffer, once the call's operand was copied, count for it as two.
        """
        starts = [self.b.copy(value) for carry in expr.carries for value in self.values(carry.init)]
        types = [start.mlir.type for start in starts]
        op = ir.Operation.create("scf.while", types, [start.mlir for start in starts], regions=2)
        before, after = (region.blocks.append(*types) for region in op.regions)
        with ir.InsertionPoint(before):
            (condition,) = self.inside(expr, before).values(expr.cond)
            ir.Operation.create("scf.condition", operands=[self.bit(condition), *before.arguments])
        with ir.InsertionPoint(after):
            aside = [self.b.copy(x) for x in self.inside(expr, after).block(expr.body)]
            stored = [self.b.store(new, old) for new, old in zip(aside, after.arguments, strict=True)]
            ir.Operation.create("scf.yield", operands=stored)
        return [Value(result, carry.type) for result, carry in zip(op.results, expr.carries, strict=True)]

    def inside(self, expr: While, block: ir.Block) -> _Scope:
        """The scope of a region of a `while`, its arguments named as the carries."""
        carried = {carry.name: Value(arg, carry.type) for carry, arg in zip(expr.carries, block.arguments, strict=True)}
        return _Scope(self.b, self.signatures, {**self.env, **carried})

    def bit(self, x: Value) -> ir.Value:
        """The bit of a BOOL tensor of one element and any rank."""
        zero = self.b.emit("arith.constant", result=ir.IndexType.get(), value=ir.IntegerAttr.get(ir.IndexType.get(), 0))
        return self.b.bit(self.b.extract(x, [zero] * x.type.rank))
