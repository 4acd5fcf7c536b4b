"""Errors where the cells of some blocks were measured, and other blocks whole."""

import numpy as np
import pytest
from test_layers_recover import law_of, measured

from sparsedp.arrays import Integers
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource
from sparsedp.recovery.layers.busy_block_errors import in_busy_blocks
from sparsedp.recovery.layers.error_model import ErrorModel
from sparsedp.recovery.layers.errors import LayerErrors
from sparsedp.recovery.layers.recover import fit_layers
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.parts_of_blocks import from_letters


def combs(n: int, busy: int, height: int, seed: int = 3) -> Integers:
    """Every third cell has some hundred records, up to a cell; after it there are few."""
    rates = np.full(n, 0.05)
    rates[:busy] = np.where(np.arange(busy) % 3 == 0, height, 1.0)
    return np.random.default_rng(seed).poisson(rates).astype(np.int64)


@pytest.mark.parametrize(
    ("letters", "expected"), [("aeae", True), ("eeea", True), ("eeee", False), ("acae", False), ("bbbb", False)]
)
def test_what_is_measured_in_busy_blocks(letters: str, expected: bool) -> None:
    sensing = GroupSums(64, [from_letters(letters, 16, 64), 16, 64])
    law = law_of(sensing)
    assert in_busy_blocks(fit_layers(sensing, measured(sensing, np.arange(64), law, 1), law)) == expected


def test_groups_that_a_look_chose_are_no_busy_blocks() -> None:
    sensing = GroupSums(64, [[0, 1, 2, 3, 4, 8, 16, 32], [0, 4]])
    law = law_of(sensing)
    assert not in_busy_blocks(fit_layers(sensing, measured(sensing, np.arange(64), law, 1), law))


def scores() -> tuple[float, float, float]:
    """The mean squares of the errors of cells in busy blocks, of cells in the others, and of ranges, in standard
    errors.
    """
    busy, quiet, ranges = [], [], []
    random = np.random.default_rng(6)
    for seed in range(4):
        counts = combs(4096, 1024, 150, seed)
        release = Adaptive().release(counts, epsilon="0.1", source=SeededSource(seed))
        errors = release.uncertainty
        assert isinstance(errors, LayerErrors)
        assert in_busy_blocks(errors._fit)
        said = release.stderr
        assert said is not None
        off = ((release.values - counts) / said) ** 2
        busy.append(float(off[:1024].mean()))
        quiet.append(float(off[1200:].mean()))
        for _ in range(40):
            start, stop = np.sort(random.choice(4097, 2, replace=False)).tolist()
            weights = np.zeros(4096)
            weights[start:stop] = 1.0
            ranges.append(float((release.values - counts)[start:stop].sum() ** 2 / errors.variance(weights)))
    return float(np.mean(busy)), float(np.mean(quiet)), float(np.mean(ranges))


def test_errors_are_of_their_own_size(monkeypatch: pytest.MonkeyPatch) -> None:
    busy, quiet, ranges = scores()
    assert 0.3 < busy < 1.7
    assert 0.1 < quiet < 2.0
    assert 0.15 < ranges < 2.0
    said = ErrorModel.variance
    monkeypatch.setattr(ErrorModel, "variance", lambda model, weights: said(model, weights) / 30)
    assert scores()[2] > 2.0


def test_the_noise_of_busy_blocks_is_not_felt_elsewhere() -> None:
    counts = combs(4096, 1024, 150)
    release = Adaptive().release(counts, epsilon="0.1", source=SeededSource(1))
    errors = release.uncertainty
    assert isinstance(errors, LayerErrors)
    weights = np.zeros((2, 4096))
    weights[0, 0:500] = weights[1, 3000:3500] = 1.0
    within, elsewhere = (errors.variance(row) for row in weights)
    assert elsewhere < within / 4
