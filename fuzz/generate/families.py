"""What a campaign draws: families of cases and dtypes, each with its share. What a family is, its file says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from compiler.types import BF16, F16, F32, F64, DType
from fuzz.generate.batches import batch_cases
from fuzz.generate.leaks import leak_cases
from fuzz.generate.rollout import rollout_cases
from fuzz.generate.scratch import scratch_cases
from fuzz.generate.storylm import storylm_cases
from oracles.case import Case

FAMILIES: Mapping[str, tuple[int, Callable[[DType], SearchStrategy[Case]]]] = {
    "handoff": (11, storylm_cases),
    "scratch": (3, scratch_cases),
    "rollout": (3, rollout_cases),
    "leak": (2, leak_cases),
    "batch": (2, batch_cases),
}
"""How often each family is drawn."""

DTYPE_SHARES: Mapping[DType, int] = {F32: 17, F64: 1, F16: 1, BF16: 1}
"""How often a model is of each dtype. Of 16 bits it is seldom: much of what it makes lies near a tie."""


def _shared() -> SearchStrategy[Case]:
    mixes = {dtype: [(share, family(dtype)) for share, family in FAMILIES.values()] for dtype in DTYPE_SHARES}
    drawn = [(share * of_dtype, cases) for dtype, of_dtype in DTYPE_SHARES.items() for share, cases in mixes[dtype]]
    return st.sampled_from([cases for share, cases in drawn for _ in range(share)]).flatmap(lambda cases: cases)


CASES = _shared()
