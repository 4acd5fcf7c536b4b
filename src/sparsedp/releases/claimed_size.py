"""How large a file of a release says it is, before anything of it is decoded: a small file can unpack to gigabytes."""

from __future__ import annotations

import json
import os
from typing import Any, BinaryIO

from sparsedp.domain import Domain
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.releases.origin import MOST_EMBEDDED
from sparsedp.sensing import sensing_from

MOST_FOOTER = 4 * MOST_EMBEDDED
"""Bytes of metadata: a synopsis written as text, the labels of all axes, and as much again."""

MOST_UNDESCRIBED = 2**24
"""Rows of a file that does not say how many it has, unless each has a byte of its own."""

MOST_COLUMNS = 2**10
"""Far more than any domain has."""


def check_claimed_size(path: str | os.PathLike[str]) -> None:
    """Refuse a file whose rows are not as many as its cells, by its metadata alone.

    Whatever else is wrong with a file, or that there is none, is left to those who read it.
    """
    try:
        with open(path, "rb") as file:
            if _footer(file) > MOST_FOOTER:
                raise BadFile(f"{path} has far more metadata than a release; it was not written by this library.")
            size = os.fstat(file.fileno()).st_size
            found = _metadata(file)
    except (OSError, TypeError, ValueError):
        return
    if found is None:
        return
    rows, columns, document = found
    if document.get("kind") != "release":
        return  # whoever reads it says what it is
    described = _described_cells(document)
    too_many = rows > max(MOST_UNDESCRIBED, size) if described is None else rows != described
    if too_many or columns > MOST_COLUMNS:
        raise BadFile(f"{path} has not as many rows as it describes cells; it was changed or not written by sparsedp.")


def check_embedded_size(content: bytes) -> None:
    """Refuse an embedded synopsis of more rows than its plan says."""
    import pyarrow as pa

    found = _metadata(pa.BufferReader(content))
    if found is None:
        return
    rows, columns, document = found
    try:
        most = sensing_from(document["sensing"]).rows
    except (KeyError, TypeError, AttributeError, BadFile, InvalidInput):
        most = MOST_UNDESCRIBED  # of a later version, perhaps: it is kept, and not used
    if rows > most or columns != 1:
        raise BadFile("The embedded synopsis has more rows than its plan; it was not written by this library.")


def _footer(file: BinaryIO) -> int:
    """The bytes of metadata at the end of a Parquet file, as its last eight bytes say."""
    file.seek(-8, os.SEEK_END)
    length = int.from_bytes(file.read(4), "little")
    return length if file.read(4) == b"PAR1" else 0


def _metadata(file: Any) -> tuple[int, int, dict[str, Any]] | None:
    """How many rows and columns there are, and the description; None where it is not one of this library's files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(file)
        document = json.loads((metadata.metadata or {})[b"sparsedp"])
    except (pa.ArrowException, OSError, KeyError, ValueError):
        return None
    except RecursionError:
        document = None
    if not isinstance(document, dict):
        raise BadFile("The file's description is not one of this library's.")
    return metadata.num_rows, metadata.num_columns, document


def _described_cells(document: dict[str, Any]) -> int | None:
    """How many cells the domain has, or the plan of a plain vector; None where that is not to be made out."""
    try:
        if "domain" in document:
            return Domain.from_description(document["domain"]).size
        return int(document["plan"]["sensing"]["n"]) if document.get("plan") is not None else None
    except (KeyError, TypeError, AttributeError, ValueError, InvalidInput):
        return None
