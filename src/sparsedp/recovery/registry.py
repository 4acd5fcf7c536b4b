"""Every recovery by name."""

from __future__ import annotations

from collections.abc import Callable

from sparsedp.arrays import Integers
from sparsedp.errors import InvalidInput
from sparsedp.laws import NoiseLaw
from sparsedp.recovery.basis_pursuit import basis_pursuit
from sparsedp.recovery.cosamp import cosamp
from sparsedp.recovery.inverse import differences, direct, inverse_haar
from sparsedp.recovery.layers.recover import ESTIMATES
from sparsedp.recovery.problem import SparseProblem
from sparsedp.recovery.solution import Solution
from sparsedp.recovery.tree_consistency import tree_consistency
from sparsedp.recovery.vamp import vamp, vamp_tree
from sparsedp.sensing.base import Sensing
from sparsedp.validate import one_of

DECODERS: dict[str, Callable[[SparseProblem], Solution]] = {
    "cosamp": cosamp,
    "basis_pursuit": basis_pursuit,
    "vamp": vamp,
    "vamp_tree": vamp_tree,
}
"""Sparse decoders: the value of their solution is the coefficients in the problem's basis."""


def decoder_for(recovery: str, basis: str) -> str:
    """The decoder's name; "auto" is the best there is for the basis."""
    if recovery == "auto":
        return "vamp_tree" if basis == "haar" else "vamp"
    one_of("recovery", recovery, {**DECODERS, "auto": None})
    if recovery == "vamp_tree" and basis != "haar":
        raise InvalidInput("recovery", "'vamp_tree'", f"choose 'vamp' in the {basis} basis, or basis='haar'")
    return recovery


INVERSES: dict[str, Callable[[Sensing, Integers, NoiseLaw], Solution]] = {
    "direct": direct,
    "differences": differences,
    "inverse_haar": inverse_haar,
    "tree_consistency": tree_consistency,
}
"""Measurements that determine the cells, undone: the value of their solution is the cells."""

CELL_RECOVERIES: dict[str, object] = {**INVERSES, **ESTIMATES}
"""By name, all that need no basis: these, and the ways to use the estimator."""
