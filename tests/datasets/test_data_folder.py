"""Where a user's copies of the paper's data lie."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sparsedp.datasets import connection_trace, paper_files
from sparsedp.datasets.data_folder import data_folder, folder_to_fill, folder_to_read, users_folder
from sparsedp.errors import BadFile


@pytest.fixture(autouse=True)
def a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARSEDP_DATA", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_the_environment_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("SPARSEDP_DATA", "data")
    assert data_folder() == Path("data")
    monkeypatch.setenv("SPARSEDP_DATA", "~/data")
    assert data_folder() == tmp_path / "data"
    monkeypatch.setenv("SPARSEDP_DATA", "")
    assert data_folder() == users_folder() / "sparsedp"


def test_every_system_has_its_place_for_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert users_folder("linux") == tmp_path / ".local" / "share"
    assert users_folder("darwin") == tmp_path / "Library" / "Application Support"
    assert users_folder("win32") == tmp_path / "AppData" / "Local"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert users_folder("linux") == tmp_path / "xdg"
    assert users_folder("darwin") == tmp_path / "Library" / "Application Support"
    assert users_folder("win32") == tmp_path / "local"


def test_a_relative_place_is_ignored_as_the_standard_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "share")
    assert users_folder("linux") == tmp_path / ".local" / "share"


def test_without_a_home_it_is_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert users_folder("linux") == tmp_path / ".local" / "share"


READERS: list[Callable[[], object]] = [
    folder_to_read,
    paper_files.available,
    paper_files.check_all,
    connection_trace.trace_file,
    connection_trace.connections,
    lambda: paper_files.verified("nettrace"),
    lambda: paper_files.paper_file("nettrace"),
]


def said(reader: Callable[[], object]) -> str:
    """The one sentence in which it refuses."""
    with pytest.raises(BadFile) as error:
        reader()
    sentence = str(error.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert "set SPARSEDP_DATA to the folder that holds the paper's files" in sentence
    return sentence


@pytest.mark.parametrize("reader", READERS)
def test_a_named_folder_that_is_missing_is_not_one_without_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Callable[[], object]
) -> None:
    monkeypatch.setenv("SPARSEDP_DATA", str(tmp_path / "slip"))
    assert f"SPARSEDP_DATA names {tmp_path / 'slip'}, and there is no such folder" in said(reader)
    assert folder_to_fill() == tmp_path / "slip"


@pytest.mark.parametrize("reader", [*READERS, folder_to_fill])
def test_a_file_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Callable[[], object]) -> None:
    (tmp_path / "nettrace.txt").touch()
    monkeypatch.setenv("SPARSEDP_DATA", str(tmp_path / "nettrace.txt"))
    assert "nettrace.txt, which is not a folder" in said(reader)


@pytest.mark.parametrize("reader", [*READERS, folder_to_fill])
def test_an_overlong_name_is_not_repeated_in_full(
    monkeypatch: pytest.MonkeyPatch, reader: Callable[[], object]
) -> None:
    monkeypatch.setenv("SPARSEDP_DATA", "/" + "long" * 2000)
    sentence = said(reader)
    assert "which cannot be used (File name too long)" in sentence
    assert len(sentence) < 600


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("reader", [*READERS, folder_to_fill])
def test_a_folder_that_may_not_be_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Callable[[], object], named: bool
) -> None:
    folder = data_folder()
    folder.mkdir(parents=True)
    if named:
        monkeypatch.setenv("SPARSEDP_DATA", str(folder))
    closed_to_us(folder, monkeypatch)
    start = "SPARSEDP_DATA names" if named else "The data folder is"
    assert f"{start} {folder}, which cannot be used (Permission denied)" in said(reader)


def closed_to_us(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As mode 000 does it for everyone but the superuser."""
    real = os.stat

    def denied(path: str | os.PathLike[str], **how: object) -> os.stat_result:
        if isinstance(path, str | os.PathLike) and os.fspath(path).startswith(f"{folder}{os.sep}"):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return real(path, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", denied)


@pytest.mark.parametrize("home", ["missing", "file"])
def test_the_users_own_folder_need_not_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / home))
    assert folder_to_read() == data_folder()
    assert paper_files.available() == []
    assert connection_trace.trace_file() is None
