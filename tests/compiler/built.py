"""Programs as people run them: compiled by the default pipeline, called through the host boundary."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from mlir import ir

from compiler import backend, pipeline
from compiler.backend import Compiled
from compiler.checker import check, signature
from compiler.lowering import lower
from compiler.parser import parse
from compiler.syntax import Program

EXAMPLES = Path(__file__).parents[2] / "compiler" / "examples"


def example(name: str) -> Program:
    """A program of `compiler/examples`."""
    return parse((EXAMPLES / f"{name}.kina").read_text())


@contextmanager
def shared_object(program: Program, opt_level: int = 2) -> Iterator[Compiled]:
    """The fns of a program, and its `@main`, from a `.so`."""
    checked = check(program)
    module = lower(checked, ir.Context())
    pipeline.run(module, pipeline.DEFAULT)
    names = [*(fn.name for fn in program.fns), *(["main"] if program.main else [])]
    signatures = {name: signature(checked, name) for name in names}
    with TemporaryDirectory(prefix="kina-") as directory:
        path = backend.build_so(module, Path(directory), opt_level)
        with closing(backend.load_so(path, signatures)) as compiled:
            yield compiled
