"""Hierarchical (Hay, Rastogi, Miklau, Suciu 2010): a tree of sums, made consistent by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparsedp import validate
from sparsedp.axes.domain import Domain
from sparsedp.estimation.plan import RecoveryPlan
from sparsedp.mechanisms.base import Mechanism
from sparsedp.plan import Plan
from sparsedp.sensing.tree import Tree


@dataclass(frozen=True)
class Hierarchical(Mechanism):
    """Noisy sums of every node of a tree over the cells; good for long ranges, poor for single cells.

    `branching` is the number of children of a node: 2 in the paper's comparison. More children mean fewer levels, so
    less noise on each cell; `make demo-mechanisms` shows 2 beside 16. Over a table the tree is over the cells row by
    row, the last axis running fastest: good for whole rows and runs of them, not for boxes.
    Guarantee: ε-differential privacy, ρ-zCDP or (ε, δ), as asked. Proof: `mechanisms/hierarchical.md`.
    """

    branching: int = 2
    name: ClassVar[str] = "hierarchical"

    def __post_init__(self) -> None:
        validate.whole("branching", self.branching, least=2, most=2**16)

    def plan(self, cells: int, domain: Domain | None = None) -> Plan:
        """Tree sensing, least-squares consistency; the tree is over the cells of a table row by row."""
        return Plan(self.name, Tree(cells, branching=self.branching), RecoveryPlan("tree_consistency"), domain=domain)
