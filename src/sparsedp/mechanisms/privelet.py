"""Privelet (Xiao, Wang, Gehrke 2010): differences of neighbouring blocks' sums, at every scale, inverted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparsedp.axes.domain import Domain
from sparsedp.estimation.plan import RecoveryPlan
from sparsedp.mechanisms.base import Mechanism
from sparsedp.plan import Plan
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.integer_haar import IntegerHaar, IntegerHaarTable


@dataclass(frozen=True)
class Privelet(Mechanism):
    """Equal noise on every integer Haar coefficient (left sum − right sum) and on the total; good for long ranges.

    Over a table the differences are taken along every ordered axis, one after the other; boxes gain as ranges do, while
    the noise grows with the product of the axes' levels.

    Guarantee: ε-differential privacy, ρ-zCDP or (ε, δ), as asked. Proof: `mechanisms/privelet.md`.
    """

    name: ClassVar[str] = "privelet"

    def plan(self, cells: int, domain: Domain | None = None) -> Plan:
        """Integer Haar sensing, along every ordered axis of a table; plain inverse."""
        sensing: Sensing = IntegerHaar(cells)
        if domain is not None and domain.ordered != (True,):
            sensing = IntegerHaarTable(domain.shape, domain.ordered)
        return Plan(self.name, sensing, RecoveryPlan("inverse_haar"), domain=domain)
