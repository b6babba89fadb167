"""What the judge says of one engine's outcome for one case, and the name of a wrong one.

Data only. How a verdict is reached is `judge`'s; how a message is stripped of what varies is `fuzz.signature`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Reason = Literal[
    "near-tie",  # argmax of values closer than their bounds, and the target's choice was not seen
    "near-condition",  # a comparison of sides closer than their bounds
    "cast-boundary",  # a conversion to an integer at a value where the integer changes
    "remainder-boundary",  # `%` where the quotient may be one more or one less
    "overflow",  # a correct implementation may overflow here, or not
    "ill-conditioned",  # an operand is so near a singularity that the first-order bound means nothing
    "refused",  # a pass beside the default pipeline said no, with a diagnostic: there is nothing to judge
    "control-not-separated",  # the references themselves cannot tell the two sides of a `!=` apart
]
REASONS: tuple[Reason, ...] = get_args(Reason)


@dataclass(frozen=True, slots=True)
class Signature:
    """The name of a bug: key for dedupe, predicate of the minimiser, expectation of a known failure.

    `stage`, `symptom` and `culprit` hold no `/`; the message may.
    """

    stage: str
    symptom: str
    culprit: str
    message: str = ""

    def __str__(self) -> str:
        return f"{self.stage}/{self.symptom}/{self.culprit}/{self.message}"

    @staticmethod
    def parse(text: str) -> Signature:
        """The inverse of `str`. Raises ValueError unless there are at least three `/`."""
        parts = text.split("/", 3)
        if len(parts) != 4:
            raise ValueError(f"a signature is stage/symptom/culprit/message, got {text!r}")
        return Signature(*parts)


@dataclass(frozen=True, slots=True)
class Agree:
    """Every element lies within its bound: `exact` of the `elements` were compared bitwise.

    `closest` is the largest error met, in units of the legal one (0 to 1).
    """

    elements: int = 0
    exact: int = 0
    closest: float = 0.0

    def __add__(self, other: Agree) -> Agree:
        return Agree(self.elements + other.elements, self.exact + other.exact, max(self.closest, other.closest))


@dataclass(frozen=True, slots=True)
class Undecided:
    """Nothing found wrong, but not everything could be judged: the first reason met, and the op where it arose."""

    reason: Reason
    op: str

    def __str__(self) -> str:
        return f"undecided ({self.reason}) at `{self.op}`"


_ODD_ONES = {
    ("oracle", "contradiction"): "one of the two references, not the engine,",
    ("oracle", "claim-false"): "the case's own claim, not the engine,",
    ("oracle", "not-followed"): "the references, or the engine that accepts what they cannot follow,",
}


@dataclass(frozen=True, slots=True)
class Disagree:
    """Wrong, and how.

    `stage` "oracle" means that the references contradict each other (or the case contradicts its own claim), so the
    target is not to blame. For a wrong value: `value` names the let or result of `@main`, `index` its worst element,
    which lies `times` the legal error from the reference (inf where the comparison is bitwise).
    """

    stage: str
    symptom: str
    culprit: str
    message: str
    value: str = ""
    index: tuple[int, ...] = ()
    got: float = 0.0
    low: float = 0.0
    high: float = 0.0
    times: float = 0.0

    @property
    def signature(self) -> Signature:
        """For a wrong value the message is empty: elements and numbers vary with the program, the culprit names it."""
        message = "" if self.value else self.message
        stage, symptom, culprit = (part.replace("/", "|") for part in (self.stage, self.symptom, self.culprit))
        return Signature(stage, symptom, culprit, message)

    @property
    def odd_one(self) -> str:
        """Who differs from the rest: the engine from two references that agree, one reference from the other, .."""
        return _ODD_ONES.get((self.stage, self.symptom), "the engine")

    def __str__(self) -> str:
        at = f" at `{self.culprit}`" if self.culprit else ""
        blame = f" ({self.odd_one} is wrong)" if self.stage == "oracle" else ""
        return f"{self.stage}: {self.symptom}{at}: {self.message}{blame}"


Verdict = Agree | Undecided | Disagree
