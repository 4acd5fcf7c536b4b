"""The experiment on the noise's norm."""

from __future__ import annotations

from sparsedp.experiments.paper.experiment import Experiment
from sparsedp.experiments.paper.noise_norm.claims import CLAIMS
from sparsedp.experiments.paper.noise_norm.measuring import jobs, measure
from sparsedp.experiments.paper.noise_norm.pictures import draw
from sparsedp.experiments.paper.noise_norm.tables import tabulate

EXPERIMENT = Experiment(
    name="noise-norm",
    title="How large the noise is, and the Chebyshev bound",
    about=(
        "Y = ‖e‖₂² for k independent Laplace terms of scale λ = √k/ε, against the bound that the paper's proof uses. "
        "Its law is computed on a fine grid, with every square rounded down, which gives two numbers between which "
        "each probability lies; beside it, draws of the mechanism's own noise, which is discrete Laplace of scale k/ε "
        "on the integer sums, divided by √k. No data set has a part in it."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
