"""A sparse problem's matrix as scipy's LinearOperator, for solvers that take one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.recovery.problem import SparseProblem


def linear_operator(problem: SparseProblem, columns: npt.NDArray[np.intp] | None = None) -> Any:
    """A, or some of its columns."""
    from scipy.sparse.linalg import LinearOperator

    chosen = np.arange(problem.size) if columns is None else columns
    full = np.zeros(problem.size)

    class RealOperator(LinearOperator):  # type: ignore[misc, type-arg, unused-ignore]  # stubs differ by version
        # spgl1 asks `np.isreal(A).all()`, which newer versions of scipy answer with a bare bool.
        imag = np.zeros(1)

        def __init__(self) -> None:
            super().__init__(np.dtype(np.float64), (len(problem.observed), len(chosen)))  # type: ignore[call-arg, unused-ignore]

        def _matvec(self, values: Floats) -> Floats:
            full[chosen] = values.reshape(-1)
            return problem.forward(full)

        def _rmatvec(self, values: Floats) -> Floats:
            coefficients = problem.adjoint(values.reshape(-1))
            return coefficients if columns is None else coefficients[chosen]

    return RealOperator()
