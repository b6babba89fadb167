"""The Signature of a wrong verdict: what stays the same when the same bug is met again.

A message is stripped of what depends on the machine (paths, addresses), on the program (names, sizes, numbers) and on
the moment (process ids); words, op names, pass names and the text of an assertion stay.
"""

from __future__ import annotations

import re
from dataclasses import replace

from oracles.verdict import Disagree, Signature

LONGEST = 200  # characters: enough for an assertion and its function, short enough for a line of a report

TELLING = re.compile(r"Assertion `|LLVM ERROR|\berror\b|UNREACHABLE|terminate called|[Rr]untime error|\b\w+Error:")
"""The line of a dump that says what went wrong; without one, the first line that is not empty."""

RULES: tuple[tuple[str, str], ...] = (
    (r"\x1b\[[0-9;]*m", ""),  # colours
    (r"^.*?: Assertion `", "Assertion `"),  # program, file, line and the signature of the function
    (r"^(.{1000}).+", r"\1"),  # the rules below take time squared, and whoever crashed wrote the line
    (r"(?:[\w.+-]*/)*[\w.+-]+\.(?:mlir|kina)\b(?::\d+)*:? ?", ""),  # where in our own text
    (r"(?:[\w.+-]*/)+([\w.+-]+\.(?:c|cc|cpp|h|hpp|inc|td|py|so))\b", r"\1"),  # a path: its last part stays
    (r"(?:/[\w.+-]+){2,}/?", "PATH"),
    (r"<unknown>:", ""),
    (r'\berror: "[\w ]*": ', "error: "),  # the location of a `let` is its name
    (r"loc\([^()]*(?:\([^()]*\)[^()]*)*\)", "LOC"),
    (r"affine_map<[^>]*->[^>]*>", "MAP"),
    (r"\b(tensor|memref|vector)<(?:[\d?]+x)*([a-z]\w*)[^<>]*(?:<[^<>]*>)?[^<>]*>", r"\1<\2>"),  # shape and layout
    (r"%[\w$.-]+(?:[:#]\d+)?", "%_"),
    (r"@[\w$.-]+", "@_"),
    (r"\^bb\d+", "^bb"),
    (r"\b0x[0-9a-fA-F]+\b", "N"),
    (r"\[[^\[\]\"'`]*\d[^\[\]\"'`]*\]", "[N]"),  # a list of numbers, of whatever rank
    (r"\([-\s\d,]+\)", "(N)"),
    (r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\b", "N"),
    (r"\b(?:N:)+N?", ""),  # line and column
    (r"\bN(?:(?:,| and|x) ?N)+\b", "N"),
    (r"\s+", " "),
)


def telling_line(message: str) -> str:
    """The line of `message` that says what went wrong."""
    lines = [line for line in message.splitlines() if line.strip()]
    return next((line for line in lines if TELLING.search(line)), lines[0] if lines else "")


def normalise(message: str) -> str:
    """The part of `message` that names the bug. Applying it twice changes nothing."""
    text = telling_line(message)
    for pattern, replacement in RULES:
        text = re.sub(pattern, replacement, text)
    return text.strip(" :;")[:LONGEST].strip()


def signature_of(verdict: Disagree) -> Signature:
    """The verdict's Signature with its message normalised."""
    signature = verdict.signature
    return replace(signature, message=normalise(signature.message))
