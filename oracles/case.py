"""A case: one Kina file that holds a program, the recipes of its inputs, a pipeline, claims and an expectation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from compiler.syntax import Program

if TYPE_CHECKING:
    from compiler.recipes import Recipe


class CaseError(Exception):
    """A file is not a valid case. The message begins with `file:line:` and says what to do."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A relation between two lets of `@main` that are computed by different routes."""

    left: str
    relation: Literal["==", "!="]
    right: str


@dataclass(frozen=True, slots=True)
class Expect:
    """What a replay must come to: `agree`, `error[detail]` or `fails detail, where` (detail is a Signature's text)."""

    kind: Literal["agree", "error", "fails"]
    detail: str = ""
    where: str = ""


AGREE = Expect("agree")


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    `recipes` names each placeholder of `@main` once. `why` and `found` may have several lines. `text` is empty unless
    the program's very text is what is tested: an `error[code]` case whose program does not parse, or is not written
    as the printer would write it (then `program` is what parsed, or has neither fns nor main).
    """

    program: Program
    recipes: dict[str, Recipe] = field(default_factory=dict)
    pipeline: str = "default"
    claims: tuple[Claim, ...] = ()
    expect: Expect = AGREE
    why: str = ""
    found: str = ""
    text: str = ""
