"""Noisy sparse problems with a known answer, for the tests of every decoder."""

import numpy as np
import numpy.typing as npt

from sparsedp.bases import basis_from
from sparsedp.decoders.problem import SparseProblem
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.bernoulli import Bernoulli
from sparsedp.sensing.hadamard import Hadamard

Floats = npt.NDArray[np.float64]


def sense(signal: Floats, basis: str, sensing: str, rows: int, sparsity: int, noise: float, seed: int) -> SparseProblem:
    """Laplace noise whose norm is about `noise` times that of the clean observations."""
    matrix: Sensing = {"hadamard": Hadamard, "bernoulli": Bernoulli}[sensing](len(signal), rows=rows, seed=seed)
    clean = matrix.forward(signal) / np.sqrt(rows)
    deviation = noise * float(np.linalg.norm(clean)) / np.sqrt(rows)
    errors = np.random.default_rng([seed, 1]).laplace(size=rows) * deviation / np.sqrt(2)
    space = basis_from(basis, len(signal))
    return SparseProblem(matrix, space, clean + errors, deviation**2, 6 * deviation**4, sparsity)


def steps(n: int, jumps: int, seed: int) -> Floats:
    """Piecewise-constant cells."""
    generator = np.random.default_rng(seed)
    edges = np.r_[0, np.sort(generator.choice(np.arange(1, n), jumps, replace=False)), n]
    return np.repeat(generator.normal(size=jumps + 1), np.diff(edges))


def sparse_in(basis: str, n: int, sparsity: int, seed: int) -> Floats:
    """Cells with `sparsity` Gaussian coefficients, none of them tiny."""
    generator = np.random.default_rng(seed)
    space = basis_from(basis, n)
    coefficients = np.zeros(space.size)
    places = generator.choice(n, sparsity, replace=False)
    coefficients[places] = generator.choice([-1.0, 1.0], sparsity) * (0.5 + generator.exponential(size=sparsity))
    return space.synthesize(coefficients)


def relative_error(problem: SparseProblem, coefficients: Floats, signal: Floats) -> float:
    """Of the cells."""
    return float(np.linalg.norm(problem.basis.synthesize(coefficients) - signal) / np.linalg.norm(signal))


def materialized(problem: SparseProblem) -> Floats:
    """A as a stored matrix."""
    return np.stack([problem.forward(unit) for unit in np.eye(problem.size)], axis=1)
