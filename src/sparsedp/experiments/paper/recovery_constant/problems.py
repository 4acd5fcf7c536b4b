"""Recovery problems with a known answer: y = A x + e, A = Φ Ψ/√k in the Haar basis."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.bases.haar import Haar
from sparsedp.recovery.problem import SparseProblem
from sparsedp.sensing.bernoulli import Bernoulli
from sparsedp.sensing.hadamard import Hadamard

ENSEMBLES: dict[str, type[Bernoulli] | type[Hadamard]] = {"hadamard": Hadamard, "bernoulli": Bernoulli}


def sparse_vector(cells: int, sparsity: int, chance: np.random.Generator) -> Floats:
    """S coefficients of size one, of either sign, anywhere."""
    coefficients = np.zeros(cells)
    places = chance.choice(cells, sparsity, replace=False)
    coefficients[places] = chance.choice([-1.0, 1.0], sparsity)
    return coefficients


def compressible_vector(cells: int, power: float, chance: np.random.Generator) -> Floats:
    """|x₍ᵢ₎| = i^(−1/p), of either sign, in any order: p-compressible with magnitude R = 1."""
    sizes = np.arange(1, cells + 1) ** (-1 / power)
    return np.asarray(sizes * chance.choice([-1.0, 1.0], cells))[chance.permutation(cells)]


def tail_sum(coefficients: Floats, sparsity: int) -> float:
    """‖x − x_S‖₁."""
    sizes = np.sort(np.abs(coefficients))
    return float(sizes[: len(sizes) - sparsity].sum())


def clean_problem(coefficients: Floats, sensing: str, rows: int, sparsity: int, seed: int) -> SparseProblem:
    """What is measured of the coefficients when there is no noise."""
    basis = Haar(len(coefficients))
    phi = ENSEMBLES[sensing](len(coefficients), rows=rows, seed=seed)
    observed = phi.forward(basis.synthesize(coefficients)) / np.sqrt(rows)
    return SparseProblem(phi, basis, observed, 0.0, 0.0, sparsity)


def with_noise(problem: SparseProblem, errors: Floats) -> SparseProblem:
    """The same, with e added; decoders are told its power, and that it is Laplace noise."""
    variance = float(errors @ errors) / len(errors)
    observed = problem.observed + errors
    return SparseProblem(problem.sensing, problem.basis, observed, variance, 6 * variance**2, problem.sparsity)


def laplace_noise(problem: SparseProblem, size: float, chance: np.random.Generator) -> Floats:
    """Laplace noise, scaled to ‖e‖₂ = `size`."""
    errors = chance.laplace(size=len(problem.observed))
    return np.asarray(errors * (size / np.linalg.norm(errors)))


def aligned_noise(problem: SparseProblem, coefficients: Floats, size: float) -> Floats:
    """The noise of this norm that hurts most on the true support: A z, where z is what A shrinks most."""
    support = np.flatnonzero(coefficients)
    columns = np.stack([problem.forward(np.eye(1, problem.size, int(place))[0]) for place in support])
    errors = np.linalg.eigh(columns @ columns.T)[1][:, 0] @ columns
    return np.asarray(errors * (size / np.linalg.norm(errors)))
