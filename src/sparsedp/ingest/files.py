"""Which files a path, a glob or a folder means; all of one kind."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

from sparsedp.errors import BadFile, InvalidInput

_COMPRESSED = (".gz", ".zst", ".bz2")
SUFFIXES = {
    ".parquet": "Parquet",
    ".parq": "Parquet",
    ".pq": "Parquet",
    **{f"{suffix}{packed}": "CSV" for suffix in (".csv", ".tsv") for packed in ("", *_COMPRESSED)},
}
_NAMES = "name the files .parquet, .csv or .csv.gz"


def files_of(source: str | os.PathLike[str]) -> tuple[list[str], str]:
    """The files, in the order of their names, and what they are: "Parquet" or "CSV"."""
    path = os.fspath(source)
    if not path:
        raise InvalidInput("source", "an empty path", "give a file, a folder or a glob such as 'visits/*.parquet'")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path):
        raise InvalidInput("source", "an address on a network", "download the files first, and give their folder")
    path = os.path.expanduser(path)
    if os.path.isdir(path):
        files = _in_folder(path)
        if not files:
            raise BadFile(f"The folder {path} has no records in it: {_NAMES}.")
    elif os.path.exists(path) or not glob.has_magic(path):
        if not os.path.exists(path):
            raise BadFile(f"There is no file {path}; check the path.")
        files = [path]
    else:
        files = sorted(one for one in glob.glob(path, recursive=True) if os.path.isfile(one))
        if not files:
            raise BadFile(f"No file matches {path}; check the pattern.")
    for file in files:
        if not os.access(file, os.R_OK):
            raise BadFile(f"The file {file} may not be read by you; ask its owner, or change its permissions.")
    return files, _kind_of(files)


def _in_folder(folder: str) -> list[str]:
    """Also in folders inside it, as Spark writes them; what begins with a dot or an underscore is not data."""
    found = []
    for path in sorted(Path(folder).rglob("*")):
        hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden and _suffix(path.name) is not None:
            found.append(str(path))
    return found


def _suffix(name: str) -> str | None:
    return next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), None)


def _kind_of(files: Sequence[str]) -> str:
    kinds = {}
    for file in files:
        suffix = _suffix(file)
        if suffix is None:
            raise InvalidInput("source", f"{file}, whose name does not say what it is", _NAMES)
        kinds[SUFFIXES[suffix]] = file
    if len(kinds) > 1:
        raise InvalidInput("source", "both Parquet and CSV files", "give one kind at a time")
    return next(iter(kinds))
