"""The user's files where they are, elsewhere labelled stand-ins, of the shape that they are said to have."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from local_mirror import FILES, small_files
from sparsedp.arrays import Ints
from sparsedp.datasets.flights import hourly_departures
from sparsedp.errors import BadFile, UnknownName
from studies.paper.data import NAMES, PAPER_DATA, STAND_INS, load, origins


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for data, for which small files are right."""
    monkeypatch.setenv("SPARSEDP_DATA", str(tmp_path))
    small_files(monkeypatch)
    return tmp_path


def test_without_files_everything_of_the_paper_is_a_stand_in() -> None:
    found = origins()
    assert tuple(found) == NAMES
    assert found == {**dict.fromkeys((*PAPER_DATA, "tcptrace"), "stand-in"), "flights": "package"}


@pytest.mark.parametrize("name", STAND_INS)
def test_a_stand_in_is_labelled(name: str) -> None:
    data = load(name, "stand-in")
    assert (data.name, data.origin) == (name, "stand-in")
    assert np.array_equal(data.counts, STAND_INS[name].make())
    assert data.about.startswith(f"stand-in for {name}: ")
    assert data.about.endswith(f", n = {data.counts.size:,}")


@pytest.mark.parametrize("name", PAPER_DATA)
def test_a_file_is_used_where_it_is(folder: Path, name: str) -> None:
    (folder / f"{name}.txt").write_bytes(FILES[name])
    assert [other for other, origin in origins().items() if origin == "file"] == [name]
    data = load(name, "file")
    assert data.counts.tolist() == [int(count) for count in FILES[name].split()]
    assert data.about == f"{name} of Hay et al. (2010), n = 3"


def test_a_wrong_file_is_refused_and_not_stood_in_for(folder: Path) -> None:
    (folder / "nettrace.txt").write_text("1\n2\n")
    assert origins()["nettrace"] == "file"
    with pytest.raises(BadFile, match="SHA-256 differs"):
        load("nettrace", "file")


def test_a_file_that_is_not_there_is_refused_until_it_is(folder: Path) -> None:
    with pytest.raises(BadFile, match="datasets fetch nettrace"):
        load("nettrace", "file")
    (folder / "nettrace.txt").write_bytes(FILES["nettrace"])
    assert load("nettrace", "file").counts.size == 3


def test_the_trace_says_how_it_was_cut(folder: Path) -> None:
    with pytest.raises(BadFile, match="LBL-CONN-7"):
        load("tcptrace", "file")
    (folder / "lbl-conn-7.red").write_text("3 1 smtp 1 1 1 2 SF L\n400 1 smtp 1 1 1 2 SF\n")
    assert origins()["tcptrace"] == "file"
    data = load("tcptrace", "file")
    assert data.counts[:3].tolist() == [1, 1, 0]
    assert data.about == (
        "tcptrace: 2 connections of LBL-CONN-7 by 5 minutes (how the paper cut it is not known), n = 8,640"
    )


def test_flights_come_in_a_package() -> None:
    data = load("flights", "package")
    assert np.array_equal(data.counts, hourly_departures())
    assert data.about.endswith(", n = 8,760")


def test_data_are_read_once_a_folder_and_cannot_be_changed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "nettrace.txt").write_bytes(FILES["nettrace"])
    data = load("nettrace", "file")
    assert load("nettrace", "file") is data
    with pytest.raises(ValueError, match="read-only"):
        data.counts[0] = 1
    (folder / "empty").mkdir()
    monkeypatch.setenv("SPARSEDP_DATA", str(folder / "empty"))
    with pytest.raises(BadFile, match="There is no"):
        load("nettrace", "file")


def test_unknown_names_and_origins() -> None:
    with pytest.raises(UnknownName, match="did you mean 'nettrace'"):
        load("netrace", "file")
    with pytest.raises(UnknownName, match="choose one of file, stand-in"):
        load("nettrace", "package")
    with pytest.raises(UnknownName, match="choose one of package"):
        load("flights", "stand-in")


CELLS = {"social_network": 11_342, "search_logs": 32_768, "nettrace": 65_536, "tcptrace": 7_865}


def correlation(counts: Ints, lag: int) -> float:
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
