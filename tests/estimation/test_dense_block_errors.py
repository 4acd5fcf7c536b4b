"""Errors where the cells of some blocks were measured, and other blocks whole."""

from functools import partial

import numpy as np
import pytest
from test_layers_recover import law_of, measured

from sparsedp.arrays import Ints
from sparsedp.estimation.errors import bootstrap
from sparsedp.estimation.errors.errors import LayerErrors
from sparsedp.estimation.errors.groups import in_dense_blocks
from sparsedp.estimation.estimator import estimate, fit_layers
from sparsedp.estimation.least_squares import fuse
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.parts_of_blocks import from_letters

signed_layers = partial(estimate, nonnegative=False)
signed_fused_layers = partial(estimate, nonnegative=False, shrinks=False)


def combs(n: int, busy: int, height: int, seed: int = 3, beside: float = 0.05) -> Ints:
    """Every third cell has some hundred records, up to a cell; after it there are few."""
    rates = np.full(n, beside)
    rates[:busy] = np.where(np.arange(busy) % 3 == 0, height, 1.0)
    return np.random.default_rng(seed).poisson(rates).astype(np.int64)


@pytest.mark.parametrize(
    ("letters", "n", "expected"),
    [
        ("aeae", 64, True),
        ("eeea", 64, True),
        ("eeea", 60, True),
        ("eeee", 64, False),
        ("acae", 64, True),
        ("ecde", 64, False),
        ("bbbb", 64, False),
        ("eeeee", 65, False),
    ],
)
def test_what_is_measured_in_busy_blocks(letters: str, n: int, expected: bool) -> None:
    sensing = GroupSums(n, [from_letters(letters, 16, n), 16, n])
    law = law_of(sensing)
    assert in_dense_blocks(fit_layers(sensing, measured(sensing, np.arange(n), law, 1), law)) == expected


def test_groups_that_a_look_chose_are_no_busy_blocks() -> None:
    sensing = GroupSums(64, [[0, 1, 2, 3, 4, 8, 16, 32], [0, 4]])
    law = law_of(sensing)
    assert not in_dense_blocks(fit_layers(sensing, measured(sensing, np.arange(64), law, 1), law))


def scores(beside: float) -> tuple[float, float, float]:
    """The squared errors of cells in busy blocks and of cells in the others over those that are said, all together; and
    the mean square of those of ranges, in standard errors.
    """
    found, expected, ranges = np.zeros(2), np.zeros(2), []
    random = np.random.default_rng(6)
    for seed in range(4):
        counts = combs(4096, 1024, 300, seed, beside=beside)
        release = Adaptive().release(counts, epsilon="0.1", source=SeededSource(seed))
        errors = getattr(release.uncertainty, "expected", None)
        assert isinstance(errors, LayerErrors)
        assert in_dense_blocks(errors._fit)
        said = release.stderr
        assert said is not None
        off, said = (release.values - counts) ** 2, said**2
        found += off[:1024].sum(), off[1200:].sum()
        expected += said[:1024].sum(), said[1200:].sum()
        for _ in range(40):
            start, stop = np.sort(random.choice(4097, 2, replace=False)).tolist()
            weights = np.zeros(4096)
            weights[start:stop] = 1.0
            ranges.append(float((release.values - counts)[start:stop].sum() ** 2 / errors.variance(weights)))
    busy, quiet = (found / expected).tolist()
    return busy, quiet, float(np.mean(ranges))


@pytest.mark.parametrize("beside", [0.05, pytest.param(0.5, marks=pytest.mark.slow)])
def test_errors_are_of_their_own_size(beside: float) -> None:
    """A third, or three times as much, in variance, would be found out."""
    for score in scores(beside):
        assert 0.5 < score < 1.5


@pytest.mark.slow
def test_busy_cells_of_a_long_row_have_their_own_errors_wherever_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long row only some blocks are recovered again, and these few are the busy ones."""
    for name, value in {"LONG_ROW": 4096, "BOOTSTRAP_BLOCK": 1024, "BOOTSTRAP_BLOCKS": 4}.items():
        monkeypatch.setattr(bootstrap, name, value)
    counts = np.roll(combs(16384, 1024, 150), 5 * 1024)
    busy = slice(5 * 1024, 6 * 1024)
    scores = []
    for seed in range(8):
        release = Adaptive().release(counts, epsilon="0.1", source=SeededSource(seed))
        errors = getattr(release.uncertainty, "expected", None)
        assert isinstance(errors, LayerErrors)
        assert in_dense_blocks(errors._fit)
        assert release.stderr is not None
        scores.append(np.mean(((release.values - counts)[busy] / release.stderr[busy]) ** 2))
    assert 0.5 < np.mean(scores) < 1.5


def test_busy_cells_at_the_end_of_a_long_row_are_learned_from_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"LONG_ROW": 2048, "BOOTSTRAP_BLOCK": 256, "BOOTSTRAP_BLOCKS": 4}.items():
        monkeypatch.setattr(bootstrap, name, value)
    counts = np.roll(combs(8192 + 240, 240, 1500, beside=0.0), 8192)
    for epsilon in ("0.1", "100"):
        release = Adaptive().release(counts, epsilon=epsilon, source=SeededSource(2))
        errors = getattr(release.uncertainty, "expected", None)
        assert isinstance(errors, LayerErrors)
        assert in_dense_blocks(errors._fit)
        assert release.stderr is not None
        assert np.isfinite(release.stderr).all()
        if epsilon == "0.1":
            assert 0.4 < np.mean(((release.values - counts)[8192:] / release.stderr[8192:]) ** 2) < 1.6


def test_sums_that_shrinking_biased_are_known_to_be_so() -> None:
    """Every seventh cell of a busy half is higher; smoothing takes most of it away, and their sum says so."""
    rates = np.full(4096, 0.05)
    rates[:2048] = np.where(np.arange(2048) % 3 == 0, 200.0, 10.0)
    rates[1024:2048] = np.where(np.arange(1024) % 7 == 0, 85.0, 60.0)
    weights = np.zeros(4096)
    weights[1024:2048:7] = 1.0
    off = []
    for seed in range(5):
        counts = np.random.default_rng(seed).poisson(rates).astype(np.int64)
        release = Adaptive().release(counts, epsilon="0.1", source=SeededSource(seed))
        errors = getattr(release.uncertainty, "expected", None)
        assert isinstance(errors, LayerErrors)
        assert in_dense_blocks(errors._fit)
        off.append(float(weights @ (release.values - counts)) ** 2 / errors.variance(weights))
    assert np.mean(off) < 4.0


@pytest.mark.parametrize("epsilon", ["1", "100", "2000"])
def test_no_variance_is_below_zero(epsilon: str) -> None:
    counts = np.zeros(4096, np.int64)
    counts[:64] = 2000
    random = np.random.default_rng(1)
    for workload in ("any", "ranges"):
        release = Adaptive(workload).release(counts, epsilon=epsilon, source=SeededSource(1))
        for _ in range(100):
            start, stop = np.sort(random.choice(4097, 2, replace=False)).tolist()
            found = release.interval((start, stop), kind="expected")
            assert found.low <= found.high


def test_fused_layers_shrink_nothing() -> None:
    sensing = GroupSums(64, [from_letters("aeae", 16, 64), 16, 64])
    law = law_of(sensing)
    values = measured(sensing, np.where(np.arange(64) % 32 < 16, 100, 0), law, 1)
    fused = fuse(sensing, values, law)[0]
    found = signed_fused_layers(sensing, values, law).value
    np.testing.assert_allclose(np.add.reduceat(found, fused.starts), fused.sums)
    assert not np.allclose(signed_layers(sensing, values, law).value, found)


def test_fused_groups_that_a_look_chose_are_not_shrunk_either() -> None:
    sensing = GroupSums(64, [[0, 8, 16, 24, 32], [0, 32]])
    law = law_of(sensing)
    values = measured(sensing, np.full(64, 20), law, 1)
    fused = fuse(sensing, values, law)[0]
    found = signed_fused_layers(sensing, values, law).value
    np.testing.assert_allclose(np.add.reduceat(found, fused.starts), fused.sums)
    assert not np.allclose(signed_layers(sensing, values, law).value, found)


def test_the_noise_of_busy_blocks_is_not_felt_elsewhere() -> None:
    counts = combs(4096, 1024, 150)
    release = Adaptive().release(counts, epsilon="0.1", source=SeededSource(1))
    errors = getattr(release.uncertainty, "expected", None)
    assert isinstance(errors, LayerErrors)
    weights = np.zeros((2, 4096))
    weights[0, 0:500] = weights[1, 3000:3500] = 1.0
    within, elsewhere = (errors.variance(row) for row in weights)
    assert elsewhere < within / 4


def test_cells_on_the_way_to_the_first_one_have_their_own_noise() -> None:
    """They are not shrunk as the cells of busy blocks are, so their errors are not those of shrunk cells."""
    starts = sorted({0, 1, 2, 4, 8, 16, 32, *range(64, 128), *range(128, 4096, 64)})
    sensing = GroupSums(4096, [starts, 64, 4096], [64, 64])
    law = law_of(sensing, 13, 40, 500)
    counts = np.random.default_rng(2).poisson(0.1, 4096).astype(np.int64)
    counts[64:128] += 60
    counts[0] += 300
    in_table = sensing.out_of_row(counts.astype(np.float64)).astype(np.int64)
    fit = fit_layers(sensing, measured(sensing, in_table, law, 4), law)
    assert in_dense_blocks(fit)
    errors = LayerErrors(fit, lambda sensing, values: fit_layers(sensing, values, law)).stderr()
    found = sensing.in_a_row(errors.reshape(-1))
    assert found[0] >= 0.999 * np.sqrt(fit.layers[0].variances[0])
    assert np.median(found[64:128]) < 0.8 * np.sqrt(law.finest.variance)
