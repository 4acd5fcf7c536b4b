"""Laplace: every cell measured directly, each with its own noise; no recovery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparsedp.axes.domain import Domain
from sparsedp.estimation.plan import RecoveryPlan
from sparsedp.mechanisms.base import Mechanism
from sparsedp.plan import Plan
from sparsedp.sensing.base import Direct


@dataclass(frozen=True)
class Laplace(Mechanism):
    """Noise of scale c/ε on every cell: the least noise per cell under pure ε; sums of many cells add it up.

    Under `rho`, or `epsilon` with `delta`, the noise on every cell is Gaussian, of σ² = c²/(2ρ).

    Guarantee: ε-differential privacy, ρ-zCDP or (ε, δ), as asked. Proof: `mechanisms/laplace.md`.
    """

    name: ClassVar[str] = "laplace"

    def plan(self, cells: int, domain: Domain | None = None) -> Plan:
        """Direct sensing, plain values."""
        return Plan(self.name, Direct(cells), RecoveryPlan("direct"), domain=domain)
