"""A case: one Kina file that holds a program, the recipes of its inputs, a pipeline, claims and an expectation.

Everything that is not the program stands in the comment lines at its top, `// key: value`; `KEYS` lists the keys.
The text is untrusted: it is read by regular expressions and the compiler's parser, and nothing is evaluated. How an
input is made of its recipe is in `compiler.recipes`; what a pipeline's text may say, the compiler's to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal, NoReturn, cast

from compiler.parser import parse
from compiler.printer import print_program
from compiler.recipes import Recipe, RecipeError, make, parse_inputs, print_recipe
from compiler.source import CompileError
from compiler.syntax import Block, Program, inputs

WIDTH = 120  # columns of a header line, where an entry is not longer by itself
LARGEST_INPUT = 2**24  # elements; a file of a hundred bytes must not ask for all memory

KEYS: dict[str, bool] = {
    "why": True,
    "found": True,
    "inputs": True,
    "pipeline": False,
    "claim": True,
    "expect": False,
}
"""The keys of the header, in the order of printing, and whether a key may repeat."""


class CaseError(Exception):
    """A file is not a valid case. The message begins with `file:line:` and says what to do."""


Relation = Literal["==", "!=", "==="]


@dataclass(frozen=True, slots=True)
class Claim:
    """A relation between two lets of `@main`: `==` by different routes, `===` bitwise by one, `!=` by mistake."""

    left: str
    relation: Relation
    right: str

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


@dataclass(frozen=True, slots=True)
class Expect:
    """What a replay must come to: `agree`, `error[detail]` or `fails detail, where` (detail: a Signature's text)."""

    kind: Literal["agree", "error", "fails"]
    detail: str = ""
    where: str = ""

    def __str__(self) -> str:
        return {"agree": "agree", "error": f"error[{self.detail}]"}.get(self.kind, f"fails {self.detail}, {self.where}")


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


@dataclass(frozen=True, slots=True)
class _Line:
    """One header line: `where` is its `file:line`."""

    where: str
    key: str
    value: str

    def refuse(self, message: str) -> NoReturn:
        raise CaseError(f"{self.where}: {message}")


def parse_case(text: str, name: str = "<case>") -> Case:
    """The case that a file's text says; `parse_case(print_case(c)) == c`.

    Raises `CaseError` for what is wrong with the header or between header and program, `CompileError` for a program
    that does not parse; a case that expects `error[code]` needs no valid program, inputs or claims.
    """
    header, body = _split(text, name)
    expect = next((_expect(line) for line in header if line.key == "expect"), AGREE)
    program, kept = _program(text, body, expect)
    case = Case(
        program=program,
        recipes=_recipes(header),
        pipeline=_joined(header, "pipeline") or "default",
        claims=tuple(_claim(line) for line in header if line.key == "claim"),
        expect=expect,
        why=_joined(header, "why"),
        found=_joined(header, "found"),
        text=kept,
    )
    if expect.kind != "error":
        _check_inputs(case, header, name)
        _check_claims(_main(case, name), header)
    return case


def print_case(case: Case) -> str:
    """The one text of a case: its header, keys in the order of `KEYS`, and the program."""
    values: Mapping[str, Iterable[str]] = {
        "why": case.why.split("\n") if case.why else [],
        "found": case.found.split("\n") if case.found else [],
        "inputs": _wrapped([f"{name} = {print_recipe(recipe)}" for name, recipe in _ordered(case)]),
        "pipeline": [case.pipeline] if case.pipeline != "default" else [],
        "claim": map(str, case.claims),
        "expect": [str(case.expect)],
    }
    header = [f"// {key}: {value}\n" for key in KEYS for value in values[key]]
    return "".join(header) + (case.text or print_program(case.program))


def _ordered(case: Case) -> list[tuple[str, Recipe]]:
    """Recipes as the program binds their inputs, so that equal cases print alike."""
    places = {name: place for place, name in enumerate(inputs(case.program.main) if case.program.main else ())}
    return sorted(case.recipes.items(), key=lambda item: (places.get(item[0], len(places)), item[0]))


def _wrapped(entries: Sequence[str]) -> list[str]:
    """Entries joined by `; `, as many to a line as fit."""
    lines: list[str] = []
    room = WIDTH - len("// inputs: ")
    for entry in entries:
        if lines and len(lines[-1]) + len("; ") + len(entry) <= room:
            lines[-1] += f"; {entry}"
        else:
            lines.append(entry)
    return lines


_KEY_LINE = re.compile(r"\s*//\s*([a-z]+):(.*)")


def _split(text: str, name: str) -> tuple[list[_Line], str]:
    """The header's lines, and the text from the program's first line on."""
    header: list[_Line] = []
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)  # as the lexer counts them; splitlines knows many more ends
    program_at = next((at for at, line in enumerate(lines) if not _is_comment_or_blank(line)), len(lines))
    for at, line in enumerate(lines):
        match = _KEY_LINE.match(line)
        if match is None:
            continue
        found = _Line(f"{name}:{at + 1}", match[1], match[2].strip())
        if at < program_at:
            header.append(found)
            _check_key(found, [line.key for line in header])
        elif found.key in KEYS:
            found.refuse(f"`{found.key}:` stands below the program's first line; move it to the top of the file")
    return header, "".join(lines[program_at:])


def _is_comment_or_blank(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("//")


def _check_key(line: _Line, keys: list[str]) -> None:
    if line.key not in KEYS:
        near = get_close_matches(line.key, KEYS, n=1)
        guess = f"did you mean `{near[0]}:`?" if near else f"the keys are {', '.join(KEYS)};"
        line.refuse(
            f"`{line.key}:` is no key of a case file; {guess} A plain comment has no colon behind its first word"
        )
    if line.key == "pipeline" and not line.value:
        line.refuse("`pipeline:` is empty; write `default` or remove the line")
    if keys.count(line.key) > 1 and not KEYS[line.key]:
        line.refuse(f"`{line.key}:` is given twice; keep one")


def _joined(header: Iterable[_Line], key: str) -> str:
    return "\n".join(line.value for line in header if line.key == key)


def _expect(line: _Line) -> Expect:
    if line.value == "agree":
        return AGREE
    if error := re.fullmatch(r"error\[([a-z0-9-]+)\]", line.value):
        return Expect("error", error[1])
    fails = re.fullmatch(r"fails (.+/.+/.*/.*), ([^,]+)", line.value)  # a Signature, where
    if fails is None:
        line.refuse(
            f"`{line.value}` is no expectation; write `agree`, `error[code]` or `fails SIGNATURE, where`,"
            " a signature being stage/symptom/culprit/message"
        )
    return Expect("fails", fails[1], fails[2].strip())


def _claim(line: _Line) -> Claim:
    match = re.fullmatch(r"(\w+)\s*(===?|!=)\s*(\w+)", line.value)
    if match is None:
        line.refuse(f"`{line.value}` is no claim; write `a == b`, `a === b` or `a != b`, both names of lets of @main")
    return Claim(match[1], cast("Relation", match[2]), match[3])


def _recipes(header: Iterable[_Line]) -> dict[str, Recipe]:
    recipes: dict[str, Recipe] = {}
    for line in header:
        if line.key != "inputs":
            continue
        try:
            entries = parse_inputs(line.value)
        except RecipeError as error:
            line.refuse(str(error))
        for name in entries:
            if name in recipes:
                line.refuse(f"input `{name}` has two recipes; keep one")
        recipes |= entries
    return recipes


def _program(text: str, body: str, expect: Expect) -> tuple[Program, str]:
    """The program, and the text that must be kept because printing would not give it back.

    The whole file is parsed, so that the lines of a diagnostic are the file's.
    """
    try:
        program = parse(text)
    except CompileError:
        if expect.kind != "error":
            raise
        return Program(()), body
    return program, body if expect.kind == "error" and print_program(program) != body else ""


def _main(case: Case, name: str) -> Block:
    if case.program.main is None:
        raise CaseError(f"{name}:1: a case is a program with an `@main {{ .. }}`, which this file lacks; add one")
    return case.program.main


def _check_inputs(case: Case, header: Sequence[_Line], name: str) -> None:
    """Every placeholder of `@main` has one recipe, which can be made for its type, and there are no others."""
    types = inputs(_main(case, name))
    for wanted in types:
        if wanted not in case.recipes:
            raise CaseError(f"{name}:1: input `{wanted}` has no recipe; add `// inputs: {wanted} = normal seed 1`")
    for line in header:
        for given, recipe in parse_inputs(line.value).items() if line.key == "inputs" else ():
            if given not in types:
                line.refuse(
                    f"`{given}` is no input of @main (those are {', '.join(types) or 'none'}); remove its recipe"
                )
            if types[given].size > LARGEST_INPUT:
                line.refuse(f"input `{given}` has {types[given].size} elements; a case's may have {LARGEST_INPUT}")
            try:
                make(recipe, types[given])
            except RecipeError as error:
                line.refuse(f"input `{given}`: {error}")


def _check_claims(main: Block, header: Iterable[_Line]) -> None:
    names = [name for let in main.lets for name in let.names]
    for line in header:
        claim = _claim(line) if line.key == "claim" else None
        for side in (claim.left, claim.right) if claim else ():
            if side not in names:
                near = get_close_matches(side, names, n=1)
                line.refuse(f"`{side}` is no let of @main" + (f"; did you mean `{near[0]}`?" if near else "; bind it"))
