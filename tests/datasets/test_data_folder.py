"""Where a user's copies of the paper's data lie."""

import os
from pathlib import Path

import pytest

from sparsedp.datasets.data_folder import data_folder, users_folder


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
