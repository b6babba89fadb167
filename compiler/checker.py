"""Whether a program may be compiled: the rules of names and types, and the elaborated tree.

Here: fns and `@main` as a whole. Expressions are in `inference.py`, what an op asks of its operands in `compiler.ops`.
Standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from compiler.inference import Results, infer_block, result_span
from compiler.ops import OPS
from compiler.scope import MAIN, MAX_VALUES, RESERVED, MaybeType, Scope, Signature, check_type
from compiler.source import Report, Span, TooManyErrors
from compiler.syntax import MAX_DEPTH, Block, Fn, Program, height, inputs
from compiler.types import TensorType


@dataclass(frozen=True, slots=True)
class Checked:
    """A program that obeys all rules.

    `program` is the elaborated tree: every bare `broadcast` has its shape, attributes stand in the order of the op's
    entry, nothing else is changed. `values[scope][name]` is the type of each `let`, parameter and carry, and
    `results[scope]` the flat result types; a scope is a fn's name or "@main".
    """

    program: Program
    values: dict[str, dict[str, TensorType]]
    results: dict[str, tuple[TensorType, ...]]


def check(program: Program) -> Checked:
    """Types a program. Raises `CompileError` with everything that is wrong with it."""
    report = Report()
    checked = Checked(program, {}, {})
    with suppress(TooManyErrors):  # it is among the diagnostics
        checked = _Check(program, report).run()
    report.raise_if_any()
    return checked


def signature(checked: Checked, name: str) -> tuple[tuple[TensorType, ...], tuple[TensorType, ...]]:
    """Parameter and result types of a fn; "main" gives the host inputs of `@main` and its results.

    Raises `KeyError` for a name that the program does not have.
    """
    main, fn = checked.program.main, checked.program.fn(name)
    if fn is not None:
        return tuple(param.type for param in fn.params), fn.results
    if name != "main" or main is None:
        raise KeyError(name)
    return tuple(inputs(main).values()), checked.results[MAIN]


class _Check:
    """One walk over a program, fns in order."""

    def __init__(self, program: Program, report: Report) -> None:
        self._program, self._report = program, report
        self._fns: dict[str, Signature] = {}
        self._names = frozenset(fn.name for fn in program.fns)
        self._scopes: dict[str, Scope] = {}
        self._results: dict[str, Results] = {}

    def run(self) -> Checked:
        """Where nothing is reported, nothing is unknown."""
        fns = tuple(self._fn(fn) for fn in self._program.fns)
        main = self._program.main and self._main(self._program.main)
        return Checked(
            replace(self._program, fns=fns, main=main),
            {name: {value: type_ for value, type_ in s.values.items() if type_} for name, s in self._scopes.items()},
            {name: tuple(type_ for type_, _ in found or () if type_) for name, found in self._results.items()},
        )

    def _scope(self, name: str) -> Scope:
        scope = Scope(name, OPS, self._fns, self._names, self._report)
        self._scopes[name] = scope
        return scope

    def _body(self, s: Scope, body: Block) -> tuple[Block, Results]:
        """A tree too high to recurse is refused first; the parser does so too, but not all trees are parsed."""
        levels, span = height(body)
        if levels <= MAX_DEPTH:
            return infer_block(s, body, script=s.name == MAIN)
        self._report.add("too-deep", f"an expression has at most {MAX_DEPTH} levels, got {levels}", span)
        return body, None

    def _main(self, main: Block) -> Block:
        if len(inputs(main)) > MAX_VALUES:
            self._report.add("value-limit", f"`@main` has at most {MAX_VALUES} host inputs, got more", main.span)
        body, self._results[MAIN] = self._body(self._scope(MAIN), main)
        return body

    def _fn(self, fn: Fn) -> Fn:
        """A fn's own name is not yet among those that its body may call."""
        self._check_name(fn)
        s = self._scope(fn.name)
        params = tuple((param.name, check_type(self._report, param.type, param.span)) for param in fn.params)
        for param, (name, type_) in zip(fn.params, params, strict=True):
            s.bind(name, type_, param.span)
        spans = fn.result_spans if len(fn.result_spans) == len(fn.results) else (fn.span,) * len(fn.results)
        declared = tuple(check_type(self._report, type_, span) for type_, span in zip(fn.results, spans, strict=True))
        if max(len(params), len(declared)) > MAX_VALUES:
            message = f"`{fn.name}` has at most {MAX_VALUES} parameters and as many results, got more"
            self._report.add("value-limit", message, fn.name_span)
        body, results = self._body(s, fn.body)
        if results is not None:
            self._check_results(fn, declared, results)
        self._results[fn.name] = results
        self._fns.setdefault(fn.name, Signature(params, declared))
        return replace(fn, body=body)

    def _check_name(self, fn: Fn) -> None:
        if fn.name in OPS or fn.name in RESERVED:
            what = "an op" if fn.name in OPS else RESERVED[fn.name]
            self._report.add("reserved-name", f"a fn cannot be named `{fn.name}`, which is {what}", fn.name_span)
        elif fn.name in self._fns:
            self._report.add("duplicate-fn", f"the fn `{fn.name}` is bound twice; rename one", fn.name_span)

    def _check_results(self, fn: Fn, declared: Sequence[MaybeType], results: Sequence[tuple[MaybeType, Span]]) -> None:
        if len(results) != len(declared):
            message = f"`{fn.name}` returns as many values as it declares: {len(declared)} declared, got {len(results)}"
            self._report.add("result-count", message, result_span(fn.body))
            return
        for number, (type_, (got, span)) in enumerate(zip(declared, results, strict=True), 1):
            if type_ is not None and got is not None and got != type_:
                message = f"`{fn.name}` declares {type_} as its result {number}, its body returns {got}"
                self._report.add("result-type", message, span)
