"""Features of programs, and a draw that is steered by those seen."""

from __future__ import annotations

from collections import Counter

import pytest

from compiler.parser import parse
from compiler.types import F32, TensorType
from fuzz.generate.graphs import draw_graphs
from fuzz.novelty import features, pair, parts

PROGRAM = """
let f = fn(p: tensor<F32, [2, 2], @host>) -> tensor<F32, [2], @host> {
  sum(softmax(p @ p, axis=1), axis=0)
}
let unused = fn(p: tensor<F64, [2], @host>) -> tensor<F64, [2], @host> { tanh(p) }
@main {
  let x = tensor<F32, [2, 2], @host>;
  let row = f(x);
  let same = row == tensor<F32, [2], @host>[1, 2];
  let (i, y) = while (i: tensor<I32, [], @host> = tensor<I32, [], @host>0, y: tensor<F32, [2, 2], @host> = x)
    i < tensor<I32, [], @host>2 {
    (i + tensor<I32, [], @host>1, y * broadcast(row))
  };
  (same, x, reshape(y, shape=[1, 1, 2, 1, 2]))
}
"""


@pytest.mark.parametrize(
    "feature",
    [
        "pair input>call F32 r2",
        "pair param>matmul F32 r2",
        "pair matmul>softmax F32 r2",
        "pair softmax>sum F32 r2",
        "pair sum>result F32 r1",
        "pair call>equal F32 r1",
        "pair literal>equal F32 r1",
        "pair equal>result BOOL r1",
        "pair input>while F32 r2",
        "pair literal>while I32 r0",
        "pair while>less I32 r0",
        "pair while>add I32 r0",
        "pair add>while I32 r0",
        "pair while>mul F32 r2",
        "pair call>broadcast F32 r1",
        "pair broadcast>mul F32 r2",
        "pair mul>while F32 r2",
        "pair while>reshape F32 r2",
        "pair reshape>result F32 r3+",
        "pair input>result F32 r2",
    ],
)
def test_a_program_has_the_feature(feature: str) -> None:
    assert feature in features(parse(PROGRAM))


def test_it_has_no_others() -> None:
    assert len(features(parse(PROGRAM))) == 22
    assert not any("F64" in feature for feature in features(parse(PROGRAM))), "nothing calls the fn"


def test_a_feature_says_what_takes_the_value() -> None:
    assert parts(pair("matmul", "softmax", TensorType(F32, (2, 2)))) == ("softmax", "F32", "r2")
    assert parts(pair("matmul", "softmax", TensorType(F32, (2, 2, 1, 1)))) == ("softmax", "F32", "r3+")


def seen_after(seen: dict[str, int], seed: int, count: int) -> Counter[str]:
    return Counter(feature for case in draw_graphs(seed, count, seen) for feature in features(case.program))


def test_the_same_seed_and_the_same_counts_draw_the_same() -> None:
    seen = seen_after({}, 1, 30)
    assert draw_graphs(2, 20, seen) == draw_graphs(2, 20, dict(seen))
    assert draw_graphs(2, 20, seen) != draw_graphs(2, 20)


def test_what_was_seen_is_drawn_less() -> None:
    """All pairs of half of the ops were seen often: the other half takes their place."""
    often = seen_after({}, 3, 60)
    ops = sorted({parts(feature)[0] for feature in often} - {"call", "while", "result"})[::2]
    seen = {feature: 1000 for feature in often if parts(feature)[0] in ops}
    share = [
        sum(n for f, n in counts.items() if parts(f)[0] in ops) / counts.total()
        for counts in (seen_after({}, 4, 60), seen_after(seen, 4, 60))
    ]
    assert share[1] < 0.8 * share[0]
