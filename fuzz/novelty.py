"""What is new about a case: which op took what another one made, of which dtype and rank.

A feature is a short text, `pair matmul>softmax F32 r2`. What else is counted with it (lane, passes) is joined by
whoever counts. What a program uses at all is `reach`'s.
"""

from __future__ import annotations

from functools import lru_cache

from compiler.types import TensorType

MOST = 3  # ranks from here on are one class


@lru_cache(maxsize=4096)
def pair(maker: str, taker: str, type_: TensorType) -> str:
    """The feature of a value of this type, by what made it and what takes it.

    `maker` is an op, or `input`, `literal`, `param`, `call`, `while`, `carry`; `taker` an op, `call`, `while`
    or `result`.
    """
    rank = f"r{type_.rank}" if type_.rank < MOST else f"r{MOST}+"
    return f"pair {maker}>{taker} {type_.dtype} {rank}"


def taker_of(feature: str) -> str:
    """What takes the value, of a feature that `pair` made."""
    return feature.split()[1].partition(">")[2]
