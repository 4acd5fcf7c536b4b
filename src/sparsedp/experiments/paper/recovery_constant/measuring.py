"""The jobs: every decoder on the same problems, over the noise, the rows and the tail of the signal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.experiment import Origins
from sparsedp.experiments.paper.outcomes import Found, Settings
from sparsedp.experiments.paper.recovery_constant.problems import (
    ENSEMBLES,
    aligned_noise,
    clean_problem,
    compressible_vector,
    laplace_noise,
    sparse_vector,
    tail_sum,
    with_noise,
)
from sparsedp.experiments.paper.seeds import chance_of, seed_of
from sparsedp.mechanisms.selection.candidates import rows_for
from sparsedp.recovery.problem import SparseProblem
from sparsedp.recovery.registry import DECODERS

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
