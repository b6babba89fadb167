"""The seeded faults, each in a copy of the tree: the fuzzer finds it, makes it small and keeps it.

In CI the texts of all faults are checked and three cheap ones are hunted; `python -m tests.faults.hunt` hunts all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.faults import FAULTS, Fault, plant
from tests.faults.hunt import copy_tree, hunt

CHEAP = ("transpose-inverted", "argmax-last-tie", "slice-start")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_can_be_planted(fault: Fault, tmp_path: Path) -> None:
    plant(fault, copy_tree(tmp_path))


@pytest.mark.parametrize("name", CHEAP)
def test_is_found_made_small_and_kept(name: str, tmp_path: Path) -> None:
    (fault,) = (fault for fault in FAULTS if fault.name == name)
    catch = hunt(fault, copy_tree(tmp_path), seconds=60)
    assert catch, f"no finding in 60 s of {name}"
    assert min(find.ops for find in catch) <= 3
