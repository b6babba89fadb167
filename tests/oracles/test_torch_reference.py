"""What only the PyTorch reference must do: stay differentiable, with the derivatives of calculus."""

from __future__ import annotations

from fractions import Fraction
from math import trunc
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.engine import Array
from oracles.torch_reference import TABLE, hold
from tests.oracles.operands import APPLICATIONS, FLOATS, Application

TILES = 33  # torch has one code for whole vectors and another for what is left over
NOT_DIFFERENTIABLE = {"less", "less_equal", "equal", "argmax"}


def smooth(application: Application) -> bool:
    """Whether there is a float operand to differentiate by: `select` has its last, `gather` its first."""
    _, dtypes, attrs = application
    return dtypes[-1].kind == "float" or (dtypes[0].kind == "float" and "dtype" not in attrs)


def check_gradient(op: str, application: Application, seed: int) -> None:
    """Autograd against finite differences (torch.autograd.gradcheck), at operands away from every kink."""
    args, dtypes, attrs = application
    random = np.random.default_rng(seed)
    values = [
        hold(random.permutation(np.linspace(0.5, 3.5, arg.size) + 0.01 * place).reshape(arg.shape))
        if dtype in FLOATS
        else hold(arg)
        for place, (arg, dtype) in enumerate(zip(args, dtypes, strict=True))
    ]
    for value in values:
        value.requires_grad_(value.dtype == torch.float64)
    assert torch.autograd.gradcheck(lambda *operands: TABLE[op](*operands, **attrs), values)


@pytest.mark.parametrize("op", sorted(APPLICATIONS.keys() - NOT_DIFFERENTIABLE))
@settings(max_examples=4, deadline=None, derandomize=True)
@given(data=st.data())
def test_gradients(op: str, data: st.DataObject) -> None:
    application = data.draw(APPLICATIONS[op].filter(smooth))
    if op == "cast":
        application[2]["dtype"] = data.draw(st.sampled_from(FLOATS)).name
    check_gradient(op, application, data.draw(st.integers(0, 99)))


@given(a=st.floats(allow_nan=False, allow_infinity=False), b=st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_rem_is_exact_at_any_distance(a: float, b: float) -> None:
    if b == 0:
        return
    exact = Fraction(a) - trunc(Fraction(a) / Fraction(b)) * Fraction(b)
    tiled = TABLE["rem"](hold(np.tile(a, TILES)), hold(np.tile(b, TILES)))
    assert [Fraction(value) for value in tiled.tolist()] == [exact] * TILES


def test_a_scaled_rem_still_has_its_derivative() -> None:
    a, b = (torch.tensor([value], dtype=torch.float64, requires_grad=True) for value in (7.5, 2.0))
    TABLE["rem"](a, b).backward()  # type: ignore[no-untyped-call] # torch leaves Tensor.backward untyped
    assert a.grad is not None
    assert b.grad is not None
    assert (a.grad.item(), b.grad.item()) == (1.0, -3.0)


@pytest.mark.parametrize("native", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_hold_is_fresh_float64(native: type[Any]) -> None:
    array: Array = np.ones(2, native)
    held = hold(array)
    held[0] = 5
    assert held.dtype == torch.float64
    assert array[0] == 1
