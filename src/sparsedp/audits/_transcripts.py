"""Record and play: everything that a mechanism draws, and the same answers once more for a neighbour's data.

A mechanism meets chance in four ways, all of them through its sampler: Laplace noise, Gaussian noise, coins, and the
choice of an index. `Recorder` stands in for the sampler and writes each draw down: what went in (private), and what
came out. `Player` stands in for it in a run on other data and gives the same answers again, whatever goes in. Then

- the second run must ask for the same draws, in the same order, and publish the same thing: otherwise something other
  than a noisy answer has followed from the data;
- what went in, both times, tells exactly how much likelier these answers are for one than for the other (`loss`).

Both hold for every list of answers, so they need not be likely ones: a recorder may spread its noise out, or take it
away, in order to lead the mechanism where it seldom goes (`audit.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, fsum, inf, log
from typing import Any

import numpy as np

from sparsedp.arrays import Ints, Mask
from sparsedp.noise.coins import Chances
from sparsedp.noise.samplers import SAMPLERS, NoiseSampler
from sparsedp.noise.source import KEY_BYTES, RandomSource, SystemSource

LAPLACE, GAUSSIAN, COINS, CHOICE = "Laplace noise", "Gaussian noise", "coins", "a choice"


class AuditSource(RandomSource):
    """The system's own randomness under another name: what is made with it is marked as protecting nobody."""

    def key(self) -> bytes:
        """A fresh one."""
        key = SystemSource().key()
        assert len(key) == KEY_BYTES  # noqa: S101
        return key


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw: its kind, its scale or σ² (None of coins and choices), what went in and what came out."""

    kind: str
    parameter: Fraction | None
    before: Any
    after: Any

    @property
    def asked(self) -> tuple[str, Fraction | None, int]:
        """What a mechanism asked for; it may not follow from the data."""
        return self.kind, self.parameter, len(self.before.whole if isinstance(self.before, Chances) else self.before)


class Diverged(Exception):
    """A run on a neighbour's data asked for another draw, although all answers before it were the same."""


@dataclass
class _Stand:
    """What recorder and player have in common."""

    draws: list[Draw] = field(default_factory=list)
    name: str = "audit"
    _sampler: NoiseSampler = SAMPLERS["sparsedp"]

    def check(self, source: RandomSource) -> None:
        """Any source will do."""

    def effective_scale(self, scale: Fraction) -> Fraction:
        """As it would be drawn."""
        return self._sampler.effective_scale(scale)

    def effective_variance(self, variance: Fraction) -> Fraction:
        """As it would be drawn."""
        return self._sampler.effective_variance(variance)


@dataclass
class Recorder(_Stand):
    """Draws as the sampler does, and writes it down.

    `spread`: 1 for the true noise, drawn by the true sampler. Other factors make it wider by that much, 0 takes it
    away; coins and choices are then whatever `chance` says.
    """

    spread: float = 1.0
    chance: np.random.Generator = field(default_factory=np.random.default_rng)

    def add_noise(self, values: Ints, scale: Fraction, source: RandomSource) -> None:
        """Laplace noise, in place."""
        before = values.copy()
        if self.spread == 1:
            self._sampler.add_noise(values, scale, source)
        else:
            values += self._wide(values.shape, float(scale))
        self.draws.append(Draw(LAPLACE, scale, before.reshape(-1), values.copy().reshape(-1)))

    def add_gaussian(self, values: Ints, variance: Fraction, source: RandomSource) -> None:
        """Gaussian noise, in place."""
        before = values.copy()
        if self.spread == 1:
            self._sampler.add_gaussian(values, variance, source)
        else:
            values += self._wide(values.shape, float(variance) ** 0.5)
        self.draws.append(Draw(GAUSSIAN, variance, before.reshape(-1), values.copy().reshape(-1)))

    def coins(self, chances: Chances, source: RandomSource) -> Mask:
        """Coins."""
        if self.spread == 1:
            fell = self._sampler.coins(chances, source)
        else:
            fell = self.chance.random(len(chances.whole)) < self.chance.choice([0.2, 0.6, 0.95])
        self.draws.append(Draw(COINS, None, chances, fell))
        return fell

    def choose(self, exponents: Sequence[Fraction], source: RandomSource) -> int:
        """A choice."""
        one = self.spread == 1
        index = self._sampler.choose(exponents, source) if one else int(self.chance.integers(len(exponents)))
        self.draws.append(Draw(CHOICE, None, tuple(exponents), index))
        return index

    def _wide(self, shape: tuple[int, ...], scale: float) -> Ints:
        return np.rint(self.chance.laplace(0.0, max(scale, 1e-9), shape) * self.spread).astype(np.int64)


@dataclass
class Player(_Stand):
    """Gives the answers of a recording again, and writes down what went in this time."""

    recording: Sequence[Draw] = ()

    def add_noise(self, values: Ints, scale: Fraction, source: RandomSource) -> None:
        """What came out, in place."""
        self._overwrite(LAPLACE, scale, values)

    def add_gaussian(self, values: Ints, variance: Fraction, source: RandomSource) -> None:
        """What came out, in place."""
        self._overwrite(GAUSSIAN, variance, values)

    def coins(self, chances: Chances, source: RandomSource) -> Mask:
        """How they fell."""
        fell: Mask = self._again(Draw(COINS, None, chances, None)).copy()
        return fell

    def choose(self, exponents: Sequence[Fraction], source: RandomSource) -> int:
        """What was chosen."""
        return int(self._again(Draw(CHOICE, None, tuple(exponents), None)))

    def finish(self) -> None:
        """All answers were asked for."""
        if len(self.draws) != len(self.recording):
            raise Diverged(f"{len(self.draws)} draws were made, where a neighbour's data led to {len(self.recording)}")

    def _overwrite(self, kind: str, parameter: Fraction, values: Ints) -> None:
        values[...] = self._again(Draw(kind, parameter, values.copy().reshape(-1), None)).reshape(values.shape)

    def _again(self, wanted: Draw) -> Any:
        place = len(self.draws)
        if place == len(self.recording):
            raise Diverged(f"draw {place + 1} was made, where a neighbour's data led to {place}")
        known = self.recording[place]
        if known.asked != wanted.asked:
            given, (kind, parameter, size) = known.asked, wanted.asked
            if (kind, size) == (given[0], given[2]):
                raise Diverged(f"draw {place + 1} is {kind} of {parameter}, for a neighbour's data of {given[1]}")
            raise Diverged(f"draw {place + 1} is {kind} for {size}, for a neighbour's data {given[0]} for {given[2]}")
        self.draws.append(Draw(wanted.kind, wanted.parameter, wanted.before, known.after))
        return known.after


def recorded(run: Callable[[Any, RandomSource], Any], spread: float, seed: int) -> tuple[Any, list[Draw]]:
    """What a run publishes, and its draws. `run` takes a sampler and a source."""
    recorder = Recorder(spread=spread, chance=np.random.default_rng(seed))
    return run(recorder, AuditSource()), recorder.draws


def played(run: Callable[[Any, RandomSource], Any], recording: Sequence[Draw]) -> tuple[Any, list[Draw]]:
    """What a run publishes that is given the answers of another; `Diverged` if it wants others."""
    player = Player(recording=recording)
    found = run(player, AuditSource())
    player.finish()
    return found, player.draws


@dataclass(frozen=True)
class Loss:
    """How far two data sets are told apart along one list of answers, at most: exact for noise, floats for the rest.

    `laplace` is Σ‖Δ‖₁/s, and `gaussian` Σ‖Δ‖₂²/2σ²; `odds` the log of how much likelier coins and choices were, and
    `concentrated` what those cost in ρ.
    """

    laplace: Fraction
    gaussian: Fraction
    odds: float
    concentrated: float

    @property
    def epsilon(self) -> float:
        """No answers of these draws tell the two apart by more; infinite beside Gaussian noise."""
        return inf if self.gaussian else float(self.laplace) + abs(self.odds)

    @property
    def rho(self) -> float:
        """The ρ of all these steps together: pure steps of ε cost ε²/2."""
        return float(self.gaussian) + float(self.laplace) ** 2 / 2 + self.concentrated

    def exceeds_epsilon(self, allowed: Fraction) -> bool:
        """Exactly where there is nothing but noise; up to the rounding of logarithms otherwise."""
        if self.gaussian:
            return True
        return self.laplace > allowed if not self.odds else self.epsilon > float(allowed) * (1 + 1e-9)

    def exceeds_rho(self, allowed: Fraction) -> bool:
        """The same for ρ."""
        if not self.concentrated and not self.laplace:
            return self.gaussian > allowed
        return self.rho > float(allowed) * (1 + 1e-9)


def loss(draws: Sequence[Draw], other: Sequence[Draw]) -> Loss:
    """Of the same answers to what went in both times."""
    laplace = gaussian = Fraction(0)
    fell, chosen, concentrated = [], [], 0.0
    for one, two in zip(draws, other, strict=True):
        if one.kind == COINS:
            fell.append(_odds_of_coins(one.before, two.before, one.after))
        elif one.kind == CHOICE:
            odds, span = _odds_of_choice(one.before, two.before, one.after)
            chosen.append(odds)
            concentrated += span**2 / 8
        else:
            apart = (one.before - two.before).tolist()  # modulo 2⁶⁴, as the sums are
            if one.kind == LAPLACE and one.parameter:
                laplace += sum(map(abs, apart)) / one.parameter
            elif one.parameter:
                gaussian += sum(each * each for each in apart) / (2 * one.parameter)
    return Loss(laplace, gaussian, fsum([*fell, *chosen]), concentrated + fsum(fell) ** 2 / 2)


def _odds_of_coins(chances: Chances, other: Chances, fell: Mask) -> float:
    odds = []
    for one, two, came in zip(chances.exact(), other.exact(), fell.tolist(), strict=True):
        if one != two:
            odds.append(_log(one if came else 1 - one, two if came else 1 - two))
    return fsum(odds)


def _odds_of_choice(exponents: Sequence[Fraction], other: Sequence[Fraction], index: int) -> tuple[float, float]:
    """The log of how much likelier the index was, and by how much exponents moved against each other."""
    moved = [two - one for one, two in zip(exponents, other, strict=True)]
    least = min(exponents)
    sums = [log(fsum(exp(-float(each - least)) for each in both)) for both in (exponents, other)]
    return float(moved[index]) + sums[1] - sums[0], float(max(moved) - min(moved))


def _log(numerator: Fraction, denominator: Fraction) -> float:
    if numerator == denominator:
        return 0.0
    if not numerator or not denominator:
        return -inf if denominator else inf
    return log(numerator / denominator)
