"""What MLIR reports while it works: its error diagnostics as text. Who asked, and what follows, is the caller's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mlir import ir


@contextmanager
def diagnosed(context: ir.Context) -> Iterator[list[str]]:
    """The errors that MLIR reports meanwhile.

    The bindings collect them too, but abort the process where a pass reports an error and succeeds all the same, as
    affine-super-vectorize does with what it leaves alone.
    """
    said: list[str] = []

    def note(diagnostic: ir.Diagnostic) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            where = str(diagnostic.location).removeprefix("loc(").removesuffix(")").removeprefix("unknown")
            words = f"{where}: {diagnostic.message}" if where else diagnostic.message
            said.append("\n".join([f"error: {words}", *(f" note: {note.message}" for note in diagnostic.notes)]))
        return True

    handler = context.attach_diagnostic_handler(note)
    before, context.emit_error_diagnostics = context.emit_error_diagnostics, True
    try:
        yield said
    finally:
        context.emit_error_diagnostics = before
        handler.detach()
