"""The table of rounding rules: one for each op of the language. The frame they share is in `bounds`."""

from __future__ import annotations

from oracles.bounds import Rule
from oracles.elementwise_rules import ELEMENTWISE
from oracles.layout_rules import LAYOUT
from oracles.reduction_rules import REDUCTIONS

RULES: dict[str, Rule] = {**ELEMENTWISE, **REDUCTIONS, **LAYOUT}
