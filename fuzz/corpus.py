"""The corpus: cases kept for ever in a folder of `*.kina` files, each with what a replay must come to.

Reading, writing and replaying entries. Names of files are made here from signatures, which hold words of the compiler
under test: nothing but letters, digits and dashes gets into a name, and no entry is read from outside the folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from compiler.arrays import numpy_dtype
from compiler.checker import check
from compiler.codes import CODES
from compiler.passtext import PipelineTextError, parse_items
from compiler.source import CompileError, Diagnostic
from compiler.syntax import inputs
from fuzz.process import ROOT
from fuzz.signature import telling_line
from fuzz.store import Finding
from fuzz.trial import Trial
from fuzz.wire import MAX_BODY
from oracles.case import Case, CaseError, Expect, parse_case, print_case
from oracles.verdict import Agree, Undecided

LONGEST_NAME = 60  # characters of a file's name before its hash
EVERYWHERE = "everywhere"  # in the place of all variants' names
LARGEST_FILE = 4 << 20  # bytes; an entry is a minimised case
LARGEST_INPUTS = MAX_BODY // 4  # bytes of a case's inputs together: they go to the engine in one message, and come back


class CorpusError(Exception):
    """The corpus cannot be used; the message names the file or folder."""


def paths(folder: Path) -> list[Path]:
    """The entries' files, in order of name. Raises `CorpusError` for a folder that is not there."""
    if not folder.is_dir():
        raise CorpusError(f"{folder}: no such folder")
    return sorted(path for path in folder.iterdir() if path.suffix == ".kina")


def load(path: Path) -> Case:
    """The case in `path`, of any size and content. Raises `CorpusError`, whose message names the file.

    Its program is one that the checker takes, unless the case is about just that.
    """
    try:
        if path.exists() and not path.is_file():
            raise CorpusError(f"{path}: cannot be read: not a plain file")
        if path.stat().st_size > LARGEST_FILE:
            raise CorpusError(f"{path}: larger than {LARGEST_FILE} bytes")
        text = path.read_text("utf-8")
        if not text.strip():
            raise CorpusError(f"{path}: empty")
        case = parse_case(text, str(path))
        parse_items(case.pipeline)
        if case.expect.kind != "error":
            _check(case, path)
        elif case.expect.detail not in CODES:
            raise CorpusError(f"{path}: no error has the code `{case.expect.detail}`; see compiler/codes.py")
        return case
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}: cannot be read: {error}") from error
    except CaseError as error:
        raise CorpusError(str(error)) from error
    except CompileError as error:
        raise CorpusError("\n".join(f"{path}:{_located(found, text)}" for found in error.diagnostics)) from error
    except PipelineTextError as error:
        raise CorpusError(f"{path}: {error}") from error


def _located(found: Diagnostic, text: str) -> str:
    line = text.count("\n", 0, found.span.start) + 1
    return f"{line}: error[{found.code}]: {found.message}"


def _check(case: Case, path: Path) -> None:
    """Whether the case can be judged. Raises `CompileError` and `CorpusError`."""
    if not case.expect.detail.startswith("check/"):  # that the checker fails on it is what the entry is kept for
        check(case.program)
    types = inputs(case.program.main) if case.program.main else {}
    size = sum(type_.size * numpy_dtype(type_).itemsize for type_ in types.values())
    if size > LARGEST_INPUTS:
        raise CorpusError(f"{path}: the inputs take {size} bytes; those of a case may take {LARGEST_INPUTS}")


def entry(folder: Path, path: Path) -> Case:
    """`load` for a file of the corpus: it must lie in the folder itself."""
    if path.resolve().parent != folder.resolve():
        raise CorpusError(f"{path}: leads out of {folder}")
    return load(path)


def known_failures(folder: Path) -> dict[str, Path]:
    """The signatures that entries expect to fail with. Raises `CorpusError`."""
    known: dict[str, Path] = {}
    for path in paths(folder):
        expect = entry(folder, path).expect
        if expect.kind == "fails":
            known[expect.detail] = path
    return known


def save(folder: Path, finding: Finding, seed: int) -> Path:
    """Write a minimised finding as an entry that is expected to fail for now."""
    case = parse_case(finding.smallest, finding.signature)
    kept = replace(
        case,
        why=telling_line(finding.message),
        found=f"{datetime.now(UTC):%Y-%m-%d}, seed {seed}, case {finding.place}, {_versions()}",
        expect=Expect("fails", finding.signature, finding.variants),
    )
    return write_text(folder, slug(finding.signature), print_case(kept))


def where(shown: Collection[str], variants: Collection[str]) -> str:
    """The variants that show a bug, of all there are, as an entry names them."""
    return EVERYWHERE if set(shown) == set(variants) else " ".join(shown)


def slug(signature: str) -> str:
    """A file's name for a signature: its words, and a hash so that two signatures never share one."""
    words = re.sub(r"[^a-z0-9]+", "-", signature.lower()).strip("-")[:LONGEST_NAME].strip("-")
    return f"{words}-{hashlib.sha256(signature.encode()).hexdigest()[:6]}"


def write_text(folder: Path, name: str, text: str) -> Path:
    """`folder/name.kina`, made whole or not at all, whoever else writes there at the same time."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.kina"
    with tempfile.TemporaryDirectory(prefix=".", dir=folder) as own:
        part = Path(own) / path.name
        part.write_text(text, "utf-8")
        os.replace(part, path)
    return path


def unmet(case: Case, trial: Trial) -> list[str]:
    """What is wrong with a trial of a corpus entry on all variants; nothing if it met its expectation."""
    if case.expect.kind == "fails":
        return _unmet_failure(case.expect, trial)
    return [f"{variant}: {verdict}" for variant, verdict in trial.verdicts.items() if not isinstance(verdict, Agree)]


def _unmet_failure(expect: Expect, trial: Trial) -> list[str]:
    """The variants of `where` fail with the signature (all of them if it is `EVERYWHERE`), the others agree."""
    shown = {variant: str(signature) for signature, seen in trial.signatures().items() for variant in seen}
    if not shown:
        undecided = [str(verdict) for verdict in trial.verdicts.values() if isinstance(verdict, Undecided)]
        return undecided or ["it agrees now: flip this entry to `expect: agree`"]
    where = list(trial.verdicts) if expect.where == EVERYWHERE else expect.where.split()
    unknown = [variant for variant in where if variant not in trial.verdicts]
    if unknown:
        return [f"there is no variant {', '.join(unknown)}; there are {', '.join(trial.verdicts)}"]
    wanted = {variant: expect.detail if variant in where else "" for variant in trial.verdicts}
    return [
        f"{variant}: expected {signature or 'agree'}, got {shown.get(variant, str(trial.verdicts[variant]))}"
        for variant, signature in wanted.items()
        if shown.get(variant, "") != signature
    ]


def _versions() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    git = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    revision = git.stdout.strip() or "unknown"
    return f"revision {revision}, mlir {metadata.version('xtc-mlir-python-bindings')}"
