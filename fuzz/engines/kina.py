"""The Kina compiler as an engine: five builds (JIT -O0 to -O3, shared object), each run stepped and whole.

Stepped: the host runs `@main` line by line. Calls of fns run compiled code; every other op runs on the host, in NumPy,
rounded once to its dtype, as the host loops of the language's documents do. Whole: `@main` is itself compiled. Both are
served by one module, so one compilation serves two variants.

Every exception of the compiler becomes a `Failure` of the stage it came from; deaths are the sandbox's business.
"""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from mlir import ir

from compiler import backend, pipeline
from compiler.checker import Checked, check, signature
from compiler.llvm import InvalidModule
from compiler.lowering import lower
from compiler.parser import parse
from compiler.passtext import PipelineTextError
from compiler.source import CompileError
from compiler.syntax import Apply, Block, Expr, Name, Program, While, inputs
from fuzz.engines import Progress, Request
from oracles.engine import Array, Failure, Observation, Outcome, Stage
from oracles.evaluator import Attrs, Hooks, Site, Val, apply_table, evaluate
from oracles.numpy_reference import LIBRARY, hold, quantize

_LEVELS = {"jit-O0": 0, "jit-O1": 1, "jit-O2": 2, "jit-O3": 3}
BUILDS = tuple((f"{build}/stepped", f"{build}/whole") for build in (*_LEVELS, "so"))

_CONTEXT = ir.Context()
_CONTEXT.enable_multithreading(False)  # a lane and its child have one core, and this process will be forked
T = TypeVar("T")


class _Failed(Exception):
    """A stage failed; carries the outcome."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class _Made:
    """What one pipeline has made of a program: its module in the LLVM dialect, the builds asked for so far."""

    pipeline: str
    module: ir.Module
    builds: dict[str, backend.Compiled] = field(default_factory=dict)


@dataclass(slots=True)
class _Front:
    """A program up to MLIR on tensors, and what was made of it last."""

    text: str
    checked: Checked
    module: ir.Module
    made: _Made | None = None


_LATEST: list[_Front] = []
"""At most one: the same program often comes again at once, with other inputs, for another build or another pipeline."""


def run_case(request: Request, progress: Progress) -> Iterator[tuple[str, Outcome]]:
    """Each variant asked for with its outcome; what fails before a build fails for all of them."""
    try:
        front = _front(request, progress)
        made = _made(front, request, progress)
    except _Failed as failed:
        yield from ((variant, failed.failure) for variant in request.variants)
        return
    for build in BUILDS:
        wanted = tuple(variant for variant in build if variant in request.variants)
        if wanted:
            yield from _run_build(front.checked, made, wanted, request.inputs, progress)


def _front(request: Request, progress: Progress) -> _Front:
    """The request's program up to MLIR on tensors: the latest one if it is the same."""
    text = _without_header(request.text)
    if not _LATEST or _LATEST[0].text != text:
        forget()
        _LATEST.append(_Front(text, *_lowered(request, progress)))
    return _LATEST[0]


def forget() -> None:
    """Drop all that was made of the latest program."""
    for front in _LATEST:
        _drop_made(front)
    _LATEST.clear()


def _drop_made(front: _Front) -> None:
    made, front.made = front.made, None
    for compiled in made.builds.values() if made else ():
        compiled.close()


def _made(front: _Front, request: Request, progress: Progress) -> _Made:
    """What the request's pipeline makes of a copy of the program: from the last time if it is the same pipeline."""
    if front.made is None or front.made.pipeline != request.pipeline:
        _drop_made(front)
        progress("passes", request.variants)
        module = _guarded("passes", lambda: _through_passes(front.module, request, progress))
        front.made = _Made(request.pipeline, module)
    return front.made


def _through_passes(tensors: ir.Module, request: Request, progress: Progress) -> ir.Module:
    passes = pipeline.parse(request.pipeline)
    module = _copy(tensors)
    pipeline.run(module, passes, lambda name: progress("passes", request.variants, name))
    return module


def _copy(module: ir.Module) -> ir.Module:
    with _CONTEXT, ir.Location.unknown():
        copy = ir.Module.create()
        for op in module.body:
            copy.body.append(op.operation.clone())
    return copy


def _without_header(text: str) -> str:
    """The text from the first line that is no comment on: the header names inputs, which are no part of a program."""
    lines = text.splitlines(keepends=True)
    start = next((at for at, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return "".join(lines[start:])


def _lowered(request: Request, progress: Progress) -> tuple[Checked, ir.Module]:
    """Text to a module on tensors."""

    def stage(name: Stage, work: Callable[[], T]) -> T:
        progress(name, request.variants)
        return _guarded(name, work)

    program = stage("parse", lambda: parse(request.text))
    checked = stage("check", lambda: check(program))
    return checked, stage("lower", lambda: lower(checked, _CONTEXT))


def _run_build(
    checked: Checked, made: _Made, wanted: Sequence[str], given: dict[str, Array], progress: Progress
) -> Iterator[tuple[str, Outcome]]:
    """One build, run in the modes wanted."""
    build = wanted[0].partition("/")[0]
    if build not in made.builds:
        progress("codegen", tuple(wanted))
        try:
            made.builds[build] = _guarded("codegen", lambda: _compiled(build, checked, made.module))
        except _Failed as failed:
            yield from ((variant, failed.failure) for variant in wanted)
            return
    for variant in wanted:
        progress("run", (variant,))
        yield variant, _run(variant, checked.program, made.builds[build], given)


def _compiled(build: str, checked: Checked, module: ir.Module) -> backend.Compiled:
    """The build's machine code. A shared object is gone from the disk as soon as it is loaded."""
    program = checked.program
    names = [*(fn.name for fn in program.fns), *(["main"] if program.main else [])]
    signatures = {name: signature(checked, name) for name in names}
    if build != "so":
        return backend.compile_jit(module, signatures, _LEVELS[build])
    with tempfile.TemporaryDirectory(prefix="build-") as directory:
        # -O0: what a shared object adds is relocation, linking and loading; optimised code is the JIT's to show, and
        # making it takes three times as long.
        return backend.load_so(backend.build_so(module, Path(directory), opt_level=0), signatures)


def _run(variant: str, program: Program, compiled: backend.Compiled, given: dict[str, Array]) -> Outcome:
    run = _stepped if variant.endswith("/stepped") else _whole
    try:
        return _guarded("run", lambda: run(program, compiled, given))
    except _Failed as failed:
        return failed.failure


def _whole(program: Program, compiled: backend.Compiled, given: dict[str, Array]) -> Observation:
    """`@main` in compiled code. Of its lets those are seen that the result tuple names."""
    main = _main(program)
    results = compiled.call("main", *(given[name] for name in inputs(main)))
    lets: dict[str, Array] = {}
    at = 0
    for expr in main.result:
        if isinstance(expr, Name):
            lets[expr.id] = results[at]
        at += _width(expr, program)
    return Observation(lets, tuple(results))


def _stepped(program: Program, compiled: backend.Compiled, given: dict[str, Array]) -> Observation:
    """`@main` by the host; all of its lets are seen."""

    def call(name: str, args: Sequence[Val[Array]], _: Site) -> list[Val[Array]]:
        fn = program.fn(name)
        results = compiled.call(name, *map(_native, args))
        return [Val(hold(array), type_.dtype) for array, type_ in zip(results, fn.results if fn else (), strict=True)]

    seen = evaluate(program, given, LIBRARY, Hooks(apply=_host_op, call=call))
    lets = {name: _native(value) for name, value in seen.lets.items()}
    named = {id(value): lets[name] for name, value in seen.lets.items()}
    return Observation(lets, tuple(named[id(v)] if id(v) in named else _native(v) for v in seen.results))


def _host_op(op: str, args: Sequence[Val[Array]], attrs: Attrs, _: Site) -> Val[Array]:
    """An op on the host: computed in float64, rounded once to its dtype, which is a legal implementation of it."""
    exact = apply_table(LIBRARY, op, args, attrs)
    return Val(hold(quantize(exact.array, exact.dtype)), exact.dtype)


def _native(value: Val[Array]) -> Array:
    """The value in its dtype's array; nothing is rounded, for the host's values are the dtype's already."""
    return quantize(value.array, value.dtype)


def _width(expr: Expr, program: Program) -> int:
    """How many places of a flat result tuple an element takes."""
    if isinstance(expr, While):
        return len(expr.carries)
    fn = program.fn(expr.callee) if isinstance(expr, Apply) else None
    return len(fn.results) if fn else 1


def _main(program: Program) -> Block:
    if program.main is None:
        raise ValueError("a case without @main cannot be run")
    return program.main


def _guarded(stage: Stage, work: Callable[[], T]) -> T:
    """The result of `work`, or `_Failed` with what its exception means at this stage."""
    try:
        return work()
    except CompileError as error:
        first = error.diagnostics[0]
        raise _Failed(Failure(stage, "refused", first.code, first.message)) from error
    except pipeline.PipelineError as error:
        raise _Failed(Failure("passes", error.kind, error.pass_name, str(error))) from error
    except PipelineTextError as error:
        raise _Failed(Failure("passes", "refused", "pipeline", str(error))) from error
    except (ir.MLIRError, InvalidModule) as error:
        raise _Failed(Failure(stage, "invalid-ir", "", str(error))) from error
    except MemoryError as error:
        raise _Failed(Failure(stage, "oom", "", f"MemoryError: {error}")) from error
    except Exception as error:  # whatever else the compiler under test raises is its failure, not ours
        words = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
        raise _Failed(Failure(stage, "crash", "", words)) from error
