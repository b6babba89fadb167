"""The generators are alive: what a few hundred draws must reach; `python -m bench.reach` draws twenty thousand."""

from __future__ import annotations

from bench.reach import Reached, shares
from fuzz.generate.families import draw_programs

PARTLY = {"op x dtype x rank": 1000, "pairs of ops": 500}


def test_a_few_hundred_draws_reach_nearly_everything() -> None:
    reached = Reached()
    for batch in range(2):
        for drawn in draw_programs(reached.seen, 2, batch, 200):
            reached.add(drawn)
    assert reached.refused == 0
    for title, part in shares(reached):
        assert part["reached"] >= PARTLY.get(title, part["of"]), (title, part["never"])
