"""The jobs of a sweep over ε: every contender on every data set at every ε, and a few facts about the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.bases import basis_from
from sparsedp.experiments.metrics import cell_error, range_error
from sparsedp.experiments.paper.data import PAPER_DATA, load
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.epsilon_sweep.contenders import CONTENDERS, FLOOR, JUDGED, Published, Terms
from sparsedp.experiments.paper.epsilon_sweep.hindsight import KNOWN, published_in_hindsight
from sparsedp.experiments.paper.experiment import Origins
from sparsedp.experiments.paper.outcomes import Found, Settings
from sparsedp.experiments.paper.seeds import noise_of, seed_of

EPSILONS = ("1", "0.1", "0.01", "0.001", "0.0001", "0.00001")
SMALL = 0.01
BASES = ("haar", "cosine")
ENERGY = 0.99
"""A representation is as sparse as the coefficients are few that hold so much of ‖D‖₂²."""


@dataclass(frozen=True)
class Runs:
    """How often each contender is run. Basis pursuit is slow with i.i.d. signs.

    The one that is judged needs more at a small ε: there a rare S of 2 or 3 weighs as much as all others.
    """

    most: int
    basis_pursuit: int
    judged_at_small_epsilon: int

    def of(self, mechanism: str, epsilon: str) -> int:
        """Of one contender at one ε; zeros never change."""
        if mechanism == FLOOR:
            return 1
        if mechanism == "compressive bp":
            return self.basis_pursuit
        return self.judged_at_small_epsilon if mechanism == JUDGED and float(epsilon) <= SMALL else self.most


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    """The paper's comparison: Haar, its three data sets; and the flights."""
    runs = effort.pick(smoke=Runs(1, 1, 1), quick=Runs(12, 6, 40), full=Runs(60, 24, 120))
    return jobs_in("haar", (*PAPER_DATA, "flights"), tuple(CONTENDERS), runs, effort, origins)


def jobs_in(
    basis: str, names: Sequence[str], mechanisms: Sequence[str], runs: Runs, effort: Effort, origins: Origins
) -> list[Settings]:
    """A sweep in any basis. In a smoke test two of them will do."""
    epsilons = effort.pick(smoke=EPSILONS[::3], quick=EPSILONS, full=EPSILONS)
    every: list[Settings] = []
    for name in names:
        of_data = {"data": name, "origin": origins[name], "basis": basis}
        every.append({"part": "facts", **of_data})
        every += [
            {"part": "errors", **of_data, "mechanism": one, "epsilon": epsilon, "runs": runs.of(one, epsilon)}
            for one in mechanisms
            for epsilon in epsilons
        ]
    return every


def measure(settings: Settings) -> Found:
    """One part; see `jobs_in`. Every part says how large the data are."""
    data = load(settings["data"], settings["origin"])
    part = {"facts": _facts, "errors": _errors}[settings["part"]]
    norm = float(np.linalg.norm(data.counts))
    return {**part(settings, data.counts), "cells": data.counts.size, "norm": norm, "about": data.about}


def _errors(settings: Settings, counts: Integers) -> Found:
    """‖D − D*‖₂ of every run: as released, and with negative cells set to 0; and of sums over ranges, as released."""
    runs = published_in_hindsight(settings, counts) if settings["mechanism"] == KNOWN else _published(settings, counts)
    return {
        "errors": [cell_error(counts, one.values) for one in runs],
        "clipped_errors": [cell_error(counts, np.maximum(one.values, 0)) for one in runs],
        "range_errors": [range_error(counts, one.values) for one in runs],
        "sparsities": [one.sparsity for one in runs if one.sparsity is not None],
        "rows": [one.rows for one in runs if one.rows is not None],
    }


def _published(settings: Settings, counts: Integers) -> list[Published]:
    publish = CONTENDERS[settings["mechanism"]]
    runs = []
    for run in range(settings["runs"]):
        matrix_seed = seed_of(settings, "matrix", run)
        terms = Terms(settings["epsilon"], settings["basis"], noise_of(settings, run), matrix_seed)
        runs.append(publish(counts, terms))
    return runs


def _facts(settings: Settings, counts: Integers) -> Found:
    """How close adjacent cells are, and how few coefficients hold nearly all of the data in each basis."""
    steps = np.abs(np.diff(counts))
    sparse = {}
    for name in BASES:
        energy = np.sort(basis_from(name, counts.size).analyze(counts.astype(np.float64)) ** 2)[::-1]
        sparse[name] = int(np.searchsorted(np.cumsum(energy), ENERGY * energy.sum())) + 1
    return {
        "steps_of_at_most_one": float(np.mean(steps <= 1)),
        "mean_count": float(counts.mean()),
        "coefficients": sparse,
    }
