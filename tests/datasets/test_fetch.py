"""Fetching the paper's files: checked before they appear, and nothing half written."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from local_mirror import FILES, Mirror, mirrored, serving
from sparsedp.datasets import paper_files
from sparsedp.errors import BadFile, InvalidInput, UnknownName


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "new" / "data"


@pytest.fixture
def mirror(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    with mirrored(monkeypatch, folder) as server:
        yield server


def left_in(folder: Path) -> list[str]:
    return sorted(os.listdir(folder)) if folder.exists() else []


@pytest.mark.usefixtures("mirror")
def test_every_file_is_fetched_and_can_be_read(folder: Path) -> None:
    for name, content in FILES.items():
        assert paper_files.fetch(name) == folder / f"{name}.txt"
        assert (folder / f"{name}.txt").read_bytes() == content
        assert paper_files.paper_file(name).tolist() == [int(count) for count in content.split()]
    assert left_in(folder) == sorted(f"{name}.txt" for name in FILES)
    assert paper_files.available() == list(FILES)


def test_a_right_file_is_not_fetched_again(mirror: Mirror, folder: Path) -> None:
    paper_files.fetch("nettrace")
    before = (folder / "nettrace.txt").stat().st_mtime_ns
    paper_files.fetch("nettrace", overwrite=True)
    assert mirror.asked == ["/nettrace.txt"]
    assert (folder / "nettrace.txt").stat().st_mtime_ns == before


def test_another_file_of_that_name_stays_unless_it_may_go(mirror: Mirror, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "nettrace.txt").write_text("precious")
    with pytest.raises(BadFile, match="move it away, or say `overwrite=True`"):
        paper_files.fetch("nettrace")
    assert (folder / "nettrace.txt").read_text() == "precious"
    assert mirror.asked == []
    paper_files.fetch("nettrace", overwrite=True)
    assert (folder / "nettrace.txt").read_bytes() == FILES["nettrace"]


def test_an_argument_comes_before_the_environment(mirror: Mirror, tmp_path: Path) -> None:
    with serving({"/copy/nettrace.txt": FILES["nettrace"]}) as other:
        paper_files.fetch("nettrace", tmp_path, source=f"{other.address}/copy")
    assert paper_files.is_there("nettrace", tmp_path)
    assert mirror.asked == []


def test_without_a_mirror_the_authors_repository_is_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def no_network(address: str, *, most: int, timeout: float) -> bytes:
        asked.append((address, most, timeout))
        raise BadFile("no network")

    monkeypatch.delenv("SPARSEDP_DATA_URL", raising=False)
    monkeypatch.setattr(paper_files, "download", no_network)
    with pytest.raises(BadFile, match="no network"):
        paper_files.fetch("search_logs", folder)
    ((address, most, timeout),) = asked
    assert address == (
        "https://raw.githubusercontent.com/michaelghay/vldb2010data/"
        "cbf004d73911caf0a2e2b0068c969903e395ee6b/search_logs.txt"
    )
    assert (most, timeout) == (1 << 20, 20)
    assert left_in(folder) == []


@pytest.mark.usefixtures("mirror")
def test_a_wrong_checksum_leaves_nothing(folder: Path) -> None:
    with (
        serving({"/nettrace.txt": FILES["search_logs"]}) as other,
        pytest.raises(BadFile, match="its SHA-256 differs; nothing was written"),
    ):
        paper_files.fetch("nettrace", source=other.address)
    assert left_in(folder) == []
    assert not folder.exists()


def test_what_failed_is_said_and_leaves_what_was_there(mirror: Mirror, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "nettrace.txt").write_text("precious")
    mirror.answers = {}
    with pytest.raises(BadFile, match=r"There is no http://127.0.0.1:\d+/nettrace.txt \(the answer was 404\)"):
        paper_files.fetch("nettrace", overwrite=True)
    assert (folder / "nettrace.txt").read_text() == "precious"
    assert left_in(folder) == ["nettrace.txt"]


@pytest.mark.usefixtures("mirror")
def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(BadFile, match=r"Could not make the folder .*file/data: Not a directory; set SPARSEDP_DATA"):
        paper_files.fetch("nettrace", tmp_path / "file" / "data")


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EACCES])
@pytest.mark.usefixtures("mirror")
def test_a_disk_that_refuses_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch, reason: int) -> None:
    def failing(_descriptor: int) -> None:
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(BadFile, match=rf"nettrace\.txt: {os.strerror(reason)}; nothing was left half-written"):
        paper_files.fetch("nettrace")
    assert left_in(folder) == []


@pytest.mark.usefixtures("mirror")
def test_a_person_is_told_what_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = []

    @contextmanager
    def recorded(what: str) -> Iterator[None]:
        stages.append(what)
        yield

    monkeypatch.setattr(paper_files, "stage", recorded)
    paper_files.fetch("nettrace")
    assert stages == ["fetching nettrace"]


def test_a_file_in_the_folders_place_is_refused_before_anything_is_asked(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SPARSEDP_DATA", str(tmp_path / "file"))
    with pytest.raises(BadFile, match=r"SPARSEDP_DATA names .*file, which is not a folder"):
        paper_files.fetch("nettrace")
    assert mirror.asked == []


def test_names_and_addresses_are_checked_first(mirror: Mirror, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="did you mean 'nettrace'"):
        paper_files.fetch("netrace")
    with pytest.raises(BadFile, match=r"tcptrace cannot be fetched.*LBL-CONN-7\.html.* as lbl-conn-7\.red"):
        paper_files.fetch("tcptrace")
    with pytest.raises(InvalidInput, match="source is no web address"):
        paper_files.fetch("nettrace", source="data/")
    monkeypatch.setenv("SPARSEDP_DATA_URL", "data/")
    with pytest.raises(InvalidInput, match="SPARSEDP_DATA_URL is no web address"):
        paper_files.fetch("nettrace")
    assert mirror.asked == []
    assert left_in(folder) == []
