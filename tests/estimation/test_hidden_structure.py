"""What a rest tells of what was smoothed away: nothing, if it is noise; its energy and its reach, if it is not."""

import numpy as np
import pytest

from sparsedp.arrays import Floats
from sparsedp.estimation.errors.oversmoothing import SQUARES, Rests, at_most, histogram, places_of

RESTS = Rests.of(1.0)
NOISE = np.random.default_rng(0).laplace(0, np.sqrt(0.5), 20_000)


def hidden(rests: Floats) -> tuple[Floats, Floats]:
    """What is learned from rests in deviations of the noise: the prior, and the mean squares."""
    places = places_of(rests, np.ones(len(rests)))
    weights = RESTS.learn(histogram(places), 6.0)
    return weights, RESTS.mean_squares(places, weights)


def test_noise_alone_hides_nothing() -> None:
    weights, squares = hidden(NOISE)
    assert weights[0] > 0.9
    assert squares.mean() < 0.02


@pytest.mark.parametrize(("share", "height"), [(1.0, 0.5), (0.1, 3.0), (0.02, 8.0)])
def test_the_energy_of_what_is_hidden_is_found(share: float, height: float) -> None:
    generator = np.random.default_rng(1)
    truth = height * generator.normal(size=len(NOISE)) * (generator.random(len(NOISE)) < share)
    _, squares = hidden(NOISE + truth)
    assert squares.mean() == pytest.approx(np.mean(truth**2), rel=0.3)


def test_upper_ends_reach_spikes_that_may_be_there() -> None:
    """Cells of 6 deviations among empty ones: where one may have been, the interval reaches it."""
    spikes = np.zeros(len(NOISE))
    spikes[::50] = 6.0
    rests = NOISE + spikes
    weights, _ = hidden(rests)
    ends = RESTS.upper_ends(rests, weights, 0.025)
    assert np.mean(ends[::50] > 5.0) > 0.85
    assert np.median(ends) < 1.0


def test_upper_ends_grow_as_the_chance_shrinks() -> None:
    weights, _ = hidden(NOISE * 2)
    scores = np.linspace(-3, 8, 12)
    assert (RESTS.upper_ends(scores, weights, 0.001) >= RESTS.upper_ends(scores, weights, 0.05)).all()


def test_what_is_hidden_has_no_more_than_there_is() -> None:
    weights = np.full(len(SQUARES), 1 / len(SQUARES))
    bounded = at_most(weights, 0.1)
    assert bounded.sum() == pytest.approx(1)
    assert bounded @ np.sqrt(SQUARES) * np.sqrt(2 / np.pi) == pytest.approx(0.1)
    assert np.array_equal(at_most(weights, 1e9), weights)
