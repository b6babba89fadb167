"""From MLIR on tensors to the LLVM dialect: the passes, as data, stage by stage, and running them.

A pipeline is a list of passes in the order of `STAGES`; each pass runs alone, so a failure names its pass. What the
module means is `compiler.lowering`'s business, machine code is `compiler.backend`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, takewhile
from typing import Literal

from mlir import ir
from mlir.passmanager import PassManager

from compiler.runtime import add_runtime

Stage = Literal["tensor", "buffers", "loops", "llvm"]
STAGES: tuple[Stage, ...] = ("tensor", "buffers", "loops", "llvm")


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass by its name on `mlir-opt`'s command line, options in braces, and the stage it belongs to."""

    text: str
    stage: Stage

    @property
    def name(self) -> str:
        """Without its options and the ops it is nested in: `func.func(canonicalize{..})` is `canonicalize`."""
        return self.text.partition("{")[0].rpartition("(")[2].rstrip(")")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Passes in order, stages ascending."""

    passes: tuple[Pass, ...]

    def until(self, last: Stage) -> Pipeline:
        """The passes up to the end of stage `last`."""
        end = STAGES.index(last)
        return Pipeline(tuple(takewhile(lambda p: STAGES.index(p.stage) <= end, self.passes)))


class PipelineError(Exception):
    """A pass failed. `kind` is "refused" where the pass said no, "invalid-ir" where the verifier did after it."""

    def __init__(self, pass_name: str, kind: Literal["refused", "invalid-ir"], message: str) -> None:
        super().__init__(f"{pass_name}: {message}")
        self.pass_name, self.kind, self.message = pass_name, kind, message


# Function boundaries keep MLIR's own layouts: a slice of a parameter comes back as a view of it, as Section 21 says.
# canonicalize drops loops of one trip, which are many here and cost LLVM most. expand-strided-metadata must come before
# lower-affine, or a view of a function-boundary buffer cannot be converted. Memory is released by the runtime, all at
# once, when the host has read the results: no deallocation pass is needed. buffer-loop-hoisting keeps a `while` from
# asking for more at each trip.
DEFAULT = Pipeline(
    (
        Pass("one-shot-bufferize{bufferize-function-boundaries=true}", "buffers"),
        Pass("func.func(buffer-loop-hoisting)", "buffers"),
        Pass("convert-linalg-to-loops", "loops"),
        Pass("canonicalize", "loops"),
        Pass("expand-strided-metadata", "loops"),
        Pass("lower-affine", "loops"),
        Pass("canonicalize", "loops"),
        Pass("cse", "loops"),
        Pass("convert-scf-to-cf", "llvm"),
        Pass("convert-math-to-llvm", "llvm"),
        Pass("convert-math-to-libm", "llvm"),
        Pass("convert-arith-to-llvm", "llvm"),
        Pass("convert-func-to-llvm", "llvm"),
        Pass("convert-cf-to-llvm", "llvm"),
        Pass("convert-index-to-llvm", "llvm"),
        Pass("finalize-memref-to-llvm{use-generic-functions=true}", "llvm"),
        Pass("reconcile-unrealized-casts", "llvm"),
        Pass("kina-runtime", "llvm"),
        Pass("kina-keep-loops", "llvm"),
    )
)


def keep_loops(module: ir.Operation) -> None:
    """Asks LLVM not to unroll. It would unroll loops of a few trips to the last one, and take twice the time at -O2."""
    mark = ir.Attribute.parse("#llvm.loop_annotation<unroll = <disable = true>>")
    for function in module.regions[0].blocks[0]:
        for block in (block for region in function.operation.regions for block in region):
            last = block.operations[len(block.operations) - 1].operation
            if last.name == "llvm.br":
                last.attributes["loop_annotation"] = mark


OURS = {"kina-runtime": add_runtime, "kina-keep-loops": keep_loops}  # passes of this compiler, beside MLIR's


def parse(text: str) -> Pipeline:
    """The pipeline that a case names. ValueError names what it does not know."""
    if text.strip() != "default":
        raise ValueError(f"unknown pipeline {text.strip()!r}: the pipeline there is is 'default'")
    return DEFAULT


def run(module: ir.Module, pipeline: Pipeline) -> None:
    """Transforms the module in place; raises `PipelineError`.

    Verifying costs as much as the passes, so it is done at the end of each stage. Where it fails, the stage's passes
    are run anew on a copy, each with its own verification, to name the guilty one.
    """
    with module.context:
        for _, passes in groupby(pipeline.passes, lambda p: p.stage):
            stage, before = tuple(passes), module.operation.clone()
            for pass_ in stage:
                _transform(module.operation, pass_)
            try:
                module.operation.verify()
            except ir.MLIRError as error:
                raise _guilty(before, stage, str(error)) from error


def _transform(module: ir.Operation, pass_: Pass) -> None:
    try:
        if pass_.name in OURS:
            OURS[pass_.name](module)
        else:
            _manager(module.context, pass_.text).run(module)
    except (ir.MLIRError, ValueError) as error:  # ValueError: there is no such pass, or it has no such option
        raise PipelineError(pass_.name, "refused", str(error).strip()) from error


def _guilty(module: ir.Operation, passes: Sequence[Pass], message: str) -> PipelineError:
    for pass_ in passes:
        _transform(module, pass_)
        try:
            module.verify()
        except ir.MLIRError as error:
            return PipelineError(pass_.name, "invalid-ir", str(error))
    return PipelineError(passes[-1].name, "invalid-ir", message)


@lru_cache(maxsize=256)  # a manager keeps its context alive
def _manager(context: ir.Context, text: str) -> PassManager:
    """Parsed once for each context; verifying is left to `run`, which can tell the verifier's word from the pass's."""
    manager = PassManager.parse(f"builtin.module({text})", context)
    manager.enable_verifier(False)
    return manager
