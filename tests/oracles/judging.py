"""Programs, outcomes and checks for the tests of the judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from bench.schedules import run_schedule
from compiler.parser import parse
from oracles.case import Case, Claim, Relation
from oracles.engine import Array, Observation
from oracles.verdict import Disagree, Undecided, Verdict

Inputs = Mapping[str, Array]


def case(text: str, *claims: str) -> Case:
    """A case of the program in `text`; claims as in a header."""
    parts = [claim.split() for claim in claims]
    relations = [Claim(left, cast("Relation", relation), right) for left, relation, right in parts]
    return Case(parse(text), claims=tuple(relations))


def f32(*rows: ArrayLike) -> Array:
    return np.array(rows if len(rows) > 1 else rows[0], np.float32)


def drawn(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def legal(program: Case, inputs: Inputs, seed: int = 0) -> Observation:
    return run_schedule(program.program, inputs, np.random.default_rng(seed))


def changed(seen: Observation, name: str, change: Callable[[Array], Array]) -> Observation:
    """The observation with one let changed, in the results too."""
    new = change(seen.lets[name].copy())
    results = tuple(new if result is seen.lets[name] else result for result in seen.results)
    return Observation({**seen.lets, name: new}, results)


def poke(index: tuple[int, ...], value: float) -> Callable[[Array], Array]:
    """One element set to `value`."""

    def change(array: Array) -> Array:
        array[index] = value
        return array

    return change


def scale(index: tuple[int, ...], factor: float) -> Callable[[Array], Array]:
    return lambda array: poke(index, float(array[index]) * factor)(array)


def check_wrong(verdict: Verdict, symptom: str, culprit: str, says: str = "", stage: str = "run") -> Disagree:
    assert isinstance(verdict, Disagree), verdict
    assert (verdict.stage, verdict.symptom, verdict.culprit) == (stage, symptom, culprit), verdict
    assert says in verdict.message, verdict.message
    return verdict


def check_open(verdict: Verdict, reason: str, op: str) -> None:
    assert verdict == Undecided(reason, op)  # type: ignore[arg-type] # any text is compared


ATTENTION = """
let attend = fn(q: tensor<F32, [1, 3, 4], @host>, k: tensor<F32, [1, 4, 3], @host>, v: tensor<F32, [1, 3, 4], @host>,
                mask: tensor<F32, [1, 3, 3], @host>) -> (tensor<F32, [1, 3, 4], @host>) {
  let probs = softmax(q @ k + mask, axis=2);
  (probs @ v)
}
@main {
  let q = tensor<F32, [1, 3, 4], @host>;
  let k = tensor<F32, [1, 4, 3], @host>;
  let v = tensor<F32, [1, 3, 4], @host>;
  let mask = tensor<F32, [1, 3, 3], @host>;
  let context = attend(q, k, v, mask);
  let logits = context * context;
  let next = argmax(logits, axis=2);
  (context, logits, next)
}
"""
CAUSAL = np.where(np.tril(np.ones((1, 3, 3))) > 0, 0.0, -np.inf).astype(np.float32)
INPUTS = {"q": drawn((1, 3, 4), 1), "k": drawn((1, 4, 3), 2), "v": drawn((1, 3, 4), 3), "mask": CAUSAL}
PRODUCT = """@main {
  let a = tensor<F32, [2, 3], @host>;
  let b = tensor<F32, [3, 2], @host>;
  let c = a @ b;
  (c)
}"""
DYADIC = {"a": f32([1, 2, 3], [0.5, -4, 1]), "b": f32([1, 0.25], [2, -1], [3, 8])}

CHOICE = """@main {
  let a = tensor<F32, [1, 3], @host>;
  let w = tensor<F32, [3, 4], @host>;
  let rows = tensor<F32, [4, 2], @host>;
  let logits = a @ w;
  let best = argmax(logits, axis=1);
  let row = gather(rows, best) * gather(rows, best);
  (logits, best, row)
}"""
NEAR = {"a": drawn((1, 3), 4), "w": drawn((3, 4), 5), "rows": drawn((4, 2), 6)}
NEAR["w"][:, 3] = NEAR["w"][:, 1]
NEAR["w"][2, 3] = np.nextafter(NEAR["w"][2, 3], np.float32(9))
NEAR["a"] *= np.sign(NEAR["a"] @ NEAR["w"][:, 1])  # the near pair is the maximum


def with_choice(index: int) -> Observation:
    """A target whose argmax took `index` and went on from there."""
    seen = legal(case(CHOICE), NEAR)
    row = NEAR["rows"][[index]] ** 2
    lets = {**seen.lets, "best": np.array([index]), "row": row}
    return Observation(lets, (lets["logits"], lets["best"], row))
