"""The errors of a recovery that measured cells, all or those of busy blocks: noise that it kept, scatter, and structure
that it smoothed away.

The first two are learned from made-up truths, by level and size of the estimated detail and by kind of cell. The third
is learned from what the recovery left over, per level and by how busy the surroundings are. See `errors.md`.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.progress import advance
from sparsedp.recovery.layers.cell_strata import CellStrata
from sparsedp.recovery.layers.detail_strata import DetailStrata
from sparsedp.recovery.layers.detail_variances import (
    LEAST_NOISE,
    cell_variances,
    details,
    means_under,
)
from sparsedp.recovery.layers.error_model import ALONE_WITHIN, ErrorModel, normal_quantile
from sparsedp.recovery.layers.resampling import Resampled, alone_in_groups
from sparsedp.recovery.layers.smoothed_away import SmoothedAway

if TYPE_CHECKING:
    from sparsedp.recovery.layers.recover import Fit

MORE = 1.25
"""Made-up truths are smoother than the true one, so errors vary so much more; up to the noise, which is known."""

FAINT = 0.1
"""Records of all cells where no cell came out above zero, in deviations of the noise of their sum: made-up truths have
none then, and no errors, but the true one may have some."""

AT_ZERO = 0.8
"""Where intervals of this level begin at zero, those of higher ones need not miss as often above as below. (It is one
level for all, so that of two intervals of a cell the one of the higher level is the wider.)"""

IN_ROWS, IN_TABLES = (2.0, 1.8), 3.8
"""How much more sums vary than uncorrelated details would make them, but for noise that was kept as it was; of rows,
without blocks, and with them.

Smoothing errs alike along a slope. Where sums of blocks of a row were measured they hold that up; in a table neighbours
are apart in the row, and they do not."""


def model_of_cells(fit: Fit, noise: Floats, made_up: Resampled) -> ErrorModel:
    """Learn everything from the fit and from made-up truths. `noise`: of every detail.

    What is said of cells that were measured together with others means nothing.
    """
    n, estimate, finest = fit.sensing.n, fit.estimate, fit.law.finest
    rest = details(fit.fused - estimate)
    # Where blocks were measured whole, nothing is known of what is within them, and nothing learned from it.
    learned = DetailStrata.learn(estimate, noise, made_up, made_up.noise > LEAST_NOISE)
    kept = learned.errors
    kept[0] = noise[0] + rest[0] ** 2
    around = cell_variances(kept, n)
    theirs = np.array([cell_variances(row, made_up.estimates.shape[1]) for row in learned.made_up_errors])
    alone = made_up.alone
    like = (made_up.estimates[:, alone], theirs[:, alone], made_up.errors[:, alone])
    strata = CellStrata.of(estimate, around, alone_in_groups(fit.layers[0].starts, n), like, finest)
    seen = strata.mean_squares[strata.kinds]
    advance(0.5)
    hidden = SmoothedAway(fit, noise, rest, learned)
    advance(0.7)
    single = hidden.cells(strata.mean_squares_of(made_up.rests[:, alone].reshape(-1))[strata.kinds])
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
        if fit.nonnegative and level > AT_ZERO:
            # No count is below zero: where the low end is there, all that may be missed is above the high one.
            one_sided = reach(2.0 * max(level, (1.0 + AT_ZERO) / 2) - 1.0)[1]
            high = np.where(reach(AT_ZERO)[0] >= estimate, one_sided, high)
        return low, np.maximum(high, hidden.upper_ends((1 - level) / 2))

    least = FAINT * sqrt(fit.total_variance / n)
    return ErrorModel(np.maximum(more * seen + beyond, least), shared, own, ends)


def _more(errors: Floats, noise: Floats | float) -> Floats:
    """The factor by which learned mean squared errors are raised: at most to the noise."""
    return np.clip(noise / np.maximum(errors, LEAST_NOISE), 1.0, MORE)


def _together(fit: Fit) -> float:
    """How much more than apart the errors of details vary together, in a sum over a range or a box."""
    with_blocks = len(fit.layers) > 2 or len(fit.layers[-1].starts) not in (1, fit.sensing.n)
    return IN_TABLES if fit.sensing.is_table else IN_ROWS[with_blocks]
