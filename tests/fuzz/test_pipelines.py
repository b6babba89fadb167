"""Drawn pipelines: every one is legal, all that there is gets drawn, what was seen least rather."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest

from compiler.passtext import parse_items, print_items
from fuzz.corpus import load
from fuzz.generate.draw import NUMBERS, draw_cases
from fuzz.generate.pipelines import DRAWN, GUARDS, MOST_ADDED, PASS_NAMES, features, pipeline, values

CORPUS = Path(__file__).parents[2] / "corpus"


def drawn(seed: int, n: int, allowed: Sequence[str] | None = None, seen: Mapping[str, int] | None = None) -> list[str]:
    rows = [row for row in DRAWN if allowed is None or row.name in allowed]
    return [pipeline(number, rows, seen or {}) for number in draw_cases(NUMBERS, seed, n)]


def test_what_is_drawn_is_a_pipeline_and_reproducible() -> None:
    texts = drawn(1, 100)
    assert texts == drawn(1, 100)
    for text in texts:
        assert print_items(parse_items(text)) == text
    assert len(set(texts)) > 80
    assert max(len(parse_items(text)) for text in texts) > MOST_ADDED // 2


def test_every_pass_stage_and_option_is_drawn_but_for_the_guarded_ones() -> None:
    """Steered by what was seen, as in a run."""
    missing = {(row.name, word) for row in DRAWN for word in (*row.stages, *filter(partial(values, row), row.options))}
    seen: Counter[str] = Counter()
    for batch in range(60):
        for text in drawn(batch, 10, seen=seen) if missing else []:
            seen.update(features(text))
            missing -= {(item.name, word) for item in parse_items(text) for word in (item.stage, *dict(item.options))}
    assert not missing


def test_only_what_is_allowed_is_drawn_and_what_it_builds_on() -> None:
    names = {item.name for text in drawn(2, 40, ["affine-loop-tile", "cse"]) for item in parse_items(text)}
    assert names == {"affine-loop-tile", "cse", "convert-linalg-to-affine-loops"}
    assert set(drawn(2, 10, [])) == {"default"}


def test_what_was_seen_least_is_drawn_rather() -> None:
    def times(seen: Mapping[str, int]) -> int:
        return sum(item.name == "sroa" for text in drawn(3, 100, seen=seen) for item in parse_items(text))

    assert times(dict.fromkeys(PASS_NAMES, 100) | {"sroa": 0}) > 2 * times(dict.fromkeys(PASS_NAMES, 100))


def test_features_are_passes_and_neighbours_in_running_order() -> None:
    text = "default + loops:cse + convert-linalg-to-parallel-loops + tensor:inline"
    passes = ("inline", "convert-linalg-to-parallel-loops", "cse")
    pairs = ("inline > convert-linalg-to-parallel-loops", "convert-linalg-to-parallel-loops > cse")
    assert features(text) == passes + pairs
    assert features("default") == ()


@pytest.mark.parametrize("guarded", GUARDS)
def test_a_guard_stands_as_long_as_its_bug(guarded: str) -> None:
    """Its entry says so. Once the entry is flipped to `expect: agree`, take the guard out of `GUARDS`."""
    case = load(CORPUS / f"{GUARDS[guarded]}.kina")
    assert case.expect.kind == "fails"
    names = {item.name for item in parse_items(case.pipeline)}
    assert {name.partition("{")[0] for name in guarded.split(" > ")} <= names
