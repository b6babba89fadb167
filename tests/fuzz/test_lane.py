"""Which cases a lane makes of a drawn program: each pipeline, two sets of inputs, builds in turn."""

from __future__ import annotations

import pytest

from fuzz.generate.families import Drawn
from fuzz.lane import Run, runs
from oracles.case import parse_case
from oracles.inputs import make_inputs

TEXT = """// why: two runs
// inputs: x = normal seed 4; y = ones
// expect: agree
@main {
  let x = tensor<F32, [3], @host>;
  let y = tensor<F32, [3], @host>;
  x + y
}
"""
PIPELINES = ("default + cse", "default + canonicalize")
BUILDS = (("O0/stepped", "O0/whole"), ("O1/stepped", "O1/whole"), ("so/stepped", "so/whole"))


@pytest.fixture(scope="module")
def made() -> list[Run]:
    return list(runs(Drawn(parse_case(TEXT), PIPELINES), 0))


def test_each_pipeline_is_run_on_both_sets_of_inputs_one_after_the_other(made: list[Run]) -> None:
    """So that the child compiles each pipeline once, and the references are computed once for each set."""
    assert [(run.case.pipeline, run.inputs) for run in made] == [
        (pipeline, inputs) for pipeline in ("default", *PIPELINES) for inputs in (0, 1)
    ]
    assert [run.first for run in made] == [True] + [False] * 5


def test_the_second_set_of_inputs_is_another_wherever_numbers_are_drawn(made: list[Run]) -> None:
    for at in range(0, len(made), 2):
        first, second = (make_inputs(run.case) for run in made[at : at + 2])
        assert first["x"].tobytes() != second["x"].tobytes()
        assert first["y"].tobytes() == second["y"].tobytes()
        assert make_inputs(made[0].case)["x"].tobytes() == first["x"].tobytes()


def test_a_build_s_modes_are_both_run_on_the_default_pipeline_and_shared_out_on_the_others(made: list[Run]) -> None:
    assert [run.variants(BUILDS) for run in made] == [
        ("O0/stepped", "O0/whole"),
        ("O0/stepped", "O0/whole"),
        ("O0/stepped",),
        ("O0/whole",),
        ("O1/stepped",),
        ("O1/whole",),
    ]


def test_every_build_has_its_turn() -> None:
    drawn = Drawn(parse_case(TEXT), ())
    first = [next(iter(runs(drawn, turn))).variants(BUILDS)[0].partition("/")[0] for turn in range(6)]
    assert first == ["O0", "O0", "O1", "O0", "so", "O0"]
