"""The rewrite patterns that MLIR tries: asked of another process, never in the way of a campaign."""

from __future__ import annotations

from dataclasses import replace

from fuzz.patterns import is_sampled, patterns_of
from oracles.case import parse_case

CASE = parse_case("""// inputs: a = iota
// expect: agree
@main {
  let a = tensor<F32, [2, 3], @host>;
  let z = transpose(abs(a), perm=[1, 0]);
  z
}
""")


def test_the_default_pipeline_lowers_loops() -> None:
    names = patterns_of(CASE)
    assert "{anonymous}::ForLowering scf.for" in names
    assert names == sorted(set(names))


def test_an_added_pass_tries_other_patterns() -> None:
    other = replace(CASE, pipeline="default + tensor:linalg-fold-into-elementwise + tensor:canonicalize")
    assert set(patterns_of(other)) - set(patterns_of(CASE))


def test_what_fails_says_nothing() -> None:
    assert patterns_of(replace(CASE, pipeline="default + no-such-pass")) == []


def test_one_case_of_some_batches_is_sampled() -> None:
    assert [sum(is_sampled(batch, position) for position in range(100)) for batch in range(17)].count(1) == 3
