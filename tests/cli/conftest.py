"""Every test of the command line runs in a folder of its own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path
