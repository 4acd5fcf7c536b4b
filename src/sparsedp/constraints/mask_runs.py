"""A mask as the lengths of its runs: small in a file, since structural zeros come in blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sparsedp.arrays import Mask
from sparsedp.errors import InvalidInput
from sparsedp.validate import MAX_CELLS, MAX_DIMENSIONS


def runs_of(mask: Mask) -> dict[str, Any]:
    """Shape and run lengths of the flattened mask, the first run being of False (and perhaps empty)."""
    flat = mask.ravel()
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    bounds = [*([0] if flat.size and flat[0] else []), 0, *changes.tolist(), flat.size]
    return {"shape": list(mask.shape), "runs": np.diff(bounds).tolist()}


def mask_from(description: Mapping[str, Any], most: int = MAX_CELLS) -> Mask:
    """The mask that `runs_of` described, of at most so many cells."""
    wrong = InvalidInput("zeros", "not a mask's runs", "give what `describe()` returned")
    try:
        shape = tuple(int(size) for size in description["shape"][:MAX_DIMENSIONS])
        runs = np.array(description["runs"], np.int64)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise wrong from None
    cells = int(np.prod(shape, dtype=object))
    # The sum is taken in integers that cannot wrap: a forged file must not make it allocate.
    if runs.ndim != 1 or (runs < 0).any() or cells > most or sum(runs.tolist()) != cells:
        raise wrong
    return np.repeat(np.arange(len(runs)) % 2 == 1, runs).reshape(shape)
