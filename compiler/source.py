"""Source positions and diagnostics: why a program is refused, and where.

The list of diagnostic codes is in `codes.py`; the rules that raise them live with the parser, the checker and the ops.
Standard library only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice

from compiler.codes import CODES

__all__ = ["CODES", "NO_SPAN", "CompileError", "Diagnostic", "Report", "Span", "decode", "did_you_mean", "render"]

MAX_DIAGNOSTICS = 100  # nobody reads more, and the cost of a hopeless file must not grow with it
SHOWN_WIDTH = 160  # characters of a source line that `render` shows
LONGEST_GUESSED = 40  # characters of a name for which a similar one is looked for
MOST_CANDIDATES = 1000  # names that are compared with a misspelt one


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


class TooManyErrors(Exception):
    """`MAX_DIAGNOSTICS` was reached; whoever owns the `Report` stops looking."""


class Report:
    """The diagnostics of one program while they are being found."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []

    def add(self, code: str, message: str, span: Span, label: str = "") -> None:
        """Raises `TooManyErrors` at the cap, after saying so in a diagnostic."""
        self._found.append(Diagnostic(code, message, span, label))
        if len(self._found) == MAX_DIAGNOSTICS:
            last = f"stopped after {MAX_DIAGNOSTICS} errors; mend these first"
            self._found.append(Diagnostic("too-many-errors", last, span))
            raise TooManyErrors

    def has(self, start: int) -> bool:
        """Whether something was reported at this position."""
        return any(found.span.start == start for found in self._found)

    def raise_if_any(self) -> None:
        """Raises `CompileError` with everything that was found."""
        if self._found:
            raise CompileError(tuple(sorted(self._found, key=lambda found: found.span.start)))


def decode(data: bytes) -> str:
    """The text of a file. Raises `CompileError`; its span counts in `data.decode(errors="replace")`."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        at = len(data[: error.start].decode())
        message = f"a program is UTF-8 text, got byte 0x{data[error.start]:02x} at offset {error.start}"
        raise CompileError((Diagnostic("encoding", message, Span(at, at + 1)),)) from None


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """`; did you mean ...?` for the likeliest of the candidates, or nothing."""
    if len(name) > LONGEST_GUESSED:
        return ""
    close = get_close_matches(name, list(islice(candidates, MOST_CANDIDATES)), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def render(text: str, filename: str, diagnostics: Sequence[Diagnostic]) -> str:
    """The diagnostics for a person: message, place, the line of the program with a caret under the span."""
    starts = [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
    return "\n\n".join(_render(text, filename, starts, found) for found in diagnostics)


def _render(text: str, filename: str, starts: list[int], found: Diagnostic) -> str:
    row = bisect_right(starts, found.span.start) - 1
    start = starts[row]
    line = text[start : starts[row + 1] - 1 if row + 1 < len(starts) else len(text)].rstrip("\r")
    column = found.span.start - start
    shown, indent = _window(line, column)
    carets = max(1, min(found.span.end - found.span.start, len(shown) - indent))
    number = str(row + 1)
    gutter = " " * len(number)
    return "\n".join(
        (
            f"error[{found.code}]: {found.message}",
            f"{gutter}--> {filename}:{number}:{column + 1}",
            f"{gutter} |",
            f"{number} | {shown}",
            f"{gutter} | {' ' * indent}{'^' * carets} {found.label}".rstrip(),
        )
    )


def _window(line: str, column: int) -> tuple[str, int]:
    """The part of a line that is shown, and where in it the column is. What cannot be printed is replaced."""
    first = 0 if len(line) <= SHOWN_WIDTH else max(0, min(column - SHOWN_WIDTH // 2, len(line) - SHOWN_WIDTH))
    part = line[first : first + SHOWN_WIDTH]
    clean = "".join(
        char if char.isprintable() else " " if char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in part
    )
    return clean, column - first
