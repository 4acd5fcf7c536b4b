"""Where a user's copies of data lie that are not ours to give."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

from sparsedp.errors import BadFile, shortened

_VARIABLE = "SPARSEDP_DATA"
_LONGEST_SHOWN = 300


def data_folder() -> Path:
    """The folder that the environment variable SPARSEDP_DATA names; without it, the user's own folder for data."""
    named = os.environ.get(_VARIABLE)
    return Path(os.path.expanduser(named)) if named else users_folder() / "sparsedp"


def folder_to_read() -> Path:
    """The data folder, if it can be looked into.

    One that SPARSEDP_DATA names must be there: a name with a slip in it would else pass for a folder without files.
    The user's own folder need not be; nobody has been told to make it.
    """
    folder = data_folder()
    problem = _problem(folder)
    if problem is None or not (os.environ.get(_VARIABLE) or os.path.lexists(folder)):
        return folder
    raise _refused(folder, problem)


def folder_to_fill() -> Path:
    """The data folder, if it can be used or is still to be made."""
    folder = data_folder()
    problem = _problem(folder)
    if problem is None or (isinstance(problem, FileNotFoundError) and not os.path.lexists(folder)):
        return folder
    raise _refused(folder, problem)


def users_folder(platform: str = sys.platform) -> Path:
    """Where programs keep a user's data on this system: XDG_DATA_HOME or ~/.local/share, where there are such."""
    if platform == "win32":
        return _named("LOCALAPPDATA") or _home() / "AppData" / "Local"
    if platform == "darwin":
        return _home() / "Library" / "Application Support"
    return _named("XDG_DATA_HOME") or _home() / ".local" / "share"


def _problem(folder: Path) -> OSError | None:
    """What keeps us from using files in the folder, if anything does."""
    try:
        # The dot asks for more than the folder's own entry: its files must be within reach.
        found = os.stat(os.path.join(folder, "."))
    except OSError as error:
        return error
    return None if stat.S_ISDIR(found.st_mode) else NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))


def _refused(folder: Path, problem: OSError) -> BadFile:
    shown = shortened(str(folder), _LONGEST_SHOWN)
    whose = f"{_VARIABLE} names {shown}" if os.environ.get(_VARIABLE) else f"The data folder is {shown}"
    remedy = f"set {_VARIABLE} to the folder that holds the paper's files"
    if isinstance(problem, FileNotFoundError):
        return BadFile(
            f"{whose}, and there is no such folder; {remedy}, or let `sparsedp datasets fetch` make this one."
        )
    if isinstance(problem, NotADirectoryError):
        return BadFile(f"{whose}, which is not a folder; {remedy}.")
    return BadFile(f"{whose}, which cannot be used ({problem.strerror}); {remedy}, and check who may read it.")


def _named(variable: str) -> Path | None:
    """The folder in an environment variable; one that is not absolute is to be ignored, says the standard."""
    folder = os.environ.get(variable, "")
    return Path(folder) if os.path.isabs(folder) else None


def _home() -> Path:
    """The user's folder; for a user who has none, as in some containers, the current one."""
    home = Path(os.path.expanduser("~"))
    return home if home.is_absolute() else Path.cwd()
