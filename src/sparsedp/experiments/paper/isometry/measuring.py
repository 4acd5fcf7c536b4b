"""The jobs: δ₂S of A = Φ Ψ, from below, against the rows, the cells and the sparsity."""

from __future__ import annotations

from fractions import Fraction

from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.experiment import Origins
from sparsedp.experiments.paper.isometry.matrices import ENSEMBLES, columns_of
from sparsedp.experiments.paper.isometry.supports import FAMILIES, deviation, searched_deviation
from sparsedp.experiments.paper.outcomes import Found, Settings
from sparsedp.experiments.paper.seeds import chance_of, seed_of
from sparsedp.mechanisms.selection.candidates import rows_for

BASES = ("identity", "haar", "cosine")
SPARSITY = 8
CONSTANT = 8
"""C of the rows k = C·S·log₂(n/S) where the cells or the sparsity are varied."""


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    """No data set has a part in it. The rows are varied for every pair; the rest for both ensembles in Haar."""
    cells = effort.pick(smoke=2**8, quick=2**11, full=2**12)
    constants = effort.pick(smoke=[1, 2, 4], quick=[1, 2, 4, 8, 16, 28], full=[1, 2, 4, 8, 16, 28])
    exponents = effort.pick(smoke=[8, 9, 10], quick=[9, 10, 11, 12, 13], full=[9, 10, 11, 12, 13])
    sparsities = effort.pick(smoke=[2, 4, 8], quick=[2, 4, 8, 16, 32], full=[2, 4, 8, 16, 32])
    amount = {
        "matrices": effort.pick(smoke=2, quick=2, full=4),
        "supports": effort.pick(smoke=20, quick=200, full=1000),
        "starts": effort.pick(smoke=2, quick=3, full=8),
    }
    sparsity = effort.pick(smoke=4, quick=SPARSITY, full=SPARSITY)
    listed: list[Settings] = [
        _job("rows", ensemble, basis, cells, sparsity, constant, amount)
        for ensemble in ENSEMBLES
        for basis in BASES
        for constant in constants
        if ensemble != "unshuffled" or basis == "haar"
    ]
    for ensemble in ("bernoulli", "hadamard"):
        listed += [_job("cells", ensemble, "haar", 2**e, sparsity, CONSTANT, amount) for e in exponents]
        listed += [_job("sparsity", ensemble, "haar", 2 * cells, s, CONSTANT, amount) for s in sparsities]
    return listed


def _job(
    part: str, ensemble: str, basis: str, cells: int, sparsity: int, constant: int, amount: dict[str, int]
) -> Settings:
    named = {"part": part, "ensemble": ensemble, "basis": basis, "cells": cells, "sparsity": sparsity}
    return {**named, "constant": constant, **amount}


def measure(settings: Settings) -> Found:
    """Lower bounds of δ₂S, one a matrix: on random supports, by search, and in Haar on its own families of supports."""
    cells, sparsity = settings["cells"], settings["sparsity"]
    rows = rows_for(cells, sparsity, Fraction(settings["constant"]))
    families = FAMILIES if settings["basis"] == "haar" else {"random": FAMILIES["random"]}
    found: dict[str, list[float]] = {name: [] for name in (*families, "searched")}
    for number in range(settings["matrices"]):
        columns = columns_of(settings["ensemble"], settings["basis"], cells, rows, seed_of(settings, "matrix", number))
        chance = chance_of(settings, number)
        for name, family in families.items():
            supports = family(cells, 2 * sparsity, settings["supports"], chance)
            found[name].append(deviation(columns, supports))
            if name == "random":
                found["searched"].append(searched_deviation(columns, supports[: settings["starts"]]))
    return {"rows": rows, **found}
