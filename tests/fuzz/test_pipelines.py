"""Drawn pipelines: every one is legal, all that there is gets drawn, what was seen least rather."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from compiler.passes import ROWS, TABLE
from compiler.passtext import parse_items, print_items
from fuzz.generate.draw import draw_cases
from fuzz.generate.pipelines import GUARDS, MOST_ADDED, PASS_NAMES, features, pipelines


def drawn(seed: int, n: int, allowed: Sequence[str] | None = None, seen: Mapping[str, int] | None = None) -> list[str]:
    return draw_cases(pipelines(allowed, seen), seed, n)


def test_what_is_drawn_is_a_pipeline_and_reproducible() -> None:
    texts = drawn(1, 100)
    assert texts == drawn(1, 100)
    for text in texts:
        assert print_items(parse_items(text)) == text
    assert len(set(texts)) > 80
    assert max(len(parse_items(text)) for text in texts) > MOST_ADDED // 2


def test_every_pass_stage_and_option_is_drawn_but_for_the_guarded_ones() -> None:
    """Steered by what was seen, as in a run."""
    rows = [row for row in TABLE if row.name not in GUARDS]
    missing = {(row.name, word) for row in rows for word in (*row.stages, *row.options)}
    missing -= {(row.name, key) for row in rows for key in row.options if _guarded_option(row.name, key)}
    seen: Counter[str] = Counter()
    for batch in range(60):
        for text in drawn(batch, 10, seen=seen) if missing else []:
            seen.update(features(text))
            missing -= {(item.name, word) for item in parse_items(text) for word in (item.stage, *dict(item.options))}
    assert not missing


def _guarded_option(name: str, key: str) -> bool:
    return all(f"{name}{{{key}={value}}}" in GUARDS for value in ROWS[name].options[key])


def test_only_what_is_allowed_is_drawn_and_what_it_builds_on() -> None:
    names = {item.name for text in drawn(2, 40, ["affine-loop-tile", "cse"]) for item in parse_items(text)}
    assert names == {"affine-loop-tile", "cse", "convert-linalg-to-affine-loops"}
    assert set(drawn(2, 10, [])) == {"default"}


def test_what_was_seen_least_is_drawn_rather() -> None:
    seen = dict.fromkeys(PASS_NAMES, 100) | {"sroa": 0}
    names = Counter(item.name for text in drawn(3, 60, seen=seen) for item in parse_items(text))
    assert names.most_common(1)[0][0] == "sroa"


def test_features_are_passes_and_neighbours_in_running_order() -> None:
    text = "default + loops:cse + convert-linalg-to-parallel-loops + tensor:inline"
    passes = ("inline", "convert-linalg-to-parallel-loops", "cse")
    pairs = ("inline > convert-linalg-to-parallel-loops", "convert-linalg-to-parallel-loops > cse")
    assert features(text) == passes + pairs
    assert features("default") == ()
