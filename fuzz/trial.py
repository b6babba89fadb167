"""One case on some variants: sandbox and references side by side, then the judge. Shared by all who judge cases.

The child compiles while the references are computed here. What is done with a verdict is the caller's business.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeGuard

from fuzz.blame import blamed, guilty_pass
from fuzz.engines import Request
from fuzz.reductions.tidy import without_claims
from fuzz.sandbox import Report, Sandbox
from fuzz.signature import signature_of
from oracles import judge
from oracles.case import Case, print_case
from oracles.claims import unseparated
from oracles.engine import Failure, Observation, Outcome
from oracles.inputs import make_inputs
from oracles.verdict import Agree, Disagree, Signature, Undecided, Verdict


@dataclass(frozen=True, slots=True)
class Trial:
    """One verdict for each variant asked for, and the seconds spent in each stage, here and in the child."""

    case: Case
    verdicts: dict[str, Verdict]
    seconds: dict[str, float]
    references: judge.References | None = None

    @property
    def verdict(self) -> str:
        """The case's: disagree if any variant's is, else refused, undecided or agree."""
        kinds = {_kind(verdict) for verdict in self.verdicts.values()}
        return next(kind for kind in WORST_FIRST if kind in kinds)

    def signatures(self) -> dict[Signature, list[str]]:
        """The signatures that were seen, each with the variants that showed it."""
        seen: dict[Signature, list[str]] = {}
        for variant, verdict in self.verdicts.items():
            if isinstance(verdict, Disagree):
                seen.setdefault(signature_of(verdict), []).append(variant)
        return seen


WORST_FIRST = ("disagree", "refused", "undecided", "agree")


def _kind(verdict: Verdict) -> str:
    if isinstance(verdict, Undecided):
        return "refused" if verdict.reason == "refused" else "undecided"
    return "disagree" if isinstance(verdict, Disagree) else "agree"


def try_case(
    sandbox: Sandbox,
    case: Case,
    variants: Iterable[str],
    drawn: bool = False,
    known: judge.References | None = None,
) -> Trial:
    """Run `case` on `variants` of the sandbox's engine and judge each. Raises `SandboxError`.

    `known` are the references of the same program on the same inputs, whatever the pipeline.

    A case that was just `drawn` may hold controls (claims of `!=`) that come out equal by accident of its numbers, a
    weight that no position attends to, say: they are dropped, where a case of a person or of the corpus is undecided.
    """
    if case.expect.kind == "error":
        return _try_refusal(sandbox, case, variants)
    asked = _ask(sandbox, case, tuple(variants), drawn, known)
    verdicts = {
        variant: _with_culprit(sandbox, asked, variant, asked.report.outcomes[variant], verdict)
        for variant, verdict in asked.verdicts.items()
    }
    return Trial(asked.references.case, verdicts, asked.report.seconds | asked.seconds, asked.references)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the child answered, judged, but nobody blamed yet."""

    references: judge.References
    report: Report
    verdicts: dict[str, Verdict]
    seconds: dict[str, float]


def _ask(
    sandbox: Sandbox, case: Case, variants: tuple[str, ...], drawn: bool, known: judge.References | None
) -> _Asked:
    inputs = make_inputs(case) if known is None else known.inputs
    sandbox.start(Request(print_case(case), case.pipeline, variants, dict(inputs)))
    began = time.perf_counter()
    references = replace(known, case=case) if known else judge.references(case, inputs)
    if drawn and known is None:
        references = replace(references, case=without_claims(case, unseparated(case.claims, references.base)))
    computed = time.perf_counter()
    report = sandbox.finish()
    returned = time.perf_counter()
    judged = {variant: _judged(references, outcome) for variant, outcome in report.outcomes.items()}
    seconds = {"references": computed - began, "judge": time.perf_counter() - returned}
    return _Asked(references, report, judged, seconds)


def _judged(references: judge.References, outcome: Outcome) -> Verdict:
    """End to end; where every let was seen, also in lockstep: there a wrong choice among equals shows.

    Where the pipeline is not the default one, a pass or a conversion may say no: that is no verdict on either.
    """
    if _is_refusal(outcome, references.case):
        return Undecided("refused", outcome.culprit)
    verdict = judge.judge(references, outcome)
    if isinstance(verdict, Disagree) or not isinstance(outcome, Observation):
        return verdict
    if references.base.lets.keys() - outcome.lets.keys():
        return verdict
    lockstep = judge.judge_lockstep(references, outcome)
    return lockstep if isinstance(lockstep, Disagree) else verdict


def _is_refusal(outcome: Outcome, case: Case) -> TypeGuard[Failure]:
    if not isinstance(outcome, Failure) or case.pipeline == "default":
        return False
    return (outcome.stage, outcome.symptom) == ("passes", "refused")


def _with_culprit(sandbox: Sandbox, asked: _Asked, variant: str, outcome: Outcome, verdict: Verdict) -> Verdict:
    """Who is to blame: the pass, where the case does not fail without it; else, for a wrong value, the op."""
    if not isinstance(verdict, Disagree) or verdict.stage in ("oracle", "passes"):
        return verdict
    case = asked.references.case

    def fails(pipeline: str) -> bool:
        other = replace(case, pipeline=pipeline)
        seen = _ask(sandbox, other, (variant,), drawn=False, known=asked.references).verdicts[variant]
        return isinstance(seen, Disagree) and (seen.stage, seen.symptom) == (verdict.stage, verdict.symptom)

    guilty = guilty_pass(case.pipeline, fails)
    if guilty:
        return replace(verdict, culprit=guilty)
    if not isinstance(outcome, Observation):
        return verdict
    whole = next(build[-1] for build in sandbox.builds if variant in build)
    return blamed(verdict, case, outcome.lets, lambda exposed: try_case(sandbox, exposed, [whole]).verdicts[whole])


def _try_refusal(sandbox: Sandbox, case: Case, variants: Iterable[str]) -> Trial:
    """A program that is to be refused has no values: only the diagnostic's code is judged."""
    report = sandbox.run(Request(print_case(case), case.pipeline, tuple(variants), {}))
    verdicts = {variant: _judge_refusal(case.expect.detail, outcome) for variant, outcome in report.outcomes.items()}
    return Trial(case, verdicts, report.seconds)


def _judge_refusal(code: str, outcome: Outcome) -> Verdict:
    if isinstance(outcome, Observation) or outcome.stage not in ("parse", "check", "protocol"):
        return Disagree("check", "accepted", "", f"expected error[{code}], but the program was accepted")
    if outcome.symptom == "refused" and outcome.culprit == code:
        return Agree()
    return Disagree(outcome.stage, outcome.symptom, outcome.culprit, outcome.message)
