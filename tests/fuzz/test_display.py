"""What a campaign shows of itself, on a terminal and in a log."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from rich.console import Console

from fuzz.display import Status, duration, plain_line, showing, summary, table, time_shares
from fuzz.store import Finding

FINDING = Finding("run/wrong-value/concat/", "saved", "3.4", "a b", "words", "t", "t", "corpus/x.kina")
COUNTS = Counter(
    {
        ("verdict", "agree"): 95,
        ("verdict", "undecided"): 5,
        ("program", "run"): 50,
        ("undecided", "near-tie at argmax"): 9,
        ("microseconds", "codegen"): 600_000,
        ("microseconds", "references"): 400_000,
    }
)


def status(counts: Counter[tuple[str, str]] = COUNTS, new: tuple[Finding, ...] = (FINDING,)) -> Status:
    return Status(20.0, 40.0, counts, list(new), {"run/crash//old": 7}, [], 2)


def check_shows(text: str, *words: str) -> None:
    for word in words:
        assert word in text, text


def drawn(renderable: object) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_table() -> None:
    check_shows(
        drawn(table(status())),
        "20s elapsed, 40s left",
        "50 run, 2.5/s",
        "100 checked, 4.8 fully checked/s",
        "95  (95.0 %)",
        "5  (5.0 %)",
        "9 variants undecided: near-tie at argmax",
        "1 new, 0 being minimised, 1 known",
        "60.0 % inside the compiler",
        "run/wrong-value/concat/ [saved, seen at case 3.4] -> corpus/x.kina",
    )


def test_the_table_before_anything_is_known() -> None:
    check_shows(drawn(table(status(Counter(), ()))), "lanes are starting", "0 new")


def test_brackets_in_a_message_are_no_markup() -> None:
    odd = Finding("run/crash//[bold]x[/red]", "new", "0.0", "a", "", "", "")
    check_shows(drawn(table(status(new=(odd,)))), "[bold]x[/red]")


def test_the_plain_line() -> None:
    check_shows(plain_line(status()), "[20s, 40s left]", "95 agree, 5 undecided", "4.8 fully", "1 new, 1 known")
    check_shows(plain_line(status(Counter(), ())), "no case yet")


def test_the_summary() -> None:
    text = summary(status(), "resume")
    check_shows(
        text,
        "100 cases of 50 programs checked in 20s, 95 of them fully: 4.75 per second",
        "undecided: 5 (5.0 %)",
        "known failure, seen in 7 cases: run/crash//old",
        "1 new findings:",
        "corpus/x.kina",
    )
    assert "resume" not in text
    unfinished = Finding("run/crash//y", "new", "0.0", "a", "", "", "")
    check_shows(summary(status(new=(unfinished,)), "make fuzz"), "not minimised yet; `make fuzz` goes on")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (59.4, "59s"),
        (59.6, "1m00s"),
        (125, "2m05s"),
        (3 * 3600 + 7 * 60, "3h07m"),
        (float("inf"), "no limit"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_shares_of_no_time() -> None:
    assert time_shares({}) == "0.0 % inside the compiler ()"


def test_a_terminal_gets_a_live_table_others_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    live, plain = (Console(file=io.StringIO(), force_terminal=terminal, width=120) for terminal in (True, False))
    with showing(live) as show:
        show(status())
    monkeypatch.setattr("fuzz.display.LINE_SECONDS", 0.0)
    with showing(plain) as show:
        show(status())
    assert isinstance(live.file, io.StringIO)
    assert isinstance(plain.file, io.StringIO)
    assert "\x1b[" in live.file.getvalue()
    check_shows(live.file.getvalue(), "inside the compiler")
    assert plain.file.getvalue() == plain_line(status()) + "\n"
