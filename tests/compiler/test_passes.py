"""The table of passes, the text of a pipeline, and where in the mandatory steps an added pass comes to stand."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import mlir
import pytest

from compiler import pipeline
from compiler.passes import LEFT_OUT, ROWS, TABLE
from compiler.passrow import STAGES
from compiler.passtext import LONGEST, MOST_ITEMS, Item, PipelineTextError, in_order, parse_items, print_items
from compiler.pipeline import DEFAULT

MLIR_OPT = Path(mlir.__path__[0]) / "bin" / "mlir-opt"


def names(text: str) -> list[str]:
    return [pass_.name for pass_ in pipeline.parse(text).passes]


def test_a_row_says_why_and_names_what_there_is() -> None:
    assert len(ROWS) == len(TABLE)
    for row in TABLE:
        assert row.why
        assert row.stages
        assert [stage for stage in STAGES if stage in row.stages] == list(row.stages), row.name
        assert set(row.needs) <= set(row.options)
        for item in parse_items(f"default{row.after}"):
            assert ROWS[item.name].slot
            assert STAGES.index(item.stage) <= STAGES.index(row.stages[0])


def test_every_pass_of_mlir_opt_by_its_name() -> None:
    """Those of the table and those left out: `mlir-opt` lists them all."""
    listed = subprocess.run([str(MLIR_OPT), "--list-passes"], capture_output=True, text=True, check=True).stdout
    assert not {*ROWS, *LEFT_OUT} - {word.removeprefix("--") for word in listed.split()}
    assert not ROWS.keys() & LEFT_OUT.keys()


def test_the_text_is_given_back() -> None:
    texts = [
        "default",
        "default + linalg-fuse-elementwise-ops",
        "default + loops:cse + tensor:canonicalize{top-down=false max-iterations=1} + loops:cse",
        "default + one-shot-bufferize{copy-before-write=true} + convert-linalg-to-affine-loops + affine-scalrep",
    ]
    for text in texts:
        assert str(pipeline.parse(text)) == text
        assert print_items(parse_items(f"  {text.replace(' + ', '+')} ")) == text
    assert pipeline.parse("default") == DEFAULT


def test_every_row_and_option_is_read() -> None:
    for row in TABLE:
        for stage in row.stages:
            items = [Item(stage, row.name), *_with_one_option(row.name, stage)]
            for item in items:
                assert parse_items(print_items([item])) == (item,)


def _with_one_option(name: str, stage: str) -> Sequence[Item]:
    return [
        Item(row_stage, name, ((key, value),))
        for row_stage in STAGES
        if row_stage == stage
        for key, values in ROWS[name].options.items()
        for value in values
    ]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", "a pipeline begins with `default`, this one with ``"),
        ("fast", "this one with `fast`"),
        ("default +", "`` is no pass"),
        ("default + sroa{", "`sroa{` is no pass"),
        ("default + linalg-fuse-elementwise-op", "did you mean `linalg-fuse-elementwise-ops`?"),
        ("default + xyzzy", "unknown pass `xyzzy`"),
        ("default + cse", "write `tensor:cse`, `buffers:cse`"),
        ("default + tensors:cse", "did you mean `tensor`?"),
        ("default + llvm:inline{max-iterations=9}", "`max-iterations=9` is not among `max-iterations=1`"),
        ("default + tensor:inline{max-iterations}", "`max-iterations` is not among"),
        ("default + tensor:inline{max-iteration=1}", "did you mean `max-iterations`?"),
        ("default + affine-loop-tile{tile-size=2 tile-size=3}", "gives an option twice"),
        ("default + linalg-fuse-elementwise-ops{a=1}", "has no option `a`"),
        (
            "default + convert-linalg-to-loops + convert-linalg-to-affine-loops",
            "`convert-linalg-to-loops` and `convert-linalg-to-affine-loops` are two choices for one step",
        ),
        ("default" + " + fold-tensor-subset-ops" * (MOST_ITEMS + 1), "at most"),
        ("default" + " " * LONGEST, "characters"),
    ],
)
def test_what_is_no_pipeline_is_refused_with_a_reason(text: str, fact: str) -> None:
    with pytest.raises(PipelineTextError) as refused:
        parse_items(text)
    assert fact in str(refused.value)


def test_added_passes_stand_in_their_stage_in_the_order_written() -> None:
    added = names("default + loops:cse + tensor:inline + tensor:cse + tensor:inline")
    assert added[:4] == ["inline", "cse", "inline", "one-shot-bufferize"]
    assert added.index("lower-affine") < added.index("cse", 4) < added.index("convert-scf-to-cf")


def test_a_choice_takes_the_place_of_the_usual_one() -> None:
    drawn = names("default + affine-scalrep + convert-linalg-to-affine-loops")
    assert "convert-linalg-to-loops" not in drawn
    assert drawn.index("affine-scalrep") == drawn.index("convert-linalg-to-affine-loops") + 1
    texts = [pass_.text for pass_ in pipeline.parse("default + one-shot-bufferize{copy-before-write=true}").passes]
    assert [text for text in texts if text.startswith("one-shot-bufferize")] == [
        "one-shot-bufferize{bufferize-function-boundaries=true analysis-fuzzer-seed=7 copy-before-write=true}"
    ]


def test_what_an_added_pass_leaves_behind_is_lowered() -> None:
    """A step that the usual pipeline does not need."""
    for text, steps in {
        "ownership-based-buffer-deallocation": [
            "buffer-deallocation-simplification",
            "bufferization-lower-deallocations",
        ],
        "affine-super-vectorize": ["convert-vector-to-scf", "convert-vector-to-llvm"],
        "lift-cf-to-scf": ["convert-scf-to-cf"],
        "scf-for-loop-peeling": ["lower-affine"],
    }.items():
        drawn = names(f"default + {text}")
        assert set(steps) <= set(drawn[drawn.index(text) + 1 :])
    assert not {"convert-vector-to-llvm", "convert-ub-to-llvm"} & set(names("default"))


def test_the_mandatory_steps_stay() -> None:
    """Whatever is added, in any stage; but for a choice made otherwise."""
    usual = names("default")
    for row in TABLE:
        for stage in row.stages:
            left = iter(names(print_items([Item(stage, row.name)])))
            chosen = {"one-shot-bufferize", "convert-linalg-to-loops"} if row.slot else set()
            assert all(name in left for name in usual if name not in chosen), row.name


def test_items_in_the_order_in_which_they_run() -> None:
    items = parse_items("default + loops:cse + affine-scalrep + convert-linalg-to-affine-loops + tensor:cse")
    assert [str(item) for item in in_order(items)] == [
        "tensor:cse",
        "convert-linalg-to-affine-loops",
        "affine-scalrep",
        "loops:cse",
    ]
