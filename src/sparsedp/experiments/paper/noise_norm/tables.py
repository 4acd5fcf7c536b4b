"""The noise and its bounds as tables."""

from __future__ import annotations

from sparsedp.experiments.paper.experiment import Numbers
from sparsedp.experiments.paper.fits import mean_interval
from sparsedp.experiments.paper.noise_norm.claims import worst
from sparsedp.experiments.paper.noise_norm.law import CORRECTED, PAPER, most_by_moments
from sparsedp.experiments.paper.outcomes import Outcomes


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """Moments, and the worst δ of both bounds."""
    moments = []
    for one in outcomes.where(part="draws"):
        k = one.settings["rows"]
        means, variances = (mean_interval(one.found[name]) for name in ("means", "variances"))
        moments.append(
            (
                f"{k:,}",
                f"{one.settings['draws']:,}",
                "{:.4f} [{:.4f}, {:.4f}]".format(*(mean / k for mean in means)),
                "{:.2f} [{:.2f}, {:.2f}]".format(*(variance / k for variance in variances)),
            )
        )
    bounds = []
    for one in outcomes.where(part="exact"):
        row = [f"{one.settings['rows']:,}"]
        for key, under_root in (("paper", PAPER), ("corrected", CORRECTED)):
            low, high, delta = worst(one.found, key)
            row += [f"{low:.3f} … {high:.3f}", f"{delta:.3f}", f"{most_by_moments(delta, under_root) / delta:.2f}"]
        bounds.append(tuple(row))
    headings = ("P/δ, paper's bound", "at δ =", "most by moments", "P/δ, Chebyshev's", "at δ =", "most by moments")
    return [
        Numbers(
            "E Y/(kλ²) and Var Y/(kλ⁴) of the drawn noise, Y = ‖e‖₂²; the paper has 2 and 20.",
            ("k", "draws", "E Y/(kλ²)", "Var Y/(kλ⁴)"),
            tuple(moments),
        ),
        Numbers(
            "The largest P(Y > bound)/δ over δ from 10⁻³ to 0.9, exactly, between two bounds; 1 is what is claimed. "
            "Beside it the most that a law with the same mean and variance can reach at that δ.",
            ("k", *headings),
            tuple(bounds),
        ),
    ]
