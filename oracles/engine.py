"""What one engine gives back for one case: what it observed, or how it failed.

Data only, shared by the references, the compilers under test and the judge. How an engine is run lives with the
engine; what an observation is worth lives in `judge`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

Stage = Literal["parse", "check", "lower", "passes", "codegen", "run", "protocol"]
Symptom = Literal["refused", "crash", "hang", "oom", "invalid-ir", "garbage"]


@dataclass(frozen=True, slots=True, eq=False)  # arrays have no truth value: compare field by field with `compare`
class Observation:
    """The values one engine computed, in their native dtypes (bfloat16 by ml_dtypes).

    `lets` holds every let of `@main` that the engine could observe, by name: stepped all of them, whole those that
    the result tuple names. `results` is the result tuple of `@main`, flat, in order.
    """

    lets: dict[str, Array]
    results: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """What an engine did instead of answering.

    `stage` is how far it came, `symptom` what was seen, `culprit` the pass, op or variant to blame ("" if unknown),
    `message` the engine's own words, not yet normalised.
    """

    stage: Stage
    symptom: Symptom
    culprit: str
    message: str


Outcome = Observation | Failure
