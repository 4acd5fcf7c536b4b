"""The study behind the default constants of the sparsity's choice: which C, C₄ and form pick a nearly best S.

Synthetic signals only, every draw seeded. For each decoder and each C (rows k = C·S·log₂(n/S)) the true error
‖D − D*‖₂ is measured over a grid of S. Then, for each form and C₄, the error at the privately picked S is set against
the least: averaged over the exact law of the pick, so picking adds no chance of its own. The table at the end is that
of `sparsity_choice.md`: the constants in use.

    python benchmarks/study_constants.py [--noise gaussian] [--rho 1/8] [--decoders cosamp vamp_tree] [--basis cosine]
        [--cells 4096] [--repeats 12]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.bases import basis_from
from sparsedp.estimation.plan import RecoveryPlan
from sparsedp.mechanisms.base import noise_for
from sparsedp.mechanisms.selection.sparsity_choice import (
    FORMS,
    PublicTerms,
    SelectionConstants,
    constants_for,
    rows_for,
    sparsity_candidates,
)
from sparsedp.mechanisms.selection.tail_scores import tail_scores
from sparsedp.mechanisms.terms import Terms
from sparsedp.noise.samplers import SAMPLERS
from sparsedp.noise.source import SeededSource
from sparsedp.privacy.budget import Budget, asked_for
from sparsedp.privacy.neighbours import Neighbours
from sparsedp.sensing.hadamard import Hadamard

SELECT, MEASURE = Fraction(1, 10), Fraction(9, 10)
PURE = asked_for(epsilon=1)
TOTAL = 10**5
CLOSE = 1.25
NOISE_WEIGHTS = [Fraction(text) for text in ("0.125", "0.25", "0.5", "1", "2", "2.828427", "4", "8")]


@dataclass(frozen=True)
class Effort:
    """How finely a decoder is studied: the default run is to end within minutes."""

    rows_constants: tuple[Fraction, ...]
    cells: int = 2048
    repeats: int = 6
    sparsities: int = 10


MESSAGE_PASSING = Effort((Fraction(3, 4), Fraction(1), Fraction(2)))
EFFORTS = {
    "vamp_tree": MESSAGE_PASSING,
    "vamp": MESSAGE_PASSING,
    "basis_pursuit": Effort((Fraction(1), Fraction(2), Fraction(3)), repeats=4),
    "cosamp": Effort((Fraction(3, 4), Fraction(1), Fraction(2), Fraction(3)), repeats=12, sparsities=18),
}
GAUSSIAN_EFFORTS = {
    name: replace(effort, rows_constants=tuple(map(Fraction, (1, 2, 3, 4, 6)))) for name, effort in EFFORTS.items()
}
"""Gaussian noise does not grow with the rows, so that more of them are worth looking at."""


def steps(cells: int, pieces: int, rng: np.random.Generator) -> Floats:
    edges = np.sort(rng.choice(np.arange(1, cells), pieces - 1, replace=False))
    lengths = np.diff(np.concatenate([[0], edges, [cells]]))
    return np.repeat(rng.exponential(1.0, pieces), lengths)


@cache
def signals(cells: int, seed: int = 7) -> dict[str, Ints]:
    """Counts of TOTAL persons or so: few and many steps, spikes, a sorted power law, smooth waves."""
    rng = np.random.default_rng(seed)
    place = np.arange(cells)
    spikes = np.zeros(cells)
    spikes[rng.choice(cells, 24, replace=False)] = rng.pareto(1.5, 24) + 1
    bumps = sum(
        rng.random() * np.exp(-(((place - c) / w) ** 2) / 2)
        for c, w in zip(rng.integers(0, cells, 6), rng.integers(cells // 100, cells // 10, 6), strict=True)
    )
    shapes = {
        "steps 6": steps(cells, 6, rng),
        "steps 24": steps(cells, 24, rng),
        "steps 96": steps(cells, 96, rng),
        "spikes 24": spikes,
        "power law": 1.0 / (place + 1.0) ** 0.9,
        "bumps": np.asarray(bumps),
    }
    return {name: np.rint(shape * (TOTAL / shape.sum())).astype(np.int64) for name, shape in shapes.items()}


@dataclass(frozen=True)
class Curve:
    """The mean error at each S of a grid; between them it is interpolated in log S."""

    sparsities: Ints
    errors: Floats

    def at(self, sparsity: int) -> float:
        """The error at any S."""
        return float(np.exp(np.interp(np.log(sparsity), np.log(self.sparsities), np.log(self.errors))))

    @property
    def best(self) -> tuple[int, float]:
        """The S of the grid with the least error, and that error."""
        place = int(np.argmin(self.errors))
        return int(self.sparsities[place]), float(self.errors[place])


def terms_of(asked: Budget, seed: int = 0) -> Terms:
    return Terms(asked, Neighbours(), SAMPLERS["sparsedp"], SeededSource(seed), None)


def release_error(counts: Ints, basis: str, decoder: str, sparsity: int, rows: int, asked: Budget, seed: int) -> float:
    sensing = Hadamard(counts.size, rows=rows, seed=seed)
    noise = noise_for(sensing, terms_of(asked, seed), MEASURE)
    noisy = sensing.apply(counts)
    noise.add_to(noisy)
    estimate = RecoveryPlan(decoder, basis, sparsity).run(sensing, noisy, noise.law).value
    return float(np.linalg.norm(estimate - counts))


def error_curve(counts: Ints, basis: str, decoder: str, constant: Fraction, effort: Effort, asked: Budget) -> Curve:
    candidates = np.array(sparsity_candidates(counts.size, constant))
    wanted = np.unique(np.rint(np.geomspace(1, candidates[-1], effort.sparsities)))
    grid = np.unique(candidates[np.abs(candidates[:, None] - wanted[None, :]).argmin(axis=0)])
    errors = [
        np.mean(
            [
                release_error(counts, basis, decoder, int(s), rows_for(counts.size, int(s), constant), asked, seed)
                for seed in range(effort.repeats)
            ]
        )
        for s in grid
    ]
    return Curve(grid, np.array(errors))


@cache
def law_of_the_pick(
    signal: str, cells: int, basis: str, form: str, constants: SelectionConstants, asked: Budget
) -> tuple[tuple[int, ...], Floats]:
    """The candidates and the probability with which `choose_sparsity` picks each; no decoder has a part in it."""
    counts = signals(cells)[signal]
    candidates = sparsity_candidates(counts.size, constants.rows_constant)
    epsilon_select, _ = terms_of(asked).choice(SELECT, "choose the sparsity")
    terms = PublicTerms(counts.size, candidates, epsilon_select, asked.part(MEASURE), 1, constants)
    tails = tail_scores(basis_from(basis, counts.size), counts, candidates, distance=1)
    exponents = FORMS[form](tails, terms)
    least = min(exponents)
    weights = np.exp([-float(exponent - least) for exponent in exponents])
    return candidates, weights / weights.sum()


@dataclass(frozen=True)
class Quality:
    """The error at the picked S over the least of the same C: its mean over signals, and how often it is `CLOSE`."""

    mean: float
    worst_share: float


def quality(
    curves: dict[str, Curve], cells: int, basis: str, form: str, constants: SelectionConstants, asked: Budget
) -> Quality:
    """`curves` are those of the signals at the C of the constants."""
    means, shares = [], []
    for signal, curve in curves.items():
        candidates, probabilities = law_of_the_pick(signal, cells, basis, form, constants, asked)
        ratios = np.array([curve.at(s) for s in candidates]) / curve.best[1]
        means.append(float(ratios @ probabilities))
        shares.append(float(probabilities[ratios <= CLOSE].sum()))
    return Quality(float(np.mean(means)), min(shares))


def study(decoder: str, basis: str, effort: Effort, asked: Budget) -> str:
    """Prints what was found for a decoder; the line of its constants in use is returned."""
    constants_in_use = constants_for(decoder, basis, gaussian=asked.rho_spent is not None)
    rows_constants = sorted({*effort.rows_constants, constants_in_use.rows_constant})
    print(f"\n{decoder} in {basis}, n = {effort.cells}, total {TOTAL}, {asked} split 0.1/0.9")
    print("best S and its error, by C")
    print(f"{'signal':<12}" + "".join(f"{f'C={float(c):g}':>16}" for c in rows_constants) + f"{'zeros':>9}")
    curves: dict[Fraction, dict[str, Curve]] = {constant: {} for constant in rows_constants}
    for name, counts in signals(effort.cells).items():
        for constant in rows_constants:
            curves[constant][name] = error_curve(counts, basis, decoder, constant, effort, asked)
        shown = "".join("{:>8}{:>8.0f}".format(*curves[c][name].best) for c in rows_constants)
        print(f"{name:<12}{shown}{np.linalg.norm(counts):>9.0f}", flush=True)
    print(f"error at the picked S over the least of the same C: mean over signals; worst signal's share within {CLOSE}")
    print(f"{'form':<8}{'C':>6}" + "".join(f"{f'C4={float(w):.3g}':>14}" for w in NOISE_WEIGHTS))
    for form in FORMS:
        for constant in rows_constants:
            line = f"{form:<8}{float(constant):>6g}"
            for weight in NOISE_WEIGHTS:
                constants = SelectionConstants(noise_weight=weight, rows_constant=constant)
                found = quality(curves[constant], effort.cells, basis, form, constants, asked)
                line += f"{found.mean:>8.2f}{100 * found.worst_share:>5.0f}%"
            print(line, flush=True)
    found = quality(curves[constants_in_use.rows_constant], effort.cells, basis, "scaled", constants_in_use, asked)
    shown_constants = f"{constants_in_use.rows_constant} | {float(constants_in_use.noise_weight):.3g}"
    other_constants = max(
        curve.best[1] / min(curves[c][name].best[1] for c in rows_constants)
        for name, curve in curves[constants_in_use.rows_constant].items()
    )
    figures = f"{found.mean:.2f} | {100 * found.worst_share:.0f} % | {other_constants:.2f}"
    return f"| {decoder} | {effort.cells} | {effort.repeats} | {shown_constants} | {figures} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noise", default="laplace", choices=["laplace", "gaussian"])
    parser.add_argument("--rho", default="1/8", help="of Gaussian noise (default 1/8)")
    parser.add_argument("--decoders", nargs="+", default=list(EFFORTS), choices=list(EFFORTS))
    parser.add_argument("--basis", default="haar")
    parser.add_argument("--cells", type=int, help="instead of each decoder's own default")
    parser.add_argument("--repeats", type=int, help="releases that each error is averaged over")
    options = parser.parse_args()
    given = {name: value for name in ("cells", "repeats") if (value := getattr(options, name)) is not None}
    asked, efforts = (PURE, EFFORTS) if options.noise == "laplace" else (asked_for(rho=options.rho), GAUSSIAN_EFFORTS)
    lines = [study(decoder, options.basis, replace(efforts[decoder], **given), asked) for decoder in options.decoders]
    print(
        "\nThe constants in use, scaled form: error at the picked S over the least of this C; what another C would gain"
    )
    headings = f"picked/best, mean | within {CLOSE}, worst signal | best of this C/best of any C, worst signal"
    print(f"| decoder | n | releases an error | C | C₄ | {headings} |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
