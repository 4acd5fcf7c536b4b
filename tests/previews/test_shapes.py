"""Made-up shapes: repeatable, of the total that was asked for, and each with the trait it is named after."""

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.previews._made_up import ALL_SHAPES, made_up_counts, made_up_shares, shapes_for

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


@pytest.mark.parametrize("shape", ["smooth", "steps", "spiky", "rough", "linked"])
def test_every_draw_is_another_table(shape: str) -> None:
    assert not np.array_equal(made_up_shares(shape, LINE, 0), made_up_shares(shape, LINE, 1))


def test_shapes_have_the_trait_they_are_named_after() -> None:
    flat, smooth, steps, spiky, rough, _ = (made_up_shares(shape, LINE, 0) for shape in ALL_SHAPES)
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


def test_linked_axes_depend_on_their_neighbours_and_on_no_other_given_these() -> None:
    domain = sdp.Domain([sdp.Integers("age", 0, 9), *(sdp.Categories(name, range(4)) for name in "abc")])
    shares = made_up_shares("linked", domain, 0)
    for place in range(3):
        assert dependence(shares.sum(axis=tuple({0, 1, 2, 3} - {place, place + 1}))) > 0.01
    given = shares[:, 2].sum(axis=2)  # ages and b, of one a: nothing links them any more
    assert dependence(given) == pytest.approx(0, abs=1e-9)


def test_linked_counts_change_gradually_along_an_ordered_axis() -> None:
    shares = made_up_shares("linked", LINE, 0)
    assert np.abs(np.diff(shares)).max() < 0.1 * np.ptp(shares)


def test_linked_is_tried_unasked_from_three_axes_on() -> None:
    assert "linked" not in shapes_for(LINE)
    assert "linked" not in shapes_for(TABLE)  # the third axis has one cell
    assert "linked" in shapes_for(sdp.Domain.of_shape((3, 3, 2)))
    assert shapes_for(LABELS) == ("spiky", "rough")


def dependence(table: np.ndarray) -> float:
    """The mutual information of two axes, in nats."""
    table = table / table.sum()
    return float(np.sum(table * np.log(table / np.outer(table.sum(axis=1), table.sum(axis=0)))))
