"""The jobs of a sweep over ε: every contender on every data set at every ε, and a few facts about the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.bases import basis_from
from sparsedp.mechanisms import MECHANISMS
from sparsedp.mechanisms.compressive import Compressive
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import RandomSource
from studies.metrics import cell_error, range_error
from studies.paper.data import PAPER_DATA, load, noise_of, seed_of
from studies.paper.experiment import Effort, Found, Origins, Settings

# ---- who is compared, by the names of `drawing.LOOKS`: each publishes all cells under ε-differential privacy


@dataclass(frozen=True)
class Terms:
    """What a release is asked for: the budget, the basis of those that have one, and all its randomness."""

    epsilon: str
    basis: str
    source: RandomSource
    matrix_seed: int


@dataclass(frozen=True)
class Published:
    """The cells, just as the mechanism releases them; of the compressive ones also the chosen S and its k."""

    values: Floats
    sparsity: int | None = None
    rows: int | None = None


Publish = Callable[[Ints, Terms], Published]


def _mechanism(name: str) -> Publish:
    def publish(counts: Ints, terms: Terms) -> Published:
        return Published(MECHANISMS[name]().release(counts, epsilon=terms.epsilon, source=terms.source).values)

    return publish


def _compressive(recovery: str, sensing: str) -> Publish:
    """S is chosen with 0.1 of ε, and k(S) samples are taken with the rest."""

    def publish(counts: Ints, terms: Terms) -> Published:
        mechanism = Compressive(basis=terms.basis, recovery=recovery, sensing=sensing, seed=terms.matrix_seed)
        synopsis = mechanism.measure(counts, epsilon=terms.epsilon, source=terms.source)
        return Published(synopsis.recover().values, synopsis.plan.recovery.sparsity, synopsis.sensing.rows)

    return publish


def _zeros(counts: Ints, terms: Terms) -> Published:
    """No look at the data at all."""
    return Published(np.zeros(counts.shape))


def _uniform(counts: Ints, terms: Terms) -> Published:
    """The noisy total, at least 0, spread evenly over the cells."""
    noise = discrete_laplace(1 / Fraction(terms.epsilon), 1, terms.source)
    return Published(np.full(counts.shape, max(0, int(counts.sum()) + int(noise[0])) / counts.size))


CONTENDERS: dict[str, Publish] = {
    "compressive": _compressive("cosamp", "bernoulli"),
    "compressive bp": _compressive("basis_pursuit", "bernoulli"),
    "compressive tree": _compressive("auto", "hadamard"),
    "laplace": _mechanism("laplace"),
    "hierarchical": _mechanism("hierarchical"),
    "privelet": _mechanism("privelet"),
    "adaptive": _mechanism("adaptive"),
    "zeros": _zeros,
    "uniform": _uniform,
}
"""The first two are the paper's: i.i.d. signs and its two decoders. The third is the one that this library prefers."""

JUDGED = "compressive"
"""Whom the paper's claims are about: Algorithm 1 with CoSaMP."""
RIVALS = ("laplace", "hierarchical")
"""Whom the paper compares it with."""
FLOOR = "zeros"


# ---- if the best S were known beforehand. NOT PRIVATE: what a better choice of S could gain

KNOWN = "compressive known"
SPARSITIES = (1, 2, 4, 8, 16, 32, 64)
LEFT = Fraction(9, 10)
"""Of ε, as if choosing had been paid for: so that nothing differs but S."""


def published_in_hindsight(settings: Settings, counts: Ints) -> list[Published]:
    """The runs at the S whose mean error came out least; CoSaMP, randomised Hadamard rows."""
    every = [_published_at(settings, counts, sparsity) for sparsity in SPARSITIES]
    means = [np.mean([np.linalg.norm(one.values - counts) for one in runs]) for runs in every]
    return every[int(np.argmin(means))]


def _published_at(settings: Settings, counts: Ints, sparsity: int) -> list[Published]:
    runs = []
    for run in range(settings["runs"]):
        seed = seed_of(settings, "matrix", sparsity, run)
        mechanism = Compressive(basis=settings["basis"], sparsity=sparsity, recovery="cosamp", seed=seed)
        source = noise_of(settings, sparsity, run)
        synopsis = mechanism.measure(counts, epsilon=LEFT * Fraction(settings["epsilon"]), source=source)
        runs.append(Published(synopsis.recover().values, sparsity, synopsis.sensing.rows))
    return runs


# ---- the jobs

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


def _errors(settings: Settings, counts: Ints) -> Found:
    """‖D − D*‖₂ of every run: as released, and with negative cells set to 0; and of sums over ranges, as released."""
    runs = published_in_hindsight(settings, counts) if settings["mechanism"] == KNOWN else _published(settings, counts)
    return {
        "errors": [cell_error(counts, one.values) for one in runs],
        "clipped_errors": [cell_error(counts, np.maximum(one.values, 0)) for one in runs],
        "range_errors": [range_error(counts, one.values) for one in runs],
        "sparsities": [one.sparsity for one in runs if one.sparsity is not None],
        "rows": [one.rows for one in runs if one.rows is not None],
    }


def _published(settings: Settings, counts: Ints) -> list[Published]:
    publish = CONTENDERS[settings["mechanism"]]
    runs = []
    for run in range(settings["runs"]):
        matrix_seed = seed_of(settings, "matrix", run)
        terms = Terms(settings["epsilon"], settings["basis"], noise_of(settings, run), matrix_seed)
        runs.append(publish(counts, terms))
    return runs


def _facts(settings: Settings, counts: Ints) -> Found:
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
