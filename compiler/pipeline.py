"""From MLIR on tensors to the LLVM dialect: the passes, as data, stage by stage, and running them.

A pipeline is the mandatory steps and, if it was drawn, optional passes among them; each pass runs alone, so a failure
names its pass. Which passes may be added is in `compiler.passes`, how that is written in `compiler.passtext`. What the
module means is `compiler.lowering`'s business, machine code is `compiler.backend`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Literal

from mlir import ir
from mlir.passmanager import PassManager

from compiler.diagnosed import diagnosed
from compiler.passes import ROWS
from compiler.passrow import STAGES, Slot, Stage
from compiler.passtext import Item, parse_items, print_items


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
    """Passes in order, stages ascending; `added` are those that were asked for, in the order in which they were."""

    passes: tuple[Pass, ...]
    added: tuple[Item, ...] = ()

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return print_items(self.added)

    def until(self, last: Stage) -> Pipeline:
        """The passes up to the end of stage `last`."""
        end = STAGES.index(last)
        return Pipeline(tuple(takewhile(lambda p: STAGES.index(p.stage) <= end, self.passes)), self.added)


class PipelineError(Exception):
    """A pass failed. `kind` is "refused" where the pass said no, "invalid-ir" where the verifier did after it."""

    def __init__(self, pass_name: str, kind: Literal["refused", "invalid-ir"], message: str) -> None:
        super().__init__(f"{pass_name}: {message}")
        self.pass_name, self.kind, self.message = pass_name, kind, message


_HERE = "*"

# The mandatory steps: at `*` the added passes of the stage, a slot's name for the choice made in it, `?` before a step
# that only added passes of the same stage may have made necessary, `+` of any stage.
#
# Function boundaries keep MLIR's own layouts: a slice of a parameter comes back as a view of it, as Section 21 says.
# canonicalize drops loops of one trip, which are many here and cost LLVM most; in the end it drops the descriptors that
# are put together only to be taken apart. expand-strided-metadata must come before lower-affine, or a view of a
# function-boundary buffer cannot be converted. Memory comes from the runtime, aligned, and goes back to it all at once,
# when the host has read the results: no code that aligns it is needed, no deallocation pass. buffer-loop-hoisting keeps
# a `while` from asking for more at each trip.
_STEPS: Mapping[Stage, tuple[str, ...]] = {
    "tensor": (_HERE,),
    "buffers": ("bufferize", _HERE, "func.func(buffer-loop-hoisting)"),
    "release": (
        "release",
        _HERE,
        "?canonicalize",
        "?buffer-deallocation-simplification",
        "?bufferization-lower-deallocations",
        "?convert-bufferization-to-memref",
    ),
    "affine": ("to-loops", _HERE, "expand-strided-metadata", "lower-affine"),
    "loops": (
        _HERE,
        "+convert-vector-to-scf",
        "?expand-strided-metadata",
        "+lower-affine",
        "canonicalize{region-simplify=disabled}",
    ),
    "cf": ("convert-scf-to-cf", _HERE, "?convert-scf-to-cf"),
    "llvm": (
        "+convert-vector-to-llvm",
        "+convert-ub-to-llvm",
        "convert-math-to-llvm",
        "convert-math-to-libm",
        "convert-to-llvm{filter-dialects=arith,cf,func,index}",
        "finalize-memref-to-llvm{use-generic-functions=true}",
        "reconcile-unrealized-casts",
        _HERE,
        "canonicalize{region-simplify=disabled}",
        "kina-functions",
    ),
}
_USUAL: Mapping[str, tuple[str, ...]] = {
    "bufferize": ("one-shot-bufferize{bufferize-function-boundaries=true buffer-alignment=0}",),
    "release": (),
    "to-loops": ("convert-linalg-to-loops",),
}


def compose(added: Sequence[Item]) -> Pipeline:
    """The mandatory steps with `added` among them: each in its stage, in the order given, a choice in its slot."""
    chosen = {ROWS[item.name].slot: item for item in added}
    passes = (
        Pass(text, stage)
        for stage in STAGES
        for step in _STEPS[stage]
        for text in _texts(step, [item for item in added if item.stage == stage], chosen, bool(added))
    )
    return Pipeline(tuple(passes), tuple(added))


def _texts(step: str, here: Sequence[Item], chosen: Mapping[Slot, Item], drawn: bool) -> Iterator[str]:
    """The passes of one step, `here` being the stage's added ones."""
    if step == _HERE:
        yield from (_text(item) for item in here if not ROWS[item.name].slot)
    elif step in _USUAL:
        usual = _USUAL[step]
        yield from (_text(item) for slot, item in chosen.items() if slot == step)
        yield from () if step in chosen else usual
    elif {"?": bool(here), "+": drawn}.get(step[0], True):
        yield step.lstrip("?+")


def _text(item: Item) -> str:
    """The pass as `mlir-opt` reads it."""
    row = ROWS[item.name]
    options = " ".join(filter(None, (row.fixed, *(f"{key}={value}" for key, value in item.options))))
    text = f"{item.name}{{{options}}}" if options else item.name
    return f"{row.nest}({text})" if row.nest else text


DEFAULT = compose(())


MOST_OPS = 25_000
"""After added passes, which may unroll and peel without end: LLVM would take minutes. The largest example has 14,000 in
basic blocks."""

_GROWING: tuple[Stage, ...] = ("affine", "loops")
_COUNTED_AFTER = ("convert-scf-to-cf", "kina-functions")


def finish_functions(module: ir.Operation) -> None:
    """Makes all functions of a module in the LLVM dialect internal but their C interfaces; none ever unwinds."""
    internal = ir.Attribute.parse("#llvm.linkage<internal>", module.context)
    functions = [op for op in module.regions[0].blocks[0] if op.operation.name == "llvm.func" and any(op.regions[0])]
    for function in functions:
        function.attributes["no_unwind"] = ir.UnitAttr.get(module.context)
        if not str(function.attributes["sym_name"].value).startswith("_mlir_ciface_"):
            function.attributes["linkage"] = internal


OURS = {"kina-functions": finish_functions}  # passes of this compiler, beside MLIR's


def parse(text: str) -> Pipeline:
    """The pipeline that a case names. Raises `PipelineTextError`, a ValueError."""
    return compose(parse_items(text))


def run(module: ir.Module, pipeline: Pipeline, entering: Callable[[str], None] = lambda _: None) -> None:
    """Transforms the module in place; raises `PipelineError`. `entering` hears each pass's name before it runs.

    The usual pipeline is verified in the end, for verifying costs as much as a third of the passes; where that fails,
    or a pass says no before, all are run anew on a copy, each with its own verification, to name the guilty one. With
    added passes, each one is verified.
    """
    with module.context, diagnosed(module.context) as said:
        if pipeline.added:
            _run_verified(module.operation, pipeline, entering, said)
            return
        before, last = module.operation.clone(), ""
        try:
            for pass_ in pipeline.passes:
                last = pass_.name
                entering(last)
                _transform(module.operation, pass_, said)
            _verify(module.operation, last, said)
        except PipelineError:
            _run_verified(before, pipeline, entering, said)
            raise


def _run_verified(module: ir.Operation, pipeline: Pipeline, entering: Callable[[str], None], said: list[str]) -> None:
    for pass_ in pipeline.passes:
        entering(pass_.name)
        _transform(module, pass_, said)
        _verify(module, pass_.name, said)
        if pipeline.added:
            _limit_growth(module, pass_, pipeline)


def _limit_growth(module: ir.Operation, pass_: Pass, pipeline: Pipeline) -> None:
    """Where passes unroll and peel, each what the one before has made, it is twice as much each time, or more."""
    grows = pass_.stage in _GROWING and pass_.name in {item.name for item in pipeline.added}
    if (grows or pass_.name in _COUNTED_AFTER) and _size(module) > MOST_OPS:
        raise PipelineError("growth", "refused", f"{_size(module)} ops; at most {MOST_OPS} are compiled further")


def _size(module: ir.Operation) -> int:
    """The ops of a module."""
    ops = 0

    def count(_: ir.Operation) -> ir.WalkResult:
        nonlocal ops
        ops += 1
        return ir.WalkResult.ADVANCE

    module.walk(count)
    return ops


def _transform(module: ir.Operation, pass_: Pass, said: list[str]) -> None:
    """`said` is what MLIR reports, here and in `_verify`."""
    said.clear()
    try:
        if pass_.name in OURS:
            OURS[pass_.name](module)
        else:
            _manager(module.context, pass_.text).run(module)
    except (ir.MLIRError, ValueError) as error:  # ValueError: there is no such pass, or it has no such option
        raise PipelineError(pass_.name, "refused", "\n".join([str(error).strip(), *said])) from error


def _verify(module: ir.Operation, guilty: str, said: list[str]) -> None:
    """After the pass that is to blame if the module is invalid."""
    said.clear()
    try:
        module.verify()
    except ir.MLIRError as error:
        raise PipelineError(guilty, "invalid-ir", "\n".join([str(error).strip(), *said])) from error


@lru_cache(maxsize=1024)  # a manager keeps its context alive; drawn pipelines have some hundreds of passes with options
def _manager(context: ir.Context, text: str) -> PassManager:
    """Parsed once for each context; verifying is left to `run`, which can tell the verifier's word from the pass's."""
    manager = PassManager.parse(f"builtin.module({text})", context)
    manager.enable_verifier(False)
    return manager
