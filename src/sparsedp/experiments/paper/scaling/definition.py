"""The experiment on growth: Table 1 as measured laws."""

from __future__ import annotations

from sparsedp.experiments.paper.experiment import Experiment
from sparsedp.experiments.paper.scaling.claims import CLAIMS
from sparsedp.experiments.paper.scaling.judging.bounds import FAR, ROOM
from sparsedp.experiments.paper.scaling.measuring import jobs, measure
from sparsedp.experiments.paper.scaling.pictures import draw
from sparsedp.experiments.paper.scaling.tables import tabulate

EXPERIMENT = Experiment(
    name="scaling",
    title="Table 1 as measured laws",
    about=(
        "Synthetic counts with exactly S coefficients in the Haar basis, whatever n is: a total, and S − 1 details of "
        "±16,384 at random scales and places. It is the *size of the coefficients* that is held fixed, as the "
        "class of S-sparse databases means it. Counts of fixed height would have coefficients that grow like √n, and "
        "be ever easier; a fixed number of records in ever more cells would be ever more coefficients (a single "
        "occupied cell has 1 + log₂ n of them). Compressive is told S and takes k = 2·S·log₂(n/S) Hadamard rows with "
        "every decoder. Strong signals are those at ε = 1; the *hardest* are those whose details hardly stand out from "
        "the noise, found by varying ε, as only the ratio matters. *Laplace, then a threshold* is the Laplace "
        "mechanism and hard thresholding of its output in the Haar basis. Dense inputs are random counts. No data set "
        "has a part in it. The paper gives no constants and has i.i.d. signs; those are compared in what they cost "
        f"alone. An exponent is taken for the one claimed within {ROOM}, and for at most a bound up to {FAR} above it, "
        "as logarithms look like small powers; where its 95 % interval holds both answers, the claim is not decided."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
