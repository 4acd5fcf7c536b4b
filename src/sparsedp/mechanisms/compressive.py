"""Compressive (Li, Zhang, Winslett, Yang 2011, Algorithm 1): random projection, noise, sparse recovery."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sparsedp import validate
from sparsedp.bases import basis_from
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms.base import Mechanism
from sparsedp.mechanisms.selection.candidates import rows_for, sparsity_candidates
from sparsedp.mechanisms.selection.sparsity_choice import FORMS, SelectionConstants, choose_sparsity, constants_for
from sparsedp.mechanisms.terms import Terms
from sparsedp.plan import Plan
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Expense
from sparsedp.recovery.plan import RecoveryPlan
from sparsedp.recovery.registry import decoder_for
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.bernoulli import Bernoulli
from sparsedp.sensing.hadamard import Hadamard

SENSING = {"hadamard": Hadamard, "bernoulli": Bernoulli}


@dataclass(frozen=True)
class Compressive(Mechanism):
    """k random ±1 sums of all cells, noise of scale k·c/ε on each, and the sparse signal that explains them best.

    `basis`: where the counts are sparse: "haar" (steps), "cosine" (waves), "identity" (few cells), or the name of
    any orthogonal PyWavelets wavelet.
    `sensing`: "hadamard" (fast, no stored matrix) or "bernoulli" (the paper's i.i.d. signs).
    `sparsity`: how many coefficients matter, or "auto" to choose it privately with `selection_share` of ε.
    `recovery`: "cosamp" or "basis_pursuit" (the paper's), "vamp", "vamp_tree" (Haar only), or "auto" for the best.
    `rows`: the number k of sums, if not the one that follows from the sparsity.
    `selection`: "scaled" (the paper's: each score over its own sensitivity) or "plain".
    `constants`: those of the rows k(S) and of the choice of S, if not the ones that suit the recovery.
    `seed`: the public seed of Φ, drawn once for this object if left out; to measure parts on several machines and
    merge them, give all of them the same one.

    Guarantee: ε-differential privacy, the private choice of the sparsity included. Proof: `mechanisms/compressive.md`.
    """

    basis: str = "haar"
    sensing: str = "hadamard"
    sparsity: int | str = "auto"
    recovery: str = "auto"
    rows: int | None = None
    selection: str = "scaled"
    selection_share: validate.Number = "0.1"
    constants: SelectionConstants | None = None
    seed: int | None = None
    name: ClassVar[str] = "compressive"

    def __post_init__(self) -> None:
        validate.one_of("sensing", self.sensing, SENSING)
        validate.one_of("selection", self.selection, FORMS)
        object.__setattr__(self, "selection_share", validate.share("selection_share", self.selection_share))
        basis_from(self.basis, 1)
        decoder_for(self.recovery, self.basis)
        if self.sparsity != "auto":
            validate.whole("sparsity", self.sparsity, why="or 'auto' to choose it privately")
        elif self.rows is not None:
            raise InvalidInput("rows", f"{self.rows}", "leave it out when the sparsity is 'auto': it follows from it")
        if self.rows is not None:
            validate.whole("rows", self.rows)
        if self.constants is not None and not isinstance(self.constants, SelectionConstants):
            given = f"of type {type(self.constants).__name__}"
            raise InvalidInput("constants", given, "give sparsedp.SelectionConstants(…), or leave it out")
        if self.seed is None:
            object.__setattr__(self, "seed", secrets.randbits(64))
        validate.whole("seed", self.seed, least=0, most=2**64 - 1)

    def plan(self, cells: int) -> Plan:
        """The public plan for a sparsity given by the caller."""
        if isinstance(self.sparsity, str):
            raise InvalidInput("sparsity", "'auto'", "give a number to sense parts: choosing it needs all the counts")
        sparsity = validate.whole("sparsity", self.sparsity, most=cells, why="the number of cells")
        if self.rows is not None:
            rows = validate.whole("rows", self.rows, most=cells, why="the number of cells")
        else:
            rows = rows_for(cells, sparsity, self._constants.rows_constant)
        return self._plan(cells, sparsity, rows)

    def _plan(self, cells: int, sparsity: int, rows: int, choosing: tuple[Expense, ...] = ()) -> Plan:
        seed = self.seed or 0  # never None once constructed
        sensing: Sensing = SENSING[self.sensing](cells, rows=rows, seed=seed)
        return Plan(self.name, sensing, RecoveryPlan(self._decoder, self.basis, sparsity), choosing)

    @property
    def _decoder(self) -> str:
        return decoder_for(self.recovery, self.basis)

    @property
    def _constants(self) -> SelectionConstants:
        return constants_for(self._decoder, self.basis) if self.constants is None else self.constants

    def _plan_in_advance(self, cells: int, terms: Terms) -> Plan | None:
        if self.sparsity != "auto":
            return super()._plan_in_advance(cells, terms)
        constant = self._constants.rows_constant
        most_rows = max(rows_for(cells, sparsity, constant) for sparsity in sparsity_candidates(cells, constant))
        terms.check_scale(most_rows, 1 - self._share)
        return None

    def _plan_from(self, cells: npt.NDArray[np.int64], terms: Terms) -> Plan:
        selecting = terms.epsilon * self._share
        choice = choose_sparsity(
            cells,
            basis_from(self.basis, cells.size),
            epsilon_select=selecting,
            epsilon_measure=terms.epsilon - selecting,
            distance=terms.neighbours.distance,
            form=self.selection,
            constants=self._constants,
            source=terms.source,
        )
        chosen = Expense("choose the sparsity", Budget(epsilon=selecting))
        return self._plan(cells.size, choice.sparsity, choice.rows, (chosen,))

    @property
    def _share(self) -> Fraction:
        return validate.share("selection_share", self.selection_share)
