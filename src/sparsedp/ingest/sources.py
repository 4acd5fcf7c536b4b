"""What records may be given as."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import BinaryIO, cast

from sparsedp.errors import InvalidInput
from sparsedp.ingest.csv_dialect import Dialect
from sparsedp.ingest.csv_files import csv_source
from sparsedp.ingest.files import files_of
from sparsedp.ingest.frames import frame_source
from sparsedp.ingest.parquet_files import parquet_source
from sparsedp.ingest.plain_types import Needed
from sparsedp.ingest.records import Source
from sparsedp.ingest.session import guarded


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
        return parquet_source(files, needed)
    _check_no_dialect(dialect)
    return guarded(lambda: frame_source(source, needed))


def _check_no_dialect(dialect: Dialect) -> None:
    if dialect != Dialect():
        raise InvalidInput("csv", "given, and the records are not CSV", "leave it out: it would change nothing")
