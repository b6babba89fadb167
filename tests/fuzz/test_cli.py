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


def test_check_says_each_variant_s_verdict(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = check(capsys, ["check", case], 0, "case.kina: agree", "one/stepped: agree (18 of 18 elements bitwise")
    assert len(said.splitlines()) == 5


def test_check_of_a_wrong_value(
    case: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINA_TEST_FAULT", "transpose: wrong")
    check(capsys, ["check", case], 1, "case.kina: disagree", "DISAGREE run: wrong-value at `transpose`")


def test_check_of_what_is_no_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(capsys, ["check", tmp_path / "absent.kina"], 2, "absent.kina: cannot be read")
    (tmp_path / "empty.kina").write_text("")
    check(capsys, ["check", tmp_path / "empty.kina"], 2, "empty.kina: empty")


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
    check(capsys, ["minimize", case, "--output", smaller], 0, "minimising run/wrong-value/transpose/ on one/stepped")
    assert "unused" not in smaller.read_text()
    check(capsys, ["check", smaller], 1, "wrong-value")


def test_minimize_of_a_case_that_agrees(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(capsys, ["minimize", case], 1, "nothing to minimise")


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
