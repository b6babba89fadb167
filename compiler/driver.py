"""The child behind the command line: `python -m compiler.driver REQUEST`, the program's text on standard input.

The request is the JSON of the options that `compiler.__main__` read, which has checked the program already. It confines
itself first: whatever MLIR or compiled code does, it is this process that pays.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from contextlib import closing
from pathlib import Path
from typing import Any

from mlir import ir

from compiler import backend, llvm, pipeline
from compiler.arguments import InputError, from_header, from_npz, named, shown, to_npz
from compiler.backend import BackendError
from compiler.checker import Checked, check, signature
from compiler.lowering import lower
from compiler.parser import parse
from compiler.pipeline import PipelineError
from compiler.source import did_you_mean
from compiler.syntax import Block, Program, inputs
from compiler.types import TensorType

Options = dict[str, Any]  # what argparse read, as JSON
OK, TROUBLE, FAILED = 0, 2, 3  # of the exit codes of `compiler.__main__`


def main() -> int:
    """Does what was asked for; the exit code."""
    options = json.loads(sys.argv[1])
    _confine(options["seconds"], options["memory"])
    text = sys.stdin.buffer.read().decode()
    command = {"emit": _emit, "build": _build, "run": _run}[options["command"]]
    try:
        command(options, text, check(parse(text)))
    except (InputError, BackendError, OSError) as error:
        return _say(str(error), TROUBLE)
    except PipelineError as error:
        return _say(f"the pass {error.pass_name} failed ({error.kind}): {error.message}", FAILED)
    except llvm.LlvmError as error:
        return _say(f"no machine code: {error}", FAILED)
    except MemoryError:
        return _say(f"the limit of {options['memory']:g} GiB on memory was reached; see --memory", FAILED)
    except Exception as error:  # nothing that a user can do comes here
        traceback.print_exc()
        _say("the compiler failed; please report this", FAILED)
        raise SystemExit(FAILED) from error
    return OK


def _confine(seconds: float, gibibytes: float) -> None:
    """Limits memory, and processor time in case the parent is killed before it can end this process; no core dumps."""
    most, memory = int(seconds) * (os.cpu_count() or 1) + 2, int(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _emit(options: Options, _: str, checked: Checked) -> None:
    until = {"mlir": pipeline.Pipeline(()), "bufferized": pipeline.DEFAULT.until("buffers")}
    module = _module(checked, until.get(options["stage"], pipeline.DEFAULT))
    print(llvm.ir_text(module) if options["stage"] == "llvm-ir" else module, end="")


def _build(options: Options, _: str, checked: Checked) -> None:
    path = Path(options["output"] or f"{Path(options['file']).stem}.so")
    if path.is_dir():
        raise InputError(f"{path}: is a folder; say which file in it")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")
    module = _module(checked, pipeline.DEFAULT)
    with tempfile.TemporaryDirectory(prefix=".kina-", dir=path.parent) as directory:
        backend.build_so(module, Path(directory), options["level"]).replace(path)
    print(f"{path}: {', '.join(_names(checked.program))}")


def _run(options: Options, text: str, checked: Checked) -> None:
    name, body, wanted = _called(checked.program, options["fn"])
    arrays = from_npz(Path(options["inputs"]), wanted) if options["inputs"] else from_header(text, wanted, name)
    module, signatures = _module(checked, pipeline.DEFAULT), {name: signature(checked, name)}
    with closing(backend.compile_jit(module, signatures, options["level"])) as compiled:
        outputs = named(body, compiled.call(name, *arrays))
    if options["out"]:
        Path(options["out"]).write_bytes(to_npz(outputs))
    else:
        types = signatures[name][1]
        print("\n".join(shown(key, type_, outputs[key]) for key, type_ in zip(outputs, types, strict=True)))


def _module(checked: Checked, passes: pipeline.Pipeline) -> ir.Module:
    module = lower(checked, ir.Context())
    pipeline.run(module, passes)
    return module


def _names(program: Program) -> list[str]:
    return [*(fn.name for fn in program.fns), *(["main"] if program.main else [])]


def _called(program: Program, name: str) -> tuple[str, Block, dict[str, TensorType]]:
    """What is to run: its name, its body, its parameters."""
    fn, main = program.fn(name), program.main
    if fn is not None:
        return name, fn.body, {param.name: param.type for param in fn.params}
    if name == "main" and main is not None:
        return name, main, inputs(main)
    has = f"it has {', '.join(_names(program)) or 'nothing'}{did_you_mean(name, _names(program))}"
    what = "`@main`; choose a fn by --fn" if name == "main" else f"fn `{name}`"
    raise InputError(f"the program has no {what}; {has}")


def _say(message: str, code: int) -> int:
    sys.stdout.flush()
    print(f"kina: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
