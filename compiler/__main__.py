"""The command line: `python -m compiler check|emit|build|run FILE.kina`.

This side reads the command and the file, checks the program, and watches over a child (`compiler.driver`), in which
alone MLIR and compiled code run: whatever becomes of the child, this side ends with a message and a code of `CODES`.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from compiler.checker import Checked, check
from compiler.parser import MAX_LENGTH, parse
from compiler.source import CompileError, decode, render

OK, REFUSED, TROUBLE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130
CODES = """\
exit codes:
  0    done
  1    the program is refused: the diagnostics are on standard error
  2    the command, a file or a tool is not in order: the message says which
  3    the compiler itself failed: a crash, or the limit on time or memory
  130  interrupted
"""
SECONDS, GIBIBYTES = 120.0, 8.0  # what compiling and running may take, unless told otherwise
NEEDED = ("mlir", "numpy", "ml_dtypes")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        with options.file.open("rb") as file:
            data = file.read(4 * MAX_LENGTH + 1)  # the parser refuses what is longer
    except OSError as error:
        return _say(f"{options.file}: {error.strerror}", TROUBLE)
    try:
        text = decode(data)
    except CompileError as error:
        return _refuse(data.decode(errors="replace"), options.file, error, TROUBLE)
    try:
        checked = check(parse(text))
    except CompileError as error:
        return _refuse(text, options.file, error, REFUSED)
    if options.command == "check" or options.stage == "types":
        print("ok" if options.command == "check" else types_text(checked))
        return OK
    return _supervise(options, text)


def types_text(checked: Checked) -> str:
    """The type of every parameter, `let` and carry, and of the results, scope by scope."""
    lines: list[str] = []
    for scope, values in checked.values.items():
        lines += [scope, *(f"  {name}: {type_}" for name, type_ in values.items())]
        lines += [f"  -> {type_}" for type_ in checked.results[scope]]
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m compiler",
        description="The Kina compiler.",
        epilog=CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(stage="", level=2)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _command(commands, "check", "say `ok`, or what is wrong with the program")
    emit = _command(commands, "emit", "print what the compiler makes of the program")
    stages = ("types", "mlir", "bufferized", "llvm", "llvm-ir")
    emit.add_argument("--stage", choices=stages, default="mlir", help="how far to go (%(default)s)")
    build = _command(commands, "build", "make a shared object")
    build.add_argument("-o", dest="output", type=Path, metavar="NAME.so", help="where (FILE.so in this folder)")
    run = _command(commands, "run", "compile, run and print the results, or write them")
    run.add_argument("--fn", default="main", metavar="NAME", help="one fn instead of `@main`")
    run.add_argument("--inputs", type=Path, metavar="FILE.npz", help="arrays by name (the file's `// inputs:` lines)")
    run.add_argument("--out", type=Path, metavar="FILE.npz", help="where to write the results")
    for command in (build, run):
        command.add_argument(
            "-O", dest="level", type=int, choices=range(4), default=2, help="optimisation (%(default)s)"
        )
    for command in (emit, build, run):
        command.add_argument("--seconds", type=_positive, default=SECONDS, help="limit on time (%(default)s)")
        command.add_argument("--memory", type=_positive, default=GIBIBYTES, help="limit, in GiB (%(default)s)")
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name, help=text, description=text, epilog=CODES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("file", type=Path, metavar="FILE.kina")
    return command


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 2**20:
        raise ValueError(text)
    return value


def _supervise(options: argparse.Namespace, text: str) -> int:
    """Hands the program to a child and says what became of it, where the child could not."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        return _say(f"not installed: {', '.join(missing)}; run `make setup`, and use the Python of `.venv`", TROUBLE)
    request = json.dumps(vars(options), default=str)
    command = [sys.executable, "-m", "compiler.driver", request]
    try:
        done = subprocess.run(command, input=text.encode(), timeout=options.seconds, check=False)
    except subprocess.TimeoutExpired:
        return _say(f"the limit of {options.seconds:g} s was reached; see --seconds", FAILED)
    if done.returncode in (OK, TROUBLE, FAILED):
        return done.returncode
    if done.returncode == -signal.SIGPIPE:  # whoever read the output has seen enough
        return 128 + signal.SIGPIPE
    how = _death(done.returncode)
    return _say(f"the compiler, or the program it compiled, died ({how}): a bug, or it ran out of --memory", FAILED)


def _death(returncode: int) -> str:
    if returncode >= 0:
        return f"exit code {returncode}"
    return next((known.name for known in signal.Signals if known == -returncode), f"signal {-returncode}")


def _refuse(text: str, path: Path, error: CompileError, code: int) -> int:
    print(render(text, str(path), error.diagnostics), file=sys.stderr)
    return code


def _say(message: str, code: int) -> int:
    print(f"kina: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
