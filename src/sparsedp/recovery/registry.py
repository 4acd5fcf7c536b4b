"""Every recovery by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sparsedp.recovery.basis_pursuit import basis_pursuit
from sparsedp.recovery.cosamp import cosamp
from sparsedp.recovery.inverse import direct, inverse_haar
from sparsedp.recovery.problem import SparseProblem
from sparsedp.recovery.solution import Solution
from sparsedp.recovery.tree_consistency import tree_consistency
from sparsedp.recovery.vamp import vamp, vamp_tree
from sparsedp.sensing.base import Sensing

DECODERS: dict[str, Callable[[SparseProblem], Solution]] = {
    "cosamp": cosamp,
    "basis_pursuit": basis_pursuit,
    "vamp": vamp,
    "vamp_tree": vamp_tree,
}
"""Sparse decoders: the value of their solution is the coefficients in the problem's basis."""

LINEAR_RECOVERIES: dict[str, Callable[[Sensing, npt.NDArray[np.int64]], Solution]] = {
    "direct": direct,
    "inverse_haar": inverse_haar,
    "tree_consistency": tree_consistency,
}
"""Recoveries of measurements that determine the cells: the value of their solution is the cells."""
