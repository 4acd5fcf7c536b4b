"""The experiment on the constants of recovery."""

from __future__ import annotations

from sparsedp.experiments.paper.experiment import Experiment
from sparsedp.experiments.paper.recovery_constant.claims import CLAIMS
from sparsedp.experiments.paper.recovery_constant.measuring import jobs, measure
from sparsedp.experiments.paper.recovery_constant.pictures import draw
from sparsedp.experiments.paper.recovery_constant.tables import tabulate

EXPERIMENT = Experiment(
    name="recovery-constant",
    title="Recovery error against the noise, and CoSaMP against basis pursuit",
    about=(
        "y = A x + e with A = Φ Ψ/√k in the Haar basis, k = 4·S·log₂(n/S) where the rows are not varied. x has S = 8 "
        "coefficients of ±1 at random places, or |x₍ᵢ₎| = i^(−1/p) in a random order. e is Laplace noise scaled to "
        "‖e‖₂ = θ, or the noise of that length that hurts most on the true support. Every decoder gets the same "
        "problems; CoSaMP is told S, and basis pursuit the power of the noise. No data set has a part in it."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
