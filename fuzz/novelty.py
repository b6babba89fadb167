"""What is new about a case: which op took what another one made, of which dtype and rank.

A feature is a short text, `pair matmul>softmax F32 r2`. What else is counted with it (lane, passes) is joined by
whoever counts. What a program uses at all is `reach`'s.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache, lru_cache

from compiler.ops import OPS
from compiler.syntax import Program
from compiler.types import TensorType
from fuzz.reach import Edge, applications, edges

MOST = 3  # ranks from here on are one class


def features(program: Program) -> set[str]:
    """The features of a program that the checker accepts; it need not be elaborated."""
    return {_text(edge) for edge in edges(program)}


def pair(maker: str, taker: str, type_: TensorType) -> str:
    """The feature of a value of this type, by what made it and what takes it: see `fuzz.reach.Edge`."""
    return _text(Edge(maker, taker, type_.dtype.name, type_.rank))


@lru_cache(maxsize=1 << 14)
def _text(edge: Edge) -> str:
    return f"pair {edge.maker}>{edge.taker} {edge.dtype} {rank_class(edge.rank)}"


@cache
def legal_pairs() -> frozenset[str]:
    """`maker>taker` for all ops: some operand of the taker may have a dtype that the maker's value can have."""
    made: dict[str, set[str]] = defaultdict(set)
    taken: dict[str, set[str]] = defaultdict(set)
    for op in OPS.values():
        for types, attrs in (application for rank in (1, 2) for application in applications(op, rank)):
            made[op.name].add(op.infer(types, attrs).dtype.name)
            taken[op.name].update(type_.dtype.name for type_ in types)
    return frozenset(f"{maker}>{taker}" for maker in OPS for taker in OPS if made[maker] & taken[taker])


def pair_of(feature: str) -> str:
    """`maker>taker` of a feature that `pair` made."""
    return feature.split()[1]


@lru_cache(maxsize=1 << 14)
def parts(feature: str) -> tuple[str, str, str]:
    """What takes the value, its dtype, and the class of its rank, of a feature that `pair` made."""
    _, ops, dtype, rank = feature.split()
    return ops.partition(">")[2], dtype, rank


def rank_class(rank: int) -> str:
    """`r0`, `r1`, and so on; ranks from `MOST` on are one class."""
    return f"r{rank}" if rank < MOST else f"r{MOST}+"
