"""Published files: Parquet columns any tool opens, with a description and a digest in the metadata."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.errors import BadFile, InvalidInput

FORMAT = 1
OTHER_FORMATS = {".csv", ".tsv", ".txt", ".json", ".xls", ".xlsx"}
"""Endings that would promise another format than Parquet."""

_KEY = b"sparsedp"

Column = npt.NDArray[Any]
"""Whole numbers, numbers, text (an array of objects), or times: datetime64[us], which others open as timestamps."""


def write(
    path: str | os.PathLike[str],
    kind: str,
    columns: Mapping[str, Column],
    description: dict[str, Any],
    *,
    utc: Collection[str] = (),
) -> Path:
    """Write the columns and their description to `path`, all or nothing; times in the columns `utc` are in UTC.

    The file appears under its name only once it is complete and on disk; an older file of that name stays until then.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    target = _checked(path)
    if target.suffix.lower() in OTHER_FORMATS:
        raise InvalidInput(
            "path", f"a name ending in {target.suffix}", "give one ending in .parquet: that is what is written"
        )
    document = {"format": FORMAT, "kind": kind, **description}
    document["digest"] = _digest(document, columns, utc)
    schema_metadata = {_KEY: json.dumps(document, ensure_ascii=False, sort_keys=True).encode()}
    in_utc = {name: pa.timestamp("us", tz="UTC") for name in utc}
    table = pa.table({name: pa.array(column, in_utc.get(name)) for name, column in columns.items()})
    table = table.replace_schema_metadata(schema_metadata)
    scratch = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with open(scratch, "xb") as file:
            pq.write_table(table, file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, target)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        raise BadFile(f"Could not write {target}: {error.strerror or error}; nothing was left half-written.") from None
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
    return target


def _checked(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput("path", f"of type {type(path).__name__}", "give the path of a file")
    return Path(path)


def read(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Column], dict[str, Any]]:
    """The columns and the description of a file that `write` wrote, verified against its digest."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = _checked(path)
    if source.is_dir():
        raise BadFile(f"{source} is a folder; give the path of a file.")
    if not source.is_file():
        raise BadFile(f"There is no file {source}; check the path.")
    try:
        table = pq.read_table(source, partitioning=None)
    except (pa.ArrowException, OSError):
        raise BadFile(f"{source} is not a readable Parquet file; it may be damaged or of another kind.") from None
    try:
        document = json.loads((table.schema.metadata or {})[_KEY])
    except (KeyError, ValueError):
        raise BadFile(f"{source} is Parquet, but was not written by sparsedp.") from None
    if document.get("kind") != kind:
        raise BadFile(f"{source} holds a {document.get('kind')}; open it with open_{document.get('kind')}.")
    if document.get("format") != FORMAT:
        raise BadFile(f"{source} has format {document.get('format')}, this version reads {FORMAT}; update sparsedp.")
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    utc = {field.name for field in table.schema if getattr(field.type, "tz", None) == "UTC"}
    if document.pop("digest", None) != _digest(document, columns, utc):
        raise BadFile(f"{source} does not match its digest: it was changed or damaged after it was written.")
    return columns, document


def _digest(document: dict[str, Any], columns: Mapping[str, Column], utc: Collection[str]) -> str:
    """SHA-256 over the description and the columns' little-endian bytes. It guards against damage, not forgery."""
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode())
    for name, column in columns.items():
        timezone = " UTC" if name in utc else ""
        digest.update(f"|{name}|{column.dtype.str}{timezone}|{column.size}|".encode())
        if column.dtype == object:
            digest.update(json.dumps(column.tolist()).encode())
        else:
            digest.update(np.ascontiguousarray(column).astype(column.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()
