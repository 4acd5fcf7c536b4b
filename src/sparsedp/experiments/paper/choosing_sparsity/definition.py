"""The experiment on choosing S."""

from __future__ import annotations

from sparsedp.experiments.paper.choosing_sparsity.claims import CLAIMS, expect
from sparsedp.experiments.paper.choosing_sparsity.judging.flat_part import FLAT
from sparsedp.experiments.paper.choosing_sparsity.judging.judges import NEGLIGIBLE
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
        "paper's form with C₂ = 1, C₄ = 2√2 and k = ⌈2·S·log₂(n/S)⌉ rows; the paper gives none. S is chosen exactly as "
        '`Compressive(sparsity="auto")` does, among candidates S ≤ n/16. The rows of Φ here are randomised Hadamard '
        "ones, where the paper has i.i.d. signs: fast where S is large, ±1 as well, and not compared with i.i.d. signs "
        f"here. The *flat part* of the U is where the mean error is at most {FLAT} times the least; a choice is called "
        f"near-optimal there, and its failure negligible up to a probability of {NEGLIGIBLE}."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
    expect=expect,
)
