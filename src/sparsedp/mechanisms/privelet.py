"""Privelet (Xiao, Wang, Gehrke 2010): differences of neighbouring blocks' sums, at every scale, inverted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparsedp.mechanisms.base import Mechanism
from sparsedp.plan import Plan
from sparsedp.recovery.plan import RecoveryPlan
from sparsedp.sensing.integer_haar import IntegerHaar


@dataclass(frozen=True)
class Privelet(Mechanism):
    """Equal noise on every integer Haar coefficient (left sum − right sum) and on the total; good for long ranges.

    Guarantee: ε-differential privacy. Proof: `mechanisms/privelet.md`.
    """

    name: ClassVar[str] = "privelet"

    def plan(self, cells: int) -> Plan:
        """Integer Haar sensing, plain inverse."""
        return Plan(self.name, IntegerHaar(cells), RecoveryPlan("inverse_haar"))
