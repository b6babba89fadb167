"""The fixture of Section 23: the patterned weights of StoryLM-0, and the files they are kept in, bit by bit.

`python -m tests.compiler.storylm0_fixture` writes the files again. The weights are not trained: entry (i, j) of an
array is ((a*i + b*j + c) % m - m // 2) / 4, which every float dtype holds exactly. The numbers a, b, c, m are chosen so
that the greedy sequence has all eight classes, and its tokens depend on more than the token before and are nowhere a
near tie.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from pathlib import Path

import numpy as np

from compiler.arrays import Array
from compiler.checkpoint import FORMAT, PAD, weight_shapes

DIRECTORY = Path(__file__).parent / "fixtures" / "storylm0"
VOCAB, HEADS, HEAD_DIM = 8, 2, 2
PROMPT = [1, 4, 2, 6]
NAMES = [PAD, "once", "upon", "a", "time", "there", "was", "fox"]

_PATTERNS = {
    "embed": (7, 3, 3, 11),
    "wq": (5, 2, 4, 11),
    "wk": (1, 6, 6, 7),
    "wv": (2, 2, 5, 11),
    "wo": (3, 7, 2, 5),
    "lm_head": (7, 7, 4, 9),
}


def patterned(shape: tuple[int, ...], a: int, b: int, c: int, m: int) -> Array:
    """The patterned recipe for one matrix, as F32."""
    rows, columns = np.indices(shape)
    pattern: Array = ((a * rows + b * columns + c) % m - m // 2) / 4
    return pattern.astype("<f4")


def weights() -> dict[str, Array]:
    """The arrays of the checkpoint: the patterned ones and the scale 1/sqrt(Dh)."""
    shapes = weight_shapes(VOCAB, HEADS * HEAD_DIM)
    made = {name: patterned(shapes[name], *numbers) for name, numbers in _PATTERNS.items()}
    return {**made, "scale": np.full(shapes["scale"], 1 / math.sqrt(HEAD_DIM), "<f4")}


def manifest() -> dict[str, object]:
    return {"format": FORMAT, "vocab": VOCAB, "heads": HEADS, "head_dim": HEAD_DIM}


def npz(arrays: dict[str, Array]) -> bytes:
    """An uncompressed .npz that is the same on every machine and for ever: what np.savez writes also tells its zip
    library's defaults."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, version=(1, 0))
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            file.writestr(info, member.getvalue())
    return archive.getvalue()


def files() -> dict[str, bytes]:
    """The fixture's files by name."""
    return {
        "manifest.json": (json.dumps(manifest(), indent=2) + "\n").encode(),
        "checkpoint.npz": npz(weights()),
        "vocab.json": (json.dumps(NAMES, indent=2) + "\n").encode(),
    }


def write(directory: Path, content: dict[str, bytes]) -> Path:
    """Writes `content`, a version of `files()`, into `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, data in content.items():
        (directory / name).write_bytes(data)
    return directory


if __name__ == "__main__":
    write(DIRECTORY, files())
