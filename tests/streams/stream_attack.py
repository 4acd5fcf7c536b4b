"""The attack: many runs on two neighbouring streams, the intruder's likelihood ratio, and the ε it proves lost."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from intruder import Record, Segment, View, log_likelihood_ratio
from measured_epsilon import epsilon_lower_bound

from sparsedp.arrays import Ints
from sparsedp.noise.source import RandomSource
from sparsedp.sensing.bernoulli import Bernoulli
from sparsedp.streams import ContinualCompressive, ContinualCounter
from sparsedp.streams._counters import CounterState

VALUES = np.array([3, 1, 4, 1, 5, 9, 2, 6])
"""What the intruder knows of the stream: everything but whether there was one more event at a certain tick."""

PUBLIC_SEED = 7

Draw = Callable[[Ints], None]


def neighbouring(horizon: int, event: int) -> tuple[Ints, Ints]:
    """The known stream, and the same with one more event at tick `event`."""
    values = VALUES[:horizon]
    return values, values + (np.arange(horizon) == event)


def running_sums(values: Ints, counters: int) -> Ints:
    """Of the same values in each of the counters, a row a tick."""
    return np.repeat(np.cumsum(values)[:, None], counters, axis=1)


def measured(views: tuple[View, View], sums: tuple[Ints, Ints], *, scale: Fraction | float, rows: int = 1) -> float:
    """The ε lost at least, from views under both streams; every `rows` neighbouring counters are one run."""
    scores, other_scores = (
        log_likelihood_ratio(view, *sums, float(scale)).reshape(-1, rows).sum(axis=1) for view in views
    )
    return epsilon_lower_bound(scores, other_scores)


class CompressiveAttack:
    """On `ContinualCompressive`, through nothing but what it publishes and its state."""

    def __init__(
        self,
        calibration: str,
        *,
        rows: int,
        horizon: int,
        event: int,
        epsilon: str,
        runs: int,
        source: RandomSource | None = None,
    ) -> None:
        def stream() -> ContinualCompressive:
            return ContinualCompressive(
                horizon=horizon,
                rows=rows,
                sparsity=1,
                calibration=calibration,
                seed=PUBLIC_SEED,
                epsilon=epsilon,
                source=source,
            )

        self._rows = rows
        self._scale = stream().noise_law.scale
        self.guaranteed = float(stream().spent.epsilon or 0)
        both = neighbouring(horizon, event)
        records = [Record.beside([Record.of(stream(), values.tolist()) for _ in range(runs)]) for values in both]
        self._records = records[0], records[1]
        signs = Bernoulli(horizon, rows=rows, seed=PUBLIC_SEED).columns(0, horizon)
        sums = [np.tile(np.cumsum(signs * values[:, None], axis=0), (1, runs)) for values in both]
        self._sums = sums[0], sums[1]

    def measured(self, moment: int) -> float:
        """By an intruder who comes after tick `moment`."""
        views = self._records[0].view(moment), self._records[1].view(moment)
        return measured(views, self._sums, scale=self._scale, rows=self._rows)


class CounterAttack:
    """On `ContinualCounter`: its counters are runs of the same stream, each with the noise of one that is alone."""

    def __init__(self, *, horizon: int, event: int, epsilon: str, runs: int, source: RandomSource | None) -> None:
        def stream() -> ContinualCounter:
            return ContinualCounter(horizon=horizon, counters=runs, epsilon=epsilon, source=source)

        self.scale = float(stream().noise_law.scale)
        both = neighbouring(horizon, event)
        records = [Record.of(stream(), (np.full(runs, value) for value in values)) for values in both]
        self.records = records[0], records[1]
        self.sums = running_sums(both[0], runs), running_sums(both[1], runs)

    def measured(self, moment: int) -> float:
        """By an intruder who comes after tick `moment`."""
        return measured((self.records[0].view(moment), self.records[1].view(moment)), self.sums, scale=self.scale)


class RawCounters:
    """Counters with noise of the caller's choice, and all of that noise, for counters that are not as they should be.

    `draw` fills an array with noise. `noises` has every noise that was ever drawn, by its segment.
    """

    def __init__(self, values: Ints, counters: int, levels: int, draw: Draw) -> None:
        self.record = Record()
        self.noises: dict[Segment, Ints] = {}
        state = CounterState(counters, levels)
        for tick, value in enumerate(values.tolist()):

            def add_noise(fresh: Ints, tick: int = tick) -> None:
                draw(fresh)
                # The count's own noise comes first, at the first tick; then the beginning segments', from level 0 up.
                for level, noise in enumerate(fresh[1:] if tick == 0 else fresh):
                    self.noises[level, tick >> level] = noise.copy()

            state.advance(np.full((1, counters), value), add_noise)
            self.record.note(state)

    def ended_before(self, tick: int) -> dict[Segment, Ints]:
        """What is to be forgotten by then."""
        return {(level, number): x for (level, number), x in self.noises.items() if (number + 1) << level <= tick}
