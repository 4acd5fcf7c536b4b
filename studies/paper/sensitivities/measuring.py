"""Sensitivities, measured by changing one record."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.bases import basis_from
from sparsedp.mechanisms.compressive import Compressive
from sparsedp.mechanisms.selection.sparsity_choice import FORMS, PublicTerms, constants_for, sparsity_candidates
from sparsedp.mechanisms.selection.tail_scores import tail_scores
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger
from studies.paper.data import chance_of, noise_of
from studies.paper.experiment import Effort, Found, Origins, Settings

BASES = ("identity", "haar", "cosine")
ENSEMBLES = ("bernoulli", "hadamard")
SPARSITY = 8
PLACES = 64
"""Cells whose record is added, besides the first and the last."""


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    """Row sums of every basis, columns of both ensembles, and the law of the choice at neighbouring counts."""
    powers = effort.pick(smoke=(6, 8, 10), quick=(8, 10, 12, 14, 16), full=(8, 10, 12, 14, 16, 18, 20))
    cells = effort.pick(smoke=256, quick=1024, full=4096)
    neighbours = effort.pick(smoke=4, quick=24, full=48)
    return [
        *({"part": "row sums", "basis": basis, "cells": 2**power} for basis in BASES for power in powers),
        *({"part": "columns", "ensemble": one, "cells": cells, "epsilon": "0.1"} for one in ENSEMBLES),
        *(
            {"part": "choice", "basis": basis, "cells": cells, "epsilon": "0.1", "neighbours": neighbours}
            for basis in BASES
        ),
        {"part": "queries", "cells": cells, "epsilon": "0.1", "queries": 1000},
    ]


def measure(settings: Settings) -> Found:
    """One part; see `jobs`."""
    return PARTS[settings["part"]](settings)


def _row_sums(settings: Settings) -> Found:
    """How far ‖x‖₁ moves when one record is added: the largest over sampled cells, and the bound that is used."""
    basis = basis_from(settings["basis"], settings["cells"])
    moves = []
    for place in _places(settings):
        unit = np.zeros(settings["cells"])
        unit[place] = 1.0
        moves.append(float(np.abs(basis.analyze(unit)).sum()))
    return {"largest": max(moves), "bound": float(basis.row_sum_bound)}


def _columns(settings: Settings) -> Found:
    """‖Φ(D − D′)‖₁ on ±1 entries for a record more in sampled cells, k, and the scale of the noise that is drawn."""
    counts = np.zeros(settings["cells"], dtype=np.int64)
    mechanism = Compressive(sensing=settings["ensemble"], sparsity=SPARSITY, seed=1)
    synopsis = mechanism.measure(counts, epsilon=settings["epsilon"], source=noise_of(settings))
    sensing = synopsis.plan.sensing
    moves = []
    for place in _places(settings):
        unit = counts.copy()
        unit[place] = 1
        moves.append(int(np.abs(sensing.apply(unit)).sum()))
    scale = Fraction(synopsis.noise_scale) * Fraction(settings["epsilon"])
    return {"least": min(moves), "largest": max(moves), "rows": sensing.rows, "scale_times_epsilon": float(scale)}


def _choice(settings: Settings) -> Found:
    """The largest |log ratio| of the probabilities of any S, between counts and the same counts with a record more."""
    cells = settings["cells"]
    counts = chance_of(settings, "counts").poisson(np.repeat([40.0, 2.0, 11.0, 0.5], cells // 4))
    before = _law(counts, settings)
    ratios = []
    for place in _places(settings, settings["neighbours"]):
        neighbour = counts.copy()
        neighbour[place] += 1
        ratios.append(float(np.abs(_law(neighbour, settings) - before).max()))
    return {"largest": max(ratios)}


def _queries(settings: Settings) -> Found:
    """What a ledger has left after a release, and after many questions to it."""
    cells = settings["cells"]
    ledger = Ledger(epsilon=1)
    counts = chance_of(settings, "counts").poisson(np.repeat([40.0, 2.0, 11.0, 0.5], cells // 4))
    mechanism = Compressive(sparsity=SPARSITY, seed=1)
    release = mechanism.release(counts, epsilon=settings["epsilon"], ledger=ledger, source=noise_of(settings))
    left = ledger.remaining
    weights = chance_of(settings, "queries").normal(size=(settings["queries"], cells))
    for each in weights:
        release.query(partial(np.dot, each))
    return {"left_after_the_release": str(left), "left_after_the_queries": str(ledger.remaining)}


def _law(counts: Ints, settings: Settings) -> Floats:
    """log P(S) of every candidate, as `Compressive` with CoSaMP draws it."""
    constants = constants_for("cosamp", settings["basis"])
    candidates = sparsity_candidates(counts.size, constants.rows_constant)
    epsilon = Fraction(settings["epsilon"])
    terms = PublicTerms(counts.size, candidates, epsilon, Budget(epsilon=9 * epsilon), 1, constants)
    tails = tail_scores(basis_from(settings["basis"], counts.size), counts, candidates, distance=1)
    exponents = FORMS["scaled"](tails, terms)
    # Differences of exact fractions: the logarithms are good to a rounding.
    least = min(exponents)
    logs = -np.array([float(exponent - least) for exponent in exponents])
    return np.asarray(logs - np.log(np.exp(logs).sum()))


PARTS = {"row sums": _row_sums, "columns": _columns, "choice": _choice, "queries": _queries}


def _places(settings: Settings, most: int = PLACES) -> list[int]:
    cells: int = settings["cells"]
    chosen = chance_of(settings, "places").permutation(cells)[:most]
    return sorted({0, cells - 1, *map(int, chosen)})
