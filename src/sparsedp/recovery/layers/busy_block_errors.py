"""The errors of a recovery that measured the cells of some blocks, and other blocks whole.

Cells of blocks in which something was seen err as measured cells do; within a block that was measured whole, and seems
nearly empty, cells err as those of a flat group do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.recovery.layers.detail_variances import level_slices, padded
from sparsedp.recovery.layers.error_model import ErrorModel
from sparsedp.recovery.layers.flat_group_errors import model_of_groups
from sparsedp.recovery.layers.measured_cell_errors import model_of_cells
from sparsedp.recovery.layers.resampling import Refit

if TYPE_CHECKING:
    from sparsedp.recovery.layers.recover import Fit


def in_busy_blocks(fit: Fit) -> bool:
    """Whether the finest groups are cells, and blocks of the layer above, as they are."""
    if not fit.sensing.in_parts_of_blocks:
        return False
    sizes = np.diff(fit.layers[0].starts, append=fit.sensing.n)
    alone = np.add.reduceat(sizes == 1, np.searchsorted(fit.layers[0].starts, fit.layers[1].starts), dtype=np.int64)
    blocks = np.diff(fit.layers[1].starts, append=fit.sensing.n)
    parts = np.diff(np.searchsorted(fit.layers[0].starts, fit.layers[1].starts), append=len(sizes))
    return bool(((alone == blocks) | (parts == 1)).all() and (alone == blocks).any())


def model_of_busy_blocks(fit: Fit, refit: Refit) -> ErrorModel:
    """Details within whole blocks, and their cells, from what flat groups hide; all others from what is measured."""
    sizes = np.diff(fit.layers[0].starts, append=fit.sensing.n)
    whole = np.repeat(sizes > 1, sizes)
    measured, flat = model_of_cells(fit, refit), model_of_groups(fit, refit)
    shared, widths = measured.shared.copy(), padded(np.repeat(sizes, sizes).astype(np.float64))
    for level, part in enumerate(level_slices(len(shared)), start=1):
        inside = widths[:: 1 << level] >= 1 << level
        shared[part] = np.where(inside, flat.shared[part], shared[part])

    @lru_cache(maxsize=8)
    def ends(level: float) -> tuple[Floats, Floats]:
        (below, above), (flat_below, flat_above) = measured.ends(level), flat.ends(level)
        return np.where(whole, flat_below, below), np.where(whole, flat_above, above)

    cells = np.where(whole, flat.cells, measured.cells)
    return ErrorModel(cells, shared, np.where(whole, flat.alone, measured.alone), ends, flat.noise)
