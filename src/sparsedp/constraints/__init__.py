"""Constraints: what is publicly known of a table, imposed on its estimate after the noise."""

from sparsedp.constraints.checked import CheckedConstraints
from sparsedp.constraints.constraints import Constraints
from sparsedp.constraints.impose import impose
from sparsedp.constraints.nonnegative import nonnegative_keeping_totals

__all__ = ["CheckedConstraints", "Constraints", "impose", "nonnegative_keeping_totals"]
