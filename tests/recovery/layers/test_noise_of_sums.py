"""The noise in a sum over groups of unequal sizes, against the dense covariance of the fused cells."""

from dataclasses import replace

import numpy as np
import pytest
from dense_layers import dense_groups, least_squares
from test_layers_fusion import SENSINGS, law_of

from sparsedp.arrays import Floats
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource
from sparsedp.recovery.layers.detail_variances import details, noise_of_details
from sparsedp.recovery.layers.errors import LayerErrors
from sparsedp.recovery.layers.noise_of_sums import NoiseOfSums, noise_of_sum
from sparsedp.recovery.layers.recover import fit_layers
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
        assert noise.share(weights, details(weights) ** 2) == pytest.approx(1.0, rel=1e-6)


def test_noise_beside_a_wide_group_is_not_felt_in_it() -> None:
    """All counts in the first cells: a private tree is fine there, and leaves the other half of the row whole."""
    counts = np.zeros(4096, np.int64)
    counts[:64] = 2000
    release = Adaptive("ranges").release(counts, epsilon="0.1", source=SeededSource(1))
    errors = release.uncertainty
    assert isinstance(errors, LayerErrors)
    weights = np.zeros(4096)
    weights[3000:3900] = 1.0
    assert errors.variance(weights) < 0.5 * replace(errors._model, noise=None).variance(weights)
    busy = release.interval((0, 40))
    assert busy.low < 80_000 < busy.high
