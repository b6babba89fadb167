"""What is new about a case: which op took what another one made, of which dtype and rank.

A feature is a short text, `pair matmul>softmax F32 r2`. What else is counted with it (lane, passes) is joined by
whoever counts. What a program uses at all is `reach`'s.
"""

from __future__ import annotations

from functools import lru_cache

from compiler.syntax import Program
from compiler.types import TensorType
from fuzz.reach import Edge, edges

MOST = 3  # ranks from here on are one class


def features(program: Program) -> set[str]:
    """The features of a program that the checker accepts; it need not be elaborated."""
    return {_text(edge) for edge in edges(program)}


def pair(maker: str, taker: str, type_: TensorType) -> str:
    """The feature of a value of this type, by what made it and what takes it: see `fuzz.reach.Edge`."""
    return _text(Edge(maker, taker, type_.dtype.name, type_.rank))


@lru_cache(maxsize=1 << 14)
def _text(edge: Edge) -> str:
    rank = f"r{edge.rank}" if edge.rank < MOST else f"r{MOST}+"
    return f"pair {edge.maker}>{edge.taker} {edge.dtype} {rank}"


def taker_of(feature: str) -> str:
    """What takes the value, of a feature that `pair` made."""
    return feature.split()[1].partition(">")[2]
