"""What records may be given as: which files a path, a glob or a folder means, all of one kind; Parquet among them."""

from __future__ import annotations

import glob
import io
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import unquote

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.ingest._columns import (
    Needed,
    PlainType,
    Source,
    check_columns,
    common_type,
    plain_array,
    plain_type,
    short_names,
)
from sparsedp.ingest._csv import Dialect, csv_source
from sparsedp.ingest._frames import frame_source
from sparsedp.ingest.session import guarded

# What records may be given as.


def source_of(source: object, needed: Sequence[Needed], dialect: Dialect) -> Source:
    """The one way to read the columns of a source; all checks of its public facts are made here."""
    if isinstance(source, io.TextIOBase):
        raise InvalidInput("source", "a file that is opened as text", "open it as bytes: open(path, 'rb')")
    if isinstance(source, io.IOBase):
        return guarded(lambda: csv_source([cast(BinaryIO, source)], needed, dialect))
    if isinstance(source, str | os.PathLike):
        files, kind = files_of(source)
        if kind == "CSV":
            return csv_source(files, needed, dialect)
        _check_no_dialect(dialect)
        return _parquet_source(files, needed)
    _check_no_dialect(dialect)
    return guarded(lambda: frame_source(source, needed))


def _check_no_dialect(dialect: Dialect) -> None:
    if dialect != Dialect():
        raise InvalidInput("csv", "given, and the records are not CSV", "leave it out: it would change nothing")


# Which files a path, a glob or a folder means; all of one kind.

_COMPRESSED = (".gz", ".zst", ".bz2")
_SUFFIXES = {
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
    return next((suffix for suffix in _SUFFIXES if name.lower().endswith(suffix)), None)


def _kind_of(files: Sequence[str]) -> str:
    kinds = {}
    for file in files:
        suffix = _suffix(file)
        if suffix is None:
            raise InvalidInput("source", f"{file}, whose name does not say what it is", _NAMES)
        kinds[_SUFFIXES[suffix]] = file
    if len(kinds) > 1:
        raise InvalidInput("source", "both Parquet and CSV files", "give one kind at a time")
    return next(iter(kinds))


# Parquet files: their schemas first, which are public, then the records of one file after the other.
#
# Arrow reads them and not DuckDB, which stops at text that is not UTF-8 and at a time beyond its calendar: one
# person's value would then decide about everybody's records. Here each value stands for itself.

_A_BATCH = 1 << 17
"""Records that are read together."""

_NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""How Spark and Hive name the folder of a missing value."""


@dataclass(frozen=True)
class _File:
    """What is known of a file before any of its records is read."""

    path: str
    schema: Any
    int96: frozenset[str]
    """Its columns of the times that Spark wrote for long, which have no unit of their own."""
    in_folders: dict[str, str | None]
    """What the names of its folders say, as Spark and Hive write them: region=north/part-0.parquet."""

    def type_of(self, needed: Needed) -> PlainType:
        import pyarrow as pa

        own = needed.column in self.schema.names
        if needed.person and needed.column in self.int96:
            remedy = "times with nanoseconds cannot be told apart in it; write it as text, numbers or timestamps"
            raise InvalidInput(f"column {needed.column!r}", "a column of type INT96", remedy)
        return plain_type(self.schema.field(needed.column).type if own else pa.string(), needed)


def _parquet_source(paths: Sequence[str], needed: Sequence[Needed]) -> Source:
    """All files, one after the other; each has the needed columns, in itself or in the names of its folders."""
    import pyarrow as pa

    files = [_opened(path, needed) for path in paths]
    types = [common_type(one, [file.type_of(one) for file in files]) for one in needed]
    schema = pa.schema([(short, one.arrow) for short, one in zip(short_names(needed), types, strict=True)])

    def batches() -> Iterator[Any]:
        for file in files:
            for batch in _batches(file, needed):
                arrays = [
                    plain_array(
                        batch.column(one.column)
                        if one.column in file.schema.names
                        else pa.repeat(pa.scalar(file.in_folders[one.column], pa.large_string()), batch.num_rows),
                        kind,
                    )
                    for one, kind in zip(needed, types, strict=True)
                ]
                yield pa.record_batch(arrays, schema=schema)

    return Source(schema, tuple(one.kind for one in types), batches)


def _batches(file: _File, needed: Sequence[Needed]) -> Iterator[Any]:
    own = list(dict.fromkeys(one.column for one in needed if one.column in file.schema.names))
    # Without buffering ahead: a group of rows may be as large as the file.
    with _parquet(file.path, pre_buffer=False, buffer_size=1 << 20) as parquet:
        yield from parquet.iter_batches(batch_size=_A_BATCH, columns=own)


def _parquet(path: str, **options: Any) -> Any:
    import pyarrow.parquet as pq

    # INT96 in one unit, whatever is in it: microseconds, which reach far beyond all calendars.
    return pq.ParquetFile(path, coerce_int96_timestamp_unit="us", **options)


def _opened(path: str, needed: Sequence[Needed]) -> _File:
    import pyarrow as pa

    try:
        with _parquet(path) as parquet:
            columns = [parquet.schema.column(place) for place in range(len(parquet.schema))]
            int96 = frozenset(column.path for column in columns if column.physical_type == "INT96")
            schema = parquet.schema_arrow
    except (pa.ArrowException, OSError, UnicodeError):  # names of columns that are no text
        schema = None
    if schema is None:
        raise BadFile(f"The file {path} is not a Parquet file, or is damaged; leave it out, or write it again.")
    parts = [part.partition("=") for part in Path(path).parent.parts if "=" in part]
    pairs = [(key, None if value == _NOTHING else unquote(value)) for key, _, value in parts]
    file = _File(path, schema, int96, dict(pairs))
    columns = [one.column for one in needed]
    check_columns(columns, [*schema.names, *file.in_folders], f" of {path}")
    for column in columns:
        _check_it_is_there_once(column, schema.names, [key for key, _ in pairs])
    return file


def _check_it_is_there_once(column: str, own: Sequence[str], in_folders: Sequence[str]) -> None:
    """Programs differ in which of two they take, and in whether capital letters tell names of folders apart."""
    in_path = [key for key in in_folders if key.casefold() == column.casefold()]
    if own.count(column) > 1:
        raise InvalidInput("source", f"a file with two columns named {column!r}", "rename one of them")
    if in_path and column in own:
        given = f"files in a folder named {in_path[0]}=… that have a column {column!r} too"
        raise InvalidInput("source", given, "rename the folder, or leave the column out of the files")
    if len(in_path) > 1:
        given = f"files below two folders named {in_path[0]}=… and {in_path[1]}=…"
        raise InvalidInput("source", given, "rename one of them")
