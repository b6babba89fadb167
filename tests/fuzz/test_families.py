"""The other families of StoryLM cases: the checker takes them, their claims hold, and each reaches what it is for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from compiler.checker import check
from compiler.syntax import Apply
from compiler.types import BF16, F16, F32, F64, DType
from fuzz.generate.draw import draw_cases
from fuzz.generate.families import FAMILIES, draw_programs, storylm_families
from fuzz.minimize import reference_values
from fuzz.reductions.trees import expressions
from oracles.case import Case, parse_case, print_case
from oracles.engine import Array
from tests.fuzz.claiming import check_claims, unseparated_claims

COUNT, JUDGED = 40, 12  # cases of a family; bounds cost a tenth of a second each
OTHERS = [name for name in FAMILIES if name != "handoff"]


@cache
def drawn(family: str, dtype: DType = F32, count: int = COUNT) -> tuple[Case, ...]:
    return tuple(draw_cases(FAMILIES[family][1](dtype), 0, count))


@cache
def values(family: str, index: int) -> Mapping[str, Array]:
    return reference_values(drawn(family)[index])


def names_of(case: Case) -> set[str]:
    assert case.program.main is not None
    return {name for let in case.program.main.lets for name in let.names}


def claims_of(family: str, relation: str) -> list[tuple[int, str, str]]:
    return [
        (index, claim.left, claim.right)
        for index, case in enumerate(drawn(family))
        for claim in case.claims
        if claim.relation == relation
    ]


def check_reached(family: str, *beginnings: str) -> None:
    """Some case has a let that begins so."""
    names = set().union(*map(names_of, drawn(family)))
    missing = [start for start in beginnings if not any(name.startswith(start) for name in names)]
    assert not missing


def test_a_campaign_s_draws_depend_on_the_seed_and_on_what_was_seen_and_begin_with_fewer() -> None:
    seen = {"pair matmul>softmax F32 r2": 9, "cse": 40, "canonicalize > cse": 9}
    made = draw_programs(seen, 2, 5, 20)
    assert made == draw_programs(dict(seen), 2, 5, 20)
    assert made[:7] == draw_programs(seen, 2, 5, 7)
    assert not {print_case(item.case) for item in made} & {
        print_case(item.case) for item in draw_programs(seen, 2, 6, 20)
    }
    steered = {name: times for name, times in seen.items() if name.startswith("pair ")}
    assert [item.case for item in made] == [item.case for item in draw_programs(steered, 2, 5, 20)]
    assert [item.pipelines for item in made] != [item.pipelines for item in draw_programs(steered, 2, 5, 20)]
    assert [item.case for item in made] != [item.case for item in draw_programs({}, 2, 5, 20)]


@pytest.mark.parametrize("family", OTHERS)
@pytest.mark.parametrize("dtype", [F32, F16, BF16, F64], ids=str)
def test_the_checker_takes_every_case_and_its_text_is_the_case(family: str, dtype: DType) -> None:
    for case in drawn(family, dtype, COUNT if dtype is F32 else 10):
        check(case.program)
        assert parse_case(print_case(case)) == case


@pytest.mark.parametrize("family", OTHERS)
def test_claims_hold(family: str) -> None:
    for case in drawn(family)[:JUDGED]:
        check_claims(case)


@pytest.mark.parametrize("family", [name for name in OTHERS if name != "scratch"])
def test_claims_of_bits_hold(family: str) -> None:
    met = claims_of(family, "===")
    assert len(met) > COUNT / 4
    for index, left, right in met:
        np.testing.assert_array_equal(values(family, index)[left], values(family, index)[right])


def test_mistakes_show() -> None:
    for family in ("scratch", "leak"):
        mistakes = claims_of(family, "!=")
        judged = [drawn(family)[index] for index in {index for index, _, _ in mistakes}]
        assert 2 * sum(map(unseparated_claims, judged)) < len(mistakes), family


def test_buffers_are_reached_in_every_way() -> None:
    check_reached("scratch", "k_prefix", "k_zeros", "k_dirty", "k_late_step", "k_buffer")
    fns = {fn.name for case in drawn("scratch") for fn in case.program.fns}
    assert any(name.startswith("tmax_s") for name in fns)
    assert "to_buffers" in fns


def test_rollouts_are_greedy_and_sampled() -> None:
    kinds = Counter(case.why.split(", ")[1].split(" ")[0] for case in drawn("rollout"))
    assert set(kinds) == {"greedy", "sampled"}
    logs = [
        e for case in drawn("rollout") for e in expressions(case.program) if isinstance(e, Apply) and e.callee == "log"
    ]
    assert logs
    check_reached("rollout", "u", "buffer", "z_short", "z_later", "t_again")


def test_future_ids_and_pads_change() -> None:
    check_reached("leak", "ids_later", "z_kept", "z_same", "z_short", "z_again", "z_moved")


def test_rows_are_picked_from_caches_and_prompts() -> None:
    check_reached("batch", "prompt_rows", "k_given_rows", "z_picked", "token_rows")
    picks = {case.recipes["picks"].values for case in drawn("batch")}
    assert len(picks) >= 6


def test_a_campaign_draws_every_family() -> None:
    starts = {
        ("buffers" if "buffers" in why else why.split(", ")[1])
        for why in (c.why for c in draw_cases(storylm_families(), 0, 80))
    }
    assert {"buffers", "greedy rollout", "sampled rollout", "causal non-leak"} <= starts
    assert any(start.startswith("rows") for start in starts)
