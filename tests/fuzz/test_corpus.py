"""The corpus on disk: what is an entry, what it must come to, how one is written."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fuzz import corpus
from fuzz.corpus import CorpusError
from fuzz.process import ROOT
from fuzz.trial import Trial
from oracles.case import parse_case, print_case
from oracles.verdict import Agree, Disagree, Undecided, Verdict

CASE = """// inputs: x = exact seed 1
// expect: {expect}
@main {{
  let x = tensor<F32, [2], @host>;
  (x)
}}
"""
WRONG = Disagree("run", "wrong-value", "add", "y[0] = 3", "y")
OTHER = Disagree("run", "crash", "", "killed by SIGSEGV")
FAILS = "fails run/wrong-value/add/, "


def check_unmet(expect: str, verdicts: dict[str, Verdict], *words: str) -> None:
    """An entry with this expectation and these verdicts has one complaint for each of the words; none: it is met."""
    case = parse_case(CASE.format(expect=expect))
    complaints = corpus.unmet(case, Trial(case, verdicts, {}))
    assert len(complaints) == len(words), complaints
    for complaint, word in zip(complaints, words, strict=True):
        assert word in complaint


def test_agree() -> None:
    check_unmet("agree", {"a": Agree(), "b": Agree()})
    check_unmet("agree", {"a": Agree(), "b": WRONG}, "b: run: wrong-value")
    check_unmet("agree", {"a": Undecided("near-tie", "argmax"), "b": Agree()}, "a: undecided (near-tie)")


def test_a_known_failure_fails_where_it_is_said_to() -> None:
    check_unmet(FAILS + "a b", {"a": WRONG, "b": WRONG})
    check_unmet(FAILS + "b", {"a": Agree(), "b": WRONG})
    check_unmet(FAILS + "b", {"a": WRONG, "b": WRONG}, "a: expected agree, got run/wrong-value/add/")
    check_unmet(FAILS + "a b", {"a": WRONG, "b": Agree()}, "b: expected run/wrong-value/add/, got ")
    check_unmet(FAILS + "a c", {"a": WRONG, "b": Agree()}, "there is no variant c; there are a, b")


def test_a_known_failure_that_agrees_now() -> None:
    check_unmet(FAILS + "a b", {"a": Agree(), "b": Agree()}, "flip this entry")


def test_a_known_failure_that_fails_in_another_way() -> None:
    check_unmet(FAILS + "a", {"a": OTHER, "b": Agree()}, "a: expected run/wrong-value/add/, got run/crash//")


def test_a_known_failure_that_nobody_can_judge() -> None:
    check_unmet(FAILS + "a", {"a": Undecided("overflow", "mul"), "b": Agree()}, "undecided (overflow)")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"\xff\xfe", "cannot be read"),
        (b"@main { let x = ", "expected"),
        (b"// expct: agree\n@main { (x) }", "did you mean `expect:`"),
        (b"let f = fn(x: tensor<F32, [1], @host>) -> tensor<F32, [1], @host> { (x) }", "lacks"),
    ],
)
def test_files_that_are_no_cases(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "entry.kina"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=words) as caught:
        corpus.load(path)
    assert str(path) in str(caught.value)


def test_a_program_that_the_checker_wrongly_refuses_is_an_entry(tmp_path: Path) -> None:
    path = tmp_path / "entry.kina"
    path.write_text(CASE.format(expect="fails check/refused/same-shape/, everywhere").replace("(x)", "(x @ x)"))
    corpus.load(path)
    path.write_text(path.read_text().replace("fails check", "fails run"))
    with pytest.raises(CorpusError, match=r"entry\.kina:5: error\["):
        corpus.load(path)


def test_entries_are_read_from_the_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (tmp_path / "secret.kina").write_text(CASE.format(expect="agree"))
    (folder / "link.kina").symlink_to(tmp_path / "secret.kina")
    with pytest.raises(CorpusError, match="leads out of"):
        corpus.entry(folder, *corpus.paths(folder))
    with pytest.raises(CorpusError, match="no such folder"):
        corpus.paths(tmp_path / "elsewhere")


@pytest.fixture
def hasty() -> Iterator[None]:
    """A test that waits for what never comes fails."""

    def late(*_: object) -> None:
        raise AssertionError("still waiting after 20 s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_in_the_place_of_an_entry_is_not_passed_over(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    make(tmp_path / "x.kina")
    with pytest.raises(CorpusError, match="cannot be read"):
        corpus.entry(tmp_path, *corpus.paths(tmp_path))


@pytest.mark.parametrize("signature", ["../../etc/passwd//x", "run/crash//" + "long " * 200, "run/crash/\0/\n", "///"])
def test_names_of_files_hold_nothing_but_words(signature: str, tmp_path: Path) -> None:
    name = corpus.slug(signature)
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len(name) < 80
    path = corpus.write_text(tmp_path / "deep" / "corpus", name, "text")
    assert path.parent == tmp_path / "deep" / "corpus"
    assert [entry.read_text() for entry in path.parent.iterdir()] == ["text"]


def test_two_writers_of_one_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another campaign writes the same entry just before this one's is in its place."""
    replace = os.replace

    def overtaken(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "replace", replace)
        corpus.write_text(tmp_path, "entry", "theirs")
        replace(source, target)

    monkeypatch.setattr(os, "replace", overtaken)
    assert corpus.write_text(tmp_path, "entry", "ours").read_text() == "ours"
    assert len(list(tmp_path.iterdir())) == 1


def test_an_entry_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "entry.kina").mkdir()
    with pytest.raises(IsADirectoryError):
        corpus.write_text(tmp_path, "entry", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["entry.kina"]


def test_two_signatures_never_share_a_file() -> None:
    assert corpus.slug("run/crash//a b") != corpus.slug("run/crash//a/b")


def test_known_failures(tmp_path: Path) -> None:
    (tmp_path / "a.kina").write_text(CASE.format(expect=FAILS + "a"))
    (tmp_path / "b.kina").write_text(CASE.format(expect="agree"))
    assert corpus.known_failures(tmp_path) == {"run/wrong-value/add/": tmp_path / "a.kina"}
    (tmp_path / "c.kina").write_text("")
    with pytest.raises(CorpusError, match=r"c\.kina: empty"):
        corpus.known_failures(tmp_path)


def test_the_readme_s_example_is_a_case() -> None:
    text = (ROOT / "corpus" / "README.md").read_text()
    example = text.split("```\n")[1]
    case = parse_case(example, "README.md")
    assert print_case(case) == example


@pytest.mark.parametrize("path", corpus.paths(ROOT / "corpus"), ids=lambda path: path.stem)
def test_entries_are_written_as_the_printer_writes_them_and_say_why(path: Path) -> None:
    case = corpus.entry(ROOT / "corpus", path)
    assert case.why
    assert print_case(case) == path.read_text()
