"""The experiment on sensitivities."""

from __future__ import annotations

from sparsedp.experiments.paper.experiment import Experiment
from sparsedp.experiments.paper.sensitivities.claims import CLAIMS
from sparsedp.experiments.paper.sensitivities.measuring import jobs, measure
from sparsedp.experiments.paper.sensitivities.pictures import draw
from sparsedp.experiments.paper.sensitivities.tables import tabulate

EXPERIMENT = Experiment(
    name="sensitivities",
    title="What one record moves",
    about=(
        "A record is added to a cell, and what the paper puts noise on is computed again, without noise: the samples "
        "Φ D of both ensembles, ‖x‖₁ in three bases, and the law of the private choice of S (the paper's form, "
        "CoSaMP's constants, counts with four plateaus)."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
