"""The rules of dependency, read from the import statements: who may import what, directly and by way of others.

Statements inside functions count. Those under `if TYPE_CHECKING:` count for the direct rules only: they import nothing
when the program runs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from compiler.ops import OPS
from oracles import numpy_reference, torch_reference
from oracles.rules import RULES

ROOT = Path(__file__).parent.parent
OWN = ("compiler", "oracles", "fuzz", "bench")


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {_module(path): path for package in OWN for path in sorted((ROOT / package).rglob("*.py"))}


@cache
def imports(module: str, running: bool) -> frozenset[str]:
    """What a module imports: our own modules by their full name, others by that of their package.

    `running` leaves out what only a type checker sees.
    """
    tree = ast.parse(FILES[module].read_text("utf-8"))
    return frozenset(_shortened(name) for name in _imported(tree, running))


def _imported(node: ast.AST, running: bool) -> Iterator[str]:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) if running:
            return
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(base), names=names, level=0):
            yield base
            yield from (f"{base}.{alias.name}" for alias in names)
        case ast.ImportFrom():
            raise AssertionError("a relative import: write the full name")
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _imported(child, running)


def _shortened(name: str) -> str:
    """`compiler.syntax.Apply` is in `compiler.syntax`; `mlir.ir` is `mlir`."""
    parts = name.split(".")
    if parts[0] not in OWN:
        return parts[0]
    while ".".join(parts) not in FILES and len(parts) > 1:
        parts.pop()
    return ".".join(parts)


@cache
def reached(module: str) -> frozenset[str]:
    """Everything that is imported when `module` is: itself, its parents' `__init__`, and theirs."""
    seen: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in FILES:
            todo += imports(name, True)
            todo += [name.rpartition(".")[0]] if "." in name else []
    return frozenset(seen)


def modules(*prefixes: str) -> list[str]:
    found = [name for name in FILES if any(name == p or name.startswith(p + ".") for p in prefixes)]
    assert found, f"no module is named {prefixes}"
    return found


def check_never_imports(who: list[str], *forbidden: str) -> None:
    for module in who:
        for name in imports(module, False):
            assert not any(name == f or name.startswith(f + ".") for f in forbidden), f"{module} imports {name}"


def check_never_reaches(who: list[str], *forbidden: str) -> None:
    for module in who:
        assert not reached(module) & set(forbidden), f"{module} imports {reached(module) & set(forbidden)} at last"


def check_only_in(package: str, *allowed: str) -> None:
    """No module but those below the `allowed` names it."""
    for module in FILES.keys() - set(modules(*allowed)):
        assert package not in imports(module, False), f"{module} imports {package}"


def test_the_compiler_knows_nothing_of_fuzzing() -> None:
    check_never_imports(modules("compiler"), "oracles", "fuzz", "bench", "tests")


def test_the_oracles_know_the_language_and_not_the_compiler() -> None:
    check_never_imports(modules("oracles"), "fuzz", "bench", "tests")
    language = {"compiler.syntax", "compiler.types", "compiler.source"}
    file_format = {"compiler.parser", "compiler.printer", "compiler.recipes"}
    more = {"oracles.case": file_format, "oracles.inputs": {"compiler.recipes"}}
    for module in modules("oracles"):
        own = {name for name in imports(module, False) if name.startswith("compiler.")}
        assert own <= language | more.get(module, set()), f"{module} imports {own - language}"


def test_nothing_imports_the_tests() -> None:
    check_never_imports(modules("fuzz", "bench"), "tests")


def test_the_front_end_needs_the_standard_library_only() -> None:
    for module in ("compiler.parser", "compiler.printer", "compiler.checker", "compiler.ops"):
        others = {name for name in reached(module) if name not in FILES} - sys.stdlib_module_names
        assert not others, f"{module} needs {others}"


def test_each_library_has_its_place() -> None:
    check_only_in("mlir", "compiler", "fuzz.engines")
    check_only_in("torch", "oracles.torch_reference", "oracles.transport", "oracles.tracing")
    check_only_in("hypothesis", "fuzz.generate")
    check_only_in("rich", "fuzz", "bench")


def test_nothing_reads_objects_from_bytes() -> None:
    check_never_imports(list(FILES), "pickle", "marshal", "shelve", "dill", "joblib")


def test_judging_runs_no_compiler() -> None:
    check_never_reaches([*modules("oracles"), *modules("fuzz.generate"), "fuzz.lane"], "mlir")
    check_never_reaches(modules("oracles"), "hypothesis", "rich")


def test_the_sandboxes_child_is_light() -> None:
    """What it imports it pays for after every crash."""
    check_never_reaches([*modules("fuzz.engines"), "fuzz.child"], "torch", "hypothesis", "rich")


@pytest.mark.parametrize(
    "table", [numpy_reference.TABLE, torch_reference.TABLE, RULES], ids=["numpy", "torch", "bounds"]
)
def test_every_op_stands_in_every_table(table: dict[str, object]) -> None:
    assert table.keys() == OPS.keys()


def test_the_rules_would_catch_a_breach() -> None:
    """The machinery sees imports of each form, and those of others."""
    tree = ast.parse("import a.b\nfrom compiler import syntax\ndef f():\n    from mlir.ir import Context")
    assert {_shortened(name) for name in _imported(tree, True)} == {"a", "compiler", "compiler.syntax", "mlir"}
    lazy = ast.parse("if TYPE_CHECKING:\n    import mlir")
    assert list(_imported(lazy, True)) == []
    assert list(_imported(lazy, False)) == ["mlir"]
    assert "torch" in reached("oracles.judge")
    assert "compiler.parser" in reached("oracles.inputs")
