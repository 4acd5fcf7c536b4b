"""Every kind of input, by name."""

from __future__ import annotations

from fuzz.kinds.command_lines import CommandLines, ProjectFiles
from fuzz.kinds.databases import Ledgers, StreamFiles
from fuzz.kinds.published_files import Releases, SynopsisFiles
from fuzz.kinds.records import ArrowRecords, CsvRecords, ParquetRecords
from fuzz.sandbox import Kind

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Releases(),
        SynopsisFiles(),
        Ledgers(),
        StreamFiles(),
        ProjectFiles(),
        CsvRecords(),
        ParquetRecords(),
        ArrowRecords(),
        CommandLines(),
    )
}
