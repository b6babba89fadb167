"""What becomes of a wrong verdict: known, met before, or new; minimised; saved to the corpus.

A finding is in the store before anything else is done with it, and every step it takes is written there, so the next
session goes on where a killed one was. How a case is made smaller is `minimize`'s business, how an entry is written
`corpus`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fuzz import corpus
from fuzz.signature import normalise
from fuzz.store import Finding, Place, Store


class Findings:
    """The findings of a run, by signature, and the corpus' known ones."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder
        self.known = corpus.known_failures(folder)
        self.known_hits: Counter[str] = Counter()
        self.by_signature = {finding.signature: finding for finding in store.snapshot().findings}
        self._of_this_session: list[str] = []
        self._settled = set(self.known)  # in the corpus, or to be there
        for finding in self.by_signature.values():
            self._go_on(finding)

    def new(self) -> list[Finding]:
        """What this session found, or found again after it was thought mended; and what earlier ones left undone."""
        return [self.by_signature[signature] for signature in self._of_this_session]

    def to_minimise(self) -> Iterator[str]:
        """The signatures that wait to be minimised, in order of discovery."""
        return (signature for signature, finding in self.by_signature.items() if finding.state == "new")

    def met(self, place: Place, reports: list[dict[str, str]]) -> list[Finding]:
        """The findings that one case adds to the store: new ones, and those met before, which count one more hit."""
        met = [
            Finding(
                report["signature"],
                "new",
                str(place),
                report["variants"],
                report["message"],
                text=report["text"],
                smallest=report["text"],
            )
            for report in reports
            if not self._is_known(report["signature"])
        ]
        for finding in met:
            kept = self.by_signature.get(finding.signature)
            if kept is None or (kept.state == "saved" and finding.signature not in self._settled):
                # new; or saved once and not expected by the corpus any more, so that it was thought mended
                self._add(finding)
                self.store.update(finding)
        return met

    def internal(self, place: Place, text: str, words: str) -> list[Finding]:
        """This project's own failure on a case. There is nothing to minimise it by; the case is kept."""
        signature = f"lane/crash//{normalise(words.strip().rpartition(chr(10))[2])}"
        finding = Finding(signature, "internal", str(place), "", words, text, text)
        if signature not in self.by_signature:
            path = corpus.write_text(self.store.folder / "findings", f"internal-{place}", text)
            self._add(replace(finding, path=str(path)))
        return [self.by_signature[signature]]

    def hear(self, kind: str, signature: str, text: str = "", where: str = "", why: str = "") -> None:
        """A lane's word on the finding it minimises: `smaller`, `minimised` or `vanished`."""
        finding = self.by_signature[signature]
        if kind == "vanished":  # it did not show a second time: kept in the run, but no replay could rely on it
            path = corpus.write_text(self.store.folder / "findings", corpus.slug(signature), finding.text)
            self._keep(replace(finding, state="flaky", path=str(path)))
        elif kind == "smaller":
            self._keep(replace(finding, smallest=text))
        else:
            variants, message = where or finding.variants, why or finding.message
            self._save(replace(finding, smallest=text, variants=variants, message=message, state="minimised"))

    def give_up(self, signature: str) -> None:
        """Two lanes died of minimising it: it is kept as small as it got."""
        self._save(replace(self.by_signature[signature], state="minimised"))

    def _is_known(self, signature: str) -> bool:
        if signature in self.known:
            self.known_hits[signature] += 1
        return signature in self.known

    def _add(self, finding: Finding) -> None:
        self.by_signature[finding.signature] = finding
        self._settled.add(finding.signature)
        self._of_this_session.append(finding.signature)

    def _go_on(self, finding: Finding) -> None:
        """What an earlier session left undone."""
        if finding.state == "new":
            self._of_this_session.append(finding.signature)
        elif finding.state == "minimised":
            self._of_this_session.append(finding.signature)
            self._save(finding)

    def _save(self, finding: Finding) -> None:
        """Into the corpus. `minimised` is recorded first: a kill in between leaves the saving to the next session."""
        self._keep(finding)
        self._settled.add(finding.signature)
        path = corpus.save(self.folder, finding, self.store.seed)
        self._keep(replace(finding, state="saved", path=str(path)))

    def _keep(self, finding: Finding) -> None:
        self.by_signature[finding.signature] = finding
        self.store.update(finding)
