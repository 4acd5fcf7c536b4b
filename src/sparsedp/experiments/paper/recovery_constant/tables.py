"""The constants of recovery as tables."""

from __future__ import annotations

import numpy as np

from sparsedp.experiments.paper.experiment import Numbers
from sparsedp.experiments.paper.fits import mean_interval
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.recovery_constant.claims import (
    in_reach,
    noise_ratios,
    slope_in_noise,
    tail_ratios,
)
from sparsedp.recovery.registry import DECODERS


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """C₃ by decoder and noise, and C₂ by decoder and tail."""
    noise = []
    for sensing in outcomes.where(part="noise").values("sensing"):
        for kind in outcomes.where(part="noise").values("noise"):
            for decoder in DECODERS:
                ratios = noise_ratios(in_reach(outcomes, sensing=sensing, noise=kind), decoder)
                slope = slope_in_noise(outcomes, decoder, sensing=sensing, noise=kind)
                mean = "{:.3f} [{:.3f}, {:.3f}]".format(*mean_interval(ratios))
                noise.append((sensing, kind, decoder, str(slope), mean, f"{max(ratios):.2f}"))
    powers = outcomes.where(part="tail").values("power")
    tail = []
    for decoder in DECODERS:
        by_power = [tail_ratios(outcomes.where(part="tail", power=power), decoder) for power in powers]
        tail.append((decoder, *(f"{np.mean(ratios):.3f} (≤ {max(ratios):.3f})" for ratios in by_power)))
    rows = []
    for one in outcomes.where(part="rows"):
        means = [f"{np.mean(noise_ratios([one], decoder)):.3f}" for decoder in DECODERS]
        rows.append((one.settings["constant"], f"{one.found['rows']:,}", *means))
    level = outcomes.where(part="rows").values("level")[0]
    return [
        Numbers(
            "‖x − x*‖₂ over θ = ‖e‖₂ for S-sparse x, up to θ = 0.3·‖x‖₂: the power of θ, and C₃ (mean and largest). "
            "*aligned*: the noise that hurts most on the true support.",
            ("sensing", "noise", "decoder", "power of θ", "C₃, mean", "C₃, largest"),
            tuple(noise),
        ),
        Numbers(
            f"C₃ against the rows k = C·S·log₂(n/S), Laplace noise of θ = {level:g}·‖x‖₂.",
            ("C", "k", *DECODERS),
            tuple(rows),
        ),
        Numbers(
            "C₂: ‖x − x*‖₂ without noise over ‖x − x_S‖₁/√S, for |x₍ᵢ₎| = i^(−1/p), mean (and largest) over S.",
            ("decoder", *(f"p = {power:g}" for power in powers)),
            tuple(tail),
        ),
    ]
