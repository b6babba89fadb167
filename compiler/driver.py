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
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from mlir import ir

from compiler import backend, pipeline
from compiler.arguments import InputError, from_header, from_npz, named, shown, to_npz
from compiler.backend import BackendError
from compiler.checker import Checked, check, signature
from compiler.lowering import lower
from compiler.parser import parse
from compiler.pipeline import PipelineError

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
    except MemoryError:
        return _say(f"the limit of {options['memory']:g} GiB was reached; see --memory", FAILED)
    except Exception as error:  # nothing that a user can do comes here
        traceback.print_exc()
        _say("the compiler failed; please report this", FAILED)
        raise SystemExit(FAILED) from error
    return OK


def _confine(seconds: float, gibibytes: float) -> None:
    """Limits processor time, in case the parent is killed before it can; memory; and no core dumps."""
    whole, memory = int(seconds) + 2, int(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _emit(options: dict[str, Any], text: str, checked: Checked) -> None:
    del text  # the tree says it all
    passes = {"bufferized": pipeline.DEFAULT.until("buffers"), "llvm": pipeline.DEFAULT}.get(options["stage"])
    sys.stdout.write(str(_module(checked, passes)))


def _build(options: dict[str, Any], text: str, checked: Checked) -> None:
    del text
    module = _module(checked, pipeline.DEFAULT)
    path = Path(options["output"] or f"{Path(options['file']).stem}.so")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")
    with tempfile.TemporaryDirectory(prefix=".kina-", dir=path.parent) as directory:
        os.replace(backend.build_so(module, Path(directory), options["level"]), path)
    print(f"{path}: {', '.join(_signatures(checked))}")


def _run(options: dict[str, Any], text: str, checked: Checked) -> None:
    name = _called(options["fn"], checked)
    fn, (params, results) = checked.program.fn(name), signature(checked, name)
    body = fn.body if fn else checked.program.main
    assert body is not None, "_called has seen to it"
    wanted = {param.name: param.type for param in fn.params} if fn else _inputs(checked)
    path = options["inputs"]
    arrays = from_npz(Path(path), wanted) if path != "None" else from_header(text, wanted, name)
    with closing(
        backend.compile_jit(_module(checked, pipeline.DEFAULT), {name: (params, results)}, options["level"])
    ) as c:
        outputs = named(body, c.call(name, *arrays))
    if options["out"] != "None":
        Path(options["out"]).write_bytes(to_npz(outputs))
    else:
        print(shown(outputs, results))
