"""Were two values of `@main` made by the same code from data of the same form? Only then can equal bits be demanded.

Two routes to one number may differ legally, in the order of a sum or in a fused multiply-add. Two calls of one fn are
the same machine code: where the data that matters is equal, the results are equal bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from compiler.syntax import Apply, Block, Expr, Literal, Name

Bound = tuple[Expr, int]  # what a let binds, and the place of the name in it


def same_route(main: Block, left: str, right: str, is_exact: Callable[[str, str], bool]) -> bool:
    """Whether both lets apply the same fns and ops, in the same way, to what is exact or the same value.

    `is_exact(a, b)`: both lets are of one type, and no rounding is in them; how they came about does not matter. Both
    names are bound.
    """
    bound = {name: (let.value, at) for let in main.lets for at, name in enumerate(let.names)}
    todo: list[tuple[Expr, Expr]] = [(Name(left), Name(right))]
    seen: set[tuple[str, str]] = set()
    while todo:
        a, b = todo.pop()
        if isinstance(a, Name) and isinstance(b, Name):
            pair = (a.id, b.id)
            if a.id == b.id or pair in seen or is_exact(*pair):
                continue
            seen.add(pair)
            found = _bound_alike(bound, *pair)
        else:
            found = (a, b)
        parts = None if found is None else _parts(*found)
        if parts is None:
            return False
        todo.extend(parts)
    return True


def _bound_alike(bound: Mapping[str, Bound], left: str, right: str) -> tuple[Expr, Expr] | None:
    (a, place), (b, other) = bound[left], bound[right]
    return (a, b) if place == other else None


def _parts(a: Expr, b: Expr) -> list[tuple[Expr, Expr]] | None:
    """The pairs of operands that must have the same route, or None where two expressions are not alike."""
    match a, b:
        case Name(), Name():
            return [(a, b)]
        case Literal(), Literal() if a.type == b.type:
            return []
        case Apply(), Apply() if (a.callee, a.attrs, len(a.args)) == (b.callee, b.attrs, len(b.args)):
            return list(zip(a.args, b.args, strict=True))
        case _:
            return [] if a == b else None
