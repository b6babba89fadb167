"""Source positions and diagnostics: why a program is refused, and where.

The list of diagnostic codes lives here, one line each; the rules that raise them live with the parser, the checker
and the ops. Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of character offsets into the program's text."""

    start: int
    end: int


NO_SPAN = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`code` is a slug of `CODES`; `message` stands alone; `label` stands beside the caret."""

    code: str
    message: str
    span: Span
    label: str = ""


class CompileError(Exception):
    """A program was refused. Carries all of its diagnostics, in order of position."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("\n".join(f"error[{d.code}]: {d.message}" for d in diagnostics))
        self.diagnostics = diagnostics
