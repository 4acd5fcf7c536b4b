"""The errors of a recovery that measured the cells of some blocks, and other blocks whole or in parts.

Cells of blocks that were measured cell by cell err as measured cells do; all others as those of flat groups do, also
where a group is a single cell, on the way to a table's first one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.recovery.layers.detail_variances import within_groups
from sparsedp.recovery.layers.error_model import ErrorModel
from sparsedp.recovery.layers.flat_group_errors import model_of_groups
from sparsedp.recovery.layers.group_posterior import cells_of_whole_blocks
from sparsedp.recovery.layers.measured_cell_errors import model_of_cells
from sparsedp.recovery.layers.resampling import Resampled

if TYPE_CHECKING:
    from sparsedp.recovery.layers.recover import Fit


def in_busy_blocks(fit: Fit) -> bool:
    """Whether all cells of some blocks of the layer above were measured, and others of these whole or in parts."""
    if not fit.sensing.in_parts_of_blocks:
        return False
    parts, blocks = (layer.starts for layer in fit.layers[:2])
    return bool(cells_of_whole_blocks(parts, blocks, fit.sensing.n).any())


def model_of_busy_blocks(fit: Fit, noise: Floats, made_up: Resampled) -> ErrorModel:
    """Details within groups, and their cells, from what flat groups hide; all others from what is measured."""
    sizes = np.diff(fit.layers[0].starts, append=fit.sensing.n)
    parts, blocks = (layer.starts for layer in fit.layers[:2])
    whole = np.repeat(~cells_of_whole_blocks(parts, blocks, fit.sensing.n), sizes)
    measured = model_of_cells(fit, noise, made_up)
    # The posterior does not say what the cells of busy blocks leave of their noise, and sums have both.
    flat = model_of_groups(replace(fit, joint=None), noise, lambda: made_up)

    @lru_cache(maxsize=8)
    def ends(level: float) -> tuple[Floats, Floats]:
        (below, above), (flat_below, flat_above) = measured.ends(level), flat.ends(level)
        return np.where(whole, flat_below, below), np.where(whole, flat_above, above)

    return ErrorModel(
        np.where(whole, flat.cells, measured.cells),
        np.where(within_groups(sizes), flat.shared, measured.shared),
        np.where(whole, flat.alone, measured.alone),
        ends,
        flat.between,
    )
