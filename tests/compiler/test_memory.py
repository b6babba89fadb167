"""Calls keep no memory, however many there are and whatever they return."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from multiprocessing import get_context

import numpy as np

from tests.compiler.test_abi import built

SIDE = 128  # 64 KiB of F32: what one lost buffer weighs
BIG = f"tensor<F32, [{SIDE}, {SIDE}], @host>"
HEAVY = f"""
let f = fn(x: {BIG}, n: tensor<I64, [], @host>) -> ({BIG}, {BIG}, {BIG}, {BIG}, tensor<F32, [{SIDE}, 1], @host>) {{
  let one = tensor<I64, [], @host> 1;
  let (m, y) = while (i: tensor<I64, [], @host> = one, a: {BIG} = -x) i < n {{ (i + one, -a) }};
  let z = x + y;
  (z, y, z, x, slice(z, axis=1, start=0, stop=1))
}}
"""
SMALL = "let f = fn(x: tensor<F32, [1024], @host>) -> tensor<F32, [1024], @host> { -x }"  # 4 KiB


def peak() -> int:
    """The most memory this process has ever had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def check_flat(work: Callable[[int], object], few: int, many: int, slack: int) -> None:
    """Much work takes no more memory than a little, but for `slack` bytes."""
    work(few)
    before = peak()
    work(many)
    assert peak() - before <= slack


def check_heavy_calls(build: str) -> None:
    """One lost buffer a call would be 32 MiB, one a trip 64 MiB."""
    x = np.ones((SIDE, SIDE), np.float32)
    with built(HEAVY, build) as compiled:
        check_flat(lambda count: [len(compiled.call("f", x, np.array(2))) for _ in range(count)], 10, 500, 4 << 20)
        check_flat(lambda count: compiled.call("f", x, np.array(count)), 10, 1000, 4 << 20)


def check_many_calls(build: str) -> None:
    """One lost buffer a call would be 80 MiB."""
    x = np.ones(1024, np.float32)
    with built(SMALL, build) as compiled:
        check_flat(lambda count: [len(compiled.call("f", x)) for _ in range(count)], 100, 20_000, 4 << 20)


def check_memory() -> None:
    for build in ("jit-O2", "so"):
        check_many_calls(build)
        check_heavy_calls(build)


def test_memory_is_flat_over_calls_and_over_trips_of_a_loop() -> None:
    """In a process of its own: a peak is never forgotten, and other tests have theirs."""
    child = get_context("spawn").Process(target=check_memory)
    child.start()
    child.join(120)
    assert child.exitcode == 0
