"""How far the noise and the tail of a signal carry into its recovery: the constants C₃ and C₂, decoder by decoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sparsedp.decoders.registry import DECODERS
from studies.paper.deciding import mean_interval
from studies.paper.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, Look, canvas, legend_below, save
from studies.paper.experiment import Experiment, Numbers, Outcome, Outcomes, Picture
from studies.paper.recovery_constant.claims import CLAIMS, in_reach, noise_ratios, slope_in_noise, tail_ratios
from studies.paper.recovery_constant.measuring import jobs, measure

# ---- tables


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


# ---- errors against what the bound has on its right side, and the paper's two decoders side by side

LOOK_OF_DECODER = {
    "cosamp": Look("CoSaMP (the paper's)", VERMILION, "o"),
    "basis_pursuit": Look("basis pursuit (the paper's)", ORANGE, "v", "--"),
    "vamp": Look("VAMP (ours)", BLUE, "s", ":"),
    "vamp_tree": Look("VAMP with a tree prior (ours)", PURPLE, "D", "-."),
}
PROBLEMS = (
    ({"part": "noise", "noise": "laplace"}, Look("sparse signals, Laplace noise", BLACK, "o")),
    ({"part": "noise", "noise": "aligned"}, Look("sparse signals, aligned noise", BLUE, "s")),
    ({"part": "rows"}, Look("sparse signals, Laplace noise, other k", GREEN, "^")),
    ({"part": "tail"}, Look("compressible signals, no noise", VERMILION, "x")),
)


def draw(outcomes: Outcomes, folder: Path) -> list[Picture]:
    """Four panels against the bound; then every problem as a point."""
    return [_against_the_bound(outcomes, folder), _side_by_side(outcomes, folder)]


def _against_the_bound(outcomes: Outcomes, folder: Path) -> Picture:
    figure, axes = canvas(2, 2, width=5.4, height=3.4)
    noise = outcomes.where(part="noise", sensing="hadamard")
    settings = next(iter(noise)).settings
    cells, sparsity = settings["cells"], settings["sparsity"]
    about = f"n = {cells:,}, S = {sparsity}"
    length = float(np.sqrt(sparsity))
    for axis, kind, title in (
        (axes[0, 0], "laplace", f"Laplace noise, {about}"),
        (axes[0, 1], "aligned", "the noise that hurts most on the true support"),
    ):
        found = list(noise.where(noise=kind))
        levels = [one.settings["level"] * length for one in found]
        for decoder, look in LOOK_OF_DECODER.items():
            _line(axis, levels, [one.found["errors"][decoder] for one in found], look)
        axis.plot(levels, levels, **Look("error = θ", GREY, "", "-", 1.0).style())
        axis.axhline(length, **Look("‖x‖₂: the error of publishing zeros", GREY, "", ":", 2.0).style())
        axis.set(xscale="log", yscale="log", xlabel="θ = ‖e‖₂", ylabel="‖x − x*‖₂", title="")
        axis.set_title(title, loc="left")
    _rows(axes[1, 0], list(outcomes.where(part="rows")))
    _tails(axes[1, 1], outcomes.where(part="tail"))
    legend_below(figure, axes, columns=3)
    caption = (
        "Top: the error against θ, with random noise, and with the noise that hurts most on the true support. Bottom "
        "left: C₃ against the rows, beside √(S/k), which random noise leaves to whoever knows the support. Bottom "
        "right: without noise, compressible signals; every mark is one p and one S, and the grey line is C₂ = 1. "
        "Hadamard sensing, Haar basis; bars are 95 % intervals of the mean, their lower ends cut off at a tenth of it, "
        "as a log scale has no zero."
    )
    return Picture(save(figure, folder / "recovery-constant.png"), caption)


def _line(axis: Any, x: list[float], runs: list[list[float]], look: Look) -> None:
    means = [mean_interval(values) for values in runs]
    centre = [mean for mean, _, _ in means]
    # A log axis has no room for an interval that reaches zero.
    low = [min(mean - below, 0.9 * mean) for mean, below, _ in means]
    high = [above - mean for mean, _, above in means]
    axis.errorbar(x, centre, yerr=[low, high], elinewidth=0.8, **look.style())


def _rows(axis: Any, found: list[Outcome]) -> None:
    k = [one.found["rows"] for one in found]
    for decoder, look in LOOK_OF_DECODER.items():
        _line(axis, k, [noise_ratios([one], decoder) for one in found], look)
    sparsity = found[0].settings["sparsity"]
    guide = Look("√(S/k): noise on the true support", BLACK, "", ":", 1.2).style()
    axis.plot(k, [np.sqrt(sparsity / rows) for rows in k], **guide)
    level = found[0].settings["level"]
    axis.set(xscale="log", yscale="log", xlabel="rows k", ylabel="C₃ = ‖x − x*‖₂ / θ")
    axis.set_xticks(k, [str(rows) for rows in k])
    axis.set_xticks([], minor=True)
    axis.set_title(f"Laplace noise of θ = {level:g}·‖x‖₂", loc="left")


def _tails(axis: Any, outcomes: Outcomes) -> None:
    found = sorted(outcomes, key=lambda one: float(np.mean(one.found["tails"])))
    tails = [float(np.mean(one.found["tails"])) for one in found]
    for decoder, look in LOOK_OF_DECODER.items():
        means = [float(np.mean(one.found["errors"][decoder])) for one in found]
        axis.plot(tails, means, **look.style(linestyle="none", label="_"))
        axis.plot([], [], **look.style())
    ends = [tails[0], tails[-1]]
    axis.plot(ends, ends, color=GREY, linewidth=1)
    axis.set(xscale="log", yscale="log", xlabel="‖x − x_S‖₁ / √S", ylabel="‖x − x*‖₂, no noise")
    axis.set_title(f"compressible signals, n = {found[0].settings['cells']:,}", loc="left")


def _side_by_side(outcomes: Outcomes, folder: Path) -> Picture:
    figure, axes = canvas(1, 1, width=6.4, height=5.2)
    axis = axes[0, 0]
    ends: list[float] = []
    for settings, look in PROBLEMS:
        found = list(outcomes.where(**settings))
        greedy, convex = (
            [e for one in found for e in one.found["errors"][name]] for name in ("cosamp", "basis_pursuit")
        )
        axis.plot(convex, greedy, **look.style(linestyle="none", alpha=0.5, markersize=4))
        ends += [*greedy, *convex]
    axis.plot([min(ends), max(ends)], [min(ends), max(ends)], **Look("the same error", GREY, "", "-", 1.2).style())
    axis.set(xscale="log", yscale="log", xlabel="‖x − x*‖₂ of basis pursuit", ylabel="‖x − x*‖₂ of CoSaMP")
    legend_below(figure, axes, columns=2)
    caption = (
        "The paper's two decoders on the same problems, a mark each: below the line CoSaMP is ahead, which is told the "
        "true S; above it basis pursuit is."
    )
    return Picture(save(figure, folder / "recovery-constant-decoders.png"), caption)


# ---- the experiment

EXPERIMENT = Experiment(
    name="recovery-constant",
    title="Recovery error against the noise, and CoSaMP against basis pursuit",
    about=(
        "y = A x + e with A = Φ Ψ/√k in the Haar basis, k = 4·S·log₂(n/S) where the rows are not varied. x has S = 8 "
        "coefficients of ±1 at random places, or |x₍ᵢ₎| = i^(−1/p) in a random order. e is Laplace noise scaled to "
        "‖e‖₂ = θ, or the noise of that length that hurts most on the true support. Every decoder gets the same "
        "problems; CoSaMP is told S, and basis pursuit the power of the noise. No data set has a part in it."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
