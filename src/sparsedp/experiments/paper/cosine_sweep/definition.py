"""The experiment of the sweep over ε in the cosine basis: the other sweep's measurements, on series in time."""

from __future__ import annotations

from pathlib import Path

from sparsedp.experiments.paper.cosine_sweep.claims import CLAIMS, PAPERS_DATA
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.epsilon_sweep.contenders import CONTENDERS
from sparsedp.experiments.paper.epsilon_sweep.definition import common
from sparsedp.experiments.paper.epsilon_sweep.hindsight import KNOWN
from sparsedp.experiments.paper.epsilon_sweep.judging.overall import MUCH
from sparsedp.experiments.paper.epsilon_sweep.measuring import Runs, jobs_in, measure
from sparsedp.experiments.paper.epsilon_sweep.pictures import draw_sweep
from sparsedp.experiments.paper.epsilon_sweep.tables import tabulate
from sparsedp.experiments.paper.experiment import Experiment, Origins, Picture
from sparsedp.experiments.paper.outcomes import Outcomes, Settings

NAME = "cosine-sweep"


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    """The paper's series, and the flights by hour."""
    runs = effort.pick(smoke=Runs(1, 1, 1), quick=Runs(8, 4, 8), full=Runs(40, 16, 40))
    return jobs_in("cosine", (*PAPERS_DATA, "flights"), (*CONTENDERS, KNOWN), runs, effort, origins)


def draw(outcomes: Outcomes, folder: Path) -> list[Picture]:
    """The figures of the sweep under this experiment's name."""
    return draw_sweep(NAME, outcomes, folder)


EXPERIMENT = Experiment(
    name=NAME,
    title="The cosine basis",
    about=(
        "The comparison again in the cosine basis, on series in time: the paper's tcptrace, and flights by the hour. A "
        "record moves ‖x‖₁ by up to 0.9·√n in this basis, so 0.1 of ε tells S much less sharply than in the Haar one; "
        "a line of its own shows what would come out if the best S were known beforehand: with CoSaMP and Hadamard "
        "rows, where the line that is judged has i.i.d. signs, and at the S that was best in the very runs that are "
        "shown, which flatters it. “Far outperforms” is taken as at least "
        f"{MUCH} times nearer. {common('cosine')}"
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
