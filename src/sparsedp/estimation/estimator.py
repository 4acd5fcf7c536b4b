"""The estimator: from layers of noisy group sums, or noisy cells and running totals, to every cell (estimator.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints, Mask
from sparsedp.constraints import nonnegative_keeping_totals
from sparsedp.errors import InvalidInput
from sparsedp.estimation.counter_fusion import CellsAndTotals
from sparsedp.estimation.errors.errors import LEAST_SHRUNK, LayerErrors
from sparsedp.estimation.errors.log_linear import LogLinearErrors
from sparsedp.estimation.groups import Hidden, hidden_by, shrink_groups, sloped_boxes, sloped_cells
from sparsedp.estimation.least_squares import GroupLayers, Layer, Measurement, chosen_groups, refuse_unaligned
from sparsedp.estimation.log_linear import fit_log_linear
from sparsedp.estimation.nonnegative import nearest_nonnegative
from sparsedp.estimation.relative_entropy import around
from sparsedp.estimation.shrinkage.cycles import beside_other_cycles, period_of
from sparsedp.estimation.shrinkage.frame import fits, shrink
from sparsedp.estimation.shrinkage.isolated_spikes import beside_isolated_spikes
from sparsedp.estimation.shrinkage.value_prior import towards_value_prior
from sparsedp.estimation.tree_posterior import GroupPosterior, cells_of_whole_blocks, posterior_of_groups
from sparsedp.laws import IndependentLaw, LayersLaw, NoiseLaw, TicksAndTotalsLaw
from sparsedp.progress import advance, part
from sparsedp.sensing.base import Direct, Sensing
from sparsedp.sensing.cell_order import z_order
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.marginals import Marginals
from sparsedp.sensing.running_totals import TicksAndTotals
from sparsedp.solution import Solution, Status

Kind = TypeVar("Kind", bound=np.generic)

LEAST_RUN, MOST_TABLES = 64, 256
"""Tables with unordered axes are shrunk along the ordered ones if these have so many cells, in no more tables."""

MOST_NEAREST = 2**18
"""Cells beside their total alone are projected in the metric of the noise, up to so many; more by halving."""

FUSED, SMOOTHED, SHRUNK = 0.1, 0.7, 0.9
"""About how much of the time that a recovery takes is over by then; the second: of the time that shrinking takes."""


@dataclass(frozen=True)
class Fit:
    """What a recovery of layers found, in the row's order: for the estimate and for its error."""

    sensing: GroupSums
    measured: Measurement
    layers: list[Layer]
    fused: Floats
    estimate: Floats
    level_variances: Floats
    total_variance: float
    stats: dict[str, object]
    nonnegative: bool
    hidden: Hidden
    joint: GroupPosterior | None = None

    @property
    def law(self) -> LayersLaw:
        """Of the noise in each layer of groups."""
        return self.measured.law


ESTIMATES: dict[str, dict[str, bool]] = {
    "layers": {},
    "layers_keeping_sums": {},
    "fused_layers": {"shrinks": False},
    "signed_layers": {"nonnegative": False},
    "signed_layers_keeping_sums": {"nonnegative": False},
    "signed_fused_layers": {"nonnegative": False, "shrinks": False},
    "shrinkage": {"nonnegative": False},
    "fused_shrinkage": {"nonnegative": False},
    "fused": {"nonnegative": False, "shrinks": False},
}
"""The ways to use the estimator, by the names that synopses have for them.

"signed": counts may be negative. "fused": no cell is shrunk, so that no sum is biased by it; no mechanism asks for it,
it is for whoever wants sums without bias. "keeping sums" is what is always done now: cells are shrunk only within the
groups of the layer above them. The last three are what older synopses of streams ask for.
"""


Table = tuple[tuple[int, ...], tuple[bool, ...]]
"""The sides of a table, and which of its axes are ordered."""


def estimate(
    sensing: Sensing,
    values: Ints,
    law: NoiseLaw,
    *,
    decay: int | None = None,
    table: Table | None = None,
    **how: bool,
) -> Solution:
    """Every cell, and its errors, from what was measured: layers of sums, or cells alone, or cells and running totals.

    `decay`: of the private tree that chose the groups, if one did. `table`: what cells that were measured one by one
    are; layers of sums say so themselves. `how`: see `ESTIMATES`.
    """
    if isinstance(sensing, Marginals) and isinstance(law, LayersLaw) and len(law.layers) == len(sensing.layers):
        model = fit_log_linear(sensing, values, law)
        model = replace(model, cells=around(model))
        stats = {"layers": [prod(shape) for shape in sensing.shapes]}
        return Solution(model.cells.reshape(-1), Status.DIRECT, stats, LogLinearErrors(model))
    groups, measured = _as_groups(sensing, law, table)
    # A series in time is smooth, or repeats itself: there a prior of values that cells have again and again is wrong.
    how = {"value_prior": isinstance(sensing, GroupSums), **how}

    def refit(sensing: GroupSums, values: Ints) -> Fit:
        return _fit(sensing, values, measured, decay, **how)

    fit = refit(groups, values)
    return Solution(fit.sensing.out_of_row(fit.estimate), Status.DIRECT, fit.stats, LayerErrors(fit, refit))


def fit_layers(sensing: Sensing, values: Ints, law: NoiseLaw, *, decay: int | None = None, **how: bool) -> Fit:
    """What the estimator finds: fuse, shrink, keep the sums of groups if wanted, and make non-negative."""
    groups, measured = _as_groups(sensing, law)
    return _fit(groups, values, measured, decay, **how)


def _as_groups(sensing: Sensing, law: NoiseLaw, table: Table | None = None) -> tuple[GroupSums, Measurement]:
    """What was measured as layers of groups, of which cells alone are the simplest, and the noise of it."""
    if isinstance(sensing, TicksAndTotals) and isinstance(law, TicksAndTotalsLaw):
        return GroupSums(sensing.n, [1]), CellsAndTotals(law, sensing.every)
    if isinstance(sensing, Direct) and isinstance(law, IndependentLaw):
        return GroupSums(sensing.n, [1], *(table or ())), GroupLayers(LayersLaw((law,)))
    if not isinstance(sensing, GroupSums) or not isinstance(law, LayersLaw):
        raise InvalidInput("recovery", "'layers'", "it needs layers of group sums")
    if len(law.layers) != len(sensing.groups):
        raise InvalidInput("noise law", f"of {len(law.layers)} layers", f"give one for each of {len(sensing.groups)}")
    if isinstance(sensing.groups[0], int) and sensing.groups[0] != 1:
        raise InvalidInput(
            "layers", f"blocks of {sensing.groups[0]} cells at the finest", "give cells, or chosen groups"
        )
    return sensing, GroupLayers(law)


def _fit(
    sensing: GroupSums,
    values: Ints,
    measured: Measurement,
    decay: int | None,
    *,
    nonnegative: bool = True,
    shrinks: bool = True,
    value_prior: bool = True,
) -> Fit:
    law, known = measured.law, measured.consistent(sensing, values)
    fused, level_variances = known.layers, known.level_variances
    hides = Hidden(sensing.n, hidden_by(law) if decay is None else float(decay))
    advance(FUSED)

    def fit(unshrunk: Floats, estimate: Floats, joint: GroupPosterior | None = None) -> Fit:
        stats: dict[str, object] = {"layers": [len(layer.starts) for layer in fused]}
        return Fit(
            sensing,
            measured,
            fused,
            unshrunk,
            estimate,
            level_variances,
            known.total_variance,
            stats,
            nonnegative,
            hides,
            joint,
        )

    if len(fused[0].starts) < sensing.n:
        refuse_unaligned(fused[0].starts, sensing.n)
        joint = posterior_of_groups(sensing, values, law) if nonnegative and shrinks else None
        if sensing.in_parts_of_blocks:
            found = _parts_of_blocks(fused, sensing, law, joint, nonnegative=nonnegative, shrinks=shrinks)
        else:
            found = _flat_groups(fused[0], sensing, hides, joint, nonnegative=nonnegative, shrinks=shrinks)
        return fit(*found, joint)
    cells = fused[0].sums
    chosen = chosen_groups(sensing, fused)
    shrunk = cells.copy()
    if shrinks:
        # Noise as measured is independent, which that of fused cells is not; sums that were measured are put back.
        alone = len(fused) == 1
        observed = cells if alone else sensing.split(values.astype(np.float64))[0]
        by_level = level_variances if alone else None
        with part(SHRUNK):
            shrunk = _shrunk_cells(observed, sensing, law.finest, by_level, value_prior=nonnegative and value_prior)
        if chosen is not None:
            shrunk += _spread(shrink_groups(chosen.starts, chosen.sums, chosen.variances, sensing.n), chosen, shrunk)
        elif not alone:
            shrunk += _spread(fused[1].sums, fused[1], shrunk)
    estimate = shrunk
    if nonnegative and len(fused) == 2 and chosen is None and sensing.n <= MOST_NEAREST:
        estimate = nearest_nonnegative(shrunk, level_variances, known.total_variance)
    elif nonnegative:
        estimate = nonnegative_keeping_totals(shrunk)
    return fit(cells, estimate)


def _flat_groups(
    groups: Layer,
    sensing: GroupSums,
    hides: Hidden,
    joint: GroupPosterior | None,
    *,
    nonnegative: bool,
    shrinks: bool,
) -> tuple[Floats, Floats]:
    """Cells that were not measured one by one: a group is flat, or slopes from the one before to the one after."""
    sizes = np.diff(groups.starts, append=sensing.n)
    sums = groups.sums
    if joint is not None:
        sums = joint.sums(groups.starts, groups.starts + sizes)
    elif shrinks:
        sums = shrink_groups(groups.starts, groups.sums, groups.variances, sensing.n)
    if nonnegative:
        sums = nonnegative_keeping_totals(sums)
    if sensing.is_table:  # stored synopses alone: tables are measured in parts of blocks now
        return np.repeat(groups.sums / sizes, sizes), np.repeat(sums / sizes, sizes)
    cells = sloped_cells(sums, sizes, hides.difference(sizes))
    return np.repeat(groups.sums / sizes, sizes), np.maximum(cells, 0.0) if nonnegative else cells


def _parts_of_blocks(
    fused: list[Layer],
    sensing: GroupSums,
    law: LayersLaw,
    joint: GroupPosterior | None,
    *,
    nonnegative: bool,
    shrinks: bool,
) -> tuple[Floats, Floats]:
    """Cells measured in parts of blocks: if all parts of a block are cells, shrunk as cells are; else what all layers
    say of the parts. Then blocks get their sums back, and sums are kept without negative cells. Parts of a table
    slope as those around them do.
    """
    parts, blocks = fused[:2]
    sizes = np.diff(parts.starts, append=sensing.n)
    flat = np.repeat(parts.sums / sizes, sizes)
    cells = flat.copy()
    if shrinks:
        of_blocks, alone = blocks.sums, cells_of_whole_blocks(parts.starts, blocks.starts, sensing.n)
        if joint is None:
            sums = _shrunk_parts(parts, blocks, alone, sensing.n)
        else:
            sums = parts.sums.copy()
            sums[~alone] = joint.sums(parts.starts[~alone], (parts.starts + sizes)[~alone])
            of_blocks = joint.sums(blocks.starts, np.append(blocks.starts[1:], sensing.n))
        if alone.any():
            where = np.repeat(alone, sizes)
            with part(SHRUNK):
                shrunk = _shrunk_cells(flat, sensing, law.finest, None, value_prior=nonnegative, measured=where)
            sums[alone] = shrunk[parts.starts[alone]]
        cells = np.repeat(sums / sizes, sizes)
        cells += _spread(of_blocks, blocks, cells)
    if nonnegative:
        cells = nonnegative_keeping_totals(cells)
    if sensing.is_table and sensing.run == sensing.n:
        cells = sloped_boxes(np.add.reduceat(cells, parts.starts), parts.starts, sensing.ordered_sides)
    return flat, np.maximum(cells, 0.0) if nonnegative else cells


def _shrunk_parts(parts: Layer, blocks: Layer, alone: Mask, n: int) -> Floats:
    """The sums of parts of blocks; those of cells that are `alone` stand for nothing: their blocks are shrunk whole."""
    first = np.searchsorted(parts.starts, blocks.starts)
    whole = alone[first]
    sums, variances, kept = parts.sums.copy(), parts.variances.copy(), ~alone
    sums[first[whole]], variances[first[whole]], kept[first[whole]] = blocks.sums[whole], blocks.variances[whole], True
    sums[kept] = shrink_groups(parts.starts[kept], sums[kept], variances[kept], n)
    return sums


def _spread(sums: Floats, groups: Layer, cells: Floats) -> Floats:
    """What gives each group its sum, spread evenly over its cells."""
    sizes = np.diff(groups.starts, append=len(cells))
    return np.repeat((sums - np.add.reduceat(cells, groups.starts)) / sizes, sizes)


def _shrunk_cells(
    cells: Floats,
    sensing: GroupSums,
    law: IndependentLaw,
    level_variances: Floats | None,
    *,
    value_prior: bool,
    measured: Mask | None = None,
) -> Floats:
    """Cells in the row's order, shrunk along the ordered axes: one table of these, or a row if there are many short
    ones, for each place on the unordered axes, across which there is nothing to smooth.

    Rows that repeat themselves are shrunk beside other cycles too. `value_prior`: then cells are moved towards the
    values that cells like them have, none of them negative. Where some were not `measured`, only those that were are
    used of what comes out.
    """
    run = sensing.run
    if run < (LEAST_SHRUNK if run == sensing.n else LEAST_RUN) or sensing.n // run > MOST_TABLES:
        return cells.copy()
    sides = sensing.ordered_sides if sensing.is_table and fits(sensing.ordered_sides) else (run,)
    curve = z_order(sides)

    def as_tables(row: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        tables = np.empty((sensing.n // run, run), row.dtype)
        tables[:, curve] = row.reshape(-1, run)
        return tables.reshape(-1, *sides)

    observed, known = as_tables(cells), None if measured is None else as_tables(measured)
    with part(SMOOTHED):
        smoothed = [
            beside_isolated_spikes(one, law, lambda others: shrink(others, law, level_variances)) for one in observed
        ]
    shrunk = np.stack(smoothed)
    period = period_of(observed, law, known) if len(sides) == 1 else None
    if period is not None:
        pairs = zip(observed, shrunk, strict=True)
        shrunk = np.stack([beside_other_cycles(one, as_shrunk, law, period) for one, as_shrunk in pairs])
    if value_prior:
        shrunk = towards_value_prior(observed, shrunk, law, known, period)
    return shrunk.reshape(-1, run)[:, curve].reshape(-1)
