"""The isometry constants as tables."""

from __future__ import annotations

from math import inf

import numpy as np

from sparsedp.experiments.paper.experiment import Numbers
from sparsedp.experiments.paper.isometry.claims import constant_needed, trend
from sparsedp.experiments.paper.outcomes import Outcomes

FAMILIES = ("random", "neighbours", "paths", "searched")


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """Every pair at every k, and the laws."""
    rows = []
    for one in outcomes.where(part="rows"):
        shown = [
            f"{np.mean(one.found[name]):.2f} (≤ {max(one.found[name]):.2f})" if name in one.found else "–"
            for name in FAMILIES
        ]
        settings = one.settings
        rows.append(
            (settings["ensemble"], settings["basis"], str(settings["constant"]), f"{one.found['rows']:,}", *shown)
        )
    laws = []
    for part in ("rows", "cells", "sparsity"):
        of_part = outcomes.where(part=part)
        setting = "constant" if part == "rows" else part
        for ensemble in of_part.values("ensemble"):
            for basis in of_part.where(ensemble=ensemble).values("basis"):
                pair = of_part.where(ensemble=ensemble, basis=basis)
                constant = constant_needed(pair) if part == "rows" else inf
                needed = "–" if constant == inf else f"{constant:.0f}"
                slopes = [str(trend(pair, setting, key)) for key in ("random", "searched")]
                laws.append((ensemble, basis, {"cells": "n", "sparsity": "S"}.get(part, "C"), *slopes, needed))
    settings = next(iter(outcomes.where(part="rows"))).settings
    about = f"n = {settings['cells']:,}, S = {settings['sparsity']}, {settings['matrices']} matrices"
    return [
        Numbers(
            f"Lower bounds of δ₂S, mean (and largest) over the matrices: {about}, {settings['supports']} supports of "
            "each family. *neighbours*: finest Haar coefficients in a row; *paths*: those around single cells.",
            ("ensemble", "basis", "C", "k", "random supports", "neighbours", "paths", "searched"),
            tuple(rows),
        ),
        Numbers(
            "The exponent of δ₂S in C, in n and in S, and the C at which the searched one would reach √2 − 1.",
            ("ensemble", "basis", "against", "random supports", "searched", "C needed"),
            tuple(laws),
        ),
    ]
