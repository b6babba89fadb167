"""The bench of endurance measures what it says, on a few programs."""

from __future__ import annotations

from math import isfinite

import pytest

from bench import endurance


def test_memory_is_read_of_both_processes_at_each_stop() -> None:
    stops = endurance.memory(seed=1, count=4, pipelines=0)
    assert [stop["programs"] for stop in stops] == [4]
    assert all(20 < stop[process] < 4096 for stop in stops for process in ("judging", "compiling"))


def test_cost_is_fitted_over_programs_of_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endurance, "LETS", (2, 90))
    monkeypatch.setattr(endurance, "OF_EACH", 2)
    figures = endurance.cost(seed=0)
    smallest, largest = figures["ops of the smallest and of the largest"]
    assert figures["programs"] == 4
    assert smallest <= endurance.SMALL < endurance.LARGE <= largest
    assert isfinite(figures["exponent"])
