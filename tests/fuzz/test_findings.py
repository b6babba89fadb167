"""What becomes of a wrong verdict: counted, kept, minimised, saved, through kills and restarts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz import corpus
from fuzz.findings import Findings
from fuzz.store import Place, Store

TEXT = """// why: a test
// inputs: x = exact seed 1
// expect: agree
@main {
  let x = tensor<F32, [2], @host>;
  let y = x + x;
  (y)
}
"""
SIGNATURE = "run/wrong-value/add/"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "corpus").mkdir()
    with Store(tmp_path / "run", 7) as store:
        store.begin(0)
        yield store


def folder(store: Store) -> Path:
    return store.folder.parent / "corpus"


def meet(store: Store, findings: Findings, position: int, signature: str = SIGNATURE) -> None:
    """A case shows the signature; what that adds is recorded, as the campaign does it."""
    report = {"signature": signature, "variants": "a b", "message": "y[0] = 3", "text": TEXT}
    place = Place(0, position)
    store.record(place, {}, findings.met(place, [report]))


def check_states(store: Store, **states: str) -> None:
    """The states on disk, by culprit."""
    kept = {finding.signature.split("/")[2]: finding.state for finding in store.snapshot().findings}
    assert kept == states


def test_a_new_finding_waits_to_be_minimised_and_later_hits_are_counted(store: Store) -> None:
    findings = Findings(store, folder(store))
    meet(store, findings, 0)
    meet(store, findings, 1)
    assert list(findings.to_minimise()) == [SIGNATURE]
    assert [finding.signature for finding in findings.new()] == [SIGNATURE]
    assert store.snapshot().findings[0].hits == 2


def test_minimised_findings_are_saved_as_entries_that_fail(store: Store) -> None:
    findings = Findings(store, folder(store))
    meet(store, findings, 0)
    findings.hear("smaller", SIGNATURE, TEXT.replace("[2]", "[1]"))
    findings.hear("minimised", SIGNATURE, TEXT.replace("[2]", "[1]"), "b")
    (path,) = corpus.paths(folder(store))
    case = corpus.entry(folder(store), path)
    assert (case.expect.kind, case.expect.detail, case.expect.where) == ("fails", SIGNATURE, "b")
    assert "seed 7, case 0.0" in case.found
    assert case.why == "y[0] = 3"
    check_states(store, add="saved")
    meet(store, findings, 1)
    assert len(findings.new()) == 1
    assert list(findings.to_minimise()) == []


def test_the_next_session_knows_what_is_in_the_corpus(store: Store) -> None:
    findings = Findings(store, folder(store))
    meet(store, findings, 0)
    findings.hear("minimised", SIGNATURE, TEXT, "b")
    later = Findings(store, folder(store))
    meet(store, later, 1)
    assert later.new() == []
    assert later.known_hits == {SIGNATURE: 1}


def test_the_next_session_goes_on_with_what_a_killed_one_left(store: Store) -> None:
    findings = Findings(store, folder(store))
    for position, culprit in enumerate(("add", "sub")):
        meet(store, findings, position, f"run/wrong-value/{culprit}/")
    findings.hear("smaller", SIGNATURE, TEXT.replace("[2]", "[1]"))
    later = Findings(store, folder(store))
    assert list(later.to_minimise()) == [SIGNATURE, "run/wrong-value/sub/"]
    assert "[1]" in later.by_signature[SIGNATURE].smallest
    assert len(later.new()) == 2


def test_a_kill_between_minimising_and_saving(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    findings = Findings(store, folder(store))
    meet(store, findings, 0)

    def killed(*_: object) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(corpus, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            findings.hear("minimised", SIGNATURE, TEXT, "b")
    check_states(store, add="minimised")
    Findings(store, folder(store))
    check_states(store, add="saved")
    assert len(corpus.paths(folder(store))) == 1


def test_a_finding_thought_mended_is_new_again(store: Store) -> None:
    findings = Findings(store, folder(store))
    meet(store, findings, 0)
    findings.hear("minimised", SIGNATURE, TEXT, "b")
    (path,) = corpus.paths(folder(store))
    path.write_text(TEXT)  # flipped to agree
    later = Findings(store, folder(store))
    assert later.new() == []
    meet(store, later, 1)
    assert list(later.to_minimise()) == [SIGNATURE]
    check_states(store, add="new")


def test_what_does_not_show_again_is_kept_in_the_run_only(store: Store) -> None:
    findings = Findings(store, folder(store))
    meet(store, findings, 0)
    findings.hear("vanished", SIGNATURE)
    check_states(store, add="flaky")
    assert corpus.paths(folder(store)) == []
    assert Path(findings.new()[0].path).read_text() == TEXT


def test_what_kills_the_minimiser_is_saved_as_it_is(store: Store) -> None:
    findings = Findings(store, folder(store))
    meet(store, findings, 0)
    findings.give_up(SIGNATURE)
    check_states(store, add="saved")
    assert corpus.entry(folder(store), corpus.paths(folder(store))[0]).expect.where == "a b"


def test_our_own_failures_are_findings_too(store: Store) -> None:
    findings = Findings(store, folder(store))
    for position in range(2):
        place = Place(0, position)
        store.record(place, {}, findings.internal(place, TEXT, "Traceback ..\nValueError: no such 3 things"))
    (kept,) = store.snapshot().findings
    assert (kept.signature, kept.state, kept.hits) == ("lane/crash//ValueError: no such N things", "internal", 2)
    assert list(findings.to_minimise()) == []
    assert Path(findings.new()[0].path).read_text() == TEXT
