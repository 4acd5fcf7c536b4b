"""Compressive (Li, Zhang, Winslett, Yang 2011, Algorithm 1): random projection, noise, sparse recovery."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from typing import ClassVar

from sparsedp import validate
from sparsedp.arrays import Ints
from sparsedp.axes.domain import Domain
from sparsedp.bases import basis_from
from sparsedp.bases.separable import basis_for
from sparsedp.decoders.registry import decoder_for
from sparsedp.errors import InvalidInput
from sparsedp.estimation.plan import RecoveryPlan, basis_over
from sparsedp.mechanisms.base import Mechanism, noise_for
from sparsedp.mechanisms.selection.sparsity_choice import (
    FORMS,
    SelectionConstants,
    choose_sparsity,
    constants_for,
    rows_for,
    sparsity_candidates,
)
from sparsedp.mechanisms.selection.tail_scores import tails_in
from sparsedp.mechanisms.terms import Terms
from sparsedp.noise.source import fresh_word
from sparsedp.plan import Plan
from sparsedp.privacy.guarantee import Expense
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.bernoulli import Bernoulli
from sparsedp.sensing.hadamard import Hadamard

SENSING = {"hadamard": Hadamard, "bernoulli": Bernoulli}


@dataclass(frozen=True)
class Compressive(Mechanism):
    """k random ±1 sums of all cells, noise of scale k·c/ε on each, and the sparse signal that explains them best.

    Under `rho`, or `epsilon` with `delta`, the noise is Gaussian of σ² = k·c²/(2ρ): more sums are then worth their
    noise, and more are measured.

    `basis`: where the counts are sparse: "haar" (steps), "cosine" (waves), "identity" (few cells), or the name of
    any orthogonal PyWavelets wavelet. Over a table it is that basis along every ordered axis.
    `sensing`: "hadamard" (fast, no stored matrix) or "bernoulli" (the paper's i.i.d. signs).
    `sparsity`: how many coefficients matter, or "auto" to choose it privately with `selection_share` of the budget
    (over a table in the Haar basis only).
    `recovery`: "cosamp" or "basis_pursuit" (the paper's), "vamp", "vamp_tree" (Haar only), or "auto" for the best.
    `rows`: the number k of sums, if not the one that follows from the sparsity. Parts that are sensed before the budget
    is known get the number that suits pure ε: give more rows if they will be perturbed with `rho` or `delta`.
    `selection`: "scaled" (the paper's: each score over its own sensitivity) or "plain".
    `constants`: those of the rows k(S) and of the choice of S, if not the ones that suit the recovery and the noise.
    `seed`: the public seed of Φ, drawn once for this object if left out; to measure parts on several machines and
    merge them, give all of them the same one.

    Guarantee: ε-differential privacy, ρ-zCDP or (ε, δ), as asked, the private choice of the sparsity included. Proof:
    `mechanisms/compressive.md`.
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
    _seed_was_drawn: ClassVar[bool] = False

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
            object.__setattr__(self, "seed", fresh_word())
            object.__setattr__(self, "_seed_was_drawn", True)
        validate.whole("seed", self.seed, least=0, most=2**64 - 1)

    @property
    def chosen(self) -> str:
        """The settings, without a seed that nobody chose: it is another one in every run."""
        aside = {"seed"} if self._seed_was_drawn else set()
        settings = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.name not in aside)
        return f"{type(self).__name__}({', '.join(settings)})"

    def plan(self, cells: int, domain: Domain | None = None) -> Plan:
        """The public plan for a sparsity given by the caller, with the rows that suit Laplace noise."""
        return self._plan_for_given_sparsity(cells, domain, self._constants(domain, gaussian=False))

    def _plan_for_given_sparsity(self, cells: int, domain: Domain | None, constants: SelectionConstants) -> Plan:
        if isinstance(self.sparsity, str):
            raise InvalidInput("sparsity", "'auto'", "give a number to sense parts: choosing it needs all the counts")
        sparsity = validate.whole("sparsity", self.sparsity, most=cells, why="the number of cells")
        if self.rows is not None:
            rows = validate.whole("rows", self.rows, most=cells, why="the number of cells")
        else:
            rows = rows_for(cells, sparsity, constants.rows_constant)
        return self._plan(domain, cells, sparsity, rows)

    def _plan(
        self, domain: Domain | None, cells: int, sparsity: int, rows: int, choosing: tuple[Expense, ...] = ()
    ) -> Plan:
        seed = self.seed or 0  # never None once constructed
        sensing: Sensing = SENSING[self.sensing](cells, rows=rows, seed=seed)
        recovery = RecoveryPlan(self._decoder(domain), self.basis, sparsity)
        return Plan(self.name, sensing, recovery, choosing, domain)

    def _decoder(self, domain: Domain | None) -> str:
        # Over a table the coefficients form no tree, even in the Haar basis: "haar × haar" has a decoder of its own.
        return decoder_for(self.recovery, self.basis if domain is None else basis_for(domain, self.basis).name)

    def _constants(self, domain: Domain | None, *, gaussian: bool) -> SelectionConstants:
        if self.constants is not None:
            return self.constants
        return constants_for(self._decoder(domain), self.basis, gaussian=gaussian)

    def _plan_in_advance(self, cells: int, terms: Terms, domain: Domain | None) -> Plan | None:
        if self.sparsity != "auto":
            plan = self._plan_for_given_sparsity(cells, domain, self._constants(domain, gaussian=terms.gaussian))
            noise_for(plan.sensing, terms)
            return plan
        tails_in(basis_over(self.basis, cells, domain))
        constant = self._constants(domain, gaussian=terms.gaussian).rows_constant
        most = max(rows_for(cells, sparsity, constant) for sparsity in sparsity_candidates(cells, constant))
        distance = terms.neighbours.distance
        # Columns of ±1: both norms count the rows.
        terms.noise(distance * most, distance**2 * most, 1 - self._share)
        return None

    def _plan_from(self, cells: Ints, terms: Terms, domain: Domain | None) -> Plan:
        epsilon_select, chosen = terms.choice(self._share, "choose the sparsity")
        choice = choose_sparsity(
            cells,
            basis_over(self.basis, cells.size, domain),
            epsilon_select=epsilon_select,
            measure=terms.budget.part(1 - self._share),
            distance=terms.neighbours.distance,
            form=self.selection,
            constants=self._constants(domain, gaussian=terms.gaussian),
            choose=partial(terms.sampler.choose, source=terms.source),
        )
        return self._plan(domain, cells.size, choice.sparsity, choice.rows, (chosen,))

    @property
    def _share(self) -> Fraction:
        return validate.share("selection_share", self.selection_share)
