"""The experiment on how the errors of streams grow."""

from __future__ import annotations

from sparsedp.experiments.paper.experiment import Experiment
from sparsedp.experiments.paper.stream_scaling.claims import CLAIMS
from sparsedp.experiments.paper.stream_scaling.measuring import jobs, measure
from sparsedp.experiments.paper.stream_scaling.pictures import draw
from sparsedp.experiments.paper.stream_scaling.tables import tabulate

EXPERIMENT = Experiment(
    name="stream-scaling",
    title="Table 2: how the errors of streams grow",
    about=(
        "Streams of S equal pieces with heights up to ten million (S = 8 unless it is varied): at most S Haar "
        "coefficients, however long the stream, and CMCO is told S. So high that every step is found; what remains is "
        "the noise that comes through. One thing is varied at a time: T, at t = T and ε = 1; t within one horizon, the "
        "pieces ending at t; ε; S. CMCO is decoded by CoSaMP with k = ⌈2·S·log₂(T/S)⌉ rows. Exponents are fitted by "
        "least squares to the means of the logarithms, with Student's intervals; where the paper's bound is a power of "
        "log T, that law is fitted too. Over the range of T that can be run the two are close together, and the table "
        "says which one is nearer. The data are the same everywhere: no file is needed."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
