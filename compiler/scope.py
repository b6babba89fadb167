"""What is known while one fn or `@main` is checked: its names, the fns above it, and where to complain.

Also the rules of a type by itself. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.ops.table import Op
from compiler.source import Report, Span, did_you_mean
from compiler.types import DTYPES, MAX_ELEMENTS, MAX_RANK, PLACES, TensorType

MAIN = "@main"
MAX_VALUES = 1023  # parameters or results of one fn or of `@main`: ctypes calls a function of 1024 at most
RESERVED = {"main": "the host's script", "scatter": "internal to the compiler", "reverseMode": "not supported"}
REVERSE_MODE = "`reverseMode` is not supported, for its payload is unspecified; apply the fn itself"
SCATTER = "`scatter` is internal to the compiler; write the new value with `slice`, `concat` and `pad`"

MaybeType = TensorType | None  # None: unknown, for an error that was reported; nothing is said of what follows from it


@dataclass(frozen=True, slots=True)
class Signature:
    """What a caller sees of a fn."""

    params: tuple[tuple[str, MaybeType], ...]
    results: tuple[MaybeType, ...]


@dataclass(slots=True)
class Scope:
    """The names of one fn or of `@main`.

    `values` has every value bound so far; `hidden` those of them that were bound inside a `while` and are out of
    sight. `fns` are those that may be called, `all_fns` the names of all that the program has.
    """

    name: str
    ops: Mapping[str, Op]
    fns: Mapping[str, Signature]
    all_fns: frozenset[str]
    report: Report
    values: dict[str, MaybeType] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)

    def bind(self, name: str, type_: MaybeType, span: Span) -> None:
        """Gives a value its name. A name is bound once in a fn: nothing shadows."""
        if name in self.values:
            self.report.add("duplicate-name", f"`{name}` is bound twice in `{self.name}`; nothing shadows", span)
            return
        self.values[name] = type_

    def lookup(self, name: str, span: Span) -> MaybeType:
        """The type of a value in sight."""
        if name in self.values and name not in self.hidden:
            return self.values[name]
        self.report.add("reverse-mode" if name == "reverseMode" else "unknown-name", self._unknown(name), span)
        return None

    def _unknown(self, name: str) -> str:
        if name == "reverseMode":
            return REVERSE_MODE
        if name in self.hidden:
            return f"`{name}` is bound inside a `while` and not in sight here; return it as a carry"
        if name in self.all_fns or name in self.ops:
            return f"`{name}` is {'an op' if name in self.ops else 'a fn'}, not a value; apply it to its operands"
        visible = (known for known in reversed(self.values) if known not in self.hidden)
        return f"no value `{name}` is bound here{did_you_mean(name, visible)}"

    def refuse_callee(self, name: str, span: Span) -> None:
        """Reports why there is no op or fn of this name to apply."""
        code, message = self._no_callee(name)
        self.report.add(code, message, span)

    def _no_callee(self, name: str) -> tuple[str, str]:
        if name == "reverseMode":
            return "reverse-mode", REVERSE_MODE
        if name == "scatter":
            return "scatter", SCATTER
        if name == self.name:
            return "recursion", f"`{name}` calls itself; a fn may call only fns bound above it: loop with `while`"
        if name in self.all_fns:
            return "fn-order", f"`{name}` is bound below `{self.name}`; a fn may call only fns bound above it"
        if name in self.values:
            return "unknown-fn", f"`{name}` is a value, not an op or a fn, and cannot be applied"
        return "unknown-fn", f"`{name}` is neither an op nor a fn{did_you_mean(name, (*self.ops, *self.fns))}"


def check_type(report: Report, type_: TensorType, span: Span) -> MaybeType:
    """A declared type if values of it can be typed, else None. Reports everything that is wrong with it.

    `@device` and `@mesh` are typed like `@host`, and refused.
    """
    if type_.place in PLACES[1:]:
        message = f"`@{type_.place}` is checked but not supported by this compiler; use `@host`"
        report.add("place-unsupported", message, span)
    wrong = list(_faults(type_))
    for code, message in wrong:
        report.add(code, message, span)
    return None if wrong else type_


def _faults(type_: TensorType) -> list[tuple[str, str]]:
    faults: list[tuple[str, str]] = []
    if DTYPES.get(type_.dtype.name) != type_.dtype:
        guess = did_you_mean(type_.dtype.name, DTYPES) or f"; there are {', '.join(DTYPES)}"
        faults.append(("unknown-dtype", f"no dtype is named `{type_.dtype}`{guess}"))
    if type_.place not in PLACES:
        guess = did_you_mean(type_.place, PLACES) or "; there is `@host`"
        faults.append(("unknown-place", f"no placement is named `@{type_.place}`{guess}"))
    if 0 in type_.shape:
        hint = "for a cache that is empty, write a fn that takes none"
        faults.append(("zero-dim", f"a dim is at least 1, got 0 on axis {type_.shape.index(0)}; {hint}"))
    if any(dim < 0 for dim in type_.shape):
        axis = next(axis for axis, dim in enumerate(type_.shape) if dim < 0)
        faults.append(("negative-dim", f"a dim is at least 1, got {type_.shape[axis]} on axis {axis}"))
    return faults or size_faults(type_)


def size_faults(type_: TensorType) -> list[tuple[str, str]]:
    """What is wrong with the rank and the size of a type, declared or inferred."""
    if type_.rank > MAX_RANK:
        return [("rank-limit", f"a tensor has at most {MAX_RANK} axes, got {type_.rank}")]
    if type_.size > MAX_ELEMENTS:
        return [("element-limit", f"a tensor has at most {MAX_ELEMENTS} elements, got {type_.size} in {type_}")]
    return []
