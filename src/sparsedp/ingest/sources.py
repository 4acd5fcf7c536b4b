"""What records may be given as."""

from __future__ import annotations

import os
from collections.abc import Sequence

from sparsedp.ingest.csv_files import Dialect, csv_attachment
from sparsedp.ingest.files import files_of
from sparsedp.ingest.frames import frame_attachment
from sparsedp.ingest.parquet_files import parquet_attachments
from sparsedp.ingest.records import Attachment
from sparsedp.ingest.session import guarded


def attachments(source: object, columns: Sequence[str], dialect: Dialect) -> list[Attachment]:
    """The ways to read the columns of a source, the best one first; all checks of its public facts are made here."""
    if isinstance(source, str | os.PathLike):
        files, kind = files_of(source)
        if kind == "Parquet":
            return parquet_attachments(files, columns)
        return [csv_attachment(files, columns, dialect)]
    return [guarded(lambda: frame_attachment(source, columns))]
