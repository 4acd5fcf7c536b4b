"""What the paper says about the cosine basis."""

from __future__ import annotations

from sparsedp.experiments.paper.claim import Claim, Judgement, Verdict
from sparsedp.experiments.paper.epsilon_sweep.judging.overall import DECODERS, MUCH, judge_cannot_compete
from sparsedp.experiments.paper.outcomes import Outcomes

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
