"""The op table of the language: how every op is written, typed and lowered.

`OPS` is the one list of ops; the checker, the lowering, the references and the generator all go by its names. Nothing
here imports MLIR: an op's `lower` speaks to the builder it is given.
"""

from compiler.ops.contraction import CONTRACTIONS
from compiler.ops.conversion import CONVERSIONS
from compiler.ops.elementwise import ELEMENTWISE
from compiler.ops.indexing import INDEXING
from compiler.ops.layout import LAYOUT
from compiler.ops.reduction import REDUCTIONS
from compiler.ops.table import Attr, Attrs, Op, Refusal

OPS: dict[str, Op] = {
    op.name: op for op in (*ELEMENTWISE, *REDUCTIONS, *CONTRACTIONS, *LAYOUT, *INDEXING, *CONVERSIONS)
}

__all__ = ["OPS", "Attr", "Attrs", "Op", "Refusal"]
