"""The experiment of the sweep over ε in the Haar basis."""

from __future__ import annotations

from sparsedp.experiments.paper.epsilon_sweep.claims import CLAIMS, expect
from sparsedp.experiments.paper.epsilon_sweep.measuring import jobs, measure
from sparsedp.experiments.paper.epsilon_sweep.pictures import draw
from sparsedp.experiments.paper.epsilon_sweep.tables import tabulate
from sparsedp.experiments.paper.experiment import Experiment

COMMON = (
    "Compressive chooses S with 0.1 of ε and measures with the rest, as the paper does. “The paper's” has i.i.d. signs "
    "and is judged with CoSaMP; basis pursuit is its other decoder. “Our decoder” is what this library prefers, with "
    "randomised Hadamard rows. All noise is exact discrete Laplace noise. What the paper leaves out are the last two: "
    "publishing zeros, and publishing the noisy total spread evenly."
)

EXPERIMENT = Experiment(
    name="epsilon-sweep",
    title="Compressive against Laplace and HRMS",
    about=f"The paper's main figure: ε from 1 down to 10⁻⁵ in the Haar basis; beside its data, the flights. {COMMON}",
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
    expect=expect,
)
