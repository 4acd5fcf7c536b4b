"""The experiment on choosing S."""

from __future__ import annotations

from sparsedp.experiments.paper.choosing_sparsity.claims import CLAIMS, expect
from sparsedp.experiments.paper.choosing_sparsity.measuring import jobs, measure
from sparsedp.experiments.paper.choosing_sparsity.pictures import draw
from sparsedp.experiments.paper.choosing_sparsity.tables import tabulate
from sparsedp.experiments.paper.experiment import Experiment

EXPERIMENT = Experiment(
    name="choosing-sparsity",
    title="Choosing S",
    about=(
        "The paper's figure on the sparsity: ε = 1, of which 0.1 chooses S by the exponential mechanism and 0.9 "
        "measures, in the Haar basis. Every decoder has the constants that `Compressive` gives it: for CoSaMP the "
        "paper's form with C₂ = 1, C₄ = 2√2 and k = ⌈2·S·log₂(n/S)⌉ rows. S is chosen exactly as "
        '`Compressive(sparsity="auto")` does, among candidates S ≤ n/16. The rows of Φ here are randomised Hadamard '
        "ones, ±1 like the paper's i.i.d. signs and with errors like theirs, but fast where S is large."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
    expect=expect,
)
