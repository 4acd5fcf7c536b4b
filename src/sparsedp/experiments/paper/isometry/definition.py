"""The experiment on restricted isometry."""

from __future__ import annotations

from sparsedp.experiments.paper.experiment import Experiment
from sparsedp.experiments.paper.isometry.claims import CLAIMS
from sparsedp.experiments.paper.isometry.measuring import jobs, measure
from sparsedp.experiments.paper.isometry.pictures import draw
from sparsedp.experiments.paper.isometry.tables import tabulate

EXPERIMENT = Experiment(
    name="isometry",
    title="Restricted isometry of the sensing",
    about=(
        "δ₂S is the largest |σ² − 1| over the singular values σ of *all* sets of 2S columns of A = Φ Ψ; nobody can go "
        "through all of them, so what is measured is a lower bound: the largest over random sets, over sets that Haar "
        "suggests, and over those that a search (the truncated power method) finds. Rows k = C·S·log₂(n/S), of i.i.d. "
        "±1/√k (the paper's), of a randomised Hadamard matrix as this library uses it, and of one without the "
        "permutation of the cells. No data set has a part in it."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
