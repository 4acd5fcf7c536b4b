"""The noise in a sum over groups of unequal sizes, against the dense covariance of the fused cells."""

import numpy as np
import pytest
from dense_layers import dense_groups, least_squares
from test_layers_fusion import SENSINGS, law_of

from sparsedp.arrays import Floats
from sparsedp.estimation.errors.errors import LayerErrors
from sparsedp.estimation.errors.haar_details import details, noise_of_details
from sparsedp.estimation.estimator import fit_layers
from sparsedp.estimation.least_squares import NoiseOfSums, PosteriorOfSums, noise_of_sum
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.group_sums import GroupSums

EVERY_SENSING = pytest.mark.parametrize("sensing", SENSINGS.values(), ids=SENSINGS.keys())


@EVERY_SENSING
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_is_that_of_generalised_least_squares(sensing: GroupSums, seed: int) -> None:
    law, groups = law_of(sensing, seed), dense_groups(sensing)
    _, covariance = least_squares(groups, law, len(groups))
    for weights in _weights(sensing.n, seed):
        assert noise_of_sum(sensing, law, weights) == pytest.approx(float(weights @ covariance @ weights), rel=1e-6)


def _weights(n: int, seed: int) -> list[Floats]:
    generator = np.random.default_rng(seed)
    ends = np.sort(generator.integers(0, n + 1, 2))
    between = np.zeros(n)
    between[ends[0] : ends[1]] = 1.0
    return [np.ones(n), between, generator.normal(size=n)]


def test_details_of_equal_blocks_are_uncorrelated() -> None:
    sensing = GroupSums(64, [list(range(0, 64, 4)), 16, 64])
    law = law_of(sensing)
    fit = fit_layers(sensing, np.zeros(sensing.rows, np.int64), law)
    whole = np.ones(64, np.bool_)
    whole[16:] = False
    noise = NoiseOfSums(sensing, law, noise_of_details(fit), whole)
    for weights in _weights(64, 4):
        squares, shared = details(weights) ** 2, np.arange(1.0, 65.0)
        assert noise.variance(weights, squares, shared) == pytest.approx(squares[whole] @ shared[whole], rel=1e-6)


def test_what_the_posterior_leaves_of_the_noise_is_that_of_a_dense_covariance() -> None:
    """Each group's noise is scaled, and keeps what it has to do with that of others; the total may have more."""
    sensing = GroupSums(100, [[0, 1, 2, 4, 16, 32, 48, 64], [0, 16, 64], [0]])
    law = law_of(sensing, 1)
    groups = dense_groups(sensing)
    _, covariance = least_squares(groups, law, len(groups))
    kept = np.linspace(0.1, 1.5, 8)
    sizes = np.diff(sensing.starts[0], append=100)
    linear = np.linspace(5.0, 3.0, 8)
    root = np.repeat(np.sqrt(kept), sizes)
    least = float(root @ covariance @ root)
    unsure = np.repeat(kept * linear / (kept @ linear) / sizes, sizes)
    for of_total, more in ((0.5 * least, 0.0), (3.0 * least, 2.0 * least)):
        noise = PosteriorOfSums(sensing, law, (kept * linear, linear), of_total, np.ones(128, np.bool_))
        for weights in _weights(100, 5):
            scaled = weights * root
            expected = scaled @ covariance @ scaled + more * (weights @ unsure) ** 2
            assert noise.variance(weights, np.zeros(128), np.zeros(128)) == pytest.approx(expected, rel=1e-6)


def test_noise_beside_a_wide_group_is_not_felt_in_it() -> None:
    """All counts in the first cells: a private tree is fine there, and leaves the other half of the row whole."""
    counts = np.zeros(4096, np.int64)
    counts[:64] = 2000
    release = Adaptive("ranges").release(counts, epsilon="0.1", source=SeededSource(1))
    errors = getattr(release.uncertainty, "expected", None)
    assert isinstance(errors, LayerErrors)
    weights = np.zeros(4096)
    weights[3000:3900] = 1.0
    assert errors.variance(weights) < 0.5 * errors._fit.law.finest.variance
    busy = release.interval((0, 40), kind="expected")
    assert busy.low < 80_000 < busy.high
