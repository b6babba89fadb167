"""Arrays at the command line: .npz files that are trusted for nothing, the recipes of a header, names of results."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from compiler.arguments import InputError, from_header, from_npz, named, to_npz
from compiler.arrays import Array
from compiler.parser import parse
from compiler.types import BF16, F32, TensorType

WANTED = {"x": TensorType(F32, (2,)), "y": TensorType(F32, ())}
XY: dict[str, Array] = {"x": np.zeros(2, np.float32), "y": np.zeros((), np.float32)}


def check_input_error(path: Path, message: str, wanted: Mapping[str, TensorType] = WANTED) -> None:
    with pytest.raises(InputError) as error:
        from_npz(path, wanted)
    assert message in str(error.value)


def test_a_file_that_has_what_is_wanted(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", y=XY["y"] + 1, x=XY["x"])
    assert [array.tolist() for array in from_npz(tmp_path / "in.npz", WANTED)] == [[0, 0], 1]


def test_names_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "in.npz"
    np.savez(path, x=XY["x"])
    check_input_error(path, "in.npz: no `y` (tensor<F32, [], @host>); name every input")
    np.savez(path, x=XY["x"], y=XY["y"], z=XY["y"])
    check_input_error(path, "in.npz: `z` is no input; those are x, y")


def test_arrays_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "in.npz"
    np.savez(path, x=XY["x"].reshape(1, 2), y=XY["y"])
    check_input_error(path, "`x` is float32 [1, 2], wanted tensor<F32, [2], @host>, which is float32 [2]")


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "in.npz"
    np.savez(path, x=np.array([{}, {}]), y=XY["y"])
    check_input_error(path, "`x` is |O [2], wanted tensor<F32, [2], @host>")
    np.savez(path, x=XY["x"], y=XY["y"])
    whole = path.read_bytes()
    np.save(tmp_path / "in.npy", XY["x"])
    for data in (
        b"",
        whole[:100],
        whole[100:],
        whole[:60] + b"\xff" * 9 + whole[69:],
        (tmp_path / "in.npy").read_bytes(),
    ):
        path.write_bytes(data)
        check_input_error(path, "cannot be read as an .npz file of plain arrays")


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 1: 2, 'a': 3, }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ('2'), }",
        "(" * 90,
        "{'descr': 'unclosed",
        "",
    ],
)
def test_hostile_headers(header: str, tmp_path: Path) -> None:
    """NumPy evaluates them as Python text, and raises whatever that raises."""
    check_member(tmp_path, npy_member(header, bytes(8)), "`x` does not begin with the header of a plain array")


def test_members_that_are_not_what_their_headers_say(tmp_path: Path) -> None:
    plain = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }"
    for size in (0, 7, 9, 5000):
        check_member(tmp_path, npy_member(plain % ("<f4", "(2,)"), bytes(size)), "`x` has not the 8 bytes of data")
    check_member(tmp_path, npy_member(plain % (">f4", "(2,)"), bytes(8)), "`x` is >f4 [2], wanted")
    check_member(tmp_path, npy_member(plain % ("<f4", f"({10**12}, {10**12})"), bytes(8)), f"[{10**12}, {10**12}]")
    check_member(tmp_path, bytes(2 << 20), "more than 1048588 bytes: too many for `x` (tensor<F32, [2], @host>), `y`")


def npy_member(header: str, data: bytes) -> bytes:
    text = f"{header}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def check_member(folder: Path, member: bytes, message: str) -> None:
    """A file in which `x` is this member is refused with a message."""
    path = folder / "in.npz"
    np.savez(path, y=XY["y"])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("x.npy", member)
    check_input_error(path, message)


def test_arrays_in_the_order_of_columns(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.savez_compressed(tmp_path / "x.npz", x=np.asfortranarray(array))
    assert from_npz(tmp_path / "x.npz", {"x": TensorType(F32, (2, 3))})[0].tolist() == array.tolist()


def test_bf16_goes_through_a_file(tmp_path: Path) -> None:
    """As raw bytes; and an array may be named like a parameter of np.savez."""
    array = np.array([1.5, -2], ml_dtypes.bfloat16)
    (tmp_path / "x.npz").write_bytes(to_npz({"file": array}))
    (back,) = from_npz(tmp_path / "x.npz", {"file": TensorType(BF16, (2,))})
    assert back.dtype == array.dtype
    assert back.tolist() == array.tolist()


def test_a_fn_takes_the_recipes_of_its_parameters() -> None:
    text = "// inputs: x = iota; y = 3; z = ones\n@main { }"
    assert [array.tolist() for array in from_header(text, WANTED, "f")] == [[0, 1], 3]
    with pytest.raises(InputError, match="`z` is no input; those are x, y"):
        from_header(text, WANTED, "main")


@pytest.mark.parametrize(
    ("header", "message"),
    [("x = iota", "no `y`"), ("x = jota; y = 1", "`jota` is no recipe"), ("x = [1]; y = 1", "input `x`: a list of 1")],
)
def test_headers_that_do_not_fit(header: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        from_header(f"// inputs: {header}\n", WANTED, "main")
    assert message in str(error.value)


def test_results_are_named_or_numbered() -> None:
    def names(result: str) -> list[str]:
        scalar = "tensor<F32, [], @host>"
        program = parse(f"let f = fn(a: {scalar}, b: {scalar}) -> ({scalar}, {scalar}) {{ {result} }}")
        return list(named(program.fns[0].body, [np.zeros(())] * 2))

    assert names("(b, a)") == ["b", "a"]
    assert names("(a, a)") == names("(a, a + b)") == ["result0", "result1"]
