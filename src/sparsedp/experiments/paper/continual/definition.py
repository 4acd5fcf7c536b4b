"""The experiment on streams of the paper's data."""

from __future__ import annotations

from sparsedp.experiments.paper.continual.claims import CLAIMS, expect
from sparsedp.experiments.paper.continual.measuring import jobs, measure
from sparsedp.experiments.paper.continual.pictures import draw
from sparsedp.experiments.paper.continual.tables import tabulate
from sparsedp.experiments.paper.experiment import Experiment

EXPERIMENT = Experiment(
    name="continual",
    title="CMCO against the continual mechanism",
    about=(
        "The paper's data sets as streams, a cell a tick, and the error ‖D_t − D*_t‖₂ of every prefix at moments from "
        "T/64 to T. The paper does not say which S it gave CMCO. Here CMCO gets the one with the least error at T "
        "among S = 1 … 64 (the paper's noise) or 1 … 16 (the correct noise, with which more only cost; fewer "
        "candidates in quick runs), for each data set and ε; it is chosen in hindsight, in CMCO's favour, with noise "
        "and signs of its own, and nothing is charged for it. k = ⌈2·S·log₂(T/S)⌉ for CoSaMP, the paper's decoder, "
        "by which the claims are judged; our own (`vamp_tree`, k = ⌈¾·S·log₂(T/S)⌉) is in the first table. *Spends*: "
        '`calibration="paper"` gives each of the k counters the whole ε, as published, and so guarantees kε; the '
        "correct calibration shares ε among them (proof: `streams/compressive.md`). *Noise once per tick* is the "
        "simplest stream that spends ε: Laplace noise on every tick, published as it is; ContinualAdaptive is that "
        "with a recovery."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
    expect=expect,
)
