"""Marginals measured in turns: what is known so far says what the next ones are (proof in `adaptive.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

import numpy as np

from sparsedp.arrays import Floats, Ints, usual_warnings
from sparsedp.estimation.log_linear import fit_log_linear
from sparsedp.laws import LayersLaw
from sparsedp.mechanisms._marginal_layers import (
    LEAST_AXES,
    MOST_SCORE_NOISE,
    OF_SCORES,
    TOTAL,
    Coarsenings,
    cells_are_seen,
    departures,
    divided,
    in_groups,
    layers_of_order,
    long_axes,
    planned,
    whole_table,
    worth_measuring,
)
from sparsedp.mechanisms._transcript import layer_noise
from sparsedp.mechanisms.terms import CalibratedNoise, Terms
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.sensing.marginals import Lattice, Layer, Marginals

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

    def scores(self, layers: Sequence[Layer], share: Fraction, most_noise: float) -> Floats | None:
        """How far the model of what was measured is off in each layer; None, and nothing is spent, if the noise of that
        would be more than `most_noise`.
        """
        distance, many = self._terms.neighbours.distance, len(layers)
        noise = self._terms.noise(many * distance, many * distance**2, share, SCORED)
        if sqrt(noise.law.variance) > most_noise:
            return None
        with usual_warnings():
            expected = fit_log_linear(self.sensing, np.concatenate(self.values), self.law, FIT_ROUNDS).cells
        noisy = departures(self.shape, layers, self._cells, expected)
        noise.add_to(noisy)
        self.tests.append(noise.expense)
        return noisy.astype(np.float64)

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
    def guarantee(self) -> Guarantee:
        """What was paid, and for whom."""
        return self._terms.guarantee([*self.tests, *(noise.expense for noise in self.noises)])

    @property
    def law(self) -> LayersLaw:
        """Of their noise."""
        return LayersLaw(tuple(noise.law for noise in self.noises))


def measure_by_order(transcript: MarginalTranscript, *, with_cells: bool) -> None:
    """All single axes and perhaps the cells; then pairs, and triples, as far as what was measured before is off. Of one
    or two axes that have groups, stretches and rhythms, unless cells are seen above the noise.
    """
    shape, gaussian = transcript.shape, transcript.gaussian
    transcript.measure([(whole_table(shape), TOTAL)])
    total = max(float(transcript.values[0][0]), 1.0)
    few = len(long_axes(shape)) < LEAST_AXES and any(transcript.coarsenings)
    if few and not cells_are_seen(shape, total, transcript.deviation):
        found = in_groups(shape, transcript.coarsenings, total, transcript.deviation, gaussian=gaussian)
        transcript.measure(found)
        return
    shares = planned(shape, total, transcript.deviation, with_cells=with_cells)
    for order in sorted(shares, key=lambda order: (order > 1, order)):
        layers = layers_of_order(shape, order, transcript.coarsenings)
        share, scores = shares[order], None
        layers = [layer for layer in layers if layer not in transcript.layers]
        if order > 1 and len(layers) > 1:
            scores = transcript.scores(layers, share * OF_SCORES, MOST_SCORE_NOISE * total)
        if scores is None:
            transcript.measure(divided(shape, layers, share, gaussian=gaussian))
        else:
            share *= 1 - OF_SCORES
            transcript.measure(worth_measuring(shape, layers, scores, share, transcript.deviation, gaussian=gaussian))
