"""The jobs of choosing S: error curves, a thousand private picks, and the pick that the paper's words describe."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sparsedp.experiments.paper.choosing_sparsity.error_curve import error_curve
from sparsedp.experiments.paper.choosing_sparsity.private_choice import literal_pick, picks
from sparsedp.experiments.paper.choosing_sparsity.scores import Shares
from sparsedp.experiments.paper.data import PAPER_DATA, load
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.experiment import Origins
from sparsedp.experiments.paper.outcomes import Found, Settings

EPSILON, SHARE, SMALLER_SHARE = "1", "0.1", "0.01"
DECODERS = ("cosamp", "basis_pursuit", "vamp_tree")
PAPERS = "cosamp"
"""The decoder that is judged."""

PARTS = {"errors": error_curve, "picks": picks, "literal": literal_pick}


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    """For every data set and decoder a curve and its picks; with CoSaMP's constants also the smaller share."""
    drawn = effort.pick(smoke=30, quick=1000, full=1000)
    every: list[Settings] = []
    for name in PAPER_DATA:
        of_data = {"data": name, "origin": origins[name], "basis": "haar", "epsilon": EPSILON}
        for decoder in DECODERS:
            of_decoder = {**of_data, "decoder": decoder, "share": SHARE}
            every += [
                {"part": "errors", **of_decoder, **_fineness(effort, decoder)},
                {"part": "picks", **of_decoder, "runs": drawn},
            ]
        of_papers = {**of_data, "decoder": PAPERS}
        every += [
            {"part": "picks", **of_papers, "share": SMALLER_SHARE, "runs": drawn},
            {"part": "literal", **of_papers, "share": SHARE},
        ]
    return every


def _fineness(effort: Effort, decoder: str) -> Settings:
    """How fine the grid of S is, where it begins, and the runs at each: basis pursuit is slow where S is small."""
    if decoder == "basis_pursuit":
        return effort.pick(
            smoke={"steps": 1, "finer": 1, "least": 16, "runs": 1},
            quick={"steps": 1, "finer": 4, "least": 6, "runs": 4},
            full={"steps": 2, "finer": 4, "least": 1, "runs": 6},
        )
    judged = decoder == PAPERS
    return effort.pick(
        smoke={"steps": 1, "finer": 1, "least": 8, "runs": 1},
        quick={"steps": 2, "finer": 4, "least": 1, "runs": 18 if judged else 10},
        full={"steps": 2, "finer": 4, "least": 1, "runs": 60 if judged else 40},
    )


def measure(settings: Settings) -> Found:
    """One part; see `jobs`. Every part says how large the data are."""
    data = load(settings["data"], settings["origin"])
    shares = Shares(Fraction(settings["epsilon"]), Fraction(settings["share"]))
    found = PARTS[settings["part"]](settings, data.counts, shares)
    norm = float(np.linalg.norm(data.counts))
    return {**found, "cells": data.counts.size, "norm": norm, "about": data.about}
