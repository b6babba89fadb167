"""Compilers under test, one module each. An engine is a module, named by data, that the sandbox child imports.

It has `BUILDS`, its variants grouped by what one compilation serves, the cheapest first, and
`run_case(request, progress)`, which yields each variant's outcome as soon as it has it. `progress(stage, variants)` is
called before each stage with the variants that would be lost if the process died in it; a third argument names what is
at work in the stage, a pass for example.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from oracles.engine import Array, Outcome


class Progress(Protocol):
    """Told before each stage, and before each part of one that has a name: who is to blame if it never ends."""

    def __call__(self, stage: str, variants: tuple[str, ...], culprit: str = "") -> None: ...


@dataclass(frozen=True, slots=True)
class Request:
    """One case for an engine: its text, the pipeline's text, the variants wanted and the inputs in native dtypes."""

    text: str
    pipeline: str
    variants: tuple[str, ...]
    inputs: dict[str, Array]


class Engine(Protocol):
    """What a module must have to be an engine."""

    BUILDS: tuple[tuple[str, ...], ...]

    def run_case(self, request: Request, progress: Progress) -> Iterator[tuple[str, Outcome]]: ...
