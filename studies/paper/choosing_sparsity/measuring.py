"""The jobs of choosing S: error curves, a thousand private picks, and the pick that the paper's words describe."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.bases import basis_from
from sparsedp.mechanisms.compressive import Compressive
from sparsedp.mechanisms.selection.sparsity_choice import (
    FORMS,
    SMALLEST_RATIO,
    PublicTerms,
    SelectionConstants,
    constants_for,
    rows_for,
    unit_rows,
)
from sparsedp.mechanisms.selection.sparsity_choice import sparsity_candidates as candidates_for
from sparsedp.mechanisms.selection.tail_scores import tail_scores
from sparsedp.noise.exponential import draw_index
from sparsedp.noise.source import RandomSource
from sparsedp.privacy.budget import Budget
from studies.metrics import cell_error
from studies.paper.data import PAPER_DATA, load, noise_of, seed_of
from studies.paper.experiment import Effort, Found, Origins, Settings

# ---- the paper's score u(D, S) for every S from 1 to n, and the law of the pick that its words describe
# What the library draws by is exact and restricted (`mechanisms/selection`); this is the formula as it is printed.


@dataclass(frozen=True)
class Shares:
    """A budget ε, and the part of it that choosing S may spend."""

    epsilon: Fraction
    share: Fraction

    @property
    def choosing(self) -> Fraction:
        """What the exponential mechanism spends."""
        return self.share * self.epsilon

    @property
    def measuring(self) -> Fraction:
        """What is left for the samples."""
        return (1 - self.share) * self.epsilon


@dataclass(frozen=True)
class PaperScores:
    """u(D, S) = C₂·‖x − x_S‖₁/√S + C₄·S·log₂(n/S)/ε, its sensitivity C₅/√S, and who is picked by them."""

    bounds: Floats
    """u(D, S) at S = 1 … n."""
    sensitivities: Floats
    """C₅/√S."""

    def law(self, epsilon: Fraction) -> Floats:
        """The probability of each S from 1 to n: ∝ exp(−ε·u(S)/(2Δ(S))), as the paper has it."""
        exponents = float(epsilon) * self.bounds / (2 * self.sensitivities)
        weights = np.exp(exponents.min() - exponents)
        return np.asarray(weights / weights.sum())


def paper_scores(counts: Ints, basis: str, constants: SelectionConstants, measuring: Fraction) -> PaperScores:
    """The scores of all S; `measuring` is the ε in u."""
    cells = counts.size
    frame = basis_from(basis, cells)
    sizes = np.sort(np.abs(frame.analyze(counts.astype(np.float64))))
    below = np.concatenate([[0.0], np.cumsum(sizes)])
    sparsity = np.arange(1, cells + 1)
    tails = below[sizes.size - sparsity]
    tail_weight, noise_weight = float(constants.tail_weight), float(constants.noise_weight)
    noise = noise_weight * sparsity * np.log2(cells / sparsity) / float(measuring)
    sensitivities = tail_weight * float(frame.row_sum_bound) / np.sqrt(sparsity)
    return PaperScores(tail_weight * tails / np.sqrt(sparsity) + noise, sensitivities)


# ---- the error at every S of a grid: the U, and the paper's bound beside it

DETAILED = (8, 128)
"""Between these the private choice falls in practice, and the grid may be finer."""


def grid(cells: int, *, steps: int, finer: int = 1, least: int = 1) -> list[int]:
    """Sparsities from `least` to n/16, `steps` of them a doubling, and in the middle `finer` times as many.

    The last is n/16 itself, where the candidates of the private choice end.
    """
    most = cells // SMALLEST_RATIO
    fine = steps * finer
    points = [(place, round(2 ** (place / fine))) for place in range(fine * most.bit_length())]
    kept = {point for place, point in points if place % finer == 0 or DETAILED[0] <= point <= DETAILED[1]}
    return sorted({point for point in kept if least <= point <= most} | {most})


def error_curve(settings: Settings, counts: Ints, shares: Shares) -> Found:
    """‖D − D*‖₂ of every run at every sparsity, measured with what the private choice leaves of the budget.

    `rows` is k(S), and `bounds` the paper's u(D, S) with the constants that this decoder's choice goes by.
    """
    decoder, basis = settings["decoder"], settings["basis"]
    constants = constants_for(decoder, basis)
    sparsities = grid(counts.size, steps=settings["steps"], finer=settings["finer"], least=settings["least"])
    bounds = paper_scores(counts, basis, constants, shares.measuring).bounds

    def error(sparsity: int, run: int) -> float:
        seed = seed_of(settings, "matrix", sparsity, run)
        mechanism = Compressive(basis=basis, sparsity=sparsity, recovery=decoder, seed=seed)
        source = noise_of(settings, sparsity, run)
        return cell_error(counts, mechanism.release(counts, epsilon=shares.measuring, source=source).values)

    return {
        "sparsities": sparsities,
        "rows": [rows_for(counts.size, sparsity, constants.rows_constant) for sparsity in sparsities],
        "errors": [[error(sparsity, run) for run in range(settings["runs"])] for sparsity in sparsities],
        "bounds": [float(bounds[sparsity - 1]) for sparsity in sparsities],
    }


# ---- the choice as `Compressive(sparsity="auto")` makes it, drawn many times, and its exact law

FORM = "scaled"
"""The paper's: each score over its own sensitivity."""


@dataclass(frozen=True)
class Choice:
    """The candidates with their exponents, which are exact: S is picked with probability ∝ exp(−exponent)."""

    candidates: tuple[int, ...]
    exponents: list[Fraction]

    @property
    def law(self) -> Floats:
        """The probability of every candidate."""
        least = min(self.exponents)
        weights = np.exp([-float(exponent - least) for exponent in self.exponents])
        return np.asarray(weights / weights.sum())

    def pick(self, source: RandomSource) -> int:
        """One run of the exponential mechanism."""
        return self.candidates[draw_index(self.exponents, source)]


def choice_of(counts: Ints, basis: str, decoder: str, shares: Shares) -> Choice:
    """What `choose_sparsity` draws from, so that a thousand draws need not compute the scores a thousand times."""
    constants = constants_for(decoder, basis)
    candidates = candidates_for(counts.size, constants.rows_constant)
    tails = tail_scores(basis_from(basis, counts.size), counts, candidates, distance=1)
    terms = PublicTerms(counts.size, candidates, shares.choosing, Budget(epsilon=shares.measuring), 1, constants)
    return Choice(candidates, FORMS[FORM](tails, terms))


def picks(settings: Settings, counts: Ints, shares: Shares) -> Found:
    """The candidates, the exact law and the picked S of every run."""
    choice = choice_of(counts, settings["basis"], settings["decoder"], shares)
    source = noise_of(settings)
    picked = [choice.pick(source) for _ in range(settings["runs"])]
    return {"candidates": list(choice.candidates), "law": choice.law.tolist(), "picks": picked}


def literal_pick(settings: Settings, counts: Ints, shares: Shares) -> Found:
    """The law over all of [1, n] that the paper's words describe: where its mass is, and the rows that S would take.

    `rows` is ⌈C·S·log₂(n/S)⌉ of the likeliest S, with nothing that keeps it from being 0.
    """
    constants = constants_for(settings["decoder"], settings["basis"])
    law = paper_scores(counts, settings["basis"], constants, shares.measuring).law(shares.choosing)
    likeliest = int(law.argmax()) + 1
    rows = constants.rows_constant * unit_rows(counts.size, likeliest)
    up_to = np.cumsum(law)
    return {
        "likeliest": likeliest,
        "probability": float(law.max()),
        "quantiles": [int(np.searchsorted(up_to, level)) + 1 for level in (0.05, 0.5, 0.95)],
        "within_candidates": float(law[: counts.size // SMALLEST_RATIO].sum()),
        "rows": -(-rows.numerator // rows.denominator),
    }


# ---- the jobs

EPSILON, SHARE, SMALLER_SHARE = "1", "0.1", "0.01"
DECODERS = ("cosamp", "basis_pursuit", "vamp_tree")
PAPERS = "cosamp"
"""The decoder that is judged."""

PARTS = {"errors": error_curve, "picks": picks, "literal": literal_pick}


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    """For every data set and decoder a curve and its picks; with CoSaMP's constants also the smaller share."""
    drawn = effort.pick(smoke=30, quick=1000, full=1000)
    every: list[Settings] = []
    for name in PAPER_DATA:
        of_data = {"data": name, "origin": origins[name], "basis": "haar", "epsilon": EPSILON}
        for decoder in DECODERS:
            of_decoder = {**of_data, "decoder": decoder, "share": SHARE}
            every += [
                {"part": "errors", **of_decoder, **_fineness(effort, decoder)},
                {"part": "picks", **of_decoder, "runs": drawn},
            ]
        of_papers = {**of_data, "decoder": PAPERS}
        every += [
            {"part": "picks", **of_papers, "share": SMALLER_SHARE, "runs": drawn},
            {"part": "literal", **of_papers, "share": SHARE},
        ]
    return every


def _fineness(effort: Effort, decoder: str) -> Settings:
    """How fine the grid of S is, where it begins, and the runs at each: basis pursuit is slow where S is small."""
    if decoder == "basis_pursuit":
        return effort.pick(
            smoke={"steps": 1, "finer": 1, "least": 16, "runs": 1},
            quick={"steps": 1, "finer": 4, "least": 6, "runs": 4},
            full={"steps": 2, "finer": 4, "least": 1, "runs": 6},
        )
    judged = decoder == PAPERS
    return effort.pick(
        smoke={"steps": 1, "finer": 1, "least": 8, "runs": 1},
        quick={"steps": 2, "finer": 4, "least": 1, "runs": 18 if judged else 10},
        full={"steps": 2, "finer": 4, "least": 1, "runs": 60 if judged else 40},
    )


def measure(settings: Settings) -> Found:
    """One part; see `jobs`. Every part says how large the data are."""
    data = load(settings["data"], settings["origin"])
    shares = Shares(Fraction(settings["epsilon"]), Fraction(settings["share"]))
    found = PARTS[settings["part"]](settings, data.counts, shares)
    norm = float(np.linalg.norm(data.counts))
    return {**found, "cells": data.counts.size, "norm": norm, "about": data.about}
