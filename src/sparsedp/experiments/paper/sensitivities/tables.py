"""The sensitivities as tables."""

from __future__ import annotations

from sparsedp.experiments.paper.experiment import Numbers
from sparsedp.experiments.paper.outcomes import Outcomes


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """Columns of both ensembles, and the law of the choice."""
    columns = tuple(
        (
            one.settings["ensemble"],
            f"{one.found['rows']:,}",
            f"{one.found['least']:,} … {one.found['largest']:,}",
            f"{one.found['scale_times_epsilon']:,.0f}/ε",
        )
        for one in outcomes.where(part="columns")
    )
    choices = tuple(
        (one.settings["basis"], one.settings["epsilon"], f"{one.found['largest']:.4f}")
        for one in outcomes.where(part="choice")
    )
    return [
        Numbers(
            "A record more, on rows of ±1 (the paper's, times √k): how far ‖Φ D‖₁ moves, and the scale of the noise.",
            ("ensemble", "k", "moves by", "scale of the noise"),
            columns,
        ),
        Numbers(
            "A record more: the largest |log P(S | D) − log P(S | D′)| of the private choice of S, over all S.",
            ("basis", "ε of the choice", "largest"),
            choices,
        ),
    ]
