"""Noisy marginals and the graphical model that fits them best: `mbi` (McKenna, Sheldon and Miklau 2019), and AIM
(McKenna, Mullins, Sheldon and Miklau, PVLDB 15(11), 2022), which chooses the marginals, written from its paper.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import pi, sqrt

import numpy as np

from rivals.of_tables.contender import Answers, Axes, Budget
from sparsedp.arrays import Floats, Ints
from studies.tables import margins, summed

Measured = tuple[Axes, Floats, float]
"""The axes of a marginal, its noisy sums and their deviation."""


@dataclass(frozen=True)
class AllMargins:
    """All marginals of `order` axes with the same share each, fitted by `mbi`."""

    order: int
    iterations: int = 1000

    @property
    def name(self) -> str:
        """With its order."""
        return f"all {self.order}-way + mbi"

    def publish(self, counts: Ints, budget: Budget, random: np.random.Generator) -> Answers | None:
        """Cells of the fitted model, and their sums."""
        every = margins(counts.ndim, self.order)
        measured: list[Measured] = []
        for axes in every:
            exact = summed(counts, axes)
            noisy = exact + budget.noise(1.0 / len(every), exact.shape, random)
            measured.append((axes, noisy, budget.deviation(1.0 / len(every))))
        return Answers.of_cells(fitted(counts.shape, measured, self.iterations))


def fitted(shape: tuple[int, ...], measured: Iterable[Measured], iterations: int) -> Floats:
    """All cells by `mbi`: entropic mirror descent with its defaults."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import mbi

    names = [str(axis) for axis in range(len(shape))]
    domain = mbi.Domain(names, shape)
    losses = [
        mbi.LinearMeasurement(noisy.reshape(-1), tuple(str(axis) for axis in axes), deviation)
        for axes, noisy, deviation in measured
    ]
    model = mbi.estimation.MirrorDescent().estimate(domain, losses, iters=iterations)
    cells = model.project(tuple(names)).datavector()
    return np.asarray(cells, dtype=np.float64).reshape(shape)


@dataclass(frozen=True)
class Aim:
    """For all marginals of three axes, under ρ-zCDP: rounds in which the exponential mechanism picks the marginal that
    the model so far fits worst, beyond what its noise would be; the noise shrinks where a round brought little.

    The fit is entropic mirror descent over the whole table, whose optimum is that of the graphical model.
    """

    name: str = "AIM"
    alpha: float = 0.9
    iterations: int = 60
    last_iterations: int = 600

    def publish(self, counts: Ints, budget: Budget, random: np.random.Generator) -> Answers | None:
        """Cells of the fitted model, and their sums."""
        if not budget.gaussian:
            return None
        shape, rho = counts.shape, budget.amount
        largest = margins(counts.ndim, min(3, counts.ndim))
        candidates = {
            axes: float(sum(len(set(axes) & set(wanted)) for wanted in largest))
            for order in range(1, 1 + len(largest[0]))
            for axes in combinations(range(counts.ndim), order)
        }
        rounds = 16 * counts.ndim
        sigma, epsilon = sqrt(rounds / (2 * self.alpha * rho)), sqrt(8 * (1 - self.alpha) * rho / rounds)
        exact = {axes: summed(counts, axes) for axes in candidates}
        used, measured = 0.0, []
        for axes in margins(counts.ndim, 1):
            measured.append((axes, exact[axes] + random.normal(scale=sigma, size=exact[axes].shape), sigma))
            used += 0.5 / sigma**2
        model = EntropicFit(shape)
        cells = model.fit(measured, self.iterations)
        while used < rho:
            left = rho - used
            last = left < 2 * (0.5 / sigma**2 + epsilon**2 / 8)
            if last:
                epsilon, sigma = sqrt(8 * (1 - self.alpha) * left), sqrt(1 / (2 * self.alpha * left))
            names = list(candidates)
            before = {axes: summed(cells, axes) for axes in names}
            noise = {axes: sqrt(2 / pi) * sigma * before[axes].size for axes in names}
            scores = np.array([candidates[a] * (float(np.abs(exact[a] - before[a]).sum()) - noise[a]) for a in names])
            sensitivity = max(candidates.values())
            gumbel = random.gumbel(size=len(names))
            chosen = names[int(np.argmax(epsilon * scores / (2 * sensitivity) + gumbel))]
            measured.append((chosen, exact[chosen] + random.normal(scale=sigma, size=exact[chosen].shape), sigma))
            used += 0.5 / sigma**2 + epsilon**2 / 8
            cells = model.fit(measured, self.last_iterations if last else self.iterations)
            if last:
                break
            if float(np.abs(summed(cells, chosen) - before[chosen]).sum()) <= noise[chosen]:
                sigma, epsilon = sigma / 2, epsilon * 2
        return Answers.of_cells(cells)


class EntropicFit:
    """The table of greatest entropy among those that are nearest to noisy marginals: mirror descent, warm-started."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._logs = np.zeros(shape)
        self._step = 0.0

    def fit(self, measured: list[Measured], iterations: int) -> Floats:
        """After so many more steps."""
        weights = [sum_.size * deviation**2 for _, sum_, deviation in measured]
        precise = sum(1 / weight for weight in weights)
        total = max(1.0, sum(float(m[1].sum()) / w for m, w in zip(measured, weights, strict=True)) / precise)
        joint: dict[Axes, tuple[Floats, float]] = {}
        for axes, noisy, deviation in measured:
            sums, precision = joint.get(axes, (np.zeros(noisy.shape), 0.0))
            joint[axes] = sums + noisy / deviation**2, precision + 1 / deviation**2
        targets = {axes: (sums / precision, precision) for axes, (sums, precision) in joint.items()}
        if not self._step:
            self._step = 2.0 / total / sum(precision for _, precision in targets.values())

        def table(logs: Floats) -> Floats:
            raised = np.exp(logs - logs.max())
            return np.asarray(raised * (total / raised.sum()))

        def loss(cells: Floats) -> tuple[float, dict[Axes, Floats]]:
            gaps = {axes: summed(cells, axes) - sums for axes, (sums, _) in targets.items()}
            return sum(0.5 * targets[axes][1] * float((gap**2).sum()) for axes, gap in gaps.items()), gaps

        cells = table(self._logs)
        value, gaps = loss(cells)
        for _ in range(iterations):
            slope = np.zeros(self._shape)
            for axes, gap in gaps.items():
                side = [length if axis in axes else 1 for axis, length in enumerate(self._shape)]
                slope = slope + (targets[axes][1] * gap).reshape(side)
            for _ in range(30):
                logs = self._logs - self._step * slope
                there = table(logs)
                new, new_gaps = loss(there)
                if value - new >= 0.5 * self._step * float((slope * (cells - there)).sum()):
                    self._logs, cells, value, gaps = logs - logs.max(), there, new, new_gaps
                    self._step *= 1.5
                    break
                self._step *= 0.5
        return cells
