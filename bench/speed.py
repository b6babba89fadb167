"""`make bench`: how fast a campaign's work is, where its time goes, and how the command-line tools compare.

`python -m bench.speed [--json] [--seed N] [--programs N]`. One run draws programs as a campaign does and takes each
through the whole loop, on the default pipeline and on drawn ones; then the compiler's part of the same work is done by
the engine, which keeps its contexts and its pipelines, and by `mlir-opt | mlir-translate | llc | cc | dlopen`. Figures
are of one run on one machine: nothing is asserted.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from compiler import pipeline
from fuzz.display import COMPILER_STAGES
from fuzz.engines import Request
from fuzz.generate.families import Drawn, draw_programs
from fuzz.lane import runs
from fuzz.process import ROOT, confine
from fuzz.sandbox import Limits, Sandbox
from fuzz.trial import try_case
from oracles.case import parse_case, print_case
from oracles.inputs import make_inputs
from oracles.judge import References

ENGINE = "fuzz.engines.kina"
PIPELINES = 2  # as a campaign draws them
WARM = 3  # programs before the clock starts: the first cases load what the others find loaded, here and in the child
TOOL_SECONDS = 120
SEED, PROGRAMS = 5, 60
MEMREF = "finalize-memref-to-llvm"
PLAIN_PASSES = ",".join(  # what the tools have no runtime for is left out: its passes, and its functions for memory
    MEMREF if step.name == MEMREF else step.text for step in pipeline.DEFAULT.passes if step.name not in pipeline.OURS
)

Figures = dict[str, Any]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--programs", type=int, default=PROGRAMS, help="how many are drawn (%(default)s)")
    options = parser.parse_args()
    figures = measure(options.seed, options.programs)
    print(json.dumps(figures, indent=2)) if options.json else show(figures)


def measure(seed: int, count: int) -> Figures:
    """All figures of one run."""
    began = time.perf_counter()
    drawn = draw_programs({}, PIPELINES, seed, count)
    drawing = time.perf_counter() - began
    texts = [print_case(item.case) for item in drawn]
    with Sandbox(ENGINE) as sandbox:
        for item in drawn[:WARM]:
            loop(sandbox, item, 0)
        spent = Counter[str]()
        for turn, item in enumerate(drawn):
            spent.update(loop(sandbox, item, turn))
        engine = {build: _compiling(sandbox, texts, f"{build}/whole") for build in ("jit-O0", "so")}
    stages = {"draw": drawing} | spent
    return _figures(seed, count, int(stages.pop("cases")), Counter(stages), engine, tools(texts))


def loop(sandbox: Sandbox, drawn: Drawn, turn: int) -> Counter[str]:
    """A program's cases as a lane runs them: the seconds of each stage, and how many `cases` they were."""
    spent, known = Counter[str](), dict[int, References]()
    for run in runs(drawn, turn):
        began = time.perf_counter()
        print_case(run.case)
        printed = time.perf_counter() - began
        references = known.get(run.inputs)
        case = replace(references.case, pipeline=run.case.pipeline) if references else run.case
        trial = try_case(sandbox, case, run.variants(sandbox.builds), drawn=True, known=references)
        if trial.references is not None:
            known[run.inputs] = trial.references
        spent.update(trial.seconds | {"print": printed, "cases": 1})
    return spent


def _compiling(sandbox: Sandbox, texts: Sequence[str], variant: str) -> float:
    """Seconds from MLIR on tensors to machine code that is loaded, in the engine's warm child."""
    total = 0.0
    for text in texts:
        case = parse_case(text)
        report = sandbox.run(Request(text, "default", (variant,), make_inputs(case)))
        total += report.seconds["passes"] + report.seconds["codegen"]
    return total


def tools(texts: Sequence[str]) -> dict[str, float]:
    """Seconds in each of the command-line tools, for the same programs. They run in a process with limits."""
    with tempfile.TemporaryDirectory(prefix="kina-bench-") as folder:
        modules = [_emitted(Path(folder) / f"{at}.kina", text) for at, text in enumerate(texts)]
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, context, confine, (Limits().memory, Limits().file_size)) as pool:
            spent = Counter[str]()
            for seconds in pool.map(_with_tools, modules):
                spent.update(seconds)
            return dict(spent)


def _emitted(path: Path, text: str) -> Path:
    """The program as MLIR on tensors, in a file."""
    path.write_text(text)
    emit = [sys.executable, "-m", "compiler", "emit", str(path)]
    done = subprocess.run(emit, cwd=ROOT, check=True, capture_output=True, text=True, timeout=TOOL_SECONDS)
    module = path.with_suffix(".mlir")
    module.write_text(done.stdout)
    return module


def _with_tools(module: Path) -> dict[str, float]:
    """One module through `mlir-opt | mlir-translate | llc | cc | dlopen`, at -O0 as the engine's shared objects."""
    low, ir, obj, so = (str(module.with_suffix(suffix)) for suffix in (".low", ".ll", ".o", ".so"))
    commands = (
        [tool("mlir", "mlir-opt"), str(module), f"--pass-pipeline=builtin.module({PLAIN_PASSES})", "-o", low],
        [tool("mlir", "mlir-translate"), "--mlir-to-llvmir", low, "-o", ir],
        [tool("llvm", "llc"), "-O0", "-filetype=obj", "-relocation-model=pic", ir, "-o", obj],
        ["cc", "-shared", obj, "-o", so, "-lm"],
    )
    spent: dict[str, float] = {}
    for command in commands:
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, timeout=TOOL_SECONDS)
        spent[Path(command[0]).name] = time.perf_counter() - began
    began = time.perf_counter()
    ctypes.CDLL(so, mode=os.RTLD_LAZY)
    return spent | {"dlopen": time.perf_counter() - began}


def tool(package: str, name: str) -> str:
    """The path of a program that comes with a package."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    return str(Path(folders[0] if folders else "") / "bin" / name)


def _figures(
    seed: int, count: int, cases: int, spent: Counter[str], engine: dict[str, float], apart: dict[str, float]
) -> Figures:
    total = sum(spent.values())
    inside = sum(spent[stage] for stage in COMPILER_STAGES)
    return {
        "seed": seed,
        "programs per second and core": count / total,
        "cases per second and core": cases / total,
        "share of each stage": {stage: seconds / total for stage, seconds in spent.most_common()},
        "share inside the compiler": inside / total,
        "share of drawing, printing, references and judging": 1 - inside / total,
        "milliseconds a program: engine": {build: 1e3 * seconds / count for build, seconds in engine.items()},
        "milliseconds a program: tools": {tool: 1e3 * seconds / count for tool, seconds in apart.items()},
        "tools / engine": {build: sum(apart.values()) / seconds for build, seconds in engine.items()},
    }


def show(figures: Figures) -> None:
    """The figures as a table; shares in percent."""
    table = Table(box=None, pad_edge=False)
    for heading in ("figure", "", ""):
        table.add_column(heading)
    for name, value in figures.items():
        for at, (part, number) in enumerate(value.items() if isinstance(value, dict) else [("", value)]):
            text = f"{100 * number:.1f} %" if name.startswith("share") else f"{number:.4g}"
            table.add_row("" if at else name, part, text)
    Console().print(table)


if __name__ == "__main__":
    main()
