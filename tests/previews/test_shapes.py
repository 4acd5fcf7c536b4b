"""Made-up shapes: repeatable, of the total that was asked for, and each with the trait it is named after."""

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.previews._made_up import ALL_SHAPES, made_up_counts, made_up_shares

LINE = sdp.Domain.of_shape((512,))
TABLE = sdp.Domain([sdp.Categories("region", ["n", "s", "e"]), sdp.Integers("hour", 0, 23), sdp.Integers("one", 0, 0)])
LABELS = sdp.Domain(sdp.Categories("region", ["n", "s", "e", "w"]))
CELL = sdp.Domain.of_shape((1,))


@pytest.mark.parametrize("shape", ALL_SHAPES)
@pytest.mark.parametrize("domain", [LINE, TABLE, LABELS, CELL], ids=str)
def test_shares_are_shares_and_the_same_each_time(shape: str, domain: sdp.Domain) -> None:
    shares = made_up_shares(shape, domain, 3)
    assert shares.shape == domain.shape
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1)
    np.testing.assert_array_equal(shares, made_up_shares(shape, domain, 3))
    counts = made_up_counts(shares, 12_345, 3)
    assert counts.sum() == 12_345
    assert counts.dtype == np.int64


@pytest.mark.parametrize("shape", ["smooth", "steps", "spiky", "rough"])
def test_every_draw_is_another_table(shape: str) -> None:
    assert not np.array_equal(made_up_shares(shape, LINE, 0), made_up_shares(shape, LINE, 1))


def test_shapes_have_the_trait_they_are_named_after() -> None:
    flat, smooth, steps, spiky, rough = (made_up_shares(shape, LINE, 0) for shape in ALL_SHAPES)
    assert np.ptp(flat) == 0
    assert np.abs(np.diff(smooth)).max() < 0.1 * np.ptp(smooth)
    assert 5 < np.count_nonzero(np.diff(steps)) < 24
    assert np.count_nonzero(spiky) == round(512**0.5)
    assert np.abs(np.corrcoef(rough[1:], rough[:-1])[0, 1]) < 0.15


def test_labels_have_random_shares_of_one_profile() -> None:
    shares = made_up_shares("smooth", TABLE, 0)[:, :, 0]
    profiles = shares / shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(profiles, profiles[:1].repeat(3, axis=0))
    assert np.ptp(shares.sum(axis=1)) > 0.01
