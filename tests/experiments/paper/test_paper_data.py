"""The data of the experiments: the user's files where they are, labelled stand-ins elsewhere."""

from pathlib import Path

import numpy as np
import pytest

from local_mirror import FILES, small_files
from sparsedp.datasets.flights import hourly_departures
from sparsedp.errors import BadFile, UnknownName
from sparsedp.experiments.paper.data import NAMES, PAPER_DATA, load, origins
from sparsedp.experiments.paper.stand_ins import STAND_INS


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
