"""Marginals measured in turns: what is known so far says what the next ones are (proof in `adaptive.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import hypot, inf, sqrt

import numpy as np

from sparsedp.arrays import Floats, Ints, usual_warnings
from sparsedp.estimation.log_linear import fit_log_linear
from sparsedp.laws import LayersLaw
from sparsedp.mechanisms._marginal_layers import (
    ALONE_SEEN,
    FINE_SCORE_NOISE,
    FIRST,
    LEAST_AXES,
    LEAST_RHYTHM,
    MOST_SCORE_NOISE,
    MOST_UNEXPLAINED,
    OF_FIT,
    OF_SCORES,
    SEEN,
    TOTAL,
    Coarsenings,
    as_asked,
    axes_alone,
    cells_are_seen,
    departures,
    divided,
    groups_of,
    is_rhythm,
    layers_of_order,
    long_axes,
    planned,
    stretches_and_rhythms,
    unexplained,
    whole_table,
    worth_measuring,
)
from sparsedp.mechanisms._transcript import layer_noise
from sparsedp.mechanisms.terms import CalibratedNoise, Terms
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.sensing.marginals import ALL, CELLS, Lattice, Layer, Marginals

FIT_ROUNDS = 4
"""Of the fit that is only to be compared with: a quick one."""

SCORED = "see where a model of the marginals is off"
"""What the numbers are paid for that choose among layers."""


class MarginalTranscript:
    """What was measured so far of a table: layers, the noise of each, noisy sums; and what was paid for scores."""

    def __init__(
        self,
        cells: Ints,
        shape: tuple[int, ...],
        ordered: tuple[bool, ...],
        coarsenings: Coarsenings,
        terms: Terms,
    ) -> None:
        self._cells, self.shape, self._ordered, self._terms = cells, shape, ordered, terms
        self.coarsenings, self.gaussian = coarsenings, terms.gaussian
        self.layers: list[Layer] = []
        self.noises: list[CalibratedNoise] = []
        self.values: list[Ints] = []
        self.tests: list[Expense] = []

    def deviation(self, share: Fraction) -> float:
        """Of the noise that a share of the budget buys: public."""
        return sqrt(layer_noise(self._terms, share, "measure").law.variance)

    def measure(self, shares: Sequence[tuple[Layer, Fraction]]) -> None:
        """The noisy sums of some layers."""
        exact = Lattice(self.shape, [layer for layer, _ in shares]).sums(self._cells.reshape(self.shape))
        for (layer, share), sums in zip(shares, exact, strict=True):
            noise, noisy = layer_noise(self._terms, share, "measure"), sums.reshape(-1).copy()
            noise.add_to(noisy)
            self.layers.append(layer)
            self.noises.append(noise)
            self.values.append(noisy)

    def total(self) -> float:
        """Of all cells, measured now: at least one."""
        self.measure([(whole_table(self.shape), TOTAL)])
        return max(float(self.values[-1][0]), 1.0)

    def scores_if_seen(self, layers: Sequence[Layer], total: float, left: Fraction) -> Floats | None:
        """How far the model of what was measured is off in each layer, for the least share of what is left that tells
        it well; None, and nothing is spent, if even the most would leave it in the noise.
        """
        shares = [part * left for part in OF_SCORES]
        noise = [sqrt(self._noise_of_scores(len(layers), share).law.variance) for share in shares]
        fine = [share for share, one in zip(shares, noise, strict=True) if one <= FINE_SCORE_NOISE * total]
        if not fine and noise[-1] > MOST_SCORE_NOISE * total:
            return None
        return self.scores(layers, fine[0] if fine else shares[-1], self._expected())

    def _noise_of_scores(self, many: int, share: Fraction) -> CalibratedNoise:
        distance = self._terms.neighbours.distance
        return self._terms.noise(many * distance, many * distance**2, share, SCORED)

    def scores(self, layers: Sequence[Layer], share: Fraction, expected: Floats) -> Floats:
        """How far expected cells are off in each layer."""
        noise = self._noise_of_scores(len(layers), share)
        noisy = departures(self.shape, layers, self._cells, expected)
        noise.add_to(noisy)
        self.tests.append(noise.expense)
        return noisy.astype(np.float64)

    def off_by(self, share: Fraction, most_noise: float) -> float | None:
        """How many records lie elsewhere than a model of what was measured expects, as far as that can be told from the
        scatter of counts and from noise; None, and nothing is spent, if the noise of the answer would be too much.
        """
        if sqrt(self._noise_of_scores(1, share).law.variance) > most_noise:
            return None
        expected = self._expected()
        (found,) = self.scores([tuple(CELLS if side > 1 else ALL for side in self.shape)], share, expected)
        return unexplained(float(found), expected, self._noise_of(range(len(self.layers))))

    def rhythm(self) -> float:
        """How many records the measured rhythms move, in parts of what noise on them alone would seem to move."""
        rhythms = [place for place, layer in enumerate(self.layers) if is_rhythm(layer)]
        others = [place for place in range(len(self.layers)) if place not in rhythms]
        moved = np.abs(self._expected() - self._expected(others)).sum()
        return float(moved) / self._noise_of(rhythms)

    def _noise_of(self, places: Sequence[int]) -> float:
        """The sum of absolute noise that is expected on these layers."""
        return hypot(*(0.8 * len(self.values[place]) * sqrt(self.noises[place].law.variance) for place in places))

    def _expected(self, places: Sequence[int] | None = None) -> Floats:
        """Cells of a model that is fitted to the noisy sums so far, or to some of the layers."""
        chosen = range(len(self.layers)) if places is None else places
        sensing = Marginals(self.shape, [self.layers[place] for place in chosen], self._ordered, self.coarsenings)
        law = LayersLaw(tuple(self.noises[place].law for place in chosen))
        with usual_warnings():
            return fit_log_linear(
                sensing, np.concatenate([self.values[place] for place in chosen]), law, FIT_ROUNDS
            ).cells

    def finest_first(self) -> None:
        """As synopses have their layers."""
        order = sorted(range(len(self.layers)), key=lambda place: -len(self.values[place]))
        self.layers = [self.layers[place] for place in order]
        self.noises = [self.noises[place] for place in order]
        self.values = [self.values[place] for place in order]

    @property
    def sensing(self) -> Marginals:
        """The layers so far."""
        return Marginals(self.shape, self.layers, self._ordered, self.coarsenings)

    @property
    def expenses(self) -> list[Expense]:
        """For scores, and for noisy sums."""
        return [*self.tests, *(noise.expense for noise in self.noises)]

    @property
    def spent(self) -> Fraction:
        """Which part of the budget."""
        return sum(map(self._terms.share_of, self.expenses), Fraction(0))

    @property
    def guarantee(self) -> Guarantee:
        """What was paid, and for whom."""
        return self._terms.guarantee(self.expenses)

    @property
    def law(self) -> LayersLaw:
        """Of their noise."""
        return LayersLaw(tuple(noise.law for noise in self.noises))


def measure_by_order(transcript: MarginalTranscript, total: float, *, with_cells: bool) -> None:
    """All single axes; of the pairs those that are off by then; triples, and perhaps the cells. Of one or two axes that
    have groups, stretches and rhythms, unless cells are seen above the noise. With what is left of the budget.
    """
    shape, gaussian = transcript.shape, transcript.gaussian
    few = len(long_axes(shape)) < LEAST_AXES and any(transcript.coarsenings)
    if few and not cells_are_seen(shape, total, transcript.deviation):
        _measure_in_groups(transcript, total, 1 - transcript.spent)
        return
    beside = (1 - transcript.spent) / (1 - TOTAL)
    shares = planned(shape, total, transcript.deviation, with_cells=with_cells, gaussian=gaussian)
    if 1 in shares:
        singles = layers_of_order(shape, 1, transcript.coarsenings)
        transcript.measure(divided(shape, singles, shares.pop(1) * beside, gaussian=gaussian))
    planned_left = sum(shares.values(), Fraction(0))
    pairs, scores = layers_of_order(shape, 2, transcript.coarsenings), None
    if 2 in shares and len(pairs) > 1:
        scores = transcript.scores_if_seen(pairs, total, 1 - transcript.spent)
    left = 1 - transcript.spent
    for order, planned_share in shares.items():
        share = planned_share / planned_left * left
        if order == 2 and scores is not None:
            found = worth_measuring(shape, pairs, scores, share, transcript.deviation, gaussian=gaussian)
        else:
            layers = layers_of_order(shape, order, transcript.coarsenings)
            found = divided(shape, layers, share, gaussian=gaussian)
        transcript.measure(found)


def measured_by_rhythms(transcript: MarginalTranscript, total: float) -> bool:
    """Whether stretches and rhythms were measured, with all of the budget: where cells are not seen above the noise,
    and lie about where those of single axes let expect them. Else some of it is left. Tables of three axes or more have
    marginals of few axes to go on with: there rhythms beside all other axes must not drown in the noise.
    """
    shape = transcript.shape
    if cells_are_seen(shape, total, transcript.deviation):
        return False
    if len(long_axes(shape)) >= LEAST_AXES:
        coarsest = stretches_and_rhythms(shape, transcript.coarsenings, total, inf, CELLS)
        if total / max(groups_of(shape, layer) for layer in coarsest) < transcript.deviation(Fraction(1, 2)):
            return False
    least = ALONE_SEEN * transcript.deviation(FIRST / 4)
    alone = axes_alone(shape, transcript.coarsenings, total, least)
    transcript.measure(divided(shape, alone, FIRST, gaussian=transcript.gaussian))
    if len(long_axes(shape)) == 1 and transcript.rhythm() < LEAST_RHYTHM:
        return False
    off = transcript.off_by(OF_FIT, MOST_SCORE_NOISE * total)
    if off is not None and off > MOST_UNEXPLAINED * total:
        return False
    _measure_in_groups(transcript, total, 1 - transcript.spent)
    return True


def _measure_in_groups(transcript: MarginalTranscript, total: float, left: Fraction) -> None:
    """Stretches and rhythms, beside the cells of other axes, and a little of each of these alone."""
    shape, least = transcript.shape, SEEN * transcript.deviation(Fraction(1, 2))
    wanted = stretches_and_rhythms(shape, transcript.coarsenings, total, least, CELLS)
    transcript.measure(as_asked(shape, wanted, left, gaussian=transcript.gaussian))
