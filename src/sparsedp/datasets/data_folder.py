"""Where a user's copies of data lie that are not ours to give."""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "SPARSEDP_DATA"


def data_folder() -> Path:
    """The folder that the environment variable SPARSEDP_DATA names; without it, the user's own folder for data."""
    named = os.environ.get(VARIABLE)
    return Path(os.path.expanduser(named)) if named else users_folder() / "sparsedp"


def users_folder(platform: str = sys.platform) -> Path:
    """Where programs keep a user's data on this system: XDG_DATA_HOME or ~/.local/share, where there are such."""
    if platform == "win32":
        return _named("LOCALAPPDATA") or _home() / "AppData" / "Local"
    if platform == "darwin":
        return _home() / "Library" / "Application Support"
    return _named("XDG_DATA_HOME") or _home() / ".local" / "share"


def _named(variable: str) -> Path | None:
    """The folder in an environment variable; one that is not absolute is to be ignored, says the standard."""
    folder = os.environ.get(variable, "")
    return Path(folder) if os.path.isabs(folder) else None


def _home() -> Path:
    """The user's folder; for a user who has none, as in some containers, the current one."""
    home = Path(os.path.expanduser("~"))
    return home if home.is_absolute() else Path.cwd()
