"""The rows of `compiler.passes` on loops: affine, scf and parallel ones, what comes after them, and their choice."""

from __future__ import annotations

from compiler.passrow import FUNC, NO, YES, Row, Stage

_AFFINE: tuple[Stage, ...] = ("affine",)
_LOOPS: tuple[Stage, ...] = ("loops",)
_TO_AFFINE, _TO_PARALLEL = " + convert-linalg-to-affine-loops", " + convert-linalg-to-parallel-loops"
_TO_VECTORS = " + one-shot-bufferize{function-boundary-type-conversion=identity-layout-map}" + _TO_AFFINE
_LLVM: tuple[Stage, ...] = ("llvm",)

_ON_AFFINE_LOOPS = (
    Row("convert-linalg-to-loops", _AFFINE, "linalg as scf.for: the usual choice", slot="to-loops"),
    Row("convert-linalg-to-affine-loops", _AFFINE, "linalg as affine.for, where there is one", slot="to-loops"),
    Row("convert-linalg-to-parallel-loops", _AFFINE, "linalg as scf.parallel", slot="to-loops"),
    Row(
        "affine-raise-from-memref",
        _AFFINE,
        "loads and stores with affine indices as affine ones",
        nest=FUNC,
        after=_TO_AFFINE,
    ),
    Row(
        "affine-loop-fusion",
        _AFFINE,
        "loop nests that read what others write, or the same, become one",
        {
            "mode": ("greedy", "producer", "sibling"),
            "maximal": YES,
            "compute-tolerance": ("0", "2.0"),
            "local-buf-threshold": ("0", "1"),
        },
        nest=FUNC,
        after=_TO_AFFINE,
    ),
    Row(
        "affine-loop-tile",
        _AFFINE,
        "loop nests in tiles, whole or not",
        {"tile-size": ("1", "2", "3", "4"), "cache-size": ("0", "1"), "separate": YES},
        nest=FUNC,
        after=_TO_AFFINE,
    ),
    Row(
        "affine-loop-unroll",
        _AFFINE,
        "several trips in one, and a loop for the rest",
        {
            "unroll-factor": ("-1", "2", "3", "4"),
            "unroll-up-to-factor": YES,
            "unroll-num-reps": ("2", "3"),
            "unroll-full-threshold": ("4",),
            "cleanup-unroll": YES,
        },
        after=_TO_AFFINE,
        nest=FUNC,
    ),
    Row(
        "affine-loop-unroll-jam",
        _AFFINE,
        "several trips of an outer loop side by side, where no dependence forbids it",
        {"unroll-jam-factor": ("2", "3", "4")},
        after=_TO_AFFINE,
        nest=FUNC,
    ),
    Row("affine-scalrep", _AFFINE, "a load of what was just stored is that value", nest=FUNC, after=_TO_AFFINE),
    Row("affine-loop-normalize", _AFFINE, "from 0 by 1", {"promote-single-iter": YES}, nest=FUNC, after=_TO_AFFINE),
    Row(
        "affine-loop-invariant-code-motion",
        _AFFINE,
        "loads and stores that do not vary leave their loop",
        nest=FUNC,
        after=_TO_AFFINE,
    ),
    Row("affine-loop-coalescing", _AFFINE, "a nest of loops as one", nest=FUNC, after=_TO_AFFINE),
    Row("affine-simplify-structures", _AFFINE, "simpler maps and sets", nest=FUNC, after=_TO_AFFINE),
    Row("affine-simplify-min-max", _AFFINE, "minima and maxima whose winner is known", after=_TO_AFFINE, nest=FUNC),
    Row("affine-expand-index-ops", _AFFINE, "linear indices by arithmetic", after=_TO_AFFINE),
    Row("affine-expand-index-ops-as-affine", _AFFINE, "linear indices by affine.apply", after=_TO_AFFINE),
    Row(
        "affine-fold-memref-alias-ops",
        _AFFINE,
        "affine loads and stores through a view go to what it views",
        after=_TO_AFFINE,
    ),
    Row(
        "affine-data-copy-generate",
        _AFFINE,
        "what a loop reads and writes is copied to a buffer and back; in one memory, without DMA",
        {"fast-mem-capacity": ("1", "64"), "skip-non-unit-stride-loops": YES},
        nest=FUNC,
        fixed="generate-dma=false fast-mem-space=0",
        after=_TO_AFFINE,
    ),
    Row(
        "affine-super-vectorize",
        _AFFINE,
        "loops as vectors; reductions in another order",
        {"virtual-vector-size": ("2", "4", "8", "2,4"), "vectorize-reductions": YES},
        nest=FUNC,
        after=_TO_VECTORS,
        needs=("virtual-vector-size",),
    ),
    Row(
        "affine-parallelize",
        _AFFINE,
        "loops without dependences as parallel ones; reductions in another order",
        {"max-nested": ("1", "2"), "parallel-reductions": YES},
        nest=FUNC,
        after=_TO_AFFINE,
    ),
)

_ON_LOOPS = (
    Row("scf-for-loop-canonicalization", _LOOPS, "minima and dims inside loops, by their bounds"),
    Row(
        "scf-for-loop-peeling",
        _LOOPS,
        "the last, partial trip on its own, or the first one",
        {"peel-front": YES, "skip-partial": NO},
    ),
    Row("scf-for-loop-range-folding", _LOOPS, "sums and products of the index move into the bounds"),
    Row("scf-for-loop-specialization", _LOOPS, "a copy of the loop with constant bounds, where they may be met"),
    Row("scf-for-to-while", _LOOPS, "a for as the while that it abbreviates"),
    Row("scf-parallel-for-to-nested-fors", _LOOPS, "a parallel loop as loops, one after the other", after=_TO_PARALLEL),
    Row(
        "scf-parallel-loop-fusion",
        _LOOPS,
        "neighbours with the same bounds and no dependence become one",
        after=_TO_PARALLEL,
    ),
    Row(
        "scf-parallel-loop-specialization",
        _LOOPS,
        "a copy of the loop with constant bounds, where they may be met",
        after=_TO_PARALLEL,
    ),
    Row(
        "scf-parallel-loop-tiling",
        _LOOPS,
        "parallel loops in tiles, with minima or with checks inside",
        {"parallel-loop-tile-sizes": ("2", "3,2", "1,4,2"), "no-min-max-bounds": YES},
        after=_TO_PARALLEL,
        needs=("parallel-loop-tile-sizes",),
    ),
    Row(
        "convert-vector-to-scf",
        _LOOPS,
        "vectors of rank 2 and more by loops, early",
        {"full-unroll": YES, "target-rank": ("1", "2")},
    ),
    Row("lift-cf-to-scf", ("cf",), "branches as structured control flow again"),
    Row("convert-math-to-libm", ("cf",), "exp and the like by libm, where LLVM's intrinsics are the usual choice"),
    Row("convert-arith-to-llvm", ("cf",), "arithmetic by itself: conversions may come in any order"),
    Row("convert-index-to-llvm", ("cf",), "the index dialect by itself, as above"),
    Row("convert-cf-to-llvm", ("cf",), "branches by themselves, as above"),
    Row("convert-func-to-llvm", ("cf",), "functions by themselves, as above"),
    Row("llvm-legalize-for-export", _LLVM, "as the export would do it"),
)

LOOP_ROWS: tuple[Row, ...] = (*_ON_AFFINE_LOOPS, *_ON_LOOPS)
