"""The fixture of Section 23 and its loader: what it gives, and what it refuses of files that nobody vouches for."""

from __future__ import annotations

import io
import json
import random
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler import checkpoint
from compiler.arrays import Array
from compiler.checkpoint import CheckpointError, load
from tests.compiler import storylm0_fixture as fixture


def check_refused(tmp_path: Path, changed: dict[str, bytes], *words: str) -> None:
    """The fixture with some files changed is refused with one line that holds `words`."""
    directory = fixture.write(tmp_path, fixture.files() | changed)
    with pytest.raises(CheckpointError) as caught:
        load(directory)
    message = str(caught.value)
    assert "\n" not in message
    for word in (next(iter(changed)), *words):
        assert word in message


def archive(arrays: dict[str, Array | bytes], method: int = zipfile.ZIP_STORED) -> dict[str, bytes]:
    """checkpoint.npz with these members by full name; bytes go in as they are."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, content in arrays.items():
            made.writestr(name, content if isinstance(content, bytes) else npy(content))
    return {"checkpoint.npz": file.getvalue()}


def npy(array: Array) -> bytes:
    member = io.BytesIO()
    np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=True)
    return member.getvalue()


def members(**changed: Array | bytes) -> dict[str, Array | bytes]:
    """The fixture's members, some of them changed."""
    arrays: dict[str, Array | bytes] = {**fixture.weights(), **changed}
    return {f"{name}.npy": content for name, content in arrays.items()}


def manifest(**changed: object) -> dict[str, bytes]:
    return {"manifest.json": json.dumps(fixture.manifest() | changed).encode()}


def test_the_fixture_is_what_its_recipe_makes() -> None:
    committed = {path.name: path.read_bytes() for path in fixture.DIRECTORY.iterdir()}
    assert committed == fixture.files()


def test_the_fixture_loads() -> None:
    loaded = load(fixture.DIRECTORY)
    assert (loaded.heads, loaded.head_dim, loaded.vocab[0], len(loaded.vocab)) == (2, 2, "<pad>", 8)
    assert {name: (array.dtype.str, array.shape) for name, array in loaded.weights.items()} == {
        "embed": ("<f4", (8, 4)),
        **dict.fromkeys(("wq", "wk", "wv", "wo"), ("<f4", (4, 4))),
        "lm_head": ("<f4", (4, 8)),
        "scale": ("<f4", (1, 1, 1, 1)),
    }
    for name, array in fixture.weights().items():
        np.testing.assert_array_equal(loaded.weights[name], array)
        assert not loaded.weights[name].flags.writeable


def test_numpy_reads_the_archive_too() -> None:
    with np.load(fixture.DIRECTORY / "checkpoint.npz", allow_pickle=False) as read:
        assert {name: read[name].tolist() for name in read} == {k: v.tolist() for k, v in fixture.weights().items()}


def test_archives_of_numpy_load(tmp_path: Path) -> None:
    for index, save in enumerate((np.savez, np.savez_compressed)):
        directory = fixture.write(tmp_path / str(index), fixture.files())
        transposed = {name: np.asfortranarray(array) for name, array in fixture.weights().items()}
        save(directory / "checkpoint.npz", **transposed)  # type: ignore[arg-type]  # its `allow_pickle` is a bool
        assert load(directory).identity == load(fixture.DIRECTORY).identity


def test_identity_tells_weights_apart() -> None:
    weights = fixture.weights()
    changed = {**weights, "wo": np.nextafter(weights["wo"], np.float32(9))}
    swapped = {**weights, "wq": weights["wk"], "wk": weights["wq"]}
    wider = {name: array.astype(np.float64) for name, array in weights.items()}
    identities = [checkpoint.identity(version) for version in (weights, changed, swapped, wider)]
    assert len(set(identities)) == 4
    assert checkpoint.identity(dict(reversed(weights.items()))) == identities[0]


def _bad_json(name: str) -> list[tuple[bytes, str]]:
    return [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b'{"format": 1, "format": 2}', "a key twice"),
        (b"[" * 100_000, "no JSON"),
        (b"9" * 10_000, "no JSON"),
        (b" " * (checkpoint.TEXT_LIMIT + 1), str(checkpoint.TEXT_LIMIT)),
        (b"3", "JSON object" if name == "manifest.json" else "list of strings"),
    ]


@pytest.mark.parametrize("name", ["manifest.json", "vocab.json"])
def test_bad_json(name: str, tmp_path: Path) -> None:
    for index, (content, word) in enumerate(_bad_json(name)):
        check_refused(tmp_path / str(index), {name: content}, word)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"format": "storylm0-checkpoint-v1"}, ("storylm0-checkpoint-v0", "storylm0-checkpoint-v1")),
        ({"format": None}, ("storylm0-checkpoint-v0", "None")),
        ({"weights": "../../secret.npz"}, ("has the keys", "'weights'")),
        ({"vocab": 0}, ("'vocab'", "from 1", "0")),
        ({"vocab": True}, ("'vocab'", "True")),
        ({"heads": 1.5}, ("'heads'", "1.5")),
        ({"head_dim": 1 << 40}, ("'head_dim'", str(1 << 40))),
        ({"head_dim": 3}, ()),
    ],
)
def test_manifest(changed: dict[str, object], words: tuple[str, ...], tmp_path: Path) -> None:
    if words:
        check_refused(tmp_path, manifest(**changed), *words)
    else:  # sizes that the arrays do not have are found where the arrays are
        wrong = archive(members()) | manifest(**changed)
        check_refused(tmp_path, wrong, "`embed`", "[8, 4]", "[8, 6]")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (fixture.NAMES[:-1], ("8 classes", "lists 7")),
        ([*fixture.NAMES, "cat"], ("8 classes", "lists 9")),
        (["once", *fixture.NAMES[1:]], ("'<pad>'", "'once'")),
        ([*fixture.NAMES[:-1], "once"], ("7 for 8",)),
        ([*fixture.NAMES[:-1], 7], ("list of strings",)),
    ],
)
def test_vocabulary(names: list[object], words: tuple[str, ...], tmp_path: Path) -> None:
    check_refused(tmp_path, {"vocab.json": json.dumps(names).encode()}, *words)


class Bomb:
    """Unpickling one would show."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return pytest.fail, ("a pickled payload was loaded",)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (np.zeros((4, 4), "<f8"), ("`wq`", "'<f8'", "F32")),
        (np.zeros((4, 4), ">f4"), ("`wq`", "'>f4'", "F32")),
        (np.zeros((4, 5), "<f4"), ("`wq`", "[4, 5]", "[4, 4]")),
        (np.zeros((16,), "<f4"), ("`wq`", "[16]", "[4, 4]")),
        (np.zeros((), "<f4"), ("`wq`", "[]", "[4, 4]")),
        (np.array([[Bomb()] * 4] * 4), ("`wq`", "pickled payload", "'|O'")),
        (np.zeros((4, 4), [("a", "<f4")]), ("`wq`", "header of a plain array")),
        (npy(np.zeros((4, 4), "<f4"))[:-1], ("`wq`", "63 bytes", "64")),
        (npy(np.zeros((4, 4), "<f4")) + b"\0", ("`wq`", "65 bytes", "64")),
        (b"\x80\x04N.", ("`wq`", "header of a plain array")),
        (b"", ("`wq`", "header of a plain array")),
    ],
)
def test_array(wrong: Array | bytes, words: tuple[str, ...], tmp_path: Path) -> None:
    check_refused(tmp_path, archive(members(wq=wrong)), *words)


def test_members(tmp_path: Path) -> None:
    extra = np.zeros((1,), "<f4")
    lacking = members()
    del lacking["wo.npy"]
    check_refused(tmp_path / "lacking", archive(lacking), "lacks", "'wo.npy'")
    for name in ("bias.npy", "../wq.npy", "/etc/passwd", "wq", "wq.npy/"):
        check_refused(tmp_path / name.strip("/."), archive(members() | {name: extra}), "unknown", repr(name))


def test_a_member_twice(tmp_path: Path) -> None:
    twice = archive(members() | {"wp.npy": fixture.weights()["wq"]})["checkpoint.npz"].replace(b"wp.npy", b"wq.npy")
    check_refused(tmp_path, {"checkpoint.npz": twice}, "twice", "'wq.npy'")


@pytest.mark.parametrize("content", [b"", b"PK", b"\x93NUMPY", b"\x80\x04N."])
def test_no_archive(content: bytes, tmp_path: Path) -> None:
    check_refused(tmp_path, {"checkpoint.npz": content}, "no readable .npz")


def test_zip_bombs_stay_packed(tmp_path: Path) -> None:
    """50 MB of zeros in 50 KB, honestly declared or with the size of the array in the zip headers."""
    size, claimed = 50_000_000, 192
    honest = archive(members(wq=bytes(size)), zipfile.ZIP_DEFLATED)["checkpoint.npz"]
    lying = honest.replace(size.to_bytes(4, "little"), claimed.to_bytes(4, "little"))
    for name, content, word in (("honest", honest, str(size)), ("lying", lying, "checkpoint.npz")):
        tracemalloc.start()
        try:
            check_refused(tmp_path / name, {"checkpoint.npz": content}, word)
            assert tracemalloc.get_traced_memory()[1] < 10_000_000
        finally:
            tracemalloc.stop()


def test_large_files_are_not_read(tmp_path: Path) -> None:
    check_refused(tmp_path / "archive", {"checkpoint.npz": bytes(200_000)}, "200000 bytes", "limit")
    sizes = {"vocab": 60_000, "heads": 60_000, "head_dim": 60_000}
    vocab = {"vocab.json": json.dumps(["<pad>", *map(str, range(59_999))]).encode()}
    check_refused(tmp_path / "sizes", archive(members()) | vocab | manifest(**sizes), "the limit is")


@pytest.mark.parametrize("name", ["manifest.json", "checkpoint.npz", "vocab.json"])
def test_files(name: str, tmp_path: Path) -> None:
    directory = fixture.write(tmp_path / "storylm0", fixture.files())
    for make, word in (
        (lambda path: None, "missing"),
        (lambda path: path.symlink_to(fixture.DIRECTORY / name), "a symbolic link"),
        (lambda path: path.mkdir(), "not a file"),
    ):
        path = directory / name
        path.unlink(missing_ok=True)
        make(path)
        with pytest.raises(CheckpointError, match=rf"{name}: .* {word}"):
            load(directory)


def test_damaged_archives(tmp_path: Path) -> None:
    """A byte changed anywhere gives the same weights, other weights of the right shape, or one clear error."""
    rng = random.Random(0)  # noqa: S311 - a reproducible choice, no secret
    directory = fixture.write(tmp_path, fixture.files())
    for packed in (fixture.npz(fixture.weights()), archive(members(), zipfile.ZIP_DEFLATED)["checkpoint.npz"]):
        for _ in range(250):
            content = bytearray(packed)
            for _ in range(rng.choice((1, 1, 4))):
                content[rng.randrange(len(content))] = rng.randrange(256)
            (directory / "checkpoint.npz").write_bytes(content)
            try:
                load(directory)
            except CheckpointError as error:
                assert "checkpoint.npz" in str(error)  # noqa: PT017 - an error is one of two good outcomes
