"""Constraints: what is publicly known of a table, imposed on its estimate after the noise."""

from sparsedp.constraints._checked import CheckedConstraints
from sparsedp.constraints._impose import impose, nonnegative_keeping_totals
from sparsedp.constraints.constraints import Constraints

__all__ = ["CheckedConstraints", "Constraints", "impose", "nonnegative_keeping_totals"]
