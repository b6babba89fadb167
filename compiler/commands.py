"""What the commands of the command line do with one checked program: text, files and values out.

Raises what went wrong; messages and exit codes are `compiler.driver`'s.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import ml_dtypes
import numpy as np
from mlir import ir
from mlir.dialects.llvm import translate_module_to_llvmir

from compiler import backend, pipeline
from compiler.arrays import NUMPY, Array, numpy_dtype
from compiler.checker import Checked, signature
from compiler.driver import UsageError
from compiler.lowering import lower
from compiler.printer import print_expr
from compiler.recipes import RecipeError, header_inputs, make
from compiler.syntax import Block, Literal, Name, inputs
from compiler.types import DTYPES, TensorType


def emit(checked: Checked, stage: str) -> str:
    """The program at one of `driver.STAGES`: types, MLIR on tensors, MLIR on buffers, the LLVM dialect, LLVM IR."""
    if stage == "types":
        return "\n".join(_types(checked, name) for name in names(checked))
    if stage == "mlir":
        return str(lower(checked, ir.Context())).rstrip()
    module = _compiled(checked, pipeline.DEFAULT.until("buffers") if stage == "bufferized" else pipeline.DEFAULT)
    return (translate_module_to_llvmir(module.operation) if stage == "llvm-ir" else str(module)).rstrip()


def _types(checked: Checked, name: str) -> str:
    values = checked.values["@main" if name == "main" else name]
    lines = [f"  {value}: {type_}" for value, type_ in values.items()]
    return "\n".join([name, *lines, *(f"  -> {type_}" for type_ in signature(checked, name)[1])])


def build(checked: Checked, output: Path, opt_level: int) -> None:
    """A shared object at `output`. Raises `UsageError` where it cannot be linked, OSError."""
    with tempfile.TemporaryDirectory(prefix="kina-") as scratch:
        try:
            made = backend.build_so(_compiled(checked, pipeline.DEFAULT), Path(scratch), opt_level)
        except backend.BackendError as error:
            raise UsageError(str(error)) from error
        shutil.move(made, output)


def run(checked: Checked, name: str, given: Mapping[str, Array], opt_level: int) -> dict[str, Array]:
    """The results of a fn, or of `main`, by name (`result_names`)."""
    signatures = {name: signature(checked, name)}
    with closing(backend.compile_jit(_compiled(checked, pipeline.DEFAULT), signatures, opt_level)) as program:
        results = program.call(name, *(given[param] for param in parameters(checked, name)))
    return dict(zip(result_names(checked, name), results, strict=True))


def _compiled(checked: Checked, passes: pipeline.Pipeline) -> ir.Module:
    """The module after the passes, in a context of its own: a process carries out one command."""
    module = lower(checked, ir.Context())
    pipeline.run(module, passes)
    return module


def names(checked: Checked) -> list[str]:
    """What can be run: the fns in order, and `main` if there is an `@main`."""
    return [*(fn.name for fn in checked.program.fns), *(["main"] if checked.program.main else [])]


def parameters(checked: Checked, name: str) -> dict[str, TensorType]:
    """The parameters of a fn, or the host inputs of `@main`, in order. Raises `UsageError` for an unknown name."""
    fn, main = checked.program.fn(name), checked.program.main
    if fn is not None:
        return {param.name: param.type for param in fn.params}
    if name == "main" and main is not None:
        return inputs(main)
    raise UsageError(f"this program has no `{name}`; it has {', '.join(names(checked)) or 'nothing to run'}")


def result_names(checked: Checked, name: str) -> list[str]:
    """A name for each flat result: what the program calls it where that is clear, else its number from 0."""
    fn, main = checked.program.fn(name), checked.program.main
    called = _called(fn.body if fn is not None else main)
    count = len(signature(checked, name)[1])
    if len(called) != count:  # a call or a loop in the tuple gives several values
        return [str(at) for at in range(count)]
    return [word if word and word not in called[:at] else str(at) for at, word in enumerate(called)]


def _called(body: Block | None) -> list[str]:
    return [result.id if isinstance(result, Name) else "" for result in body.result] if body else []


def arrays(text: str, checked: Checked, name: str, file: Path | None) -> dict[str, Array]:
    """The arguments of `name`, from an .npz file or else from the case header of the program's text.

    Raises `UsageError` for what is missing or does not fit, OSError.
    """
    wanted = parameters(checked, name)
    try:
        return _loaded(file, wanted) if file else _made(text, wanted)
    except RecipeError as error:
        raise UsageError(f"inputs: {error}") from error
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise UsageError(f"{file} is no .npz file of plain arrays: {error}") from error


def _made(text: str, wanted: Mapping[str, TensorType]) -> dict[str, Array]:
    recipes = header_inputs(text)
    _require(wanted, recipes, "by --inputs FILE.npz or by `// inputs:` lines at the top of the program")
    return {name: make(recipes[name], type_) for name, type_ in wanted.items()}


def _loaded(file: Path, wanted: Mapping[str, TensorType]) -> dict[str, Array]:
    with np.load(file, allow_pickle=False) as archive:
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise UsageError(f"{file} holds one array and no names; np.savez writes arrays with names")
        _require(wanted, archive, f"in {file}")
        return {name: _fitting(file, name, archive[name], type_) for name, type_ in wanted.items()}


def _require(wanted: Mapping[str, TensorType], given: Mapping[str, object], where: str) -> None:
    missing = [f"`{name}`: {type_}" for name, type_ in wanted.items() if name not in given]
    if missing:
        raise UsageError(f"inputs are missing, give them {where}: {', '.join(missing)}")


def _fitting(file: Path, name: str, array: Array, type_: TensorType) -> Array:
    """The array if it is one of `type_`. NumPy saves a bfloat16 as two bytes without a meaning."""
    if type_.dtype.name == "BF16" and array.dtype == np.dtype("V2"):
        array = array.view(ml_dtypes.bfloat16)
    if array.dtype != numpy_dtype(type_) or array.shape != type_.shape:
        raise UsageError(f"`{name}` in {file} is {array.dtype} {list(array.shape)}, the program takes {type_}")
    return array


def show(results: Mapping[str, Array], file: Path | None) -> None:
    """Writes the results to an .npz file, or prints them as Kina literals, exact, one to a line. Raises OSError."""
    if file is None:
        print("\n".join(f"{name} = {print_expr(_literal(array))}" for name, array in results.items()))
        return
    with zipfile.ZipFile(file, "w") as archive:  # np.savez has parameters of its own, whose names a result may have
        for name, array in results.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _literal(array: Array) -> Literal:
    name = next(name for name, dtype in NUMPY.items() if dtype == array.dtype)
    plain = array.astype(np.float64) if name == "BF16" else array
    return Literal(TensorType(DTYPES[name], array.shape), tuple(plain.ravel().tolist()))
