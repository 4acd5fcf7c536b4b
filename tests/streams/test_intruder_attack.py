"""What an intruder can prove: the paper's calibration loses several times its ε, the correct one never more than ε.

Two kinds of tests. Measured: the exact likelihood ratio of the intruder's view is the score of an attack, and what it
tells apart is a lower bound on ε, whatever the proofs say. Exact: one counter, four ticks; the likelihood ratio of
every view is within the guarantee, and comes as near to it as one likes.

The algebra of the exact ones. Let the streams differ by 1 at tick t and the intruder come after tick τ, with T = 2ᴸ
ticks and noise of scale s. Suppose one and the same view came from the other stream: which noises must have differed?

- τ ≥ t: the count that was seen holds one more event, so the count's noise was 1 less. All that is published after τ
  stays as it is, and so do the ticks t … τ. The ticks before t hold no more events but have the smaller noise of the
  count, so the segments that tile 0 … t − 1 must have been 1 more. They have ended, so nobody saw them: the tiling
  has as many segments as t has ones in binary, ≤ L, and 1 + that many noises moved by 1.
- τ < t: the count that was seen holds no more events, so its noise was the same. The ticks from t on hold one more, so
  the segments that tile t … T − 1 must have been 1 less: as many as T − t has ones, ≤ L, none of them open at τ.
- The intruder sees no state at all: either of the two will do, so the fewer.

Each noise that moved by 1 changes the likelihood by at most e^(1/s), and views exist where all change it by nearly
that. So the guarantee is (the number of noises)/s, tight; the most is (1 + L)/s, for t = T − 1 = τ.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from intruder import BEFORE, Record, log_likelihood_ratio
from measured_epsilon import epsilon_lower_bound, most_measurable
from scipy import stats
from stream_attack import CompressiveAttack, CounterAttack, RawCounters, measured, neighbouring, running_sums

from sparsedp.arrays import Floats, Ints
from sparsedp.audits._evidence import clopper_pearson_lower
from sparsedp.noise.discrete_laplace import add_discrete_laplace
from sparsedp.noise.source import SeededSource
from sparsedp.streams import ContinualCompressive
from sparsedp.streams._counters import levels_for

ROWS = 64
TICKS = 4
SCALE = 3.0
"""Of one counter's noise with T = 4 and ε = 1: 1 + L = 3."""


# ---- measured


@pytest.mark.parametrize("horizon", [1, 2, *(pytest.param(more, marks=pytest.mark.slow) for more in (4, 8))])
def test_the_paper_s_calibration_loses_several_times_its_epsilon(horizon: int) -> None:
    last = horizon - 1
    attack = CompressiveAttack(
        "paper", rows=ROWS, horizon=horizon, event=last, epsilon="1", runs=1200, source=SeededSource(horizon)
    )
    assert attack.measured(moment=last) > 2
    assert attack.guaranteed == ROWS


@pytest.mark.parametrize(("horizon", "event"), [(1, 0), (4, 2), pytest.param(8, 6, marks=pytest.mark.slow)])
def test_the_correct_calibration_keeps_epsilon_at_every_moment(horizon: int, event: int) -> None:
    """The very attack that measures more than 2 on the paper's. Over 64 rows it sees gross errors alone, such as that
    one; smaller ones are for the exact ratios and the single counters below."""
    attack = CompressiveAttack(
        "correct", rows=ROWS, horizon=horizon, event=event, epsilon="1", runs=1200, source=SeededSource(horizon)
    )
    for moment in {event - 1, event, min(event + 1, horizon - 1)}:
        assert attack.measured(moment) <= 1
    assert attack.guaranteed == 1


@pytest.mark.parametrize(("horizon", "event"), [(1, 0), (2, 1), (4, 0), (4, 2), (4, 3), (8, 4), (8, 7)])
def test_a_counter_keeps_epsilon_at_every_moment(horizon: int, event: int) -> None:
    attack = CounterAttack(horizon=horizon, event=event, epsilon="1", runs=20_000, source=SeededSource(horizon))
    bounds = {moment: attack.measured(moment) for moment in range(BEFORE, horizon) if abs(moment - event) <= 1}
    assert max(bounds.values()) <= 1
    if horizon <= 2:
        # Here the attack is near the best there can be: it would notice a third too little noise.
        assert bounds[event] > 0.8


@pytest.mark.parametrize(("horizon", "scale"), [(4, Fraction(1)), (2, Fraction(14, 10)), (1, Fraction(7, 10))])
def test_a_counter_with_too_little_noise_is_caught(horizon: int, scale: Fraction) -> None:
    """Scale c/ε instead of (1 + L)·c/ε; and 30 % less than it should be."""
    source = SeededSource(horizon)
    both = neighbouring(horizon, horizon - 1)
    runs = 20_000
    raw = [RawCounters(values, runs, levels_for(horizon), lambda x: _laplace(x, scale, source)) for values in both]
    views = raw[0].record.view(horizon - 1), raw[1].record.view(horizon - 1)
    sums = running_sums(both[0], runs), running_sums(both[1], runs)
    assert measured(views, sums, scale=scale) > 1


def test_a_counter_that_keeps_ended_noises_is_caught() -> None:
    """Its noise is right, and yet it hides nothing."""
    source, runs, event = SeededSource(5), 2_000, 2
    both = neighbouring(TICKS, event)
    raw = [RawCounters(v, runs, levels_for(TICKS), lambda x: _laplace(x, Fraction(3), source)) for v in both]
    sums = running_sums(both[0], runs), running_sums(both[1], runs)
    kept = raw[0].record.view(event, raw[0].ended_before(event)), raw[1].record.view(event, raw[1].ended_before(event))
    assert measured(kept, sums, scale=SCALE) == pytest.approx(most_measurable(runs))
    forgotten = raw[0].record.view(event), raw[1].record.view(event)
    assert measured(forgotten, sums, scale=SCALE) <= 1


def _laplace(fresh: Ints, scale: Fraction, source: SeededSource) -> None:
    add_discrete_laplace(fresh, scale, source)


def test_what_the_stream_publishes_is_what_the_intruder_is_given() -> None:
    stream = ContinualCompressive(horizon=8, rows=ROWS, sparsity=1, epsilon=1, source=SeededSource(1))
    record = Record.of(stream, [3, 1, 4])
    np.testing.assert_array_equal(record.published[-1], stream.synopsis().values)


# ---- exact


def far_ratios(event: int, moment: int, *, scale: float = SCALE, kept: bool = False) -> Floats:
    """Of views whose noises are up to 15 scales large: unlikely views, but the guarantee is for every view."""
    generator = np.random.default_rng([event, moment + 1])
    counters, reach = 2_000, int(15 * scale)

    def draw(fresh: Ints) -> None:
        fresh += generator.integers(-reach, reach + 1, fresh.shape)

    values, other = neighbouring(TICKS, event)
    raw = RawCounters(values, counters, levels_for(TICKS), draw)
    view = raw.record.view(moment, {(1, 0): raw.noises[1, 0]} if kept else None)
    return log_likelihood_ratio(view, running_sums(values, counters), running_sums(other, counters), scale, exact=True)


def moved_noises(event: int, moment: int) -> int:
    """How many noises make up for the event; see above."""
    with_count, without = 1 + event.bit_count(), (TICKS - event).bit_count()
    if event == 0:
        without = 2  # no segment is as long as the stream: its two halves
    if moment == BEFORE:
        return min(with_count, without)
    return with_count if moment >= event else without


@pytest.mark.parametrize(("event", "moment"), [*product(range(TICKS), range(BEFORE, TICKS))])
def test_the_likelihood_ratio_is_bounded_and_the_bound_is_reached(event: int, moment: int) -> None:
    ratios = far_ratios(event, moment)
    bound = moved_noises(event, moment) / SCALE
    assert bound <= 1  # = ε
    for most in (ratios.max(), -ratios.min()):
        assert 0.97 * bound < most <= bound * (1 + 1e-9)


def test_some_intruder_gets_all_of_epsilon() -> None:
    assert far_ratios(TICKS - 1, TICKS - 1).max() == pytest.approx(1, abs=1e-6)


def test_one_kept_noise_is_too_many() -> None:
    """Were the noise of ticks 0 and 1 still known, each tick's own noise would have to move instead of theirs."""
    assert far_ratios(TICKS - 1, TICKS - 1, kept=True).max() == pytest.approx(4 / 3, abs=1e-6)


@pytest.mark.parametrize(("calibration", "epsilon"), [("paper", 1), ("correct", 32)])
def test_what_a_compressive_stream_is_charged_at_is_what_an_intruder_can_get(calibration: str, epsilon: int) -> None:
    """The rows' noises are independent, so the worst view of all rows is made of the worst view of each."""
    stream = ContinualCompressive(
        horizon=TICKS, rows=ROWS, sparsity=1, calibration=calibration, epsilon=epsilon, source=SeededSource(1)
    )
    worst = far_ratios(TICKS - 1, TICKS - 1, scale=float(stream.noise_law.scale)).max()
    assert ROWS * worst == pytest.approx(float(stream.spent.epsilon or 0), rel=1e-6)


# ---- the tools themselves


@pytest.mark.parametrize("moment", range(BEFORE, TICKS))
def test_the_likelihood_is_that_of_the_stream(moment: int) -> None:
    """The ratio's mean under the stream it is divided by is 1, if that stream follows the likelihood."""
    attack = CounterAttack(horizon=TICKS, event=1, epsilon="2", runs=10_000, source=SeededSource(11))
    scores = log_likelihood_ratio(attack.records[0].view(moment), *attack.sums, attack.scale, exact=True)
    ratios = np.exp(scores)
    error = ratios.std() / np.sqrt(len(ratios))
    assert abs(ratios.mean() - 1) < 4 * error < 0.1
    assert ratios.std() > 0.1


def test_the_limits_are_clopper_and_pearson_s() -> None:
    for hits in (0, 1, 17, 99, 100):
        exact = stats.binomtest(hits, 100, alternative="greater").proportion_ci(0.9995, method="exact").low
        assert clopper_pearson_lower([hits], 100, 5e-4)[0] == pytest.approx(exact, abs=1e-12)


def test_a_known_loss_is_measured_from_below() -> None:
    """Randomised response at ε = 2: one answer in 1 + e² is a lie."""
    generator = np.random.default_rng(3)
    lies = generator.random((2, 40_000)) < 1 / (1 + np.exp(2))
    answers, other_answers = lies[0].astype(float), 1 - lies[1].astype(float)
    assert 1.8 < epsilon_lower_bound(answers, other_answers) <= 2
    assert epsilon_lower_bound(answers[:20_000], answers[20_000:]) <= 0


def test_a_loss_on_small_scores_is_found_too() -> None:
    """A rare score that D has e² times as often as D′; all the others say next to nothing."""
    uniform = np.random.default_rng(3).random((2, 40_000))
    scores, other_scores = -1.0 * (uniform[0] < 0.02 * np.exp(2)), -1.0 * (uniform[1] < 0.02)
    assert 1.5 < epsilon_lower_bound(scores, other_scores) <= 2
