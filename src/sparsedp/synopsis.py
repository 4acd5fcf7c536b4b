"""A synopsis: the noisy integers and how they were made. This is the private release; the rest is arithmetic."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, usual_warnings
from sparsedp.axes.domain import Domain, Quantity
from sparsedp.axes.schedule import Schedule
from sparsedp.constraints import impose
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.estimation.bounds import MeasuredSums
from sparsedp.estimation.estimator import ESTIMATES
from sparsedp.estimation.guaranteed import measured_sums
from sparsedp.estimation.plan import UNBIASED
from sparsedp.files import columns_file
from sparsedp.files.columns_file import Contents, Packed, contents_of
from sparsedp.files.signatures import Signature, check_signer, signing_key
from sparsedp.files.untrusted import printable
from sparsedp.laws import (
    ContinualCounterLaw,
    DiscreteGaussianLaw,
    DiscreteLaplaceLaw,
    LayersLaw,
    NoiseLaw,
    TicksAndTotalsLaw,
    noise_law_from,
)
from sparsedp.plan import Plan
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Guarantee
from sparsedp.progress import stage
from sparsedp.releases.claims import UNUSABLE, check_counts, check_look, check_promise, embedded_needs, synopsis_needs
from sparsedp.releases.cut import Cut
from sparsedp.releases.error_models import (
    ConstrainedErrors,
    IndependentCells,
    MeasuredErrors,
    NoiseErrors,
    ScaledErrors,
)
from sparsedp.releases.means import totals_that_fit
from sparsedp.releases.release import Release
from sparsedp.releases.saved_form import COUNTS
from sparsedp.releases.uncertainty import Uncertainty
from sparsedp.sensing.base import Sensing
from sparsedp.solution import Solution
from sparsedp.version import __version__

if TYPE_CHECKING:
    from sparsedp.files.signatures import Private, Public


@dataclass(frozen=True, eq=False)
class Synopsis:
    """Φ D + noise: small, storable, sendable, and all that recovery ever sees."""

    values: npt.NDArray[np.int64]
    plan: Plan
    law: NoiseLaw
    guarantee: Guarantee
    time: Schedule | None = None
    counts: Synopsis | None = None
    """Of sums: that of the counts of the same records, measured beside them under the same budget."""
    cut: Cut | None = None
    """What the bound on the records of a person left out, where that was measured."""
    signature: ClassVar[Signature | None] = None
    """Which key signed it, in the file it was opened from or by `sign`; None if nobody did."""

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @property
    def mechanism(self) -> str:
        """The name of the mechanism that made it."""
        return self.plan.mechanism

    @property
    def sensing(self) -> Sensing:
        """Φ, rebuilt from its public description."""
        return self.plan.sensing

    @property
    def domain(self) -> Domain | None:
        """What the cells are; None of a plain vector."""
        return self.plan.domain

    @property
    def quantity(self) -> Quantity:
        """What is counted; the values are whole steps of it."""
        return self.plan.quantity

    @property
    def noise_scale(self) -> Fraction:
        """The scale of each discrete Laplace term of the noise, exactly (beside totals: of the ticks' noise)."""
        if isinstance(self.law, DiscreteGaussianLaw):
            remedy = "use `noise_variance`, or `law.variance_parameter` for σ² exactly"
            raise InvalidInput("noise_scale", "not a property of Gaussian noise", remedy)
        if isinstance(self.law, LayersLaw):
            remedy = "use `law.layers`: each layer of sums has noise of its own"
            raise InvalidInput("noise_scale", "not one number for layers of sums", remedy)
        return self.law.scale

    @property
    def noise_variance(self) -> float:
        """The variance of the noise on each value, whatever its law.

        Beside running totals it is that of the ticks, of layers of sums that of the finest.
        """
        if isinstance(self.law, LayersLaw):
            return self.law.finest.variance
        return self.law.ticks.variance if isinstance(self.law, TicksAndTotalsLaw) else self.law.variance

    @property
    def spent(self) -> Budget:
        """What the synopsis was charged at, exactly."""
        return self.guarantee.spent

    @property
    def private(self) -> bool:
        """False when the noise was seeded for a test: such a synopsis protects nobody."""
        return self.guarantee.private

    @usual_warnings()
    def recover(self, recovery: str | None = None) -> Release:
        """Estimate every cell, by the planned recovery or another; again and again, at no cost in privacy.

        Sums of a value come in its own unit, and so do their errors; with counts beside them, no cell's total is
        more, or less, than so many records can have.
        """
        counts = None if self.counts is None else self.counts.recover(recovery)
        release = self._recovered(recovery, counts)
        return release if counts is None else replace(release, counts=counts)

    def _recovered(self, recovery: str | None, counts: Release | None) -> Release:
        plan = self.plan.recovery if recovery is None else self.plan.recovery.with_recovery(recovery)
        with stage(f"recovering {self.sensing.n:,} cells"):
            solution = plan.run(self.sensing, self.values, self.law, self.domain)
        outcome = {**plan.describe(), "status": solution.status.value, "stats": solution.stats}
        cells = self._constrained(solution.value)
        if counts is not None and {plan.name, counts.recovery["name"]} <= ESTIMATES.keys():
            cells = totals_that_fit(cells, counts, self.quantity)
        return Release(
            self.quantity.in_units(cells),
            self.guarantee,
            self.mechanism,
            self.law.describe(),
            outcome,
            time=self.time,
            domain=self.domain,
            uncertainty=self._in_units(self._uncertainty(plan.name, solution, cells)),
            nonnegative=self.plan.nonnegative,
            quantity=self.quantity,
            synopsis=self,
            cut=self.cut,
            plan={name: fact for name, fact in self.plan.describe().items() if name != "domain"},
        )

    def _in_units(self, errors: Uncertainty | None) -> Uncertainty | None:
        step = self.quantity.resolution
        return errors if errors is None or step == 1 else ScaledErrors(errors, step)

    def _constrained(self, cells: Floats) -> Floats:
        """The cells made to obey what was declared of them, if anything was: arithmetic, like all of recovery."""
        if self.plan.constraints is None:
            return cells
        if self.domain is None:
            return impose(cells, self.plan.constraints)
        return impose(cells.reshape(self.domain.shape), self.plan.constraints, axis_names=self.domain.names).reshape(-1)

    def _uncertainty(self, recovery: str, solution: Solution, cells: Floats) -> Uncertainty | None:
        """What the recovery says of its error, beside what was measured; cells published as they were measured have the
        noise's own.
        """
        found: Uncertainty | None = solution.uncertainty
        if recovery == "direct" and isinstance(self.law, DiscreteLaplaceLaw | DiscreteGaussianLaw):
            found = IndependentCells.of_law(self.law, self._shape)
            if self.plan.constraints is None:
                return found
        elif recovery == "direct" and isinstance(self.law, ContinualCounterLaw):
            found = IndependentCells(np.full(self._shape, self.law.variance))

        @cache
        def measured() -> MeasuredSums | None:
            known = self.plan.nonnegative
            return measured_sums(self.sensing, self.values, self.law, cells.reshape(-1), nonnegative=known)

        if found is None and recovery in UNBIASED:
            found = NoiseErrors(measured, self._shape)
        if found is None:
            return None
        found = MeasuredErrors(found, measured, cells.reshape(-1))
        if self.plan.constraints is None:
            return found
        names = None if self.domain is None else self.domain.names
        return ConstrainedErrors(found, self.plan.constraints.checked(self._shape, names), cells)

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.sensing.n,) if self.domain is None else self.domain.shape

    @property
    def _contents(self) -> Contents:
        axis = {} if self.time is None else {"time": self.time.describe()}
        description = {
            **self.plan.describe(),
            **axis,
            **({} if self.cut is None else {"cut": self.cut.describe()}),
            "noise": self.law.describe(),
            "guarantee": self.guarantee.describe(),
            "written_by": f"sparsedp {__version__}",
        }
        beside = {} if self.counts is None else {COUNTS: self.counts.packed()}
        return Contents("synopsis", {"value": self.values}, description, embedded=beside).carrying(self.signature)

    @cached_property
    def digest(self) -> str:
        """What the saved file's digest is: two synopses with the same one say the same."""
        return self._contents.digest

    def sign(self, key: Private, passphrase: str | bytes | None = None) -> Synopsis:
        """The same synopsis, signed with a private key (`Release.sign`); a release of it is to be signed anew."""
        return self._signed(self._contents.signed(signing_key(key, passphrase)).signature)

    def _signed(self, signature: Signature | None) -> Synopsis:
        known = replace(self)
        known.__dict__["signature"] = signature
        return known

    def verified_synopsis(self) -> Synopsis:
        """Itself: see `Release.verified_synopsis`."""
        return self

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a small Parquet file: one column of noisy integers, everything else in its metadata."""
        return columns_file.save(path, self._contents)

    def packed(self) -> Packed:
        """The same file in memory, without a signature: whatever it is embedded in has its own."""
        return replace(self._contents, signature=None).packed()

    def __repr__(self) -> str:
        made = f"{len(self.values)} values for {self.sensing.n} cells by {self.mechanism}"
        return printable(f"Synopsis({made}. {self.guarantee})")


def open_synopsis(
    path: str | os.PathLike[str], *, signer: Public | None = None, memory: str | int | None = None
) -> Synopsis:
    """A saved synopsis, ready to recover anywhere without the data.

    It is checked against its digest, which tells damage and not forgery, and its promise against its noise. `signer`:
    the public key that must have signed it, as for `open_release`. `memory`: how much its cells may take once they are
    recovered ("8GB"); left out, 2 GB or 64 times the size of the file.
    """
    contents = columns_file.open_contents(path, "synopsis", synopsis_needs, memory=memory)
    return synopsis_of(contents, f"{path}")._signed(check_signer(contents.signature, signer, f"{path}"))


def synopsis_of(contents: Contents, shown: str) -> Synopsis:
    """The synopsis that a file holds; `shown` is what to call the file."""
    try:
        found = _from_contents(contents)
        packed = contents.embedded.get(COUNTS)
        counts = None if packed is None else _from_contents(contents_of(packed, "synopsis", embedded_needs))
        check_counts(found, counts)
        return found if counts is None else replace(found, counts=counts)
    except UNUSABLE as error:
        reason = str(error) if isinstance(error, InvalidInput) else "fields are missing or of another kind."
        raise BadFile(f"{shown} is a sparsedp synopsis that cannot be used: {reason}") from None


def _from_contents(contents: Contents) -> Synopsis:
    values = contents.columns["value"].astype(np.int64, casting="safe", copy=True)
    return _from_file(values, dict(contents.description))


def _from_file(values: npt.NDArray[np.int64], description: dict[str, Any]) -> Synopsis:
    plan = Plan.from_description(description)
    if values.shape != (plan.sensing.rows,):
        rows = plan.sensing.rows
        raise InvalidInput("value", f"a column of {values.size} values", f"the sensing matrix has {rows} rows")
    law = noise_law_from(description["noise"])
    time = Schedule.from_description(description["time"]) if "time" in description else None
    guarantee = Guarantee.from_description(description["guarantee"])
    cut = Cut.from_description(description["cut"]) if "cut" in description else None
    check_promise(guarantee, law, plan.sensing, plan.quantity)
    check_look(guarantee, cut)
    if guarantee.neighbours.invariant != (plan.constraints is not None and plan.constraints.is_invariant):
        given = "stated for other neighbours than its public totals leave"
        raise InvalidInput("promise", given, "give the synopsis as it was made")
    return Synopsis(values, plan, law, guarantee, time, cut=cut)
