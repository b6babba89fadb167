"""The judge as a whole, in small: no legal implementation is called wrong, and small errors are.

`tests/oracles/schedules.py` makes every choice that the language leaves to an implementation at random.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import mpmath
import numpy as np
import pytest
import torch

from bench.graphs import FLOATS, VALUES, draw_graph, draw_inputs
from bench.schedules import run_schedule
from compiler.types import F32, F64, DType
from fuzz.generate.draw import draw_cases
from fuzz.generate.storylm import storylm_cases
from oracles.case import Case
from oracles.engine import Array, Observation
from oracles.inputs import make_inputs
from oracles.judge import judge, judge_lets, references
from oracles.numpy_reference import NATIVE
from oracles.rounding import LIBM_ULPS
from oracles.verdict import Agree, Disagree

SCHEDULES = 3

# --- legal implementations


def check_sound(case: Case, inputs: dict[str, Array], rng: np.random.Generator, schedules: int) -> Counter[str]:
    """Several legal runs, judged in full and in lockstep; the verdicts counted by kind."""
    kinds: Counter[str] = Counter()
    refs = references(case, inputs)
    for _ in range(schedules):
        seen = run_schedule(case.program, inputs, rng)
        for verdict in (judge(refs, seen), judge_lets(case.program, inputs, seen)):
            assert not isinstance(verdict, Disagree), verdict
            kinds[type(verdict).__name__] += 1
    return kinds


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_no_legal_run_of_an_op_graph_is_called_wrong(dtype: DType, kind: str) -> None:
    rng = np.random.default_rng([7, *map(ord, kind), dtype.bits, dtype.precision])
    kinds: Counter[str] = Counter()
    for ops in (1, 1, 1, 2, 3, 4, 6, 9):
        program, n = draw_graph(rng, dtype, ops)
        kinds += check_sound(Case(program), draw_inputs(rng, dtype, n, kind), rng, SCHEDULES)
    assert kinds["Agree"] > 12, kinds  # it does not get there by leaving all open


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_no_legal_run_of_a_story_is_called_wrong(dtype: DType) -> None:
    rng = np.random.default_rng(11)
    for case in draw_cases(storylm_cases(dtype), 11, 3):
        check_sound(replace(case, claims=()), make_inputs(case), rng, 2)


# --- small errors


def scaled_results(op: str, which: int, factor: float) -> Callable[[str, Array], Array]:
    """Multiplies the result of the `which`-th `op` of a run."""
    seen = Counter[str]()

    def change(name: str, result: Array) -> Array:
        seen[name] += 1
        return result * factor if name == op and seen[name] == which + 1 else result

    return change


def visible(seen: Observation, clean: Observation) -> bool:
    """Does some float result differ by more than one part in 10^5 of its largest element?"""
    pairs = [(a, b) for a, b in zip(seen.results, clean.results, strict=True) if a.dtype.kind == "f"]
    with np.errstate(all="ignore"):
        return any(np.nanmax(np.abs(a - b), initial=0) > 1e-5 * np.nanmax(np.abs(b)) for a, b in pairs)


@pytest.mark.parametrize("op", ["softmax", "matmul"])
def test_a_relative_error_of_1e_4_in_one_result_is_caught_from_the_final_outputs(op: str) -> None:
    caught = met = 0
    for number, case in enumerate(draw_cases(storylm_cases(F32), 3, 14)):
        inputs = make_inputs(case)
        refs = references(replace(case, claims=()), inputs)
        for which in (0, 2):
            change = scaled_results(op, which, 1 + 1e-4)
            seen = run_schedule(case.program, inputs, np.random.default_rng(number), change)
            clean = run_schedule(case.program, inputs, np.random.default_rng(number))
            if visible(seen, clean):
                met += 1
                caught += isinstance(judge(refs, replace(seen, lets={})), Disagree)
    print(f"{op}: {caught} of {met} caught")
    assert met >= 7
    assert caught >= 0.95 * met


def test_the_bounds_are_not_much_wider_than_what_can_happen() -> None:
    """Median over elements of bound / largest error of 40 legal runs, F32, final outputs. Printed; asserted loosely."""
    ratios: list[float] = []
    for number, case in enumerate(draw_cases(storylm_cases(F32), 5, 3)):
        inputs = make_inputs(case)
        run = references(case, inputs).base
        values = [value for value in run.results if value.made is not None]
        bounds = run.bounds(values)
        worst = [np.zeros(value.array.shape) for value in values]
        for schedule in range(40):
            seen = run_schedule(case.program, inputs, np.random.default_rng([number, schedule]))
            outputs = [out for out, value in zip(seen.results, run.results, strict=True) if value.made is not None]
            worst = [np.maximum(w, np.abs(o - v.array)) for w, o, v in zip(worst, outputs, values, strict=True)]
        for bound, error in zip(bounds, worst, strict=True):
            if bound is not None:
                ratios += (bound[error > 0] / error[error > 0]).tolist()
    print(f"bound / largest error: median {np.median(ratios):.1f}, 90 % {np.percentile(ratios, 90):.1f}")
    assert 1 < np.median(ratios) < 100


# --- the library functions, against mpmath


FUNCTIONS: dict[str, tuple[Callable[..., object], Sequence[tuple[float, float]]]] = {
    "exp": (mpmath.exp, [(-1, 1), (-100, 88), (-745, 709), (-1e-9, 1e-9), (87, 88.7), (-104, -87), (709, 709.7)]),
    "log": (
        mpmath.log,
        [(0.5, 2), (0.999, 1.001), (1 - 1e-7, 1 + 1e-7), (1e-300, 1e-290), (1e-38, 1), (1, 1e38)],
    ),
    "tanh": (mpmath.tanh, [(-1, 1), (-1e-4, 1e-4), (-10, 10), (0.5, 0.6), (15, 23), (-1e-30, 1e-30)]),
}


def points(name: str, dtype: DType) -> Array:
    """Where the function is hard: uniformly from each of its ranges, as numbers of the dtype."""
    rng = np.random.default_rng(13)
    drawn = np.concatenate([rng.uniform(low, high, 60) for low, high in FUNCTIONS[name][1]])
    held = drawn.astype(NATIVE[dtype.name])
    normal = np.abs(held.astype(np.float64)) >= dtype.smallest_normal
    return held[normal] if name == "log" else held


def implementations(name: str, dtype: DType) -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """The C library's (which compiled code calls), and in F64 those of both references."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    kind = ctypes.c_double if dtype is F64 else ctypes.c_float
    function = getattr(library, name if dtype is F64 else f"{name}f")
    function.restype, function.argtypes = kind, [kind]
    yield "libm", lambda xs: np.array([function(float(x)) for x in xs], xs.dtype)
    if dtype is F64:
        yield "numpy", getattr(np, name)
        yield "torch", lambda xs: getattr(torch, name)(torch.from_numpy(xs)).numpy()


def ulps_off(computed: float, exact: mpmath.mpf, dtype: DType) -> float:
    """The error in units in the last place of the exact value, as the bounds count them."""
    if not math.isfinite(computed):
        return 0.0 if abs(exact) >= dtype.max_finite else math.inf
    exponent = max(int(mpmath.floor(mpmath.log(abs(exact), 2))), 1 - dtype.max_exponent)
    return float(abs(mpmath.mpf(computed) - exact) / mpmath.ldexp(1, exponent - dtype.precision + 1))


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_library_functions_stay_within_the_ulps_that_are_granted(name: str, dtype: DType) -> None:
    xs = points(name, dtype)
    with mpmath.workprec(200):
        exact = [FUNCTIONS[name][0](mpmath.mpf(float(x))) for x in xs]
        for source, function in implementations(name, dtype):
            with np.errstate(all="ignore"):
                results = function(xs)
            worst = max(ulps_off(float(r), e, dtype) for r, e in zip(results, exact, strict=True) if e != 0)
            print(f"{source} {name} {dtype}: {worst:.3f} ulp")
            assert worst <= LIBM_ULPS[name], source


def test_agreement_reports_how_close_it_came() -> None:
    case = draw_cases(storylm_cases(F32), 2, 1)[0]
    inputs = make_inputs(case)
    seen = run_schedule(case.program, inputs, np.random.default_rng(1))
    verdict = judge(references(replace(case, claims=()), inputs), seen)
    assert isinstance(verdict, Agree)
    assert 0 <= verdict.closest <= 1
