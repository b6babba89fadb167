"""The meaning of a program, walked once for both references: names, calls, tuples, `while`, bare `broadcast`.

What an op computes is the library's business (`numpy_reference`, `torch_reference`); so are shapes: nothing here asks
the checker, and the tree may be the one before or after checking. Nothing here rounds: floats are float64 whatever
their dtype says. An overflow of the dtype, a rounding, a bound or a recorded value is added by the hooks of `Hooks`,
which see every op (`apply`), every value that gets a name (`bind`) and every fn call (`call`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from compiler.source import NO_SPAN, Span
from compiler.syntax import Apply, AttrValue, Block, Expr, Fn, Let, Literal, Name, Placeholder, Program, While
from compiler.types import BOOL, DTYPES, I64, DType
from oracles.engine import Array

A = TypeVar("A")  # an array of the library: np.ndarray or torch.Tensor
Attrs = Mapping[str, AttrValue]

STEP_CAP = 20_000  # ops, calls and trips of one run: a rollout of 32 tokens takes 1,000, and no program may hang us
REFUSALS = (TypeError, ValueError, IndexError, RuntimeError, MemoryError)
"""What NumPy and PyTorch raise on operands that an op does not take."""


class EvaluationError(Exception):
    """A program that the reference cannot follow. The message names the value and what is wrong with it."""


@dataclass(frozen=True, slots=True, eq=False)
class Val(Generic[A]):
    """One value: a float64, int32, int64 or bool array of the library, and the dtype that Kina gives it."""

    array: A
    dtype: DType


@dataclass(frozen=True, slots=True)
class Site:
    """Where in a run something happens.

    `path` is the name of the `let` in the making: `z4` in `@main`, `decode_s3#2.probs` in the second call of
    `decode_s3` (calls are counted over the whole run, from 1), `x@0` in the first trip of a `while`, `w.cond@0` for
    its condition and `decode_s3#2.result[1]` for an expression in a result tuple. `span` is the op's, where it has one.
    """

    path: str
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Library(Generic[A]):
    """What the walk needs of an array library.

    `table` holds one function per op: operands' arrays by position, attributes by name. `hold` makes a fresh library
    array of a NumPy one: any float as float64, ints and bools as they are.
    """

    table: Mapping[str, Callable[..., A]]
    hold: Callable[[Array], A]


@dataclass(frozen=True, slots=True)
class Hooks(Generic[A]):
    """What a caller may put in the walk's way; each may do its own work before, after or instead of the default.

    `apply(op, args, attrs, site)` returns the op's result; default: `Library.table`, see `apply_table`.
    `bind(site, value)` is told of each value as it gets its name (lets, carries at the start of each trip, the
    condition of a `while`) and returns the value to go on with: record it, or substitute it.
    `call(name, args, site)` returns the results of a fn; default: its body is walked.
    """

    apply: Callable[[str, Sequence[Val[A]], Attrs, Site], Val[A]] | None = None
    bind: Callable[[Site, Val[A]], Val[A]] | None = None
    call: Callable[[str, Sequence[Val[A]], Site], Sequence[Val[A]]] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation(Generic[A]):
    """Every let of `@main` by name, inputs included, and its results, flat."""

    lets: dict[str, Val[A]]
    results: tuple[Val[A], ...]


def evaluate(
    program: Program,
    inputs: Mapping[str, Array],
    library: Library[A],
    hooks: Hooks[A] | None = None,
) -> Evaluation[A]:
    """Runs `@main` on `inputs` (native dtypes, by placeholder). Raises `EvaluationError`, and what the hooks raise."""
    if program.main is None:
        raise EvaluationError("the program has no @main")
    walk = _Walk(program, inputs, library, hooks if hooks is not None else Hooks())
    lets: dict[str, Val[A]] = {}
    try:
        results = walk.block(program.main, lets, _Scope(""))
    except RecursionError as error:
        raise EvaluationError("the program's calls are nested too deep for the reference") from error
    return Evaluation(lets, tuple(results))


def apply_table(library: Library[A], op: str, args: Sequence[Val[A]], attrs: Attrs) -> Val[A]:
    """The library's own result of one op, and the dtype that the language gives it. Raises `EvaluationError`."""
    try:
        array = library.table[op](*(arg.array for arg in args), **attrs)
    except REFUSALS as error:
        raise EvaluationError(f"`{op}`: {error}") from error
    return Val(array, result_dtype(op, args, attrs))


def result_dtype(op: str, args: Sequence[Val[Any]], attrs: Attrs) -> DType:
    """The language's dtype rule; whether the library agrees is for the judge to see."""
    if op in ("less", "less_equal", "equal"):
        return BOOL
    if op == "argmax":
        return I64
    if op == "cast":
        return DTYPES[str(attrs["dtype"])]
    return args[1 if op == "select" else 0].dtype


@dataclass(frozen=True, slots=True)
class _Scope:
    """How a name in sight is written in a path: the call before it, the trip behind it."""

    prefix: str
    suffix: str = ""

    def site(self, name: str, span: Span = NO_SPAN) -> Site:
        return Site(f"{self.prefix}{name}{self.suffix}", span)


Env = dict[str, Val[A]]


class _Walk(Generic[A]):
    """One run. Its state: how often each fn was called, which names the calls, and how many steps were taken."""

    def __init__(self, program: Program, inputs: Mapping[str, Array], library: Library[A], hooks: Hooks[A]) -> None:
        self.fns = {fn.name: fn for fn in program.fns}
        self.inputs, self.library, self.hooks = inputs, library, hooks
        self.calls: Counter[str] = Counter()
        self.steps = 0

    def block(self, block: Block, env: Env[A], scope: _Scope) -> list[Val[A]]:
        """The results of a block; its lets are added to `env`."""
        for let in block.lets:
            self.let(let, env, scope)
        results: list[Val[A]] = []
        for index, expr in enumerate(block.result):
            results += self.values(expr, env, scope, f"result[{index}]")
        return results

    def let(self, let: Let, env: Env[A], scope: _Scope) -> None:
        values = self.values(let.value, env, scope, let.names[0])
        if len(values) != len(let.names):
            raise EvaluationError(f"`{', '.join(let.names)}` names {len(let.names)} values of {len(values)}")
        for name, value in zip(let.names, values, strict=True):
            env[name] = self.bound(scope.site(name, let.span), value)

    def bound(self, site: Site, value: Val[A]) -> Val[A]:
        return value if self.hooks.bind is None else self.hooks.bind(site, value)

    def value(self, expr: Expr, env: Env[A], scope: _Scope, name: str) -> Val[A]:
        values = self.values(expr, env, scope, name)
        if len(values) != 1:
            raise EvaluationError(f"an operand in `{scope.site(name).path}` is {len(values)} values, not one")
        return values[0]

    def values(self, expr: Expr, env: Env[A], scope: _Scope, name: str) -> list[Val[A]]:
        """What an expression is worth: several values for a call or a `while`, one for the rest."""
        match expr:
            case Name():
                if expr.id not in env:
                    raise EvaluationError(f"`{expr.id}` in `{scope.site(name).path}` is not bound")
                return [env[expr.id]]
            case Literal():
                return [Val(self.library.hold(literal_array(expr)), expr.type.dtype)]
            case Placeholder():
                return [self.placeholder(expr, name)]
            case While():
                return self.loop(expr, env, scope, name)
            case Apply():
                site = scope.site(name, expr.span)
                args = self.operands(expr, env, scope, name)
                fn = self.fns.get(expr.callee)
                return list(self.call(fn, args, site)) if fn else [self.op(expr.callee, args, dict(expr.attrs), site)]

    def placeholder(self, expr: Placeholder, name: str) -> Val[A]:
        if name not in self.inputs:
            raise EvaluationError(f"the input `{name}` is not given")
        return Val(self.library.hold(self.inputs[name]), expr.type.dtype)

    def operands(self, expr: Apply, env: Env[A], scope: _Scope, name: str) -> list[Val[A]]:
        """The operands' values; a bare `broadcast` among them takes its shape from the others."""
        bare = [_bare_operand(arg) for arg in expr.args]
        if not any(bare):
            return [self.value(arg, env, scope, name) for arg in expr.args]
        values = [
            self.value(arg if inner is None else inner, env, scope, name)
            for arg, inner in zip(expr.args, bare, strict=True)
        ]
        siblings = [value for value, inner in zip(values, bare, strict=True) if inner is None]
        return [
            value if inner is None else self.expanded(expr.callee, value, siblings, scope.site(name, arg.span))
            for arg, value, inner in zip(expr.args, values, bare, strict=True)
        ]

    def expanded(self, op: str, value: Val[A], siblings: Sequence[Val[A]], site: Site) -> Val[A]:
        return self.op("broadcast", [value], {"shape": _sibling_shape(op, value, siblings, site)}, site)

    def step(self, site: Site) -> None:
        self.steps += 1
        if self.steps > STEP_CAP:
            raise EvaluationError(f"the program has not ended after {STEP_CAP} steps, at `{site.path}`")

    def op(self, op: str, args: Sequence[Val[A]], attrs: Attrs, site: Site) -> Val[A]:
        if op not in self.library.table:
            raise EvaluationError(f"`{op}` in `{site.path}` is neither an op nor a fn")
        self.step(site)
        if self.hooks.apply is not None:
            return self.hooks.apply(op, args, attrs, site)
        return apply_table(self.library, op, args, attrs)

    def call(self, fn: Fn, args: Sequence[Val[A]], site: Site) -> Sequence[Val[A]]:
        if len(args) != len(fn.params):
            raise EvaluationError(f"`{fn.name}` in `{site.path}` takes {len(fn.params)} values, got {len(args)}")
        self.step(site)
        if self.hooks.call is not None:
            return self.hooks.call(fn.name, args, site)
        self.calls[fn.name] += 1
        env = {param.name: arg for param, arg in zip(fn.params, args, strict=True)}
        return self.block(fn.body, env, _Scope(f"{fn.name}#{self.calls[fn.name]}."))

    def loop(self, loop: While, env: Env[A], scope: _Scope, name: str) -> list[Val[A]]:
        carried = [self.value(carry.init, env, scope, name) for carry in loop.carries]
        trip = 0
        while True:  # ended by the condition, or by `step`
            inside = _Scope(scope.prefix, f"{scope.suffix}@{trip}")
            self.step(inside.site(name))
            trip_env = dict(env)
            for carry, value in zip(loop.carries, carried, strict=True):
                trip_env[carry.name] = self.bound(inside.site(carry.name, carry.span), value)
            if not self.goes_on(loop, trip_env, inside, f"{name}.cond"):
                return [trip_env[carry.name] for carry in loop.carries]
            carried = self.block(loop.body, trip_env, inside)
            if len(carried) != len(loop.carries):
                raise EvaluationError(f"the `while` in `{name}` carries {len(loop.carries)} values, not {len(carried)}")
            trip += 1

    def goes_on(self, loop: While, env: Env[A], scope: _Scope, name: str) -> bool:
        cond = self.bound(scope.site(name), self.value(loop.cond, env, scope, name))
        if cond.dtype is not BOOL or math.prod(_shape(cond)) != 1:
            raise EvaluationError(
                f"`{scope.site(name).path}` is {cond.dtype} of shape {list(_shape(cond))}, not one BOOL"
            )
        return bool(cond.array.reshape(()).item())  # type: ignore[attr-defined] # both libraries' arrays have it


def literal_array(literal: Literal) -> Array:
    """The constant as float64, its own int or bool: the values are already rounded to the dtype."""
    dtype = literal.type.dtype
    held = {"float": "float64", "int": f"int{dtype.bits}", "bool": "bool"}[dtype.kind]
    array: Array = np.array(literal.values, np.dtype(held)).reshape(literal.type.shape)
    return array


def _bare_operand(expr: Expr) -> Expr | None:
    """The x of a bare `broadcast(x)`."""
    if isinstance(expr, Apply) and expr.callee == "broadcast" and not expr.attrs and len(expr.args) == 1:
        return expr.args[0]
    return None


def _sibling_shape(op: str, value: Val[A], siblings: Sequence[Val[A]], site: Site) -> tuple[int, ...]:
    """The shape a bare `broadcast` expands to: the sibling's; beside `@` only the sibling's batch dims."""
    if not siblings:
        raise EvaluationError(f"a bare `broadcast` in `{site.path}` has no sibling operand to take its shape from")
    shape = _shape(siblings[0])
    if op != "matmul":
        return shape
    padded = (1,) * (len(shape) - len(_shape(value))) + _shape(value)
    return (*shape[:-2], *padded[-2:])


def _shape(value: Val[Any]) -> tuple[int, ...]:
    return tuple(int(dim) for dim in value.array.shape)
