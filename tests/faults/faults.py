"""The compiler broken by hand: each fault is one text replaced by another, so that production code needs no hook.

What the fuzzer must do with them is in `test_faults.py`. A fault whose text no longer stands in its file exactly once
fails the tests: it is to be written anew, not dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fault:
    """`old`, which stands exactly once in `path`, becomes `new`; `ops` are those a true culprit may be."""

    name: str
    path: str
    old: str
    new: str
    ops: tuple[str, ...]


FAULTS = (
    Fault(
        "concat-offset",
        "compiler/ops/layout.py",
        "_offsets(result.rank, axis, start))",
        "_offsets(result.rank, axis, max(start - 1, 0)))",
        ("concat",),
    ),
    Fault(
        "transpose-inverted",
        "compiler/ops/layout.py",
        'b.transpose(args[0], result, ints_attr(attrs, "perm"))',
        'b.transpose(args[0], result, [ints_attr(attrs, "perm").index(axis) for axis in range(result.rank)])',
        ("transpose",),
    ),
    Fault(
        "softmax-without-max",
        "compiler/ops/reduction.py",
        'b.emit("math.exp", b.emit("arith.subf", x, m))',
        'b.emit("math.exp", x)',
        ("softmax",),
    ),
    Fault(
        "softmax-axis",
        "compiler/ops/reduction.py",
        '(x,), axis = args, int_attr(attrs, "axis")\n    top =',
        '(x,), axis = args, max(int_attr(attrs, "axis") - 1, 0)\n    top =',
        ("softmax",),
    ),
    Fault(
        "argmax-last-tie",
        "compiler/ops/reduction.py",
        'b.compare("ugt", dtype, new, best)',
        'b.compare("ge", dtype, new, best)',
        ("argmax",),
    ),
    Fault(
        "slice-start",
        "compiler/ops/layout.py",
        'int_attr(attrs, "axis"), int_attr(attrs, "start"))',
        'int_attr(attrs, "axis"), max(int_attr(attrs, "start") - 1, 0))',
        ("slice",),
    ),
    Fault(
        "broadcast-side",
        "compiler/ops/layout.py",
        "None if dim == 1 else missing + axis",
        "None if dim == 1 else axis",
        ("broadcast",),
    ),
    Fault(
        "gather-row",
        "compiler/ops/indexing.py",
        "b.scalar(dtype, last)",
        "b.scalar(dtype, max(last - 1, 0))",
        ("gather",),
    ),
    Fault(
        "matmul-swapped",
        "compiler/ops/contraction.py",
        "[x.mlir for x in args]",
        "[x.mlir for x in (args[::-1] if args[0].type == args[1].type else args)]",
        ("matmul",),
    ),
    Fault(
        "strides-ignored",
        "compiler/abi.py",
        "tuple(int(stride) * dtype.itemsize for stride in strides)",
        "np.empty(type_.shape, dtype).strides",
        ("slice", "transpose", "reshape"),
    ),
)


def plant(fault: Fault, root: Path) -> None:
    """Writes the fault into the tree below `root`."""
    file = root / fault.path
    text = file.read_text()
    if text.count(fault.old) != 1:
        raise AssertionError(f"{fault.name}: its text stands {text.count(fault.old)} times in {fault.path}, not once")
    file.write_text(text.replace(fault.old, fault.new))
