"""From layers of noisy group sums to an estimate of every cell (layers.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats, Integers, Mask
from sparsedp.constraints import nonnegative_keeping_totals
from sparsedp.errors import InvalidInput
from sparsedp.noise.law import IndependentLaw, LayersLaw, NoiseLaw
from sparsedp.progress import advance, part
from sparsedp.recovery.layers.box_slopes import sloped_boxes
from sparsedp.recovery.layers.errors import LEAST_SHRUNK, LayerErrors
from sparsedp.recovery.layers.fusion import Layer, fuse
from sparsedp.recovery.layers.group_posterior import GroupPosterior, cells_of_whole_blocks, posterior_of_groups
from sparsedp.recovery.layers.group_shrinkage import shrink_groups
from sparsedp.recovery.layers.group_slopes import sloped_cells
from sparsedp.recovery.layers.nonnegative import keeping_total, nearest_nonnegative
from sparsedp.recovery.layers.unseen import unseen_deviation
from sparsedp.recovery.shrinkage.cycles import are_alike, beside_other_cycles
from sparsedp.recovery.shrinkage.lone_cells import beside_lone_cells
from sparsedp.recovery.shrinkage.period import period_of
from sparsedp.recovery.shrinkage.shrink import shrink
from sparsedp.recovery.shrinkage.shrink_table import fits, shrink_table
from sparsedp.recovery.shrinkage.usual_values import are_learnt, towards_usual_values
from sparsedp.recovery.solution import Solution, Status
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.cell_order import z_order
from sparsedp.sensing.group_sums import GroupSums

LEAST_VARIANCE = 1e-200
"""Noise of a huge budget has a variance that is zero in floating point; it is taken for this."""

LEAST_RUN, MOST_RUNS = 64, 256
"""Tables with unordered axes are shrunk along the ordered ones if these have so many cells, in no more tables."""

MOST_NEAREST = 2**18
"""Cells beside their total alone are projected in the metric of the noise, up to so many; more by halving."""

FUSED, SMOOTHED, SHRUNK = 0.1, 0.7, 0.9
"""About how much of the time that a recovery takes is over by then; the second: of the time that shrinking takes."""

TOTAL_KNOWN = 0.2
"""Of its variance, what the total is given when negative cells are removed: these all move up, and least squares would
let the total follow them by more than its noise is worth. Ranges come out nearer, and cells too."""


@dataclass(frozen=True)
class Fit:
    """What a recovery of layers found, in the row's order: for the estimate and for its error."""

    sensing: GroupSums
    law: LayersLaw
    layers: list[Layer]
    fused: Floats
    estimate: Floats
    level_variances: Floats
    total_variance: float
    stats: dict[str, object]
    nonnegative: bool
    joint: GroupPosterior | None = None


def layers(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """All layers fused, the noise of cells shrunk, negative cells removed."""
    return _solution(sensing, values, law)


def signed_layers(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """The same for counts that may be negative."""
    return _solution(sensing, values, law, nonnegative=False)


def layers_keeping_sums(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """As `layers`, but cells are shrunk only within the groups of the layer above them, whose sums are kept.

    With tables that are shrunk in boxes, and with parts of blocks, `layers` does so too.
    """
    return _solution(sensing, values, law, keep_sums=True)


def signed_layers_keeping_sums(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """The same for counts that may be negative."""
    return _solution(sensing, values, law, nonnegative=False, keep_sums=True)


def fused_layers(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """All layers fused and negative cells removed; no cell is shrunk, so that no sum is biased by it.

    No mechanism asks for it; it is for whoever wants sums without bias, and for stored synopses.
    """
    return _solution(sensing, values, law, shrinks=False)


def signed_fused_layers(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """The same for counts that may be negative."""
    return _solution(sensing, values, law, nonnegative=False, shrinks=False)


def _solution(sensing: Sensing, values: Integers, law: NoiseLaw, **how: bool) -> Solution:
    """`how`: as `fit_layers` takes it."""

    def refit(sensing: Sensing, values: Integers) -> Fit:
        return fit_layers(sensing, values, law, **how)

    fit = refit(sensing, values)
    return Solution(fit.sensing.out_of_row(fit.estimate), Status.DIRECT, fit.stats, LayerErrors(fit, refit))


def fit_layers(
    sensing: Sensing,
    values: Integers,
    law: NoiseLaw,
    *,
    nonnegative: bool = True,
    keep_sums: bool = False,
    shrinks: bool = True,
) -> Fit:
    """Fuse, shrink, keep the sums of groups if wanted, and make non-negative."""
    if not isinstance(sensing, GroupSums) or not isinstance(law, LayersLaw):
        raise InvalidInput("recovery", "'layers'", "it needs layers of group sums")
    if len(law.layers) != len(sensing.groups):
        raise InvalidInput("noise law", f"of {len(law.layers)} layers", f"give one for each of {len(sensing.groups)}")
    if isinstance(sensing.groups[0], int) and sensing.groups[0] != 1:
        raise InvalidInput(
            "layers", f"blocks of {sensing.groups[0]} cells at the finest", "give cells, or chosen groups"
        )
    fused = fuse(sensing, values, law)
    level_variances, total_variance = noise_by_level(sensing, law, fused)
    advance(FUSED)
    if len(fused[0].starts) < sensing.n:
        _refuse_unaligned(fused[0].starts, sensing.n)
        joint = posterior_of_groups(sensing, values, law) if nonnegative and shrinks else None
        if sensing.in_parts_of_blocks:
            unclipped, estimate = _parts_of_blocks(fused, sensing, law, joint, nonnegative=nonnegative, shrinks=shrinks)
        else:
            unclipped, estimate = _flat_groups(fused[0], sensing, law, joint, nonnegative=nonnegative, shrinks=shrinks)
        stats: dict[str, object] = {"layers": [len(layer.starts) for layer in fused]}
        return Fit(sensing, law, fused, unclipped, estimate, level_variances, total_variance, stats, nonnegative, joint)
    cells = fused[0].sums
    chosen = _chosen_groups(sensing, fused)
    known = None if chosen is not None else level_variances
    in_boxes = sensing.is_table and fits(sensing.ordered_sides)
    if not shrinks:
        shrunk = cells.copy()
    else:
        measured = sensing.split(values.astype(np.float64))[0] if in_boxes else cells
        with part(SHRUNK):
            shrunk = _shrunk_cells(measured, sensing, law.finest, known, counts=nonnegative)
    if chosen is not None and shrinks:
        shrunk += _spread(shrink_groups(chosen.starts, chosen.sums, chosen.variances, sensing.n), chosen, shrunk)
    elif shrinks and (len(fused) > 1 if in_boxes else keep_sums and len(fused) > 2):
        shrunk += _spread(fused[1].sums, fused[1], shrunk)
    estimate = shrunk
    if nonnegative and len(fused) == 2 and chosen is None and sensing.n <= MOST_NEAREST:
        estimate = nearest_nonnegative(shrunk, level_variances, TOTAL_KNOWN * total_variance)
    elif nonnegative:
        estimate = nonnegative_keeping_totals(shrunk)
    stats = {"layers": [len(layer.starts) for layer in fused]}
    return Fit(sensing, law, fused, cells, estimate, level_variances, total_variance, stats, nonnegative)


def _flat_groups(
    groups: Layer,
    sensing: GroupSums,
    law: LayersLaw,
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
        sums = keeping_total(sums)
    if sensing.is_table:  # stored synopses alone: tables are measured in parts of blocks now
        return np.repeat(groups.sums / sizes, sizes), np.repeat(sums / sizes, sizes)
    cells = sloped_cells(sums, sizes, unseen_deviation(law, sensing.n, sizes))
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
                shrunk = _shrunk_cells(flat, sensing, law.finest, None, counts=nonnegative, measured=where)
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
    counts: bool,
    measured: Mask | None = None,
) -> Floats:
    """Along the ordered axes: in boxes, if there are several and not too many; else in the row. None is negative if
    they are `counts`; where some were not `measured`, only those that were are used of what comes out.
    """
    if sensing.is_table and fits(sensing.ordered_sides):
        return _shrunk_tables(cells, sensing, law, counts=counts, measured=measured)
    return _shrunk_runs(cells, sensing, law, level_variances, counts=counts, measured=measured)


def _shrunk_tables(
    cells: Floats, sensing: GroupSums, law: IndependentLaw, *, counts: bool, measured: Mask | None
) -> Floats:
    """Cells in the row's order, as they were measured; the ordered axes are one table for each place on the unordered
    ones. (Of parts of blocks, the cells of blocks that have no others, fused with the blocks'; others are flat, and
    are not taken from it.)

    Noise as measured is independent, which that of fused cells is not quite; the sums that were measured are put back
    afterwards.
    """
    run = sensing.run
    if run < (LEAST_SHRUNK if run == sensing.n else LEAST_RUN) or sensing.n // run > MOST_RUNS:
        return cells.copy()
    curve, sides = z_order(sensing.ordered_sides), (-1, *sensing.ordered_sides)
    observed = np.empty((sensing.n // run, run))
    observed[:, curve] = cells.reshape(-1, run)
    observed = observed.reshape(sides)
    with part(SMOOTHED):
        shrunk = np.stack([beside_lone_cells(one, law, lambda others: shrink_table(others, law)) for one in observed])
    if counts and are_learnt(observed.size, law, of_tables=True):
        where = None
        if measured is not None:
            where = np.empty((sensing.n // run, run), np.bool_)
            where[:, curve] = measured.reshape(-1, run)
        shrunk = towards_usual_values(observed, shrunk, law, where)
    return shrunk.reshape(-1, run)[:, curve].reshape(-1)


def _shrunk_runs(
    cells: Floats,
    sensing: GroupSums,
    law: IndependentLaw,
    level_variances: Floats | None,
    *,
    counts: bool,
    measured: Mask | None,
) -> Floats:
    """Each run of neighbouring cells shrunk by itself: across an unordered axis there is nothing to smooth."""
    run = sensing.run
    if run != sensing.n and (run < LEAST_RUN or sensing.n // run > MOST_RUNS):
        return cells.copy()
    observed = cells.reshape(-1, run)
    known = None if measured is None else measured.reshape(observed.shape)
    with part(SMOOTHED):
        shrunk = np.stack([_shrunk(one, law, level_variances) for one in observed])
    period = period_of(observed, law, known)
    if period is not None and are_alike(observed, law, period, known):
        pairs = zip(observed, shrunk, strict=True)
        shrunk = np.stack([beside_other_cycles(one, as_shrunk, law, period) for one, as_shrunk in pairs])
    if counts:
        shrunk = towards_usual_values(observed, shrunk, law, known, period)
    return shrunk.reshape(-1)


def _shrunk(cells: Floats, law: IndependentLaw, level_variances: Floats | None) -> Floats:
    if len(cells) < LEAST_SHRUNK:
        return cells.copy()
    variances = None
    if level_variances is not None:
        variances = level_variances[: (len(cells) - 1).bit_length()]
        # Rounding must not make a level look better measured than its cells: the noise would be taken for Gaussian.
        variances = np.where(variances > 0.999 * law.variance, law.variance, variances)
    return beside_lone_cells(cells, law, lambda row: shrink(row, law, variances).value)


def _chosen_groups(sensing: GroupSums, fused: list[Layer]) -> Layer | None:
    """The layer of groups that a private look chose, whose sums are kept: the look says that they differ.

    Beside the cells, stored synopses have one, and the total of few records in which a tree found very many groups.
    """
    for layer, described in zip(fused, sensing.groups, strict=True):
        if not isinstance(described, int):
            _refuse_unaligned(layer.starts, sensing.n)
            return layer
    return None


def _refuse_unaligned(starts: Integers, n: int) -> None:
    """The leaves of a tree of halves are runs of 2^k cells that begin at a multiple of 2^k, but for the row's end."""
    sizes = np.diff(starts)
    last = 1 << max(n - int(starts[-1]) - 1, 0).bit_length()
    if (sizes & (sizes - 1)).any() or (starts[:-1] % sizes).any() or starts[-1] % last:
        raise InvalidInput("layers", "groups that are not aligned halves", "give the synopsis as it was made")


def noise_by_level(sensing: GroupSums, law: LayersLaw, fused: list[Layer]) -> tuple[Floats, float]:
    """The variance of the noise of the fused cells: of an aligned orthonormal detail of each level, and of the total.

    Exact where the layers are blocks of 2^k cells. Where groups were chosen, the mean over the row: within a group
    the cells' own; across groups, that of the groups' sums.
    """
    n = sensing.n
    levels = max(n - 1, 1).bit_length()
    total_variance = float(fused[-1].variances.sum()) / n
    if all(isinstance(layer, int) for layer in sensing.groups):
        precision = np.zeros(levels + 1)
        for size, noise in zip(sensing.groups, law.layers, strict=True):
            width = min(int(size), n)
            precision[min((width - 1).bit_length(), levels) :] += width / max(noise.variance, LEAST_VARIANCE)
        return 1.0 / precision[:levels], min(total_variance, 1.0 / float(precision[-1]))
    chosen = _chosen_groups(sensing, fused) or fused[0]
    sizes = np.diff(chosen.starts, append=n)
    share = sizes / n
    within = law.finest.variance if len(fused[0].starts) == n else 0.0
    # A detail of 2^level cells is across groups of fewer, and within those of as many.
    smaller = np.frexp(sizes.astype(np.float64))[1]
    across = np.bincount(smaller, share * chosen.variances / sizes, levels + 2).cumsum()
    inside = 1.0 - np.bincount(smaller, share, levels + 2).cumsum()
    variances = (across + within * inside)[1 : levels + 1]
    return np.maximum(variances, 1e-9 * max(float(variances.max()), 1e-9)), total_variance
