"""Stand-ins: as long as the paper's data, of the shape that they are said to have, and the same for everybody."""

import hashlib

import numpy as np
import pytest

from sparsedp.arrays import Integers
from sparsedp.experiments.paper.stand_ins import STAND_INS

CELLS = {"social_network": 11_342, "search_logs": 32_768, "nettrace": 65_536, "tcptrace": 7_865}


def correlation(counts: Integers, lag: int) -> float:
    return float(np.corrcoef(counts[:-lag], counts[lag:])[0, 1])


@pytest.mark.parametrize("name", CELLS)
def test_counts_of_the_papers_length(name: str) -> None:
    counts = STAND_INS[name].make()
    assert counts.shape == (CELLS[name],)
    assert counts.dtype == np.int64
    assert counts.min() >= 0
    assert np.array_equal(counts, STAND_INS[name].make())


def test_every_data_set_of_the_paper_has_one() -> None:
    assert list(STAND_INS) == list(CELLS)


def test_the_social_network_is_a_graph_and_sorted() -> None:
    degrees = STAND_INS["social_network"].make()
    assert np.all(np.diff(degrees) >= 0)
    assert degrees.min() == 1
    assert 40 <= np.median(degrees) <= 50
    assert 1_000 <= degrees.max() <= 2_500
    # Erdős and Gallai: such degrees exist in a graph if their sum is even and the k largest can be met, for every k.
    falling = degrees[::-1]
    assert falling.sum() % 2 == 0
    for k in (1, 2, 5, 10, 50, 100, 500, 1_000, 5_000):
        assert falling[:k].sum() <= k * (k - 1) + np.minimum(falling[k:], k).sum()


def test_search_logs_are_silent_then_bursty_then_steady() -> None:
    counts = STAND_INS["search_logs"].make()
    assert 0.4 <= np.mean(counts == 0) <= 0.6
    half = counts.size // 2
    assert counts[:half].sum() < counts.sum() / 20
    assert counts[half : half + 4_000].mean() < counts[-4_000:].mean() / 5
    assert correlation(counts, 1) > 0.95
    assert counts.max() > 10 * counts[-4_000:].mean()


def test_nettrace_is_a_sorted_power_law_and_mostly_empty() -> None:
    degrees = STAND_INS["nettrace"].make()
    assert np.all(np.diff(degrees) <= 0)
    assert np.count_nonzero(degrees) == 2_200
    ranks = np.arange(1, 501)
    slope = np.polyfit(np.log(ranks), np.log(degrees[:500]), 1)[0]
    assert -0.9 < slope < -0.8


def test_tcptrace_has_days_weeks_and_bursts() -> None:
    counts = STAND_INS["tcptrace"].make()
    assert abs(counts.sum() - 600_000) < 5_000
    day = np.arange(counts.size) * 30 / counts.size
    weekend = (day.astype(int) + 3) % 7 >= 5  # it begins on a Thursday
    noon, night = (day % 1 > 0.4) & (day % 1 < 0.7), day % 1 < 0.25
    assert counts[noon & ~weekend].mean() > 1.5 * counts[noon & weekend].mean() > 1.5 * counts[night].mean()
    assert counts.max() > 5 * counts.mean()
    steady = counts[night & ~weekend]
    assert steady.var() > 2 * steady.mean()


def test_they_never_change() -> None:
    """Figures in documents were measured on exactly these."""
    digest = hashlib.sha256()
    for stand_in in STAND_INS.values():
        digest.update(stand_in.make().astype("<i8").tobytes())
    assert digest.hexdigest()[:16] == "456cf1456f51db10"
