"""`sparsedp datasets list`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sparsedp.cli.options import AsJson
from sparsedp.cli.speaking import show, show_json, show_lines
from sparsedp.cli.tables import show_table

LIST_EXAMPLES = """
sparsedp datasets list
sparsedp datasets list --json
"""


def list_data_sets(as_json: AsJson = False) -> None:
    """Say which records can be exported and whose they are, and which of the paper's data are on this machine."""
    from sparsedp.datasets import paper_files
    from sparsedp.datasets.records import DATA_SETS

    records = list(DATA_SETS.values())
    files = _paper_data()
    if as_json:
        exported = [{"name": each.name, "kind": "records", "about": each.about, "unit": each.unit} for each in records]
        show_json([*exported, *files])
        return
    show_table(
        ("name", "unit", "what it holds"),
        [(each.name, each.unit, each.about) for each in records],
        title="Records, for `sparsedp datasets export`:",
    )
    show("")
    show_table(
        ("name", "cells", "here", "what it holds"),
        [(each["name"], each["cells"], _in_words(each), each["about"]) for each in files],
        title="The paper's histograms, for `sparsedp datasets fetch`:",
    )
    show_lines(f"\nAll but tcptrace are from {paper_files.CITATION}. {paper_files.TERMS}")


def _paper_data() -> list[dict[str, Any]]:
    """Every histogram of the paper; `here` is null where a file of its name is another one."""
    from sparsedp.datasets import connection_trace, paper_files
    from sparsedp.datasets.data_folder import folder_to_read

    folder = folder_to_read()
    found: list[dict[str, Any]] = []
    for file in paper_files.PAPER_FILES.values():
        path = paper_files.path_of(file.name, folder)
        here = paper_files.is_there(file.name, folder) or (None if os.path.lexists(path) else False)
        entry = _entry(file.name, file.about, file.cells, here, path)
        found.append({**entry, "cite": paper_files.CITATION, "terms": paper_files.TERMS})
    trace = connection_trace.trace_file(folder)
    entry = _entry(connection_trace.NAME, connection_trace.ABOUT, connection_trace.CELLS, trace is not None, trace)
    found.append({**entry, "cite": connection_trace.CITATION, "terms": None})
    return found


def _entry(name: str, about: str, cells: int, here: bool | None, file: Path | None) -> dict[str, Any]:
    return {"name": name, "kind": "histogram", "about": about, "cells": cells, "here": here, "file": file}


def _in_words(entry: dict[str, Any]) -> str:
    return "another file" if entry["here"] is None else ("yes" if entry["here"] else "no")
