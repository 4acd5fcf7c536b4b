"""The choice of S as tables."""

from __future__ import annotations

from sparsedp.experiments.paper.choosing_sparsity.judging.flat_part import FLAT, quality_of
from sparsedp.experiments.paper.choosing_sparsity.judging.judges import SHOWN, small
from sparsedp.experiments.paper.experiment import Numbers
from sparsedp.experiments.paper.outcomes import Outcome, Outcomes


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """The private choice beside the best one in hindsight, and what the paper's words would pick."""
    return [
        Numbers(
            f"The private choice among S ≤ n/16 at ε = 1, of which a share chooses and the rest measures (Haar). The "
            f"flat part of the U is where the mean error is at most {FLAT} times the least, which is the least of many "
            "means with noise in them and so biased low; all decoders have Hadamard rows here. “Missed” is the exact "
            "probability of a pick outside it, “cost” the error at the picked S over the least, on average.",
            (
                "data",
                "decoder",
                "share",
                "best S",
                "least error",
                "zeros",
                "flat part",
                "picks: median [5 %, 95 %]",
                "missed",
                "cost",
            ),
            tuple(_row(outcomes, one) for one in outcomes.where(part="picks")),
        ),
        Numbers(
            "The same scores over all S from 1 to n, as the paper has it: the likeliest S, its probability, and the "
            "samples k = ⌈2·S·log₂(n/S)⌉ that it would take.",
            ("data", "n", "likeliest S", "probability", "P(S ≤ n/16)", "k"),
            tuple(
                (
                    one.settings["data"],
                    f"{one.found['cells']:,}",
                    f"{one.found['likeliest']:,}",
                    f"{one.found['probability']:.5f}",
                    small(one.found["within_candidates"]),
                    f"{one.found['rows']}",
                )
                for one in outcomes.where(part="literal")
            ),
        ),
    ]


def _row(outcomes: Outcomes, one: Outcome) -> tuple[str, ...]:
    data, decoder, share = (one.settings[name] for name in ("data", "decoder", "share"))
    quality = quality_of(outcomes, data, decoder, share)
    first, last = quality.curve.flat
    low, median, high = quality.middle
    return (
        data,
        SHOWN[decoder],
        share,
        f"{quality.curve.best}",
        f"{quality.curve.least:,.0f}",
        f"{one.found['norm']:,.0f}",
        f"{first}–{last}",
        f"{median} [{low}, {high}]",
        small(quality.failing),
        f"{quality.mean_over_least:.2f}",
    )
