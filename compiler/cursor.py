"""Where the parser stands in the token stream, and how it complains. Standard library only."""

from __future__ import annotations

from typing import NoReturn

from compiler.lexer import Token, tokens
from compiler.source import Report, Span
from compiler.syntax import MAX_DEPTH

_WORDS = {"name": "a name", "int": "an integer", "end": "the end of the program"}


class SyntaxRefused(Exception):
    """Leaves the statement in which an error is; carries what to report."""

    def __init__(self, code: str, message: str, span: Span) -> None:
        self.code, self.message, self.span = code, message, span


class Cursor:
    """One token of the text is `here`; `after` is the one behind it; `end` is where the last one taken ended."""

    def __init__(self, text: str, report: Report) -> None:
        self.report = report
        self._tokens = tokens(text, self.report)
        self.here = next(self._tokens)
        self.after = next(self._tokens, self.here)
        self.end = 0
        self.depth = 0

    def take(self) -> Token:
        """Goes on to the next token; at the end it stays."""
        taken = self.here
        self.here, self.after, self.end = self.after, next(self._tokens, self.after), taken.end
        return taken

    def at(self, *kinds: str) -> bool:
        return self.here.kind in kinds

    def accept(self, kind: str) -> bool:
        """Takes the token if it is of this kind."""
        if self.here.kind == kind:
            self.take()
            return True
        return False

    def expect(self, kind: str, place: str) -> Token:
        """The token of this kind; otherwise raises `SyntaxRefused` that says where it was expected."""
        if self.here.kind != kind:
            self.refuse(f"{_WORDS.get(kind, f'`{kind}`')} {place}")
        return self.take()

    def refuse(self, wanted: str) -> NoReturn:
        """Raises `SyntaxRefused` at the token that is here."""
        raise SyntaxRefused("syntax", f"expected {wanted}, found {self.found()}", self.here.span)

    def found(self) -> str:
        """The token that is here, as a message names it."""
        kind, text = self.here.kind, self.here.text
        return _WORDS["end"] if kind == "end" else f"`{text[:40]}`"

    def deeper(self) -> None:
        """One more level of nesting; the caller takes it back by `depth -= 1`. Raises `SyntaxRefused` at the cap."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            message = f"an expression is nested at most {MAX_DEPTH} levels deep; bind a part of it by `let`"
            raise SyntaxRefused("too-deep", message, self.here.span)

    def complain(self, error: SyntaxRefused) -> None:
        """Reports an error, unless it follows from one that was reported at the same place."""
        if not self.at("bad") and not self.report.has(error.span.start):
            self.report.add(error.code, error.message, error.span)
