"""What a row of the table of passes says: the stages of a pipeline, and one pass. The rows are in `compiler.passes`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Stage = Literal["tensor", "buffers", "release", "affine", "loops", "cf", "llvm"]
STAGES: tuple[Stage, ...] = ("tensor", "buffers", "release", "affine", "loops", "cf", "llvm")
"""linalg on tensors; linalg on memrefs; the same while deallocations are placed; the loops that linalg became (affine,
scf or parallel); scf loops with plain arithmetic; basic blocks; the LLVM dialect."""

Slot = Literal["", "bufferize", "release", "to-loops"]


@dataclass(frozen=True, slots=True)
class Row:
    """One pass: its name on `mlir-opt`'s command line, the stages where it is legal, and its options' legal values.

    `nest`: the op it must be nested in. `fixed`: options it always has here. `slot`: the mandatory step whose usual
    choice it replaces, once in a pipeline; without one it is added, as often as one likes. `after`: choices in slots
    without which it finds nothing to do, written as in a pipeline. `needs`: options of which it must have one, or it
    does nothing.
    """

    name: str
    stages: tuple[Stage, ...]
    why: str
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    nest: str = ""
    fixed: str = ""
    slot: Slot = ""
    after: str = ""
    needs: tuple[str, ...] = ()


YES, NO, FUNC = ("true",), ("false",), "func.func"
