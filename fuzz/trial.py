"""One case on some variants: sandbox and references side by side, then the judge. Shared by all who judge cases.

The child compiles while the references are computed here. What is done with a verdict is the caller's business.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from fuzz.blame import blamed
from fuzz.engines import Request
from fuzz.reductions.tidy import without_claims
from fuzz.sandbox import Sandbox
from fuzz.signature import signature_of
from oracles import judge
from oracles.case import Case, print_case
from oracles.claims import unseparated
from oracles.engine import Observation, Outcome
from oracles.inputs import make_inputs
from oracles.verdict import Agree, Disagree, Signature, Undecided, Verdict


@dataclass(frozen=True, slots=True)
class Trial:
    """One verdict for each variant asked for, and the seconds spent in each stage, here and in the child."""

    case: Case
    verdicts: dict[str, Verdict]
    seconds: dict[str, float]

    @property
    def verdict(self) -> str:
        """The case's: disagree if any variant's is, else undecided if any is, else agree."""
        kinds = {type(verdict) for verdict in self.verdicts.values()}
        return next(name for kind, name in _WORST_FIRST if kind in kinds)

    def signatures(self) -> dict[Signature, list[str]]:
        """The signatures that were seen, each with the variants that showed it."""
        seen: dict[Signature, list[str]] = {}
        for variant, verdict in self.verdicts.items():
            if isinstance(verdict, Disagree):
                seen.setdefault(signature_of(verdict), []).append(variant)
        return seen


_WORST_FIRST: tuple[tuple[type[Verdict], str], ...] = (
    (Disagree, "disagree"),
    (Undecided, "undecided"),
    (Agree, "agree"),
)


def try_case(sandbox: Sandbox, case: Case, variants: Iterable[str], drawn: bool = False) -> Trial:
    """Run `case` on `variants` of the sandbox's engine and judge each. Raises `SandboxError`.

    A case that was just `drawn` may hold controls (claims of `!=`) that come out equal by accident of its numbers, a
    weight that no position attends to, say: they are dropped, where a case of a person or of the corpus is undecided.
    """
    if case.expect.kind == "error":
        return _try_refusal(sandbox, case, variants)
    inputs = make_inputs(case)
    sandbox.start(Request(print_case(case), case.pipeline, tuple(variants), inputs))
    began = time.perf_counter()
    references = judge.references(case, inputs)
    if drawn:
        case = without_claims(case, unseparated(case.claims, references.base))
        references = replace(references, case=case)
    computed = time.perf_counter()
    report = sandbox.finish()
    returned = time.perf_counter()
    judged = {variant: _judged(references, outcome) for variant, outcome in report.outcomes.items()}
    verdicts = {
        variant: _with_op(sandbox, case, variant, outcome, judged[variant])
        for variant, outcome in report.outcomes.items()
    }
    own = {"references": computed - began, "judge": time.perf_counter() - returned}
    return Trial(case, verdicts, report.seconds | own)


def _judged(references: judge.References, outcome: Outcome) -> Verdict:
    """End to end; where every let was seen, also in lockstep: there a wrong choice among equals shows."""
    verdict = judge.judge(references, outcome)
    if isinstance(verdict, Disagree) or not isinstance(outcome, Observation):
        return verdict
    if references.base.lets.keys() - outcome.lets.keys():
        return verdict
    lockstep = judge.judge_lets(references.case.program, references.inputs, outcome)
    return lockstep if isinstance(lockstep, Disagree) else verdict


def _with_op(sandbox: Sandbox, case: Case, variant: str, outcome: Outcome, verdict: Verdict) -> Verdict:
    """A wrong value gets an op for its culprit, found by the variant of the same build that compiles all."""
    if not isinstance(verdict, Disagree) or not isinstance(outcome, Observation):
        return verdict
    whole = next(build[-1] for build in sandbox.builds if variant in build)
    return blamed(verdict, case, outcome.lets, lambda exposed: try_case(sandbox, exposed, [whole]).verdicts[whole])


def _try_refusal(sandbox: Sandbox, case: Case, variants: Iterable[str]) -> Trial:
    """A program that is to be refused has no values: only the diagnostic's code is judged."""
    report = sandbox.run(Request(print_case(case), case.pipeline, tuple(variants), {}))
    verdicts = {variant: _judge_refusal(case.expect.detail, outcome) for variant, outcome in report.outcomes.items()}
    return Trial(case, verdicts, report.seconds)


def _judge_refusal(code: str, outcome: Outcome) -> Verdict:
    if isinstance(outcome, Observation):
        return Disagree("check", "accepted", "", f"expected error[{code}], but the program was accepted")
    if outcome.symptom == "refused" and outcome.culprit == code:
        return Agree()
    return Disagree(outcome.stage, outcome.symptom, outcome.culprit, outcome.message)
