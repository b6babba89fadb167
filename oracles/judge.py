"""The verdict on what an engine made of a case.

The references of a case are computed once (`references`) and serve every engine variant (`judge`). A value that lies
within what its last rounding alone allows is fine and one beyond the forward bound is not; only in between is the sharp
bound needed, a backward pass. Where an argmax is open and the target's choice was seen and is admissible, the
references are run again on that choice. What is allowed is `tracing`'s, how arrays are compared is `compare`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from compiler.syntax import Apply, Block, Expr, Name, Program, While
from oracles.case import Case, Claim
from oracles.choices import Choice, Seen, admissible
from oracles.claims import judge_claims, unseparated
from oracles.compare import Allowed, Difference, form_difference, ratio, worst_difference
from oracles.echoes import echo_bound
from oracles.engine import Array, Failure, Observation, Outcome
from oracles.evaluator import EvaluationError
from oracles.traced import Contradiction, Trace, Traced
from oracles.tracing import trace
from oracles.verdict import Agree, Disagree, Undecided, Verdict

Shown = frozenset[object]
"""Every value that an engine showed, by its name, form and bytes, and what was asked about them."""


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """Both references' values of one case and their bounds; runs on other choices of open argmaxes are kept.

    `agreed`: what was shown and found right, so that the same bits of another variant need no second look.
    """

    case: Case
    inputs: Mapping[str, Array]
    base: Trace
    agreed: dict[Shown, Agree] = field(default_factory=dict)
    followed: dict[tuple[tuple[int, bytes], ...], Trace] = field(default_factory=dict)

    def run(self, follow: Mapping[int, Array]) -> Trace:
        """The run that takes over these choices."""
        if not follow:
            return self.base
        key = tuple((serial, choice.tobytes()) for serial, choice in follow.items())
        if key not in self.followed:
            *others, _ = follow.items()
            self.followed[key] = trace(self.case.program, self.inputs, dict(follow), before=self.run(dict(others)))
        return self.followed[key]


def references(case: Case, inputs: Mapping[str, Array]) -> References:
    """Runs both references on native inputs. Where they cannot follow the program, that is what `judge` will say."""
    try:
        return References(case, inputs, trace(case.program, inputs))
    except EvaluationError as error:
        return References(case, inputs, Trace(stopped=str(error)))


def separated(case: Case, inputs: Mapping[str, Array]) -> list[Claim]:
    """The `!=` claims of a case that are useless: the references themselves cannot tell the two sides apart."""
    return unseparated(case.claims, references(case, inputs).base)


def judge_case(case: Case, inputs: Mapping[str, Array], outcome: Outcome) -> Verdict:
    """`judge` for a single outcome."""
    return judge(references(case, inputs), outcome)


def judge(refs: References, outcome: Outcome) -> Verdict:
    """The first thing wrong in the order of `@main`, claims last; else the first thing unknown; else Agree."""
    if isinstance(outcome, Failure):
        return Disagree(outcome.stage, outcome.symptom, outcome.culprit, outcome.message)
    if refs.base.stopped:
        return Disagree("oracle", "not-followed", "", refs.base.stopped)
    if refs.base.contradiction is not None:
        return _contradicted(refs.base.contradiction)
    if len(outcome.results) != len(refs.base.results):
        return Disagree(
            "run", "wrong-results", "main", f"{len(outcome.results)} results, must be {len(refs.base.results)}"
        )
    shown = _shown(outcome.lets) | _shown({f"[{at}]": result for at, result in enumerate(outcome.results)})
    shown |= {refs.case.claims}
    known = next((verdict for more, verdict in refs.agreed.items() if shown <= more), None)
    verdict = known or _judged(refs, outcome)
    if isinstance(verdict, Agree):
        refs.agreed[shown] = verdict
    return verdict


def _shown(values: Mapping[str, Array]) -> Shown:
    return frozenset((name, value.dtype.str, value.shape, value.tobytes()) for name, value in values.items())


def _judged(refs: References, outcome: Observation) -> Verdict:
    follow: dict[int, Array] = {}
    while True:
        run = refs.run(follow)
        verdict = _judge_seen(list(observed(refs.case.program, run, outcome)), run)
        if not isinstance(verdict, Choice):
            break
        follow[verdict.serial] = verdict.choice
    if isinstance(verdict, Disagree):
        return verdict
    claimed = judge_claims(refs.case, run, outcome)
    if isinstance(claimed, Disagree) or isinstance(verdict, Agree):
        return claimed or verdict
    return verdict


def _contradicted(found: Contradiction) -> Disagree:
    return Disagree("oracle", "contradiction", found.op, f"in {found.path}: {found.message}", found.path)


def judge_lockstep(refs: References, outcome: Observation) -> Verdict:
    """`judge_lets`, with what is known of the case."""
    shown = _shown(outcome.lets) | {"lockstep"}
    verdict = refs.agreed.get(shown) or judge_lets(refs.case.program, refs.inputs, outcome, refs.base)
    if isinstance(verdict, Agree):
        refs.agreed[shown] = verdict
    return verdict


def judge_lets(
    program: Program, inputs: Mapping[str, Array], outcome: Observation, before: Trace | None = None
) -> Verdict:
    """Lockstep: each observed let of `@main` by itself, from the target's own values of the lets before it.

    Nothing compounds from let to let. Where every let is one op, the first that is wrong names its culprit.
    """
    run = trace(program, inputs, given=outcome.lets, before=before)
    if run.contradiction is not None:
        return _contradicted(run.contradiction)
    culprits = _culprits(program)
    seen = [Seen(name, culprits[name], outcome.lets[name], value) for name, value in run.pinned.items()]
    verdict = _judge_seen(seen, run, lockstep=True)
    return Agree() if isinstance(verdict, Choice) else verdict


def observed(program: Program, run: Trace, outcome: Observation) -> Iterator[Seen]:
    """The observed lets in the order of `@main`, then the results that are not among them."""
    main = program.main if program.main is not None else Block((), ())
    culprits = _culprits(program)
    for name, value in run.lets.items():
        if name in outcome.lets:
            yield Seen(name, culprits[name], outcome.lets[name], value)
    blame = _result_culprits(main, culprits, len(run.results))
    for index, (value, target) in enumerate(zip(run.results, outcome.results, strict=True)):
        if not any(target is array for array in outcome.lets.values()):
            yield Seen(f"result[{index}]", blame[index], target, value)


def _culprits(program: Program) -> dict[str, str]:
    """What each let of `@main` applies."""
    lets = program.main.lets if program.main is not None else ()
    return {name: _callee(let.value) for let in lets for name in let.names}


def _callee(expr: Expr) -> str:
    match expr:
        case Apply():
            return expr.callee
        case While():
            return "while"
        case Name():
            return "let"
        case _:
            return "input"


def _result_culprits(main: Block, culprits: Mapping[str, str], count: int) -> list[str]:
    if len(main.result) != count:  # a call with several results is flattened
        return ["result"] * count
    return [culprits[e.id] if isinstance(e, Name) and e.id in culprits else _callee(e) for e in main.result]


def _judge_seen(seen: list[Seen], run: Trace, lockstep: bool = False) -> Verdict | Choice:
    """The first that is wrong or chooses, else the first that is unknown. In lockstep a legal choice stands."""
    run.sharpen(_doubtful(seen, run))
    undecided: Undecided | None = None
    agree = Agree()
    for item in seen:
        verdict = judge_value(item, run)
        if isinstance(verdict, Disagree) or (isinstance(verdict, Choice) and not lockstep):
            return verdict
        if isinstance(verdict, Undecided):
            undecided = undecided or verdict
        if isinstance(verdict, Agree):
            agree = agree + verdict
    return undecided or agree


def _doubtful(seen: list[Seen], run: Trace) -> list[tuple[Traced, Array]]:
    """The elements in doubt, up to the first value beyond even the loose bound: what follows a wrong value is wrong."""
    doubtful = []
    for item in seen:
        doubt = _in_doubt(item, run)
        if doubt is None:
            continue
        if (ratio(item.target, Allowed(item.value.array, item.value.dtype, item.value.err)) > 1).any():
            break
        doubtful.append((item.value, doubt))
    return doubtful


def _in_doubt(item: Seen, run: Trace) -> Array | None:
    """Where an element lies farther off than the last rounding explains, so that the sharp bound must be known."""
    value = item.value
    if value.made is None or value.err is None or item.target.shape != value.array.shape:
        return None
    least = run.least_bound(value)
    loose = np.isfinite(value.err) & (value.err > least * (1 + 2.0**-20))
    doubt = loose & (ratio(item.target, Allowed(value.array, value.dtype, least)) > 1)
    if not doubt.any():
        return None
    doubt &= ratio(item.target, Allowed(value.array, value.dtype, echo_bound(run, value))) > 1
    return doubt if doubt.any() else None


def judge_value(item: Seen, run: Trace) -> Agree | Undecided | Disagree | Choice:
    """One value, by the sharpest bound that has been computed."""
    value, target = item.value, item.target
    found = form_difference(item.name, target, value.dtype, value.array.shape)
    if found is not None:
        return _disagree(item, found)
    error = ratio(target, Allowed(value.array, value.dtype, run.bound(value)))
    closest = float(error.max())
    if closest > 1:
        return _disagree(item, _worst(item, run, error))
    if value.err is None:
        return Agree(target.size, target.size)
    if value.unknown is not None:
        return admissible(item, run) or value.unknown
    return Agree(target.size, int((value.err == 0).sum()), closest)


def _disagree(item: Seen, found: Difference) -> Disagree:
    where = (found.index, found.got, found.low, found.high, found.times)
    return Disagree("run", found.symptom, item.culprit, found.message, item.name, *where)


def _worst(item: Seen, run: Trace, error: Array) -> Difference:
    """The worst element, measured by its sharp bound."""
    value = item.value
    run.sharpen([(value, error == error.max())])
    allowed = Allowed(value.array, value.dtype, run.bound(value))
    return worst_difference(item.name, item.target, allowed, ratio(item.target, allowed))
