"""A release beside the truth, which is marked wherever it is seen."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sparsedp as sdp
from repeatable_noise import noise_from
from sparsedp.axes.domain import Quantity
from sparsedp.counts import Counts
from sparsedp.errors import InvalidInput
from sparsedp.noise.source import SeededSource
from sparsedp.publishing.truth import compare_with_truth

DOMAIN = sdp.Domain([sdp.Categories("sex", ["F", "M"]), sdp.Integers("hour", 0, 63)])
COUNTS = np.random.default_rng(1).poisson(40 + 30 * np.sin(np.arange(128) / 9).reshape(DOMAIN.shape))
with noise_from(__name__):
    FIRST = sdp.release(COUNTS, epsilon=1, domain=DOMAIN)


def test_beside_the_truth_it_is_marked() -> None:
    release = sdp.Adaptive().release(COUNTS, epsilon=1, domain=DOMAIN, source=SeededSource(1))
    found = compare_with_truth(release, COUNTS)
    assert not found.private
    assert found.warning.startswith("NOT PRIVATE")
    assert str(found).startswith("NOT PRIVATE")
    assert str(found).endswith(found.warning)
    assert repr(found) == str(found)
    np.testing.assert_array_equal(found.difference, COUNTS - release.values)
    assert found.mean_absolute_error == pytest.approx(np.abs(COUNTS - release.values).mean())
    assert found.root_mean_squared_error == pytest.approx(np.sqrt(((COUNTS - release.values) ** 2).mean()))
    assert found.largest_error == np.abs(COUNTS - release.values).max()
    assert found.cell_coverage is not None
    assert found.range_coverage is not None
    assert found.cell_coverage > 0.8
    assert found.largest(1)[0].interval is None


def test_a_wrong_truth_is_not_covered() -> None:
    found = compare_with_truth(FIRST, COUNTS + 100)
    assert found.cell_coverage == 0.0
    assert found.range_coverage is not None
    assert found.range_coverage < 0.05
    assert found.range_error > 1000


def test_counts_of_records_are_the_truth_too() -> None:
    cents = Quantity("amount", Fraction(1, 100))
    counts = Counts(COUNTS.astype(np.int64), DOMAIN, 1, ("who",), 1, cents)
    release = replace(FIRST, values=COUNTS / 100, quantity=cents)
    assert compare_with_truth(release, counts).largest_error == 0.0
    with pytest.raises(InvalidInput, match="counts is of another domain or quantity than the release"):
        compare_with_truth(FIRST, counts)


@pytest.mark.parametrize("counts", [COUNTS.ravel(), COUNTS.astype(str), COUNTS * np.nan, [[1, 2], [3]], None])
def test_a_truth_of_other_cells_is_refused_without_its_values(counts: object) -> None:
    with pytest.raises(InvalidInput, match=r"^counts is not .*; give .* of the shape \(2, 64\)\.$"):
        compare_with_truth(FIRST, counts)


def test_without_intervals_there_is_no_coverage() -> None:
    found = compare_with_truth(replace(FIRST, uncertainty=None), COUNTS)
    assert found.cell_coverage is None
    assert "hold the truth" not in str(found)
