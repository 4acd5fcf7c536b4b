"""From noisy measurements to estimates. Nothing here ever sees the counts."""

from sparsedp.recovery.problem import SparseProblem
from sparsedp.recovery.registry import CELL_RECOVERIES, DECODERS
from sparsedp.recovery.solution import Solution, Status

__all__ = ["CELL_RECOVERIES", "DECODERS", "Solution", "SparseProblem", "Status"]
