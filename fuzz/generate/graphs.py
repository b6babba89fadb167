"""Op graphs: typed programs of one to thirty ops over the whole language, on inputs that leave them decidable.

Each program draws which ops and dtypes it may use at all, a few dims, and a regime of numbers; most programs are
steered towards the pairs of ops, the dtypes and the ranks that were seen least. Hypothesis draws one number for a case,
which the generator's own stream of choices comes from: a choice of Hypothesis costs fifty times as much, and cases are
minimised as programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from compiler.ops import OPS
from compiler.syntax import Apply, Block, Expr, Fn, Let, Literal, Name, Placeholder, Program, walk_block
from compiler.types import DTYPES, TensorType
from fuzz.generate.blocks import MOST_RESULTS, fill, results
from fuzz.generate.draw import NUMBERS, draw_cases
from fuzz.generate.growth import Growth, Swarm, fresh, new_frame, settled
from fuzz.generate.regimes import REGIMES
from fuzz.generate.uses import Pool
from fuzz.novelty import parts, rank_class
from fuzz.reductions.trees import rewrite
from oracles.case import Case

T = TypeVar("T")

DIMS = (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 11, 13)
SIZES = (((1, 2), 5), ((3, 12), 73), ((13, 20), 18), ((21, 30), 4))
"""How many lets are drawn, from and to, and how often."""

CAPS = ((64, 8), (256, 9), (1024, 2), (4096, 1))
"""Elements of one value at most, and how often."""

DTYPE_SHARES: Mapping[str, int] = {"F32": 8, "F64": 3, "F16": 3, "BF16": 3, "I32": 3, "I64": 3, "BOOL": 2}
STEERED = 0.7
"""Of the programs, once something was seen."""

RANKS = ((0, 1, 1, 2, 2, 2, 3, 3, 4, 5), (1, 2, 2, 3), (2, 3, 4), (0, 1), (3, 4, 5))


def draw_graphs(seed: int, n: int, seen: Mapping[str, int] | None = None) -> list[Case]:
    """Cases that the checker accepts, and whose numbers can be judged: `n` of a seed; see `grower`."""
    return [grower(seen or {})(number) for number in draw_cases(NUMBERS, seed, n)]


def grower(seen: Mapping[str, int]) -> Callable[[int], Case]:
    """What makes a case of a number. `seen` counts features of `fuzz.novelty`.

    The same `seen` and the same number give the same case.
    """
    totals: Counter[str] = Counter()
    for feature, times in seen.items():
        totals.update(dict.fromkeys(parts(feature), times))
    return lambda number: _drawn(number, seen, totals)


def sized(number: int, lets: int) -> Case:
    """The case of a number with about so many lets, which may be more than a campaign draws."""
    rng = Random(number)  # noqa: S311 (reproducible, nothing secret)
    return _grown(Growth(rng, _swarm(rng, {}, {}), lets))


def _drawn(number: int, seen: Mapping[str, int], totals: Mapping[str, int]) -> Case:
    """`totals` counts ops, dtypes and classes of ranks."""
    rng = Random(number)  # noqa: S311 (reproducible, nothing secret)
    steered = bool(seen) and rng.random() < STEERED
    swarm = _swarm(rng, seen if steered else {}, totals if steered else {})
    return _grown(Growth(rng, swarm, rng.randint(*_share(rng, SIZES))))


def _grown(growth: Growth) -> Case:
    rng, swarm = growth.rng, growth.swarm
    main = new_frame()
    for _ in range(rng.choice((1, 2, 2, 3))):
        type_ = TensorType(rng.choice(swarm.pool.dtypes), swarm.pool.shape(rng))
        settled(growth, main, fresh(growth, main, type_)).used = 0
    fill(growth, main, growth.left)
    body = Block(tuple(main.lets), tuple(Name(value.name) for value in results(rng, main, MOST_RESULTS)))
    return _case(growth, body, rng.choice((0.0, 0.0, 0.5)))


def _swarm(rng: Random, seen: Mapping[str, int], totals: Mapping[str, int]) -> Swarm:
    """What the program may use; what was seen seldom is the likelier."""
    regime = _share(rng, [(regime, regime.share) for regime in REGIMES])
    allowed = [op for op in OPS.values() if not regime.ops or op.name in regime.ops]
    ops = rng.sample(allowed, rng.randint(min(3, len(allowed)), len(allowed)))
    weights = [rng.choice((0.3, 1.0, 3.0)) / (1 + totals.get(op.name, 0)) for op in ops]
    calls, loops = rng.choice((0.0, 0.12, 0.25)), rng.choice((0.0, 0.0, 0.03, 0.1))
    return Swarm(ops, weights, _pool(rng, totals), regime, seen, rng.choice((0.0, 0.1, 0.4)), calls, loops)


def _pool(rng: Random, totals: Mapping[str, int]) -> Pool:
    shares = [(DTYPES[name], share / (1 + totals.get(name, 0))) for name, share in DTYPE_SHARES.items()]
    dtypes = [_share(rng, shares) for _ in range(rng.randint(1, 4))]
    rarest = [(ranks, sum(1 / (1 + totals.get(rank_class(rank), 0)) for rank in ranks) / len(ranks)) for ranks in RANKS]
    dims = [rng.choice(DIMS) for _ in range(rng.randint(2, 4))]
    return Pool(dims, dtypes, _share(rng, rarest), _share(rng, CAPS))


def _share(rng: Random, table: Sequence[tuple[T, float]]) -> T:
    return rng.choices([item for item, _ in table], [share for _, share in table])[0]


def _case(growth: Growth, body: Block, nested: float) -> Case:
    """The program with its inputs and the fns that something calls: a loop that was left out may have had more."""
    rng, inputs = growth.rng, growth.inputs
    body = _nested(rng, body, nested)
    fns: list[Fn] = []
    called = _callees(body)
    for fn in reversed(growth.fns.values()):
        if fn.name in called:
            called |= _callees(fn.body)
            fns.insert(0, replace(fn, body=_nested(rng, fn.body, nested)))
    lets = tuple(Let((name,), Placeholder(type_)) for name, (type_, _) in inputs.items())
    program = Program(tuple(fns), Block((*lets, *body.lets), body.result))
    recipes = {name: recipe for name, (_, recipe) in inputs.items()}
    return Case(program, recipes, why=f"op graph, {growth.swarm.regime.name} values")


def _callees(block: Block) -> set[str]:
    return {expr.callee for expr in walk_block(block) if isinstance(expr, Apply)}


def _nested(rng: Random, block: Block, share: float) -> Block:
    """The block with this share of the values that are used once written where they are used."""
    if not share:
        return block
    uses = Counter(expr.id for expr in walk_block(block) if isinstance(expr, Name))
    inside: dict[str, Expr] = {}
    kept: list[Let] = []
    for let in block.lets:
        let = replace(let, value=rewrite(let.value, lambda expr: _instead(expr, inside)))
        once = isinstance(let.value, Apply | Literal) and uses[let.names[0]] == 1 and len(let.names) == 1
        if once and rng.random() < share:
            inside[let.names[0]] = let.value
        else:
            kept.append(let)
    return Block(tuple(kept), tuple(_instead(expr, inside) for expr in block.result))


def _instead(expr: Expr, inside: Mapping[str, Expr]) -> Expr:
    return inside.get(expr.id, expr) if isinstance(expr, Name) else expr
