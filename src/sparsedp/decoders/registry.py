"""Every sparse decoder by name."""

from __future__ import annotations

from collections.abc import Callable

from sparsedp.decoders.basis_pursuit import basis_pursuit
from sparsedp.decoders.cosamp import cosamp
from sparsedp.decoders.problem import SparseProblem
from sparsedp.decoders.vamp import vamp, vamp_tree
from sparsedp.errors import InvalidInput
from sparsedp.solution import Solution
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
