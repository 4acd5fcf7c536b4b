"""Errors of cells that were measured one by one: by kinds of cells, and with what was smoothed away."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.errors.bootstrap import DetailStrata, Resampled, alone_in_groups
from sparsedp.estimation.errors.haar_details import (
    ALONE_WITHIN,
    LEAST_NOISE,
    ErrorModel,
    cell_variances,
    details,
    means_under,
    normal_quantile,
)
from sparsedp.estimation.errors.oversmoothing import SmoothedAway
from sparsedp.estimation.shrinkage._neighbourhoods import spread_sample
from sparsedp.laws import IndependentLaw
from sparsedp.progress import advance

if TYPE_CHECKING:
    from sparsedp.estimation.estimator import Fit


# Cells of a kind: alike in their estimate and in how certain their neighbourhood is. What errors do they have?
#
# A bootstrap sample tells (`bootstrap.py`). Kinds are told apart by what the *estimate* shows, so that a cell of the
# release is compared with bootstrap cells that look like it, not with those in its place.

ESTIMATE_CUTS: Floats = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995])
"""Quantiles of the estimates at which kinds are cut; each is cut into three more by the neighbourhood."""

LEAST_OF_A_KIND, LEAST_TAIL = 40, 1.0
"""A kind of fewer bootstrap cells is joined with the two beside it; with fewer beyond an end, the end is computed."""

SAMPLE = 2**16
"""As many cells decide where kinds are cut."""


@dataclass(frozen=True)
class CellStrata:
    """`kinds`: of the release's cells. `samples`: of the bootstrap ones; `distances`: their truth − estimate."""

    kinds: Ints
    samples: Ints
    distances: Floats
    law: IndependentLaw
    total: int

    @classmethod
    def of(
        cls,
        estimate: Floats,
        around: Floats,
        alone: npt.NDArray[np.bool_],
        samples: tuple[Floats, Floats, Floats],
        law: IndependentLaw,
    ) -> CellStrata:
        """`around`: the variance of the neighbourhood. `alone`: which cells were measured by themselves.

        `samples`: the estimates of such cells, the same of theirs, and their errors.
        """
        estimates, neighbourhood, errors = (values.reshape(-1) for values in samples)
        sample = spread_sample(len(estimates), SAMPLE)
        seen, beside = estimates[sample], neighbourhood[sample]
        own = estimate[alone]
        own = own[spread_sample(len(own), SAMPLE)]
        edges = np.unique(np.quantile(np.concatenate([own, seen]), ESTIMATE_CUTS))
        place = np.searchsorted(edges, seen, side="right")
        thirds = np.full((len(edges) + 1, 2), np.inf)
        for at in range(len(edges) + 1):
            here = beside[place == at]
            if len(here) >= 3 * LEAST_OF_A_KIND:
                thirds[at] = np.quantile(here, [1 / 3, 2 / 3])

        def kind(values: Floats, variances: Floats) -> Ints:
            at = np.searchsorted(edges, values, side="right")
            return np.asarray(3 * at + (variances > thirds[at, 0]) + (variances > thirds[at, 1]), np.int64)

        return cls(kind(estimate, around), kind(estimates, neighbourhood), -errors, law, 3 * len(thirds))

    @cached_property
    def mean_squares(self) -> Floats:
        """Of the errors of each kind."""
        return self.mean_squares_of(self.distances)

    def mean_squares_of(self, values: Floats) -> Floats:
        """For each kind, of one value for every bootstrap cell."""
        counts = np.bincount(self.samples, minlength=self.total).astype(np.float64)
        sums = np.bincount(self.samples, values**2, self.total)
        three = np.repeat(counts.reshape(-1, 3).sum(axis=1), 3)
        together = np.repeat(sums.reshape(-1, 3).sum(axis=1), 3) / np.maximum(three, 1)
        few = three < LEAST_OF_A_KIND
        every = float(sums.sum() / counts.sum()) if counts.any() else self.law.variance
        together[few] = np.maximum(together[few], every)
        return np.where(counts >= LEAST_OF_A_KIND, sums / np.maximum(counts, 1), together)

    @cached_property
    def _sorted(self) -> tuple[Floats, Ints]:
        order = np.lexsort((self.distances, self.samples))
        bounds = np.searchsorted(self.samples[order], np.arange(self.total + 1))
        return self.distances[order], bounds

    def ends(self, level: float) -> tuple[Floats, Floats]:
        """For each kind, how far below and above the estimate the interval reaches."""
        tail = (1 - level) / 2
        distances, bounds = self._sorted
        below, above = np.empty(self.total), np.empty(self.total)
        # Beyond what was seen, errors have the tails of the noise, scaled.
        wide = max(self.law.quantile(1 - tail), 0.5) / sqrt(max(self.law.variance, 1e-12))
        for kind in range(len(below)):
            first, last = int(bounds[kind]), int(bounds[kind + 1])
            if last - first < LEAST_OF_A_KIND:
                first, last = int(bounds[kind // 3 * 3]), int(bounds[kind // 3 * 3 + 3])
            here = distances[first:last]
            computed = wide * sqrt(self.mean_squares[kind])
            if len(here) < LEAST_OF_A_KIND:
                below[kind] = above[kind] = computed
                continue
            seen = max(tail, LEAST_TAIL / len(here))
            low, high = np.quantile(here, [seen, 1 - seen])
            # What is computed reaches no less far than what was seen at a lower level.
            least = computed if seen > tail else 0.0
            below[kind], above[kind] = max(-low, least), max(high, least)
        return below, above


# The errors of a recovery that measured cells, all or those of dense blocks: noise that it kept, scatter, and
# structure that it smoothed away.
#
# The first two are learned from bootstrap samples, by level and size of the estimated detail and by kind of cell. The
# third is learned from what the recovery left over, per level and by how dense the neighbourhood is. See `errors.md`.

MORE = 1.25
"""Bootstrap samples are smoother than the true one, so errors vary so much more; up to the noise, which is known."""

FAINT = 0.1
"""Records of cells whose sum came out as zero, in deviations of its noise: of a group, or of all cells. Bootstrap
samples have none then, and no errors, but the truth may have some, and they scatter."""

LEVEL_AT_ZERO = 0.8
"""Where intervals of this level begin at zero, those of higher ones need not miss as often above as below. (It is one
level for all, so that of two intervals of a cell the one of the higher level is the wider.)"""

TOGETHER_IN_ROWS, TOGETHER_IN_TABLES = (2.0, 1.8), 3.8
"""How much more sums vary than uncorrelated details would make them, but for noise that was kept as it was; of rows,
without blocks, and with them.

Smoothing errs alike along a slope. Where sums of blocks of a row were measured they hold that up; in a table neighbours
are apart in the row, and they do not."""


def model_of_cells(fit: Fit, noise: Floats, samples: Resampled) -> ErrorModel:
    """Learn everything from the fit and from bootstrap samples. `noise`: of every detail.

    What is said of cells that were measured together with others means nothing.
    """
    n, estimate, finest = fit.sensing.n, fit.estimate, fit.law.finest
    rest = details(fit.fused - estimate)
    # Where blocks were measured whole, nothing is known of what is within them, and nothing learned from it.
    learned = DetailStrata.learn(estimate, noise, samples, samples.noise > LEAST_NOISE)
    kept = learned.errors
    kept[0] = noise[0] + rest[0] ** 2
    around = cell_variances(kept, n)
    theirs = np.array([cell_variances(row, samples.estimates.shape[1]) for row in learned.bootstrap_errors])
    alone = samples.alone
    like = (samples.estimates[:, alone], theirs[:, alone], samples.errors[:, alone])
    strata = CellStrata.of(estimate, around, alone_in_groups(fit.layers[0].starts, n), like, finest)
    seen = strata.mean_squares[strata.kinds]
    advance(0.5)
    hidden = SmoothedAway(fit, noise, rest, learned)
    advance(0.7)
    single = hidden.cells(strata.mean_squares_of(samples.rests[:, alone].reshape(-1))[strata.kinds])
    advance(0.9)
    single_under = means_under(single)
    lost = np.maximum(hidden.by_detail(), single_under)
    shared = _more(kept, noise) * kept
    together = _together(fit)
    smoothed = 1.0 - np.minimum(shared / noise, 1.0)
    shared = (1.0 + (together - 1.0) * smoothed) * shared + together * lost
    # The total's noise has wider tails than a normal variable; most ranges have a part of it.
    shared[0] = MORE * noise[0] + together * rest[0] ** 2
    size = len(shared)
    more = _more(seen, finest.variance)
    of_pairs = np.repeat(kept[size // 2 :], 2)[:n]
    own = more * np.minimum(seen, np.maximum(of_pairs, 1.5 * (seen - around))) + single
    fine = slice(size // min(ALONE_WITHIN, size), size)
    shared[fine] = np.maximum(shared[fine] - means_under(own)[fine], 0.0)
    # In details of two or four cells hidden structure is hardly told from noise: cells have seen their own.
    coarse = np.maximum(lost - single_under, 0.0)
    coarse[size // 4 :] = 0.0
    beyond = single + cell_variances(coarse, n)

    def reach(level: float) -> tuple[Floats, Floats]:
        below, above = strata.ends(level)
        spread = normal_quantile(level) ** 2 * beyond
        return np.sqrt(more * below[strata.kinds] ** 2 + spread), np.sqrt(more * above[strata.kinds] ** 2 + spread)

    @lru_cache(maxsize=8)
    def ends(level: float) -> tuple[Floats, Floats]:
        low, high = reach(level)
        if fit.nonnegative and level > LEVEL_AT_ZERO:
            # No count is below zero: where the low end is there, all that may be missed is above the high one.
            one_sided = reach(2.0 * max(level, (1.0 + LEVEL_AT_ZERO) / 2) - 1.0)[1]
            high = np.where(reach(LEVEL_AT_ZERO)[0] >= estimate, one_sided, high)
        return low, np.maximum(high, hidden.upper_ends((1 - level) / 2))

    least = FAINT * sqrt(fit.total_variance / n)
    return ErrorModel(np.maximum(more * seen + beyond, least), shared, own, ends)


def _more(errors: Floats, noise: Floats | float) -> Floats:
    """The factor by which learned mean squared errors are raised: at most to the noise."""
    return np.clip(noise / np.maximum(errors, LEAST_NOISE), 1.0, MORE)


def _together(fit: Fit) -> float:
    """How much more than apart the errors of details vary together, in a sum over a range or a box."""
    with_blocks = len(fit.layers) > 2 or len(fit.layers[-1].starts) not in (1, fit.sensing.n)
    return TOGETHER_IN_TABLES if fit.sensing.is_table else TOGETHER_IN_ROWS[with_blocks]
