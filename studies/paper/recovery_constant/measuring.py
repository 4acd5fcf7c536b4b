"""The jobs: every decoder on the same problems, over the noise, the rows and the tail of the signal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.bases.haar import Haar
from sparsedp.decoders.problem import SparseProblem
from sparsedp.decoders.registry import DECODERS
from sparsedp.mechanisms.selection.sparsity_choice import rows_for
from sparsedp.sensing.bernoulli import Bernoulli
from sparsedp.sensing.hadamard import Hadamard
from studies.paper.data import chance_of, seed_of
from studies.paper.experiment import Effort, Found, Origins, Settings

# ---- problems with a known answer: y = A x + e, A = Φ Ψ/√k in the Haar basis

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


# ---- the jobs

SPARSITY = 8
CONSTANT = "4"
"""C of the rows k = C·S·log₂(n/S), where it is not varied."""

LEVEL = 0.1
"""‖e‖₂/‖x‖₂ where the rows are varied."""


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    """No data set has a part in it."""
    levels = effort.pick(
        smoke=[0.01, 0.03, 0.1, 1.0],
        quick=[0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0],
        full=[0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0],
    )
    constants = effort.pick(
        smoke=["2", "4"], quick=["1", "1.5", "2", "3", "4", "6", "8"], full=["1", "1.5", "2", "3", "4", "6", "8", "12"]
    )
    powers = effort.pick(smoke=[0.5], quick=[0.4, 0.55, 0.7, 0.85], full=[0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    sparsities = effort.pick(smoke=[2, 4, 8], quick=[4, 8, 16, 32], full=[4, 8, 16, 32])
    size = {"cells": effort.pick(smoke=2**8, quick=2**12, full=2**13)}
    sparse = {"sparsity": SPARSITY, **size, "runs": effort.pick(smoke=2, quick=12, full=30)}
    # Basis pursuit without noise, on what is not quite sparse, is the slowest of all.
    compressible = {
        "cells": effort.pick(smoke=2**8, quick=2**11, full=2**11),
        "runs": effort.pick(smoke=1, quick=3, full=8),
    }
    listed: list[Settings] = [{"part": "exact", "sensing": name, "constant": CONSTANT, **sparse} for name in ENSEMBLES]
    listed += [
        {"part": "noise", "sensing": sensing, "noise": noise, "level": level, "constant": CONSTANT, **sparse}
        for sensing in ENSEMBLES
        for noise in ("laplace", "aligned")
        for level in levels
    ]
    listed += [
        {"part": "rows", "sensing": "hadamard", "noise": "laplace", "level": LEVEL, "constant": constant, **sparse}
        for constant in constants
    ]
    listed += [
        {"part": "tail", "sensing": "hadamard", "power": p, "sparsity": s, "constant": CONSTANT, **compressible}
        for p in powers
        for s in sparsities
    ]
    return listed


def measure(settings: Settings) -> Found:
    """‖x − x*‖₂ of every decoder, run by run, and what the bound has on its right side."""
    cells, sparsity = settings["cells"], settings["sparsity"]
    rows = rows_for(cells, sparsity, Fraction(settings["constant"]))
    errors: dict[str, list[float]] = {name: [] for name in DECODERS}
    noises, tails = [], []
    for run in range(settings["runs"]):
        chance = chance_of(settings, run)
        if settings["part"] == "tail":
            truth = compressible_vector(cells, settings["power"], chance)
        else:
            truth = sparse_vector(cells, sparsity, chance)
        problem = clean_problem(truth, settings["sensing"], rows, sparsity, seed_of(settings, "matrix", run))
        if "noise" in settings:
            problem = _noisy(problem, truth, settings, chance)
        noises.append(float(np.sqrt(problem.noise_variance * rows)))
        tails.append(tail_sum(truth, sparsity) / sparsity**0.5)
        for name, decoder in DECODERS.items():
            errors[name].append(float(np.linalg.norm(decoder(problem).value - truth)))
    return {"rows": rows, "noises": noises, "tails": tails, "errors": errors}


def _noisy(problem: SparseProblem, truth: Floats, settings: Settings, chance: np.random.Generator) -> SparseProblem:
    size = settings["level"] * float(np.linalg.norm(truth))
    if settings["noise"] == "aligned":
        return with_noise(problem, aligned_noise(problem, truth, size))
    return with_noise(problem, laplace_noise(problem, size, chance))
