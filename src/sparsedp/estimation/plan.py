"""Which recovery a synopsis was planned for, and running it: from noisy integers to an estimate of every cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

from sparsedp import validate
from sparsedp.arrays import Ints
from sparsedp.axes.domain import Domain
from sparsedp.bases import Basis, basis_from
from sparsedp.bases.separable import basis_for
from sparsedp.decoders.problem import SparseProblem
from sparsedp.decoders.registry import DECODERS
from sparsedp.errors import InvalidInput
from sparsedp.estimation.estimator import ESTIMATES, estimate
from sparsedp.estimation.inverses import differences, direct, inverse_haar, tree_consistency
from sparsedp.laws import LayersLaw, NoiseLaw, TicksAndTotalsLaw
from sparsedp.sensing.base import Sensing
from sparsedp.solution import Solution

INVERSES: dict[str, Callable[[Sensing, Ints, NoiseLaw], Solution]] = {
    "direct": direct,
    "differences": differences,
    "inverse_haar": inverse_haar,
    "tree_consistency": tree_consistency,
}
"""Measurements that determine the cells, undone: the value of their solution is the cells."""

UNBIASED = ("inverse_haar", "tree_consistency")
"""Least squares, and nothing shrunk: their error is the noise, whose law is known."""

CELL_RECOVERIES: dict[str, object] = {**INVERSES, **ESTIMATES}
"""By name, all that need no basis: these, and the ways to use the estimator."""


MOST_DECAY = 2**80
"""More is of no budget that a mechanism takes."""


@dataclass(frozen=True)
class RecoveryPlan:
    """A recovery by name, with what it needs to know: for sparse decoders the basis and the sparsity; for groups of
    cells that a private tree chose, the tree's `decay`, by which it is known how much a group may hide.
    """

    name: str
    basis: str | None = None
    sparsity: int | None = None
    decay: int | None = None

    def __post_init__(self) -> None:
        if self.basis is None:
            validate.one_of("recovery", self.name, CELL_RECOVERIES)
        else:
            validate.one_of("recovery", self.name, DECODERS)
            validate.named("basis", self.basis)
            validate.whole("sparsity", self.sparsity, most=validate.MAX_CELLS)
        if self.decay is not None:
            validate.one_of("recovery", self.name, ESTIMATES)
            validate.whole("decay", self.decay, most=MOST_DECAY)

    def with_recovery(self, name: str) -> RecoveryPlan:
        """The same plan with another recovery of its kind; recovering twice costs no privacy."""
        if self.basis is None and name in DECODERS:
            given = f"{name!r}, which is for sparse measurements"
            raise InvalidInput("recovery", given, f"leave it out: this synopsis is recovered by {self.name}")
        return RecoveryPlan(name, self.basis, self.sparsity, self.decay if name in ESTIMATES else None)

    def run(self, sensing: Sensing, values: Ints, law: NoiseLaw, domain: Domain | None = None) -> Solution:
        """An estimate of all n cells from the noisy integers alone; of a table, row by row."""
        if self.name in ESTIMATES:
            table = None if domain is None else (domain.shape, domain.ordered)
            return estimate(sensing, values, law, **ESTIMATES[self.name], decay=self.decay, table=table)
        if self.basis is None:
            return INVERSES[self.name](sensing, values, law)
        problem = self.problem(sensing, values, law, domain)
        solution = DECODERS[self.name](problem)
        return Solution(problem.basis.synthesize(solution.value), solution.status, solution.stats)

    def problem(self, sensing: Sensing, values: Ints, law: NoiseLaw, domain: Domain | None = None) -> SparseProblem:
        """The sparse problem in the paper's scaling: ±1/√k entries, noise and values divided by √k."""
        # (Ticks and totals have no sparse decoder.)
        if self.basis is None or self.sparsity is None or isinstance(law, TicksAndTotalsLaw | LayersLaw):
            raise InvalidInput("recovery", repr(self.name), "only sparse decoders solve a sparse problem")
        rows = sensing.rows
        return SparseProblem(
            sensing=sensing,
            basis=basis_over(self.basis, sensing.n, domain),
            observed=values / sqrt(rows),
            noise_variance=law.variance / rows,
            noise_fourth_moment=law.fourth_moment / rows**2,
            sparsity=self.sparsity,
        )

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `RecoveryPlan(**description)` gives it back."""
        return {name: value for name, value in vars(self).items() if value is not None}


def basis_over(name: str, cells: int, domain: Domain | None) -> Basis:
    """The named basis over a vector of cells, or along the ordered axes of a domain."""
    return basis_from(name, cells) if domain is None else basis_for(domain, name)
