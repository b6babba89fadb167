"""The command line: what it prints, and the exit codes that README promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.__main__ import main

ENGINE = ["--engine", "tests.fuzz.numpy_engine"]
AGREES = """// inputs: x = exact seed 1
// expect: {expect}
@main {{
  let x = tensor<F32, [2, 3], @host>;
  let unused = x + x;
  let y = transpose(x, perm=[1, 0]);
  (y)
}}
"""


TYPE_ERROR = """// inputs: a = ones; b = ones
@main {
  let a = tensor<F32, [2], @host>;
  let b = tensor<F32, [3], @host>;
  (a + b)
}
"""
ENDLESS = """// inputs: a = ones
@main {
  let a = tensor<I64, [], @host>;
  let n = while (i: tensor<I64, [], @host> = a) i == i { i };
  (n)
}
"""
LARGE = """// inputs: a = ones; b = ones
@main {
  let a = tensor<I64, [16777216], @host>;
  let b = tensor<I64, [16777216], @host>;
  (a, b)
}
"""
INVALID = [
    (TYPE_ERROR, "bad.kina:5: error[same-shape]: "),
    (LARGE, "bad.kina: the inputs take 268435456 bytes; those of a case may take 134217728"),
]


@pytest.fixture
def case(tmp_path: Path) -> Path:
    path = tmp_path / "corpus" / "case.kina"
    path.parent.mkdir()
    path.write_text(AGREES.format(expect="agree"))
    return path


def check(
    capsys: pytest.CaptureFixture[str], arguments: list[str | Path], code: int, *words: str, engine: bool = True
) -> str:
    """The command exits with `code` and says `words`, on whichever stream; what it printed."""
    assert main([*map(str, arguments), *(ENGINE if engine else [])]) == code
    said = "".join(capsys.readouterr())
    for word in words:
        assert word in said, said
    return said


def check_usage(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err


def test_check_says_each_verdict_once(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = check(capsys, ["check", case], 0, "case.kina: agree", "all variants: agree (18 of 18 elements bitwise")
    assert len(said.splitlines()) == 2


def test_check_of_a_wrong_value(
    case: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINA_TEST_FAULT", "transpose: wrong")
    check(capsys, ["check", case], 1, "case.kina: disagree", "DISAGREE run: wrong-value at `transpose`")


def test_check_of_what_is_no_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(capsys, ["check", tmp_path / "absent.kina"], 2, "absent.kina: cannot be read")
    (tmp_path / "empty.kina").write_text("")
    check(capsys, ["check", tmp_path / "empty.kina"], 2, "empty.kina: empty")


@pytest.mark.parametrize(("text", "words"), INVALID)
def test_files_that_are_no_valid_cases(text: str, words: str, case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are told from a disagreement; a replay reports them and goes on."""
    bad = case.with_name("bad.kina")
    bad.write_text(text)
    check(capsys, ["check", bad], 2, words)
    check(capsys, ["minimize", bad], 2, words)
    check(capsys, ["replay", "--corpus", case.parent], 1, "bad.kina: FAILED", words, "case.kina: ok", "1 of 2 entries")


def test_a_program_without_an_end_is_no_valid_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "endless.kina").write_text(ENDLESS)
    words = "endless.kina: the program has not ended after 20000 steps"
    check(capsys, ["check", tmp_path / "endless.kina"], 2, words)


def test_replay_counts_what_was_met(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(capsys, ["replay", "--corpus", case.parent], 0, "[1/1] case.kina: ok", "1 of 1 entries met")


def test_replay_of_a_regression(
    case: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINA_TEST_FAULT", "transpose: abort")
    check(capsys, ["replay", "--corpus", case.parent], 1, "FAILED", "crash", "0 of 1 entries met")


def test_replay_of_a_known_bug_and_of_its_end(
    case: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "one/stepped one/whole two/stepped two/whole"
    case.write_text(AGREES.format(expect=f"fails run/wrong-value/transpose/, {where}"))
    with monkeypatch.context() as broken:
        broken.setenv("KINA_TEST_FAULT", "transpose: wrong")
        check(capsys, ["replay", "--corpus", case.parent], 0, "1 of 1")
    check(capsys, ["replay", "--corpus", case.parent], 1, "flip this entry to `expect: agree`")


def test_replay_needs_entries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(capsys, ["replay", "--corpus", tmp_path], 2, "no entry to replay")
    (tmp_path / "empty.kina").write_text("")
    check(capsys, ["replay", "--corpus", tmp_path], 1, "empty.kina: empty", "0 of 1")


def test_minimize_writes_the_smaller_case(
    case: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINA_TEST_FAULT", "transpose: wrong")
    smaller = case.with_name("smaller.kina")
    check(capsys, ["minimize", case, "--output", smaller], 0, "minimising run/wrong-value/transpose/ on one/whole")
    assert "unused" not in smaller.read_text()
    assert "// expect: fails run/wrong-value/transpose/, " in smaller.read_text()
    check(capsys, ["check", smaller], 1, "wrong-value")


def test_minimize_of_a_case_that_agrees(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(capsys, ["minimize", case], 1, "case.kina: no variant disagrees: there is nothing to minimise")


def test_minimize_of_a_case_that_expects_an_error(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case.write_text("// expect: error[concat-dims]\n@main { let x = \n")
    check(capsys, ["minimize", case], 2, "case.kina: a case that expects an error is not minimised")


def test_a_program_with_inputs_that_should_have_been_refused(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "// inputs: x = ones\n// expect: error[concat-dims]\n@main { let x = tensor<F32, [2], @host>; x }"
    case.write_text(text)
    assert main(["check", str(case)]) == 1
    said = capsys.readouterr().out
    assert "all variants: DISAGREE check: accepted: expected error[concat-dims], but the program was accepted" in said


def test_an_error_with_a_code_that_there_is_not(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case.write_text("// expect: error[concat-dim]\n@main { let x = \n")
    check(capsys, ["check", case], 2, "case.kina: no error has the code `concat-dim`")


def test_stats_of_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(capsys, ["stats", tmp_path], 2, "no run is recorded there", engine=False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--time", "soon"], "'soon' is no duration: write 60s, 5m or 8h"),
        (["run", "--workers", "0"], "between 1 and 256 lanes"),
        (["run", "--seed", "-1"], "'-1' is no integer"),
        (["run", "--seed", "x"], "'x' is no integer"),
        (["dance"], "invalid choice: 'dance'"),
        (["check"], "the following arguments are required: FILE"),
        ([], "required"),
    ],
)
def test_usage(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    check_usage(capsys, arguments, words)
