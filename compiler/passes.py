"""MLIR's optional passes as data: where each may stand, its options, and why it may be there at all.

A pass is admitted when its documented contract is to keep what these programs mean: IEEE arithmetic with no fast-math
flag, static shapes, single-threaded, memory that the runtime releases. A sum may be formed in another order, which is
inside the certified bounds. What the mandatory steps between the stages are is `compiler.pipeline`'s; how a pipeline is
written, `compiler.passtext`'s. Needs no MLIR.
"""

from __future__ import annotations

from collections.abc import Mapping

from compiler.loop_passes import LOOP_ROWS
from compiler.passrow import FUNC, STAGES, YES, Row, Stage

_LAYOUTS = ("infer-layout-map", "identity-layout-map", "fully-dynamic-layout-map")
_FORMS = ("named-to-category", "category-to-generic", "named-to-generic", "generic-to-named")
_TENSOR: tuple[Stage, ...] = ("tensor",)
_BUFFERS: tuple[Stage, ...] = ("buffers",)
_AFFINE: tuple[Stage, ...] = ("affine",)
_LOOPS: tuple[Stage, ...] = ("loops",)
_LLVM: tuple[Stage, ...] = ("llvm",)
_LINALG: tuple[Stage, ...] = ("tensor", "buffers")
_STRUCTURED: tuple[Stage, ...] = ("tensor", "buffers", "affine", "loops")
_SCALARS: tuple[Stage, ...] = ("tensor", "loops", "cf")
_MEMORY: tuple[Stage, ...] = ("buffers", "affine", "loops")

_GENERAL = (
    Row(
        "canonicalize",
        STAGES,
        "folds and normal forms of every dialect: the pass that all compilers run, in all places",
        {
            "top-down": ("true", "false"),
            "region-simplify": ("disabled", "normal", "aggressive"),
            "max-iterations": ("1", "2"),
            "max-num-rewrites": ("1", "10"),
        },
    ),
    Row("cse", STAGES, "equal ops without side effects become one"),
    Row("sccp", ("tensor", "buffers", "loops", "cf", "llvm"), "constants, carried through branches, loops and calls"),
    Row(
        "inline",
        ("tensor", "buffers", "loops", "llvm"),
        "bodies in the place of calls; functions are public and stay",
        {"max-iterations": ("1",), "inlining-threshold": ("50", "100")},
    ),
    Row("loop-invariant-code-motion", _STRUCTURED, "pure ops that do not vary leave their loop"),
    Row("control-flow-sink", _STRUCTURED, "ops used in one branch only move into it"),
    Row("remove-dead-values", ("tensor", "buffers", "loops", "cf"), "values that nobody reads; public results stay"),
    Row("int-range-optimizations", _SCALARS, "indices whose range is known: constants, comparisons that are decided"),
    Row("arith-unsigned-when-equivalent", _SCALARS, "signed ops as unsigned ones where the range proves it"),
    Row(
        "arith-int-range-narrowing",
        _SCALARS,
        "narrower integers where the range proves that nothing is lost",
        {"int-bitwidths-supported": ("32", "8,16,32", "16,64")},
        needs=("int-bitwidths-supported",),
    ),
    Row(
        "arith-expand",
        _SCALARS,
        "arith ops by simpler ones with the same result, NaN and rounding included",
        {"include-bf16": YES},
    ),
    Row(
        "arith-emulate-unsupported-floats",
        _SCALARS,
        "narrow floats computed in F32 and rounded after each op: for +, -, *, / the same as rounding once",
        {"source-types": ("f16", "bf16", "bf16,f16")},
        fixed="target-type=f32",
        needs=("source-types",),
    ),
    Row("math-extend-to-supported-types", _SCALARS, "exp and the like of narrow floats by way of F32, rounded after"),
    Row("strip-debuginfo", ("tensor", "loops", "llvm"), "locations go, nothing else"),
    Row(
        "generate-runtime-verification",
        ("tensor", "buffers", "loops"),
        "checks of bounds and layouts, which a right program passes",
        {"verbose-level": ("0", "1")},
    ),
)

_ON_TENSORS = (
    Row("linalg-generalize-named-ops", _LINALG, "named ops as the generic ones that they abbreviate"),
    Row("linalg-specialize-generic-ops", _LINALG, "generic ops by the names that fit them"),
    Row("linalg-morph-ops", _LINALG, "the forms of one op into each other", dict.fromkeys(_FORMS, YES), needs=_FORMS),
    Row("linalg-fold-into-elementwise", _TENSOR, "a transpose becomes the map of the elementwise op that reads it"),
    Row("linalg-fuse-elementwise-ops", _TENSOR, "an elementwise op moves into the op that reads it"),
    Row(
        "linalg-fold-unit-extent-dims",
        _TENSOR,
        "dims of 1 leave; by reshapes or by slices",
        {"use-rank-reducing-slices": YES},
    ),
    Row("linalg-inline-scalar-operands", _LINALG, "operands of one element are read in the body"),
    Row("linalg-detensorize", _TENSOR, "tensors of one element as scalars", {"aggressive-mode": YES}, nest=FUNC),
    Row("convert-tensor-to-linalg", _TENSOR, "a pad as a fill and an insertion"),
    Row("fold-tensor-subset-ops", _TENSOR, "slices of slices as one"),
    Row("eliminate-empty-tensors", _TENSOR, "results are made where they are to be inserted"),
    Row("empty-tensor-to-alloc-tensor", _TENSOR, "each empty tensor its own allocation"),
    Row("loop-invariant-subset-hoisting", _TENSOR, "slices that do not vary leave their loop"),
    Row(
        "one-shot-bufferize",
        _BUFFERS,
        "the step from tensors to buffers by other layouts at function boundaries, other orders of analysis, or none",
        {
            "function-boundary-type-conversion": _LAYOUTS,
            "unknown-type-conversion": _LAYOUTS[1:],
            "analysis-heuristic": ("bottom-up", "top-down", "bottom-up-from-terminators", "fuzzer"),
            "copy-before-write": YES,
            "allow-return-allocs-from-loops": YES,
            "buffer-alignment": ("0", "16", "128"),
        },
        fixed="bufferize-function-boundaries=true analysis-fuzzer-seed=7",
        slot="bufferize",
    ),
)

_ON_BUFFERS = (
    Row("buffer-hoisting", _MEMORY, "allocations move to a dominator", nest=FUNC),
    Row("buffer-loop-hoisting", _MEMORY, "allocations leave loops", nest=FUNC),
    Row(
        "promote-buffers-to-stack",
        _MEMORY,
        "small buffers that do not escape live on the stack",
        {"max-alloc-size-in-bytes": ("16", "64", "4096"), "max-rank-of-allocated-memref": ("0", "2")},
        nest=FUNC,
    ),
    Row("fold-memref-alias-ops", _MEMORY, "loads and stores through a view go to what it views"),
    Row("memref-expand", _MEMORY, "reshapes and atomic updates by simpler ops"),
    Row("flatten-memref", _LOOPS, "loads and stores by one linear index"),
    Row("mem2reg", ("affine", "loops", "cf", "llvm"), "stack slots as values", {"region-simplify": ("true", "false")}),
    Row("sroa", ("affine", "loops", "cf", "llvm"), "stack aggregates as slots of their own"),
    Row(
        "ownership-based-buffer-deallocation",
        ("release",),
        "MLIR's own deallocation: what is left at the end of a call is still the runtime's",
        {"private-function-dynamic-ownership": YES},
        slot="release",
    ),
    Row(
        "buffer-deallocation-simplification",
        ("release",),
        "deallocations whose ownership is known beforehand",
        after=" + ownership-based-buffer-deallocation",
    ),
    Row(
        "optimize-allocation-liveness",
        _AFFINE,
        "a buffer is released behind its last use",
        nest=FUNC,
        after=" + ownership-based-buffer-deallocation",
    ),
)

TABLE: tuple[Row, ...] = (*_GENERAL, *_ON_TENSORS, *_ON_BUFFERS, *LOOP_ROWS)
ROWS: Mapping[str, Row] = {row.name: row for row in TABLE}

LEFT_OUT: Mapping[str, str] = {
    "buffer-results-to-out-params": "changes what the host calls",
    "drop-equivalent-buffer-results": "changes what the host calls",
    "normalize-memrefs": "may change the rank of a result at the host boundary",
    "duplicate-function-elimination": "removes a fn that the host calls",
    "symbol-privatize": "hides a fn that the host calls",
    "linalg-block-pack-matmul": "makes packs, which no later pass takes to buffers",
    "math-expand-ops": "tanh and others by formulas that are less exact than libm, outside the bounds",
    "math-uplift-to-fma": "asks for the contract flag, which is never set",
    "arith-emulate-wide-int": "changes the element types of buffers at the host boundary",
    "async-parallel-for": "needs a runtime of threads",
    "convert-scf-to-openmp": "needs a runtime of threads",
    "ensure-debug-info-scope-on-llvm-func": "wants locations in files, which are never made here",
    "affine-pipeline-data-transfer": "only moves DMA, which is never made here",
    "convert-elementwise-to-linalg": "finds arith on whole tensors, which is never made here",
    "topological-sort": "only sorts graph regions, which are never made here",
    "scf-forall-to-for": "finds scf.forall, which is never made here",
}
"""Passes that may look as if they had been forgotten."""
