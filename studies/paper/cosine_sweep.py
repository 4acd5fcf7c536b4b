"""The sweep over ε in the cosine basis: the other sweep's measurements, on series in time."""

from __future__ import annotations

from pathlib import Path

from studies.paper.epsilon_sweep import common, draw_sweep, tabulate
from studies.paper.epsilon_sweep.advantage import DECODERS, MUCH, judge_cannot_compete
from studies.paper.epsilon_sweep.measuring import CONTENDERS, KNOWN, Runs, jobs_in, measure
from studies.paper.experiment import Claim, Effort, Experiment, Judgement, Origins, Outcomes, Picture, Settings, Verdict

PAPERS_DATA = ("tcptrace",)


def judge_far_outperforms(outcomes: Outcomes) -> Judgement:
    """At least twice as near as both on the paper's series: with CoSaMP, or if not, with whom."""
    papers = judge_cannot_compete(outcomes, PAPERS_DATA, by=MUCH)
    if papers.verdict is not Verdict.DOES_NOT_HOLD:
        return papers
    for other, shown in DECODERS.items():
        judgement = judge_cannot_compete(outcomes, PAPERS_DATA, by=MUCH, judged=other)
        if judgement.verdict in (Verdict.HOLDS, Verdict.HOLDS_ONLY):
            return Judgement(Verdict.HOLDS_ONLY, papers.measured, f"with {shown} {judgement.only}".rstrip())
    return papers


CLAIMS = (
    Claim(
        "Section 7.2",
        "Figure 6 shows that the compressive mechanism far outperforms the Laplacian mechanism and HRMS mechanism.",
        judge_far_outperforms,
    ),
)


# ---- the experiment

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
