"""The shape of an op's entry, and what an op's rule may say. The entries themselves live in the sibling modules.

Adding an op: one `Op` in a sibling module (its `infer` and its `lower`), one line in each reference of `oracles`,
one rounding rule in `oracles.bounds`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from compiler.syntax import AttrValue
from compiler.types import TensorType

if TYPE_CHECKING:
    from compiler.builder import Builder, Value

Attrs = Mapping[str, AttrValue]


class Refusal(Exception):
    """An op refuses its operands: `code` is a slug of `compiler.source.CODES`, `message` stands alone.

    `label` is the text beside the caret; without it the checker lists the operands' types.
    """

    def __init__(self, code: str, message: str, label: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.label = code, message, label


@dataclass(frozen=True, slots=True)
class Attr:
    """An attribute of an op: `axis=3` is an "int", `shape=[2, 3]` "ints", `dtype=F16` a "dtype"."""

    name: str
    kind: Literal["int", "ints", "dtype"]


@dataclass(frozen=True, slots=True)
class Op:
    """One op of the language.

    `arity` is (least, most) operands. All `attrs` are required, but for bare `broadcast`, which the checker resolves
    from the sibling operand before `infer` sees it. `infer` is called with operand types whose placements match and
    attributes of the right kind; it returns the result's type or raises `Refusal`. `lower` emits MLIR.
    """

    name: str
    arity: tuple[int, int]
    infer: Callable[[Sequence[TensorType], Attrs], TensorType]
    lower: Callable[[Builder, Sequence[Value], Attrs, TensorType], Value]
    attrs: tuple[Attr, ...] = ()
    infix: str = ""
