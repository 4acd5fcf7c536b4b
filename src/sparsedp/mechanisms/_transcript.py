"""The transcript of Adaptive while it is written: private tests, layers of noisy sums, and what was decided."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import sqrt

import numpy as np

from sparsedp.arrays import Ints, Mask
from sparsedp.mechanisms._adaptive_shares import GAUSSIAN, LAPLACE
from sparsedp.mechanisms.terms import WHOLE, CalibratedNoise, Terms
from sparsedp.privacy.guarantee import Expense
from sparsedp.sensing.group_sums import first_cells, sums_over

PrivateTest = Callable[[Ints, float, Callable[[Ints], None]], float]
"""Takes the cells, the deviation of the noise that a whole budget puts on one, and what adds the test's own noise."""


class Transcript:
    """What was paid for private tests, and the layers so far, finest first: groups, the noise of each, noisy sums.

    `signed`: whether counts may be negative, so that a small sum does not say that there is little. `decay`: of the
    tree that chose groups, if one did.
    """

    def __init__(self, row: Ints, terms: Terms, *, signed: bool) -> None:
        self.row, self.terms, self.n, self.signed = row, terms, len(row), signed
        self.power = GAUSSIAN if terms.gaussian else LAPLACE
        self.unit = self.deviation(WHOLE)
        self.tests: list[Expense] = []
        self.decay: int | None = None
        self.groups: list[int | Ints] = []
        self.noises: list[CalibratedNoise] = []
        self.values: list[Ints] = []

    def deviation(self, share: Fraction) -> float:
        """Of the noise that a share of the budget buys: public."""
        return sqrt(layer_noise(self.terms, share, "measure").law.variance)

    def test(self, measure: PrivateTest, share: Fraction, purpose: str) -> float:
        """One number, with noise of its own."""
        noise = layer_noise(self.terms, share, purpose)
        self.tests.append(noise.expense)
        return measure(self.row, self.unit, noise.add_to)

    def measure(self, groups: int | Ints, share: Fraction) -> Ints:
        """The noisy sums over groups that those measured before are made of: a block size, or their first cells."""
        return self.in_turns(share).finish(groups)

    def in_turns(self, share: Fraction) -> LayerInTurns:
        """A layer of which some cells are measured before it is decided what the other groups are."""
        return LayerInTurns(self, layer_noise(self.terms, share, "measure"))


class LayerInTurns:
    """One layer, to be finished: every cell is in one noisy sum of it, as if all had been measured at once.

    Which cells come first may depend on what was published before; what the other groups are, on these cells too.
    """

    def __init__(self, transcript: Transcript, noise: CalibratedNoise) -> None:
        self._transcript, self._noise = transcript, noise
        self._measured: tuple[Ints, Mask] | None = None
        self._finished = False

    def cells(self, where: Mask) -> Ints:
        """The row with noise in these cells and in those of the turns before, and 0 elsewhere; not to be written to."""
        self._refuse(self._finished)
        if self._measured is None:
            self._measured = np.zeros_like(self._transcript.row), np.zeros(self._transcript.n, np.bool_)
        cells, known = self._measured
        now = where & ~known
        noisy = self._transcript.row[now]
        self._noise.add_to(noisy)
        cells[now] = noisy
        known |= now
        shown = cells.view()
        shown.setflags(write=False)
        return shown

    def finish(self, groups: int | Ints) -> Ints:
        """The noisy sums over these groups, of which each is a cell already measured, or has none of them."""
        self._refuse(self._finished)
        transcript = self._transcript
        starts = first_cells(groups, transcript.n)
        self._refuse(not isinstance(groups, int) and bool(starts[0] != 0 or (np.diff(starts) <= 0).any()))
        sums = sums_over(starts, transcript.row)
        if self._measured is None:
            self._noise.add_to(sums)
        else:
            cells, measured = self._measured
            known = measured[starts]
            larger = np.diff(starts, append=transcript.n) > 1
            self._refuse(bool(known.sum() != measured.sum() or larger[known].any()))
            others = sums[~known]
            self._noise.add_to(others)
            sums[~known], sums[known] = others, cells[starts[known]]
        self._finished = True
        transcript.groups.insert(0, groups)
        transcript.noises.insert(0, self._noise)
        transcript.values.insert(0, sums)
        return sums

    @staticmethod
    def _refuse(again: bool) -> None:
        if again:
            raise RuntimeError("A cell that was measured would be measured again, and not be paid for.")


def layer_noise(terms: Terms, share: Fraction, purpose: str) -> CalibratedNoise:
    """Noise for numbers of which a person changes one by c, or several by c together: sums over groups of one layer."""
    distance = terms.neighbours.distance
    return terms.noise(distance, distance**2, share, purpose)
