"""From noisy measurements to estimates. Nothing here ever sees the counts."""

from sparsedp.recovery.problem import SparseProblem
from sparsedp.recovery.registry import DECODERS, LINEAR_RECOVERIES
from sparsedp.recovery.solution import Solution, Status

__all__ = ["DECODERS", "LINEAR_RECOVERIES", "Solution", "SparseProblem", "Status"]
